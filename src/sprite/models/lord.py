"""LORD: ordered bins as in ORD, with the order of the options learned from the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sprite.core.layout import Layout
from sprite.models.base import Kind, Parameter, Prior, Start, check_settings
from sprite.models.intervals import IntervalModel, start_bounds
from sprite.models.order import random_ranks, ranks
from sprite.models.ranges import Ranges


@dataclass(frozen=True)
class LORD(IntervalModel):
    """ORD with a free permutation `rank` of each question's options, every order equally likely beforehand.

    The paper prints gamma^{pi(y-1)} for the lower bound; probabilities sum to one only with gamma^{pi(y)-1}, which is
    what this is.
    """

    prior: Prior = "default"
    nu_alpha: float = 4.0
    nu_gamma: float = 4.0
    mu_theta: float = 0.0
    nu_theta: float = 1.0

    name: ClassVar[str] = "lord"
    hyperparameters: ClassVar[tuple[str, ...]] = ("nu_alpha", "nu_gamma", "mu_theta", "nu_theta")

    def __post_init__(self) -> None:
        check_settings(self, ("nu_alpha", "nu_gamma", "nu_theta"))

    @property
    def learnable(self) -> Ranges:
        """Not nu_gamma: what is learned is learned with the orders held at the best ones found.

        Those put options nobody chose beyond all respondents, and the bounds that this takes would pass for spread.
        """
        return {name: ends for name, ends in super().learnable.items() if name != "nu_gamma"}

    def parameters(self, layout: Layout) -> tuple[Parameter, ...]:
        """Difficulty, bounds and order, all free."""
        return self.bounds_and_rank(layout, Parameter("rank", "option", layout.question, "permutation"))

    def start(self, layout: Layout, kind: Start, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """From the order of mean rest score, options nobody chose on top; or from a random one.

        Bounds reach further up than down under their prior, and a search gets from options at the bottom to options on
        top only through places that are worse.
        """
        score = np.where(layout.count > 0, layout.score, np.inf)
        on_top = replace(layout, score=score, count=np.ones_like(layout.count))
        rank = random_ranks(layout, rng) if kind == "random" else ranks(on_top, "empirical")
        return start_bounds(layout, rank, self.ability, kind, rng)

    def sample(self, layout: Layout, kind: Kind, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Bounds as ORD's; the order uniform, or for an exam with the key on top."""
        on_top = layout.correct if kind == "exam" else None
        return self.sample_bounds(layout, kind, rng) | {"rank": random_ranks(layout, rng, on_top)}
