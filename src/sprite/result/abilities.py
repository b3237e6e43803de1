"""Abilities of the respondents under a fit, averaged over its draws and never stored draw by draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from sprite.core.errors import InputError
from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.draws import draw_abilities
from sprite.kernels.passes import posterior
from sprite.kernels.threads import run, split

if TYPE_CHECKING:
    from sprite.result.fit import Fit

LEVELS = (0.05, 0.95)
"""Ends of the central 90 % interval."""
_BLOCK = 1 << 16  # posterior probabilities held at a time: half a megabyte, which stays in cache
_KEPT = 1 << 24  # table entries kept between blocks of respondents: 128 MB
_WORK = 1e10  # answers x nodes x draws: some seconds; with so many answers the draws hardly differ


def draws_within(work: float, least: int = 20, most: int = 200) -> int:
    """How many draws to average over, when one of them costs `work` additions or so."""
    return int(np.clip(_WORK / max(work, 1.0), least, most))


def draw_tables(fit: Fit, wanted: int) -> Callable[[], Iterable[Floats]]:
    """Tables of log P(option | ability) at thinned draws, to go through as often as needed."""
    which = thinned(fit, wanted)
    if len(which) * int(fit.responses.first[-1]) * fit.n_nodes <= _KEPT:
        kept = list(tables(fit, which))
        return lambda: kept
    return lambda: tables(fit, which)


def blocks(n_respondents: int, width: int, least: int = 1) -> Iterable[tuple[int, int]]:
    """Runs of at least so many respondents such that a line of `width` numbers for each of them stays small."""
    step = max(least, _BLOCK // max(1, width))
    return ((low, min(low + step, n_respondents)) for low in range(0, n_respondents, step))


def posterior_moments(fit: Fit, start: Ints, row: Rows, plug_in: bool = False) -> Floats:
    """Mean, mode, standard deviation, lower and upper end of each respondent's ability: five lines.

    All but the mode allow for the uncertainty of the parameters: they are those of the mean of the posteriors over
    thinned draws (of the posterior, or of the Laplace approximation). With no draws, or with `plug_in`, and for the
    mode, parameters are taken to be the estimate.
    """
    grid = fit.grid
    point = fit.table()
    work = max(len(row), fit.responses.n_answers) * fit.n_nodes  # as many draws for a part of the answers as for all
    averaged = None if plug_in else draw_tables(fit, draws_within(work))
    out = np.empty((5, len(start) - 1))

    def task(begin: int, end: int) -> None:
        for low, high in blocks(end - begin, grid.n_nodes):
            span = begin + low, begin + high
            at_point = posterior(start, row, point, grid.log_weight, *span, threads=1)
            mass = at_point
            if averaged is not None:
                mass, n = np.zeros_like(at_point), 0
                for n, table in enumerate(averaged(), start=1):  # noqa: B007 - the last n is their number
                    mass += posterior(start, row, table, grid.log_weight, *span, threads=1)
                mass /= n
            out[1, slice(*span)] = _modes(at_point, grid.nodes)
            out[[0, 2, 3, 4], slice(*span)] = _described(mass, grid.nodes)

    run(task, split(start, grid.n_nodes, None))
    return out


def _described(mass: Floats, nodes: Floats) -> Floats:
    """Mean, standard deviation and both quantiles of each line of node probabilities."""
    # Sums by einsum: a matrix product would wake further threads inside each of ours.
    centred = nodes - nodes.mean()
    first, second = np.einsum("ij,j->i", mass, centred), np.einsum("ij,j->i", mass, centred**2)
    sd = np.sqrt(np.maximum(second - first**2, 0.0))
    total = np.cumsum(mass, axis=1)
    out = np.stack([first + nodes.mean(), sd, *(_quantile(mass, total, nodes, level) for level in LEVELS)])
    out[:, total[:, -1] <= 0.0] = np.nan  # impossible answers: no mass anywhere
    return out


def _quantile(mass: Floats, total: Floats, nodes: Floats, level: float) -> Floats:
    """Where each line's mass passes `level`, by interpolation between nodes on the scale of normal quantiles.

    The mass up to a node is that of the nodes below, half of its own, and the first term of Euler and Maclaurin's
    correction, a twenty-fourth of the difference of its neighbours. On the scale of normal quantiles the curve of a
    normal posterior is a straight line, however wide the cells.
    """
    line, last = np.arange(len(mass)), len(nodes) - 1
    at = np.clip(np.argmax(total >= level, axis=1), 1, last - 1)

    def below(node: Ints) -> Floats:
        around = mass[line, np.minimum(node + 1, last)] - mass[line, np.maximum(node - 1, 0)]
        return np.asarray(total[line, node] - 0.5 * mass[line, node] - around / 24.0)

    left = np.where(below(at) < level, at, at - 1)
    ends = np.clip(np.stack([below(left), below(left + 1)]), 1e-15, 1.0 - 1e-15)
    left_at, right_at = ndtri(ends)
    part = np.clip((ndtri(level) - left_at) / np.maximum(right_at - left_at, 1e-12), 0.0, 1.0)
    return np.asarray(nodes[left] + part * (nodes[1] - nodes[0]))


def _modes(mass: Floats, nodes: Floats) -> Floats:
    """The vertex of the parabola through the largest log probability and its neighbours."""
    line, top = np.arange(len(mass)), mass.argmax(axis=1)
    inner = np.clip(top, 1, len(nodes) - 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        left, middle, right = (np.log(mass[line, inner + step]) for step in (-1, 0, 1))
        shift = 0.5 * (right - left) / (2.0 * middle - left - right)
    ok = (inner == top) & np.isfinite(shift)
    mode = nodes[top] + np.where(ok, shift, 0.0) * (nodes[1] - nodes[0])
    return np.where(mass[line, top] > 0.0, mode, np.nan)


def plausible_values(fit: Fit, n: int, seed: int) -> Floats:
    """`n` draws of every respondent's ability, shape (n, respondents), each with its own draw of the parameters."""
    if n < 1:
        raise InputError("plausible_values needs n >= 1", found=n)
    rng = np.random.default_rng(seed)
    grid = fit.grid
    people = fit.responses.n_respondents
    out = np.empty((n, people))
    which = thinned(fit, n)
    which = np.resize(which, n) if len(which) else np.full(n, -1)
    for k, table in enumerate(tables(fit, which)):
        u, v = rng.random(people), rng.random(people)
        out[k] = draw_abilities(fit.responses.start, fit.responses.row, table, grid.log_weight, grid.nodes, u, v)
    return out


def thinned(fit: Fit, wanted: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """At most `wanted` draws, evenly spaced over all chains; the point, as -1, where there are none."""
    total = fit.n_chains * fit.n_draws
    if not total:
        return np.array([-1])
    return np.unique(np.linspace(0, total - 1, min(wanted, total)).round().astype(np.int64))


def tables(fit: Fit, which: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Iterator[Floats]:
    """Log P(option | ability) on the fit's grid at these draws, one at a time; -1 is the point."""
    x = fit.x.reshape(-1, fit.x.shape[-1])
    ranks = {name: rank.reshape(-1, rank.shape[-1]) for name, rank in fit.ranks.items()}
    for k in which:
        yield fit.table() if k < 0 else fit.table(x[k], {name: rank[k] for name, rank in ranks.items()})
