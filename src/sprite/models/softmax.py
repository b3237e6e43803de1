"""Models whose options compete through a softmax of curves at most quadratic in ability."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from sprite.core.layout import Layout
from sprite.core.types import Floats
from sprite.kernels.softmax import softmax_on_counts, softmax_pullback, softmax_table
from sprite.models.base import Gradients, Model, Values, flat


@dataclass(frozen=True, eq=False)
class Curves:
    """Each row's logit: height + slope u + curve u^2, with u = ability - centre; all of one shape (..., rows)."""

    height: Floats
    slope: Floats
    curve: Floats
    centre: Floats


class SoftmaxModel(Model):
    """A model is then the map from its parameters to curves, and that map's pullback."""

    @abstractmethod
    def curves(self, values: Values, layout: Layout) -> Curves:
        """The curve of every row."""

    @abstractmethod
    def pull_curves(self, values: Values, gradient: Curves, layout: Layout) -> Gradients:
        """From the gradient in height, slope and curve (centre unused) to the gradient in the parameters."""

    def log_table(self, values: Values, nodes: Floats, layout: Layout) -> Floats:
        """Log P(option | ability) for every row at every node."""
        curves = self.curves(values, layout)
        table = softmax_table(
            flat(curves.height),
            flat(curves.slope),
            flat(curves.curve),
            flat(curves.centre),
            layout.first,
            nodes,
        )
        return np.asarray(table).reshape(*curves.height.shape, len(nodes))

    def pullback(self, values: Values, nodes: Floats, table: Floats, weight: Floats, layout: Layout) -> Gradients:
        """Gradient of sum(weight * log_table) in every parameter."""
        curves = self.curves(values, layout)
        shape = (-1, layout.n_rows, len(nodes))
        of = softmax_pullback(
            np.ascontiguousarray(table.reshape(shape)),
            np.ascontiguousarray(np.broadcast_to(weight, table.shape).reshape(shape)),
            flat(curves.centre),
            layout.first,
            nodes,
        )
        height, slope, curve = (part.reshape(curves.height.shape) for part in of)
        return self.pull_curves(values, Curves(height, slope, curve, curves.centre), layout)

    def on_counts(self, values: Values, nodes: Floats, counts: Floats, layout: Layout) -> tuple[Floats, Gradients]:
        """Log likelihood of each question given counts, and its gradient, without making the table."""
        curves = self.curves(values, layout)
        shape = curves.height.shape
        value, *of = softmax_on_counts(
            flat(curves.height),
            flat(curves.slope),
            flat(curves.curve),
            flat(curves.centre),
            np.ascontiguousarray(np.broadcast_to(counts, (*shape, len(nodes))).reshape(-1, shape[-1], len(nodes))),
            layout.first,
            nodes,
        )
        height, slope, curve = (part.reshape(shape) for part in of)
        gradient = self.pull_curves(values, Curves(height, slope, curve, curves.centre), layout)
        return value.reshape(*shape[:-1], layout.n_questions), gradient
