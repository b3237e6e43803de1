"""Faults of the test as a whole: questions that depend on each other, respondents whose answers do not fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from sprite.analysis.curves import grid_of, keyed_questions
from sprite.core.types import Floats, Ints
from sprite.kernels.passes import moments
from sprite.result.fit import Fit

STRONG = 0.2
"""A residual correlation this far from the average pair's is worth a verdict."""
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
    probability = 1.0 - np.minimum(1.0, 2.0 * ndtr(-score) * len(a))  # Bonferroni over all pairs
    found = np.flatnonzero((np.abs(excess) > STRONG) & (probability >= level))
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
    """lz of each respondent over all options: log likelihood at the EAP, standardised by its mean and variance there.

    The third moment corrects its skewness (one Cornish-Fisher step). NaN with fewer than 5 answers.
    """
    data = fit.responses
    layout = data.layout
    n = data.n_respondents
    total = np.zeros((4, n))
    for block, table in _tables(fit, np.arange(n)):
        who, row = _answers(fit, np.arange(block.start, block.stop))
        j = layout.question[row]
        log_p = table.T  # (respondents, rows)
        p = np.exp(log_p)
        finite = np.where(p > 0.0, log_p, 0.0)
        centre = layout.sum_by_question(p * finite)
        away = finite - centre[:, layout.question]
        parts = (
            log_p[who, row] - centre[who, j],
            layout.sum_by_question(p * away**2)[who, j],
            layout.sum_by_question(p * away**3)[who, j],
            np.ones(len(who)),
        )
        for k, part in enumerate(parts):
            total[k, block] = np.bincount(who, part, minlength=block.stop - block.start)
    usable = (total[3] >= MIN_ANSWERS) & (total[1] > 1e-12)
    sd = np.sqrt(np.where(usable, total[1], 1.0))
    score, skewness = total[0] / sd, total[2] / sd**3
    return np.where(usable, score - skewness / 6.0 * (score**2 - 1.0), np.nan)


def _tables(fit: Fit, people: Ints) -> Iterator[tuple[slice, Floats]]:
    """Log P(option | EAP) for blocks of respondents: the block as a slice of `people`, and (rows, respondents)."""
    data, grid = fit.responses, grid_of(fit)
    eap = moments(data.start, data.row, fit.table(), grid.log_weight, grid.nodes)[1][people]
    eap = np.where(np.isfinite(eap), eap, fit.model.ability[0])
    step = max(1, _BLOCK // max(1, data.layout.n_rows))
    for begin in range(0, len(people), step):
        block = slice(begin, min(begin + step, len(people)))
        yield block, fit.model.log_table(fit.values, np.ascontiguousarray(eap[block]), data.layout)


def _answers(fit: Fit, people: Ints) -> tuple[Ints, Ints]:
    """The answers of some respondents: who (0, 1, ... within `people`) and the row chosen."""
    start = fit.responses.start
    size = start[people + 1] - start[people]
    who = np.repeat(np.arange(len(people)), size)
    within = np.arange(len(who)) - np.repeat(np.cumsum(size) - size, size)
    return who, fit.responses.row[start[people][who] + within].astype(np.int64)
