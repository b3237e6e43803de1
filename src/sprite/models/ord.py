"""ORD, the Bayesian ordinal probit model, with the order of the options given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sprite.core.layout import Layout
from sprite.models.base import Kind, Parameter, Prior, Start, check_settings
from sprite.models.intervals import IntervalModel, start_bounds
from sprite.models.order import ORDERS, Order, ranks


@dataclass(frozen=True)
class ORD(IntervalModel):
    """Ordered bins; `order` is where the ranks come from (see `models.order`), and ability rises with the rank."""

    order: Order = "given"
    prior: Prior = "default"
    nu_alpha: float = 4.0
    nu_gamma: float = 4.0
    mu_theta: float = 0.0
    nu_theta: float = 1.0

    name: ClassVar[str] = "ord"
    hyperparameters: ClassVar[tuple[str, ...]] = ("nu_alpha", "nu_gamma", "mu_theta", "nu_theta")

    def __post_init__(self) -> None:
        check_settings(self, ("nu_alpha", "nu_gamma", "nu_theta"), order=ORDERS)

    def parameters(self, layout: Layout) -> tuple[Parameter, ...]:
        """Difficulty and bounds; the order is held fixed."""
        fixed = ranks(layout, self.order).astype(float)
        return self.bounds_and_rank(layout, Parameter("rank", "option", layout.question, "permutation", fixed))

    def start(self, layout: Layout, kind: Start, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Bounds at the observed shares' normal quantiles; the order is an input, so only `random` differs."""
        return start_bounds(layout, ranks(layout, self.order), self.ability, kind, rng)

    def sample(self, layout: Layout, kind: Kind, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """From the prior; or an exam: the top option (the key) chosen by about half."""
        return self.sample_bounds(layout, kind, rng) | {"rank": ranks(layout, self.order)}
