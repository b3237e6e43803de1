"""R-hat, effective sample sizes and Monte Carlo error of draws, for many parameters at once.

The definitions (Vehtari and others, 2021) and the estimators are those of arviz-stats. Ranks are taken here for all
parameters in one call, and used twice, because parameter by parameter that takes most of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from sprite.core.types import Bools, Floats
from sprite.result.entries import Entries, entries_of

if TYPE_CHECKING:
    from sprite.result.fit import Fit

MIN_DRAWS = 8
"""Fewer draws in a chain say nothing."""
TAILS = (0.05, 0.95)
_CHUNK = 500  # parameters at a time


@dataclass(frozen=True, eq=False)
class Mixing:
    """The diagnostics of the entries of one parameter; NaN where fixed."""

    entries: Entries
    rhat: Floats
    """Rank-normalised, of split chains."""
    ess_bulk: Floats
    ess_tail: Floats
    mcse: Floats
    """Of the mean of what is diagnosed: the logarithm of positive parameters."""
    stuck: Bools
    """Free, yet every draw is the same."""

    @property
    def name(self) -> str:
        """The name of what is diagnosed: log_nu for nu."""
        return f"log_{self.entries.name}" if self.entries.on_log_scale else self.entries.name


def mixing(fit: Fit) -> list[Mixing]:
    """Diagnose every parameter of a posterior; nothing where there are too few draws."""
    if fit.kind != "posterior" or fit.n_draws < MIN_DRAWS:
        return []
    return [_mixing(entries, np.asarray(fit.draws[entries.name])) for entries in entries_of(fit.model, fit.responses)]


def _mixing(entries: Entries, draws: Floats) -> Mixing:
    moves = np.ptp(draws, axis=(0, 1)) > 0 if draws.size else np.zeros(draws.shape[-1], dtype=bool)
    free = np.flatnonzero(moves & ~entries.fixed)
    out = np.full((4, len(entries.fixed)), np.nan)
    for begin in range(0, len(free), _CHUNK):
        these = free[begin : begin + _CHUNK]
        part = np.ascontiguousarray(np.moveaxis(draws[..., these], -1, 0), dtype=np.float64)
        out[:, these] = numbers(np.log(part) if entries.on_log_scale else part)
    if entries.discrete:  # orders have no tails, and no mean worth an error
        out[2:] = np.nan
    return Mixing(entries, out[0], out[1], out[2], out[3], ~moves & ~entries.fixed & (not entries.discrete))


def numbers(draws: Floats) -> Floats:
    """R-hat, bulk ESS, tail ESS and MCSE of the mean, (4, parameters), of draws (parameters, chains, draws)."""
    from arviz_stats.base.array import BaseArray

    stats: Any = BaseArray()
    halves = _split(draws)
    with np.errstate(all="ignore"):  # a chain that stands still divides by its variance of 0
        ranked = _normal_scores(halves)
        folded = _normal_scores(np.abs(halves - np.median(halves, axis=(1, 2), keepdims=True)))
        rhat = np.fmax(stats.rhat(ranked, method="identity"), stats.rhat(folded, method="identity"))
        tails = np.quantile(draws, TAILS, axis=(1, 2))[..., None, None]
        tail = [stats.ess(_split((draws <= at).astype(float)), method="identity") for at in tails]
        error = draws.std(axis=(1, 2), ddof=1) / np.sqrt(stats.ess(halves, method="identity"))
        bulk = stats.ess(ranked, method="identity")
    # 0 / 0: chains that never move, each at its own place.
    return np.stack([np.where(np.isnan(rhat), np.inf, rhat), bulk, np.minimum(*tail), error])


def _split(draws: Floats) -> Floats:
    """Every chain as two."""
    half = draws.shape[-1] // 2
    return np.concatenate([draws[..., :half], draws[..., -half:]], axis=1)


def _normal_scores(draws: Floats) -> Floats:
    """The normal quantiles of each parameter's ranks over all chains (Blom's offset)."""
    from scipy.stats import rankdata  # slow to import, and only draws need it

    rank = rankdata(draws.reshape(len(draws), -1), axis=-1)
    return np.asarray(ndtri((rank - 0.375) / (rank.shape[-1] + 0.25))).reshape(draws.shape)
