"""Faults of the test as a whole: questions that depend on each other, respondents whose answers do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from sprite.analysis.curves import keyed_questions
from sprite.core.types import Floats, Ints
from sprite.kernels.passes import moments
from sprite.result.fit import Fit

STRONG = 0.2
"""A residual correlation this far from the average pair's is worth a verdict."""
PAIR_LEVEL = 0.99
"""Least 1 - p, corrected for the number of pairs, at which two questions are called dependent."""
PERSON_LEVEL = 0.001
"""One-sided level at which a respondent is called unusual."""
MIN_TOGETHER = 20
"""Respondents who must have answered both questions of a pair."""
MIN_ANSWERS = 5
"""Answers that a respondent must have given to be judged."""
_MAX_RESPONDENTS = 20_000  # for residual correlations: more would not change a verdict
_BLOCK = 1 << 21  # table entries made at a time: 16 MB


@dataclass(frozen=True)
class Pair:
    """Two dependent questions."""

    a: int
    b: int
    excess: float
    """Q3 less the mean Q3 of all pairs."""
    probability: float


@dataclass(frozen=True)
class Person:
    """A respondent whose answers are improbable at the estimated ability."""

    respondent: int
    fit: float
    """Standardised log likelihood, corrected for skewness: about N(0, 1), negative for misfit."""
    probability: float


def dependent_pairs(fit: Fit, level: float) -> list[Pair]:
    """Pairs whose Q3 differs from the mean Q3 by more than 0.2 and more than chance among all pairs would have it."""
    questions, q3, together = residual_correlations(fit)
    a, b = np.triu_indices(len(questions), 1)
    usable = np.isfinite(q3[a, b]) & (together[a, b] >= MIN_TOGETHER)
    a, b = a[usable], b[usable]
    if len(a) < 2:
        return []
    excess = q3[a, b] - q3[a, b].mean()
    score = np.abs(np.arctanh(np.clip(excess, -0.999999, 0.999999))) * np.sqrt(together[a, b] - 3.0)
    # In small classes residual correlations spread a little more than 1 / sqrt(n - 3): the median shows by how much.
    score /= max(1.0, float(np.median(score)) / ndtri(0.75))
    probability = 1.0 - np.minimum(1.0, 2.0 * ndtr(-score) * len(a))  # Bonferroni over all pairs
    found = np.flatnonzero((np.abs(excess) > STRONG) & (probability >= max(level, PAIR_LEVEL)))
    order = found[np.argsort(-np.abs(excess[found]), kind="stable")]
    return [Pair(int(questions[a[k]]), int(questions[b[k]]), float(excess[k]), float(probability[k])) for k in order]


def residual_correlations(fit: Fit) -> tuple[Ints, Floats, Ints]:
    """Yen's Q3: correlations of right (1 or 0) less P(right | EAP), over those who answered both.

    The questions with a key, the matrix of Q3 (NaN where a residual does not vary), and how many answered both.
    """
    data = fit.responses
    layout = data.layout
    questions = np.flatnonzero(keyed_questions(layout))
    n = data.n_respondents
    people = np.linspace(0, n - 1, min(n, _MAX_RESPONDENTS)).astype(np.int64)
    residual, seen = np.zeros((len(people), layout.n_questions)), np.zeros((len(people), layout.n_questions), bool)
    for block, table in _tables(fit, people):
        who, row = _answers(fit, people[block])
        line = who + block.start
        j = layout.question[row]
        expected = layout.sum_by_question((np.exp(table) * layout.correct[:, None]).T)
        residual[line, j] = data.correct[row] - expected[who, j]
        seen[line, j] = True
    r, m = residual[:, questions], seen[:, questions].astype(float)
    together = m.T @ m
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (r.T @ m) / together  # of the first question's residual, over those who answered both
        product = (r.T @ r) / together - mean * mean.T
        square = ((r**2).T @ m) / together - mean**2
        size = np.sqrt(np.maximum(square, 0.0) * np.maximum(square.T, 0.0))
        q3 = np.where(size > 1e-12, product / size, np.nan)
    return questions, q3, together.astype(np.int64)


