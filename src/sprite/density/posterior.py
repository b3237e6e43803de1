"""The collapsed posterior: ability integrated out on the grid, the free parameters as one unconstrained vector."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sprite.core.layout import Layout
from sprite.core.types import Bools, Floats, Ints
from sprite.data.responses import Responses
from sprite.density.grid import Grid, grid_for
from sprite.density.packing import Packing
from sprite.kernels.passes import expected_counts, log_likelihood
from sprite.models.base import Model

Ranks = Mapping[str, Ints]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Value and gradient of the log posterior at one x, with the log likelihood apart."""

    value: float
    gradient: Floats
    log_likelihood: float


class Conditionals:
    """Log density of each question's free parameters given counts of its answers at the nodes, up to a constant."""

    def __init__(self, model: Model, layout: Layout, grid: Grid) -> None:
        self.model, self.layout, self.grid = model, layout, grid
        self.packing = Packing(model, layout)

    def on_counts(
        self, x: Floats, counts: Floats, values: Mapping[str, NDArray[np.generic]], nodes: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Each question's log conditional density given counts of its answers at the nodes, and the gradient in x.

        `values` are the natural values of x; `nodes` those of the grid, or (..., nodes) of every batch. From x
        (..., n_free) and counts (..., rows, nodes) to (..., Q) and (..., n_free).
        """
        at = self.grid.nodes if nodes is None else nodes
        likelihood, pulled = self.model.on_counts(values, at, counts, self.layout)
        prior, of_prior = self.log_prior(x, values)
        return likelihood + prior, self.packing.pull(pulled, x) + of_prior

    def log_prior(self, x: Floats, values: Mapping[str, NDArray[np.generic]]) -> tuple[Floats, Floats]:
        """Log prior density in x of each question, Jacobian included, and its gradient."""
        if self.model.prior is None:
            return np.zeros((*x.shape[:-1], self.packing.n_questions)), np.zeros_like(x)
        density, gradient = self.model.log_prior(values, self.layout)
        return (
            density + self.packing.log_jacobian(x),
            self.packing.pull(gradient, x) + self.packing.exponentiated,
        )

    def only(self, questions: Bools) -> tuple[Conditionals, Ints, Ints]:
        """Those of these questions, and where their rows and their entries of x lie in the whole."""
        layout, rows = self.layout.only(questions)
        return Conditionals(self.model, layout, self.grid), rows, np.flatnonzero(questions[self.packing.question])


class Posterior(Conditionals):
    """Log density of the free parameters given the responses, up to a constant.

    With a prior it is a density on the unconstrained scale, Jacobian included: what samplers draw from and what the
    mode and its curvature belong to. With `prior=None` it is the log likelihood alone.
    """

    def __init__(
        self, responses: Responses, model: Model, grid: Grid, begin: tuple[Floats, Ranks] | None = None
    ) -> None:
        super().__init__(model, responses.layout, grid)
        self.responses = responses
        self.begin = begin
        """An x, and orders, that searches for modes begin from besides the model's own starts."""

    def under(self, model: Model) -> Posterior:
        """The same answers and parameters under other hyperparameters, on a grid of as many nodes."""
        other = self.on(grid_for(model.ability, self.grid.n_nodes, self.grid.reach))
        other.model = model
        return other

    def on(self, grid: Grid) -> Posterior:
        """The same on another grid."""
        other = copy(self)
        other.grid = grid
        return other

    def table(self, x: Floats, ranks: Ranks | None = None) -> Floats:
        """Log P(option | ability) on the grid."""
        return self.model.log_table(self.packing.unpack(x, ranks), self.grid.nodes, self.layout)

    def log_likelihoods(self, x: Floats, ranks: Ranks | None = None) -> Floats:
        """Marginal log likelihood of each respondent."""
        return log_likelihood(self.responses.start, self.responses.row, self.table(x, ranks), self.grid.log_weight)

    def counts(self, x: Floats, ranks: Ranks | None = None) -> Floats:
        """Expected number of choosers of each row at each node, (rows, nodes)."""
        data = self.responses
        return expected_counts(data.start, data.row, self.table(x, ranks), self.grid.log_weight)[1]

    def evaluate(self, x: Floats, ranks: Ranks | None = None) -> Evaluation:
        """Value and gradient; Fisher's identity turns expected counts into the gradient."""
        values = self.packing.unpack(x, ranks)
        table = self.model.log_table(values, self.grid.nodes, self.layout)
        each, counts = expected_counts(self.responses.start, self.responses.row, table, self.grid.log_weight)
        likelihood = float(each.sum())
        pulled = self.model.pullback(values, self.grid.nodes, table, counts, self.layout)
        prior, of_prior = self.log_prior(x, values)
        return Evaluation(likelihood + float(prior.sum()), self.packing.pull(pulled, x) + of_prior, likelihood)
