"""Each question's own curvature: the Hessian of its conditional given counts, whitening and draws in its metric.

Blocks are padded to the longest question: shape (..., Q, D) for vectors and (..., Q, D, D) for matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sprite.core.types import Bools, Floats, Ints
from sprite.density.packing import Packing
from sprite.density.posterior import Conditionals, Posterior, Ranks
from sprite.kernels.blocks import multiply_runs
from sprite.models.base import flat

STEP = 1e-4


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where the entries of x lie in padded blocks."""

    place: Ints
    """Position within its question of each entry of x."""
    question: Ints
    first: Ints
    """Where each question's entries begin in x."""
    size: int
    """Entries of the longest question (at least 1)."""

    @classmethod
    def of(cls, packing: Packing) -> Blocks:
        """The blocks of a packing."""
        place = np.arange(packing.n_free) - packing.first[packing.question]
        return cls(place, packing.question, packing.first, int(place.max(initial=0)) + 1)

    @property
    def n_questions(self) -> int:
        """Number of questions, those without free entries included."""
        return len(self.first) - 1

    def spread(self, x: Floats) -> Floats:
        """Vectors (..., n_free) as blocks, zero in the padding."""
        out = np.zeros((*x.shape[:-1], self.n_questions, self.size))
        out[..., self.question, self.place] = x
        return out

    def gather(self, blocks: Floats) -> Floats:
        """Blocks as vectors (..., n_free)."""
        return np.asarray(blocks[..., self.question, self.place])


@dataclass(frozen=True, eq=False)
class Metric:
    """A symmetric positive definite matrix for each question: precision = L L^T."""

    blocks: Blocks
    factor: Floats
    """L, lower triangular, (Q, D, D)."""
    inverse: Floats
    """The inverse of L."""

    def whiten(self, x: Floats) -> Floats:
        """L^T x: coordinates in which this precision is the identity."""
        return self._times(self.factor, x, transposed=True)

    def unwhiten(self, y: Floats) -> Floats:
        """The x of these coordinates; standard normal y gives draws with this precision."""
        return self._times(self.inverse, y, transposed=True)

    def pull(self, gradient: Floats) -> Floats:
        """A gradient in x as one in y."""
        return self._times(self.inverse, gradient, transposed=False)

    def only(self, questions: Bools, blocks: Blocks) -> Metric:
        """Those of these questions, whose blocks by themselves are given."""
        part = (questions, slice(blocks.size), slice(blocks.size))
        return Metric(blocks, np.ascontiguousarray(self.factor[part]), np.ascontiguousarray(self.inverse[part]))

    def _times(self, matrix: Floats, x: Floats, transposed: bool) -> Floats:
        batches = flat(x)
        return np.asarray(multiply_runs(matrix, batches, self.blocks.first, transposed)).reshape(x.shape)


def curvature(
    conditionals: Conditionals,
    blocks: Blocks,
    x: Floats,
    counts: Floats,
    ranks: Mapping[str, NDArray[np.generic]] | None = None,
) -> Floats:
    """Minus the Hessian of every question's conditional given counts, by central differences of the gradient.

    One entry of every question is moved at once, so this takes 2 D evaluations whatever the number of questions.
    """
    shift = STEP * (blocks.place == np.arange(blocks.size)[:, None])
    moved = np.concatenate([x + shift, x - shift])
    values = conditionals.packing.unpack(moved, ranks)  # type: ignore[arg-type]
    _, gradient = conditionals.on_counts(moved, counts, values)
    up, down = np.split(blocks.spread(gradient), 2)
    hessian = np.moveaxis((down - up) / (2 * STEP), 0, -1)
    return np.asarray(0.5 * (hessian + np.swapaxes(hessian, -1, -2)))


def metric_of(blocks: Blocks, precision: Floats, least: float = 1e-2) -> Metric:
    """A metric from curvatures: eigenvalues by absolute value and at least `least`, the padding an identity."""
    size = np.bincount(blocks.question, minlength=blocks.n_questions)
    padding = np.arange(blocks.size) >= size[:, None]
    matrix = precision.copy()
    matrix[padding[:, :, None] & padding[:, None, :] & np.eye(blocks.size, dtype=bool)] = 1.0
    value, vector = np.linalg.eigh(matrix)
    fixed = np.einsum("qij,qj,qkj->qik", vector, np.maximum(np.abs(value), least), vector)
    factor = np.linalg.cholesky(fixed)
    return Metric(blocks, factor, np.linalg.inv(factor))


def metric_at(posterior: Posterior, x: Floats, ranks: Ranks, least: float = 1e-2) -> Metric:
    """Each question's curvature at an x, given the expected counts there."""
    blocks = Blocks.of(posterior.packing)
    return metric_of(blocks, curvature(posterior, blocks, x, posterior.counts(x, ranks), ranks), least)
