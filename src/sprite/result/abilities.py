"""Abilities of the respondents under a fit, averaged over its draws and never stored draw by draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from sprite.core.errors import InputError
from sprite.core.types import Floats
from sprite.density.grid import grid_for
from sprite.kernels.draws import draw_abilities
from sprite.kernels.passes import moments

if TYPE_CHECKING:
    from sprite.result.fit import Fit

MAX_DRAWS = 200
MIN_DRAWS = 20
_WORK = 4e10  # answers x nodes x draws: under a minute on one core


def ability_moments(fit: Fit) -> tuple[Floats, Floats, Floats]:
    """Posterior mean, standard deviation and mode of each respondent's ability.

    Mean and deviation allow for the uncertainty of the parameters by the law of total variance over thinned draws
    (of the posterior, or of the Laplace approximation); with no draws they are plug-in values. The mode is at the
    point estimate.
    """
    data, grid = (fit.responses.start, fit.responses.row), grid_for(fit.model.ability, fit.n_nodes)
    mode = moments(*data, fit.table(), grid.log_weight, grid.nodes)[3]
    work = max(1, fit.responses.n_answers * fit.n_nodes)
    wanted = int(np.clip(_WORK / work, MIN_DRAWS, MAX_DRAWS))
    mean, within, between = np.zeros_like(mode), np.zeros_like(mode), np.zeros_like(mode)
    for n, table in enumerate(tables(fit, thinned(fit, wanted)), start=1):
        _, centre, sd, _ = moments(*data, table, grid.log_weight, grid.nodes)
        # Welford's running mean and variance, so that nothing grows with the number of draws.
        change = centre - mean
        mean += change / n
        between += (change * (centre - mean) - between) / n
        within += (sd**2 - within) / n
    return mean, np.sqrt(within + between), mode


def plausible_values(fit: Fit, n: int, seed: int) -> Floats:
    """`n` draws of every respondent's ability, shape (n, respondents), each with its own draw of the parameters."""
    if n < 1:
        raise InputError("plausible_values needs n >= 1", found=n)
    rng = np.random.default_rng(seed)
    grid = grid_for(fit.model.ability, fit.n_nodes)
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
