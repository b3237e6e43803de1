"""The contract of an engine, and what engines share: the problem, and how progress is told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from sprite.data.responses import Responses
from sprite.density.grid import grid_for
from sprite.density.posterior import Posterior
from sprite.models.base import Model
from sprite.result.run import Mode, Run


class Progress(Protocol):
    """Told how far an engine has come; the command line draws a bar of it, the default does nothing."""

    def __call__(self, done: int, total: int, text: str) -> None:
        """`done` of `total` steps, with a few words such as the acceptance rate."""


def silent(done: int, total: int, text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be fitted."""

    responses: Responses
    model: Model
    mode: Mode | None = None
    """A mode that is known already: where learning the prior has ended."""

    def posterior(self, n_nodes: int) -> Posterior:
        """The collapsed posterior on a grid of this many nodes."""
        begin = None if self.mode is None else (self.mode.x, self.mode.ranks)
        return Posterior(self.responses, self.model, grid_for(self.model.ability, n_nodes), begin)


class Engine(ABC):
    """A frozen dataclass of settings with one method."""

    name: ClassVar[str]

    @abstractmethod
    def run(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Run:
        """Fit; the same rng state gives the same result. Ctrl-C gives what has been drawn, marked as interrupted."""
