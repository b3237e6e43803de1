"""`Fit`: everything that came out of a fit, whatever the engine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sprite.core.errors import SpriteError
from sprite.core.types import Floats, Ints, frozen
from sprite.data.responses import Responses
from sprite.density.grid import Grid, doubled, grid_for
from sprite.density.packing import Packing
from sprite.density.posterior import Posterior
from sprite.models.base import Model
from sprite.result.abilities import posterior_moments
from sprite.result.diagnostics import Diagnostics, diagnose, diagnostics_frame
from sprite.result.methods import Analyses
from sprite.result.mixing import Mixing, mixing
from sprite.result.run import Mode
from sprite.result.summary import summary_frame
from sprite.result.words import as_html, as_text

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, eq=False)
class Fit(Analyses):
    """A fitted model, with the responses it was made from and how it came about. It never changes."""

    responses: Responses
    model: Model
    engine: str
    """The engine's name."""
    settings: Mapping[str, Any]
    """The engine's settings."""
    seed: int
    kind: str
    """`posterior`: draws of the posterior. `laplace`: an estimate, and draws of the normal approximation around it."""
    x: Floats
    """Draws on the unconstrained scale, (chain, draw, free parameters), aligned; see `draws` for the natural scale."""
    ranks: Mapping[str, Ints]
    """Draws of the orders that are free, (chain, draw, rows)."""
    point: Floats
    """The estimate on the unconstrained scale: the mode, or the mean of the draws."""
    point_ranks: Mapping[str, Ints]
    """The estimated orders: those of the mode, or each question's most frequent one."""
    covariance: Floats | None
    """Of `point`, where the engine computed it."""
    refusal: str
    """Why there is no covariance."""
    modes: tuple[Mode, ...]
    """The modes found, best first."""
    stats: Mapping[str, NDArray[Any]]
    """What the engine noted for every chain and draw."""
    messages: tuple[str, ...]
    interrupted: bool
    n_nodes: int
    """Nodes of the ability grid that passed its own check."""
    reach: float
    """Standard deviations of ability that this grid spans to either side."""
    grid_error: float
    """By how much the log likelihood moved on a finer or a wider grid."""
    orientation: str
    """The rule that decided which way ability points."""
    seconds: float
    versions: Mapping[str, str]
    created: str
    """When, in UTC."""

    def __post_init__(self) -> None:
        arrays = (self.x, self.point, self.covariance, *self.ranks.values(), *self.point_ranks.values())
        for array in (*arrays, *self.stats.values()):
            if array is not None:
                frozen(array)

    # --- sizes and values ------------------------------------------------------------------------------------

    @property
    def n_chains(self) -> int:
        """Number of chains."""
        return int(self.x.shape[0])

    @property
    def n_draws(self) -> int:
        """Draws in each chain."""
        return int(self.x.shape[1])

    @property
    def n_parameters(self) -> int:
        """Free continuous parameters; anchored values and orders are not counted."""
        return self.packing.n_free

    @property
    def learned(self) -> dict[str, float]:
        """The hyperparameters that were learned from the answers, by name; none unless the prior is `"learned"`."""
        names = self.model.learnable if self.model.prior == "learned" else ()
        return {name: float(getattr(self.model, name)) for name in names}

    @cached_property
    def packing(self) -> Packing:
        """Between the unconstrained and the natural scale."""
        return Packing(self.model, self.responses.layout)

    @cached_property
    def values(self) -> dict[str, NDArray[np.generic]]:
        """The estimate on the natural scale: entries by row, question or step, by parameter name."""
        return self.packing.unpack(self.point, self.point_ranks)

    @cached_property
    def draws(self) -> dict[str, NDArray[np.generic]]:
        """The draws on the natural scale: (chain, draw, entries) by parameter name."""
        shape = self.x.shape[:2]
        return {
            name: np.broadcast_to(value, (*shape, value.shape[-1]))
            for name, value in self.packing.unpack(self.x, self.ranks).items()
        }

    @cached_property
    def grid(self) -> Grid:
        """The ability grid that passed its own check."""
        return grid_for(self.model.ability, self.n_nodes, self.reach)

    def table(self, x: Floats | None = None, ranks: Mapping[str, Ints] | None = None) -> Floats:
        """Log P(option | ability) on the fit's grid, (rows, nodes), at the estimate or at a given draw."""
        at, order = (self.point, self.point_ranks) if x is None else (x, ranks)
        return self.model.log_table(self.packing.unpack(at, order), self.grid.nodes, self.responses.layout)

    @cached_property
    def log_likelihood(self) -> float:
        """Marginal log likelihood of the estimate, on a grid twice as fine as the one it was fitted on."""
        fine = doubled(self.grid, self.model.ability)
        posterior = Posterior(self.responses, self.model, fine)
        return float(posterior.log_likelihoods(self.point, self.point_ranks).sum())

    def standard_errors(self) -> dict[str, Floats]:
        """Standard errors on the natural scale by the delta method; 0 where a value is anchored.

        Raises `SpriteError` with the reason where there are none.
        """
        jacobian = self.packing.jacobian(self.point)
        if self.covariance is not None:
            variance = jacobian.multiply(jacobian @ self.covariance).sum(axis=1)
        elif self.kind == "posterior" and self.x.size:
            away = (self.x - self.point).reshape(-1, self.n_parameters)
            variance = np.mean(np.asarray(jacobian @ away.T) ** 2, axis=1)
        else:
            raise SpriteError(f"there are no standard errors: {self.refusal or 'nothing was drawn'}")
        sizes = [len(p.question) for p in self.packing.continuous]
        parts = np.split(np.sqrt(np.asarray(variance).ravel()), np.cumsum(sizes)[:-1])
        return {p.name: part for p, part in zip(self.packing.continuous, parts, strict=True)}

    # --- abilities -------------------------------------------------------------------------------------------

    def ability_moments(self) -> tuple[Floats, Floats, Floats]:
        """Posterior mean, standard deviation and mode of each respondent's ability."""
        mean, mode, sd, *_ = self._ability_posteriors
        return mean, sd, mode

    def ability_posteriors(self) -> Floats:
        """Posterior mean, mode, standard deviation, 5 % and 95 % quantile of each respondent's ability: five lines."""
        return self._ability_posteriors

    @cached_property
    def _ability_posteriors(self) -> Floats:
        found = posterior_moments(self, self.responses.start, self.responses.row)
        frozen(found)
        return found

    # --- what to think of it ---------------------------------------------------------------------------------

    @cached_property
    def diagnostics(self) -> Diagnostics:
        """Whether to trust it, in numbers and in words."""
        return diagnose(self)

    @cached_property
    def mixing(self) -> list[Mixing]:
        """R-hat and its company by parameter, computed once."""
        return mixing(self)

    def diagnostics_table(self) -> pd.DataFrame:
        """R-hat, effective sample sizes and Monte Carlo error of every free parameter (variances as logarithms)."""
        return diagnostics_frame(self)

    def summary(self) -> pd.DataFrame:
        """One line a parameter.

        question, option, step
            What it belongs to, as you wrote it; `step` is the rank (0 = lowest) that a step or bound leads up to.
        parameter
            Its name in the model.
        estimate
            The mode, or of draws the mean; the median for positive parameters, whose mean may be infinite, and the
            most frequent order for ranks.
        sd
            Standard error or posterior deviation; for positive parameters the estimate times that of the logarithm.
            NaN where it was refused, and for orders that a search has found.
        lower, upper
            Ends of the central 90 % interval.
        fixed
            Whether it is anchored or an input.
        rhat, ess_bulk, ess_tail, mcse
            Of draws of the posterior only: see `diagnostics_table`; mcse is that of the estimate.

        Learned hyperparameters are in its `attrs["learned"]`.
        """
        return summary_frame(self)

    # --- out -------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one netCDF file; `sprite.load` reads it back."""
        from sprite.result.storage import save

        save(self, path)

    def to_arviz(self) -> xr.DataTree:
        """An xarray DataTree as arviz-stats and arviz-plots take it."""
        from sprite.result.arviz import to_arviz

        return to_arviz(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)
