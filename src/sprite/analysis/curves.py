"""What the other analyses stand on: the curves P(option | ability) of a fit, at its point and over its draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from sprite.core.layout import Layout
from sprite.core.types import Bools, Floats
from sprite.kernels.passes import posterior
from sprite.result.abilities import tables, thinned
from sprite.result.fit import Fit

DRAWS = 200
"""Thinned draws that intervals and probabilities are computed from."""
LOWER, UPPER = 0.05, 0.95
"""Ends of the 90 % intervals."""
POPULATED = (0.025, 0.975)
"""Quantiles of ability between which it counts as populated."""
UPPER_QUARTER, ABLEST_TENTH = 0.75, 0.9
"""Quantiles of ability above which an option's share among the able is taken."""

TAIL = (0.01, 0.05)
"""Part of the respondents beyond each end of a chart: 1 %, but with few of them as much as three respondents are."""

_BLOCK = 1 << 21  # posterior entries held at a time: 16 MB

Population: TypeAlias = Literal["model", "respondents"]
"""Whose abilities to average over: the model's normal distribution, or the posteriors of the respondents at hand."""


@dataclass(frozen=True, eq=False)
class Statistics:
    """What the curves say of every option and of every question's key, (..., rows) or (..., questions)."""

    share: Floats
    """P(k): how often the option is chosen."""
    mean: Floats
    """E[z | k]: the mean ability of those who choose it."""
    sd: Floats
    """sd[z | k]."""
    bits: Floats
    """P(k) KL(p(z | k) || p(z)) in bits; over a question's options they sum to I(Z; Y)."""
    quarter: Floats
    """P(k | z above the 75 % quantile): how often the ablest quarter choose it."""
    tenth: Floats
    """P(k | z above the 90 % quantile): how often the ablest tenth choose it."""
    dip: Floats
    """By how much P(k | z) at both ends of populated ability exceeds its lowest value between them."""
    question_bits: Floats
    """I(Z; Y_j) in bits."""
    right_bits: Floats
    """I(Z; right or wrong) in bits; NaN without a key."""
    right_mean: Floats
    """E[z | right]; NaN without a key."""
    right_quarter: Floats
    """P(right | z above the 75 % quantile); NaN without a key."""
    right_tenth: Floats
    """P(right | z above the 90 % quantile); NaN without a key."""


@dataclass(frozen=True, eq=False)
class Curves:
    """The statistics of a fit."""

    estimate: Statistics
    """At the estimate; of draws of the posterior their mean."""
    draws: Statistics | None
    """At each thinned draw, draws along the first axis; None where there are no draws."""

    @property
    def evidence(self) -> Statistics:
        """The draws, or the estimate as the only one."""
        if self.draws is not None:
            return self.draws
        return Statistics(**{f.name: getattr(self.estimate, f.name)[None] for f in fields(Statistics)})


_known: WeakKeyDictionary[Fit, dict[str, Curves]] = WeakKeyDictionary()
_ends: WeakKeyDictionary[Fit, tuple[float, float]] = WeakKeyDictionary()


def curves(fit: Fit, population: Population = "model") -> Curves:
    """The statistics of a fit, computed once."""
    known = _known.setdefault(fit, {})
    if population not in known:
        layout, grid = fit.responses.layout, fit.grid
        weight = np.exp(grid.log_weight) if population == "model" else respondent_weights(fit)
        which = thinned(fit, DRAWS)
        draws = None
        if which[0] >= 0:
            each = [statistics(table, grid.nodes, weight, layout) for table in tables(fit, which)]
            draws = Statistics(**{f.name: np.stack([getattr(s, f.name) for s in each]) for f in fields(Statistics)})
        if draws is not None and fit.kind == "posterior":
            estimate = Statistics(**{f.name: getattr(draws, f.name).mean(axis=0) for f in fields(Statistics)})
        else:
            estimate = statistics(fit.table(), grid.nodes, weight, layout)
        known[population] = Curves(estimate, draws)
    return known[population]