def unusual_respondents(fit: Fit) -> list[Person]:
    """Respondents whose person fit lies below the 1 in 1000 quantile, the most unusual first."""
    score = person_fit(fit)
    found = np.flatnonzero(score < ndtri(PERSON_LEVEL))
    found = found[np.argsort(score[found], kind="stable")]
    return [Person(int(i), float(score[i]), float(1.0 - ndtr(score[i]))) for i in found]


def person_fit(fit: Fit) -> Floats:
    """Each respondent's log likelihood at the EAP over all options, standardised: about N(0, 1), negative for misfit.

    That ability was estimated from the same answers makes lz too narrow; as in Snijders' lz* the part of it that moves
    with ability (its regression on the score, the slope of the log likelihood) is taken out before standardising. The
    third moment corrects the skewness (`normal_score`). NaN with fewer than 5 answers.
    """
    data = fit.responses
    layout = data.layout
    n = data.n_respondents
    out = np.full(n, np.nan)
    for block, table in _tables(fit, np.arange(n), slopes=True):
        log_p, score = table[0].T, table[1].T  # (respondents, rows)
        who, row = _answers(fit, np.arange(block.start, block.stop))
        j, size = layout.question[row], block.stop - block.start

        def total(by_answer: Floats, who: Ints = who, size: int = size) -> Floats:
            return np.bincount(who, by_answer, minlength=size).astype(float)

        p = np.exp(log_p)
        log_p = np.where(p > 0.0, log_p, np.log(np.finfo(float).tiny))
        away = log_p - layout.sum_by_question(p * log_p)[:, layout.question]
        shared = total(layout.sum_by_question(p * away * score)[who, j])
        told = total(layout.sum_by_question(p * score**2)[who, j])
        away = away - (shared / np.maximum(told, 1e-12))[:, None] * score
        variance = total(layout.sum_by_question(p * away**2)[who, j])
        third = total(layout.sum_by_question(p * away**3)[who, j])
        usable = (np.bincount(who, minlength=size) >= MIN_ANSWERS) & (variance > 1e-9)
        sd = np.sqrt(np.where(usable, variance, 1.0))
        z = total(away[who, row]) / sd
        out[block] = np.where(usable, normal_score(z, third / sd**3), np.nan)
    return out


def normal_score(z: Floats, skewness: Floats) -> Floats:
    """Standardised values of this skewness as standard normal ones.

    Wilson and Hilferty's cube root, which takes them for values of a shifted gamma distribution. Near the middle it is
    one Cornish-Fisher step, z - g (z^2 - 1) / 6; beyond, that parabola would turn round and call the worst values good.
    """
    g = np.where(np.abs(skewness) < 1e-4, 1e-4, skewness)
    return np.asarray(6.0 / g * (np.cbrt(np.maximum(1.0 + 0.5 * g * z, 0.0)) - 1.0) + g / 6.0)


def _tables(fit: Fit, people: Ints, slopes: bool = False) -> Iterator[tuple[slice, Floats]]:
    """Log P(option | EAP) for blocks of respondents: the block as a slice of `people`, and (rows, respondents).

    With `slopes` the derivative in ability is stacked below it: (2, rows, respondents).
    """
    data, grid = fit.responses, fit.grid
    eap = moments(data.start, data.row, fit.table(), grid.log_weight, grid.nodes)[1][people]
    eap = np.where(np.isfinite(eap), eap, fit.model.ability[0])
    step = max(1, _BLOCK // max(1, data.layout.n_rows))
    h = 1e-4 * np.sqrt(fit.model.ability[1])
    for begin in range(0, len(people), step):
        block = slice(begin, min(begin + step, len(people)))
        at = np.ascontiguousarray(eap[block])
        table = fit.model.log_table(fit.values, at, data.layout)
        if slopes:
            up, down = (fit.model.log_table(fit.values, at + d, data.layout) for d in (h, -h))
            table = np.stack([table, (up - down) / (2.0 * h)])
        yield block, table


def _answers(fit: Fit, people: Ints) -> tuple[Ints, Ints]:
    """The answers of some respondents: who (0, 1, ... within `people`) and the row chosen."""
    start = fit.responses.start
    size = start[people + 1] - start[people]
    who = np.repeat(np.arange(len(people)), size)
    within = np.arange(len(who)) - np.repeat(np.cumsum(size) - size, size)
    return who, fit.responses.row[start[people][who] + within].astype(np.int64)
