"""Models whose options compete through a softmax of curves at most quadratic in ability."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sprite.core.layout import Layout
from sprite.core.types import Floats
from sprite.kernels.softmax import softmax_on_counts, softmax_pullback, softmax_table
from sprite.kernels.threads import run, split_evenly
from sprite.models.base import Gradients, Model, Values, batched, flat


@dataclass(frozen=True, eq=False)
class Curves:
    """Each row's logit: height + slope u + curve u^2, with u = ability - centre; all of one shape (..., rows)."""

    height: Floats
    slope: Floats
    curve: Floats
    centre: Floats


class SoftmaxModel(Model):
    """A model is then the map from its parameters to curves, and that map's pullback."""

    one_by_one: ClassVar[bool] = False
    """Whether each option's curve depends on parameters of that option alone, which nothing else constrains."""

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
        shape = (-1, layout.n_rows, len(nodes))
        of_logit = softmax_pullback(
            np.ascontiguousarray(table.reshape(shape)),
            np.ascontiguousarray(np.broadcast_to(weight, table.shape).reshape(shape)),
            layout.first,
        )
        return self._pull_logits(values, nodes, of_logit, self.curves(values, layout), layout)

    def on_counts(self, values: Values, nodes: Floats, counts: Floats, layout: Layout) -> tuple[Floats, Gradients]:
        """Log likelihood of each question given counts, and its gradient, without making the table."""
        curves = self.curves(values, layout)
        shape = curves.height.shape
        height, slope, curve, centre = map(flat, (curves.height, curves.slope, curves.curve, curves.centre))
        batches = len(height)
        nodes, counts = batched(nodes, counts, batches)
        value, of_curve = np.empty((batches, layout.n_questions)), np.empty((3, batches, layout.n_rows))

        def task(low: int, high: int) -> None:
            softmax_on_counts(height, slope, curve, centre, counts, layout.first, nodes, low, high, value, of_curve)

        run(task, split_evenly(batches, batches * counts[0].size))
        of_height, of_slope, of_bend = of_curve.reshape(3, *shape)
        gradient = self.pull_curves(values, Curves(of_height, of_slope, of_bend, curves.centre), layout)
        return value.reshape(*shape[:-1], layout.n_questions), gradient

    def _pull_logits(
        self, values: Values, nodes: Floats, of_logit: Floats, curves: Curves, layout: Layout
    ) -> Gradients:
        """From the gradient in the logits through its moments over the nodes to the parameters."""
        moments = of_logit @ np.vander(nodes, 3, increasing=True)
        s0, s1, s2 = (moments[..., power].reshape(curves.height.shape) for power in range(3))
        centre = curves.centre
        gradient = Curves(s0, s1 - centre * s0, s2 - centre * (2 * s1 - centre * s0), centre)
        return self.pull_curves(values, gradient, layout)