def respondent_weights(fit: Fit) -> Floats:
    """How the respondents' abilities are spread over the nodes: the mean of their posteriors at the estimate.

    It differs from the model's normal distribution where an anchor holds the scale: a test on which most are able has
    most respondents above 0.
    """
    data, grid = fit.responses, fit.grid
    table = fit.table()
    total = np.zeros(grid.n_nodes)
    step = max(1, _BLOCK // grid.n_nodes)
    for begin in range(0, data.n_respondents, step):
        end = min(begin + step, data.n_respondents)
        total += posterior(data.start, data.row, table, grid.log_weight, begin, end).sum(axis=0)
    return np.asarray(total / total.sum()) if total.sum() > 0 else np.exp(grid.log_weight)


def populated(fit: Fit) -> tuple[float, float]:
    """The ends of the respondents' abilities, without the outermost few (see `TAIL`): charts show nothing beyond."""
    if fit not in _ends:
        nodes, weight = fit.grid.nodes, respondent_weights(fit)
        tail = float(np.clip(3.0 / max(1, fit.responses.n_respondents), *TAIL))
        low, high = (quantile(nodes, weight, q) for q in (tail, 1.0 - tail))
        _ends[fit] = (low, high) if high > low else (low - 0.5, high + 0.5)
    return _ends[fit]


def statistics(table: Floats, nodes: Floats, weight: Floats, layout: Layout) -> Statistics:
    """The statistics of one table of log P(option | ability), (rows, nodes), for abilities of these weights."""
    # Each row is scaled by its largest entry, so that an option that is hardly ever chosen keeps its mean ability.
    with np.errstate(divide="ignore"):
        log_mass = table + np.log(weight)
    top = np.max(log_mass, axis=1, initial=-700.0, keepdims=True)
    mass = np.exp(log_mass - top)
    total = np.maximum(mass.sum(axis=1), np.finfo(float).tiny)
    mean = mass @ nodes / total
    variance = np.einsum("rk,rk->r", mass, (nodes - mean[:, None]) ** 2) / total
    probability = np.exp(table)
    bits = information(probability, weight)
    quarter, tenth = (_above(nodes, weight, quantile(nodes, weight, q)) for q in (UPPER_QUARTER, ABLEST_TENTH))
    low, high = (quantile(nodes, weight, q) for q in POPULATED)
    populated = probability[:, (nodes >= low) & (nodes <= high)]
    dip = np.minimum(populated[:, 0], populated[:, -1]) - populated.min(axis=1)
    right, keyed = key_curves(probability, layout)
    right_mass = right * weight
    right_total = np.maximum(right_mass.sum(axis=1), np.finfo(float).tiny)
    return Statistics(
        share=total * np.exp(top[:, 0]),
        mean=mean,
        sd=np.sqrt(variance),
        bits=bits,
        quarter=probability @ quarter,
        tenth=probability @ tenth,
        dip=dip,
        question_bits=layout.sum_by_question(bits),
        right_bits=np.where(keyed, information(right, weight) + information(1.0 - right, weight), np.nan),
        right_mean=np.where(keyed, right_mass @ nodes / right_total, np.nan),
        right_quarter=np.where(keyed, right @ quarter, np.nan),
        right_tenth=np.where(keyed, right @ tenth, np.nan),
    )


def information(probability: Floats, weight: Floats) -> Floats:
    """E[P log2(P / E P)] over the nodes (last axis): what an event of these probabilities tells, in bits."""
    share = np.maximum(probability @ weight, np.finfo(float).tiny)[..., None]
    ratio = np.where(probability > 0.0, probability, share) / share
    # A sum of p log p - p + 1 >= 0, whose extra terms cancel: rounding cannot make it negative.
    terms = np.where(probability > 0.0, probability / share * np.log(ratio) - probability / share + 1.0, 1.0)
    return np.asarray(share[..., 0] * (terms @ weight) / np.log(2.0))


def key_curves(probability: Floats, layout: Layout) -> tuple[Floats, Bools]:
    """P(right | ability) of every question, (questions, nodes), and which questions have a key."""
    right = layout.sum_by_question((probability * layout.correct[:, None]).T).T
    return np.clip(right, 0.0, 1.0), keyed_questions(layout)


def keyed_questions(layout: Layout) -> Bools:
    """Which questions have a key."""
    return np.asarray(layout.sum_by_question(layout.correct.astype(float)) > 0)


def interval(drawn: Floats | None, like: Floats) -> tuple[Floats, Floats]:
    """The 90 % interval over draws (first axis); NaN where there are none."""
    if drawn is None:
        return np.full_like(like, np.nan), np.full_like(like, np.nan)
    lower, upper = np.quantile(drawn, [LOWER, UPPER], axis=0)
    return np.asarray(lower), np.asarray(upper)


def row_labels(fit: Fit) -> tuple[list[str], list[str]]:
    """The question and the option label of every row, as the user wrote them."""
    data = fit.responses
    questions = [q for q, labels in zip(data.questions, data.options, strict=True) for _ in labels]
    return questions, [label for labels in data.options for label in labels]


def pairs_of(layout: Layout) -> Iterator[tuple[int, int, int]]:
    """Every unordered pair of rows of one question, in label order: question, first row, second row."""
    for j in range(layout.n_questions):
        for a in range(layout.first[j], layout.first[j + 1]):
            for b in range(a + 1, layout.first[j + 1]):
                yield j, a, b


def quantile(nodes: Floats, weight: Floats, q: float) -> float:
    """Quantile of a distribution on even nodes, each node's weight spread evenly over its cell."""
    edges = np.append(nodes, 2 * nodes[-1] - nodes[-2]) - 0.5 * (nodes[1] - nodes[0])
    return float(np.interp(q, np.concatenate([[0.0], np.cumsum(weight)]), edges))


def _above(nodes: Floats, weight: Floats, bound: float) -> Floats:
    """Weights of the nodes above a bound, summing to one; the cell that the bound cuts counts in part."""
    spacing = nodes[1] - nodes[0]
    part = weight * np.clip((nodes - bound) / spacing + 0.5, 0.0, 1.0)
    return np.asarray(part / part.sum())
