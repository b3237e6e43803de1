"""PSIS-LOO by respondent: how well a fit predicts all answers of a respondent it has not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sprite.core.errors import InputError
from sprite.core.types import Floats, Ints
from sprite.kernels.passes import log_likelihood
from sprite.result.abilities import blocks, tables
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 500
"""Draws used, evenly spaced over all chains."""


@dataclass(frozen=True, eq=False)
class Pointwise:
    """By respondent; zero for those who answered nothing, whom every model predicts alike."""

    elpd: Floats
    p_loo: Floats
    k: Floats
    n_draws: int

    @property
    def limit(self) -> float:
        """The largest Pareto k that can be relied on with this many draws."""
        return min(1.0 - 1.0 / math.log10(max(self.n_draws, 11)), 0.7)

    @property
    def k_bad(self) -> int:
        """Respondents whose estimate cannot be relied on."""
        return int(np.sum(~(self.k <= self.limit)))

    @property
    def se(self) -> float:
        """Standard error of the sum."""
        return standard_error(self.elpd)


def loo(fit: Fit) -> pd.DataFrame:
    """One row: expected log predictive density of a respondent left out, by Pareto-smoothed importance sampling.

    model
        Its name.
    elpd, se
        Sum over respondents of the log probability (natural logarithm) of all their answers given everybody else's,
        ability integrated out, and its standard error. Larger is better.
    p_loo
        Effective number of parameters.
    k_bad
        Respondents whose Pareto k is too large for the estimate to be relied on.
    n, n_draws
        Respondents, and draws used (at most 500, evenly spaced).
    message
        What to make of the Pareto k.

    Needs draws of the posterior: refused for EM fits.
    """
    import pandas as pd

    return pd.DataFrame([{"model": fit.model.name, **summary(pointwise(fit))}])


def summary(found: Pointwise) -> dict[str, object]:
    """The row of `loo` but for the model."""
    return {
        "elpd": float(found.elpd.sum()),
        "se": found.se,
        "p_loo": float(found.p_loo.sum()),
        "k_bad": found.k_bad,
        "n": len(found.elpd),
        "n_draws": found.n_draws,
        "message": in_words(found),
    }


def pointwise(fit: Fit) -> Pointwise:
    """Leave-one-respondent-out log predictive densities."""
    from arviz_stats.base.array import BaseArray

    array_stats: Any = BaseArray()
    if fit.kind != "posterior" or fit.n_chains * fit.n_draws < 4:
        why = (
            "a fit by EM has draws of a normal approximation around the estimate, and leaving a respondent out by "
            "importance weights needs draws of the posterior"
            if fit.kind != "posterior"
            else "it has too few draws"
        )
        raise InputError(
            f"there is no LOO of this fit: {why}",
            found=f"engine {fit.engine}",
            remedy='Fit with Gibbs() or NUTS(), or use compare(..., method="puncture")',
        )
    which = _evenly(fit)
    shape = which.shape
    answered = np.diff(fit.responses.start) > 0
    people = fit.responses.n_respondents
    elpd, p_loo, k = np.zeros(people), np.zeros(people), np.full(people, -np.inf)
    for low, high in blocks(people, 64):
        some = answered[low:high]
        if not some.any():
            continue
        values = _log_likelihoods(fit, which.ravel(), low, high)[:, some].reshape(*shape, -1)
        ess = array_stats.ess(values, chain_axis=0, draw_axis=1, method="mean")
        relative = float(np.clip(np.nanmedian(ess) / which.size, 1.0 / which.size, 1.0))
        at = low + np.flatnonzero(some)
        elpd[at], k[at], p_loo[at] = array_stats.loo(values, chain_axis=0, draw_axis=1, r_eff=relative)
    return Pointwise(elpd, p_loo, k, which.size)


def standard_error(values: Floats) -> float:
    """Of a sum of independent parts."""
    return float(np.sqrt(len(values) * values.var(ddof=1))) if len(values) > 1 else float("nan")


def in_words(found: Pointwise) -> str:
    """What to make of the Pareto k."""
    if not found.k_bad:
        return f"every Pareto k is at most {found.limit:.2f}: the estimate can be relied on"
    return (
        f"{found.k_bad} of {len(found.k)} respondents have a Pareto k above {found.limit:.2f}: leaving one of them out "
        "would move the posterior too far for importance weights, so elpd is uncertain and probably too high. Look at "
        'these respondents, draw more, or use method="puncture"'
    )


def _evenly(fit: Fit) -> Ints:
    """Draws of every chain, evenly spaced, (chains, draws): chains stay apart for their effective sample size."""
    each = max(1, min(fit.n_draws, DRAWS // fit.n_chains))
    within = np.linspace(0, fit.n_draws - 1, each).round().astype(np.int64)
    return np.arange(fit.n_chains)[:, None] * fit.n_draws + within


def _log_likelihoods(fit: Fit, which: np.ndarray[tuple[int], np.dtype[np.int64]], low: int, high: int) -> Floats:
    """Marginal log likelihood of some respondents at these draws, (draws, respondents)."""
    grid = fit.grid
    start = fit.responses.start[low : high + 1]
    return np.stack([log_likelihood(start, fit.responses.row, table, grid.log_weight) for table in tables(fit, which)])
