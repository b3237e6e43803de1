"""All free parameters of a model as one unconstrained vector, a question's entries side by side.

Every constraint is the same map: entries that must be positive are exponentiated, then a sparse matrix A takes them to
the natural scale, and anchored values are added: natural = A u + fixed, u = exp(x) or x. For `increasing` A sums the
increments, for `zero_sum` it is an orthonormal basis of the plane, otherwise it only picks places; its determinant is
1 in each case, so the log Jacobian is the sum of the exponentiated x.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sprite.core.layout import Layout
from sprite.core.types import Bools, Floats, Ints
from sprite.kernels.blocks import sum_runs
from sprite.models.base import Model, Parameter, Values, flat

_FAR = 300.0


class Packing:
    """Between a model's named values and the vector x; x has shape (..., n_free)."""

    def __init__(self, model: Model, layout: Layout) -> None:
        everything = model.parameters(layout)
        self.continuous = tuple(p for p in everything if p.constraint != "permutation")
        self.discrete = tuple(p for p in everything if p.constraint == "permutation")
        self.n_questions = layout.n_questions
        blocks = [_block(parameter) for parameter in self.continuous]
        sizes = [len(p.question) for p in self.continuous]
        self._slices = dict(zip((p.name for p in self.continuous), _slices(sizes), strict=True))
        matrix = sparse.block_diag([block for block, _ in blocks], format="csc")
        question = np.concatenate([owner for _, owner in blocks])
        # Free entries side by side by question, so that a question's conditional is one slice of x.
        order = np.argsort(question, kind="stable")
        self.question: Ints = question[order]
        """The question of each entry of x."""
        self.first: Ints = np.searchsorted(self.question, np.arange(layout.n_questions + 1))
        """Where each question's entries begin in x."""
        self.rows: Ints = np.concatenate(
            [_rows(p, block.shape[1]) for (block, _), p in zip(blocks, self.continuous, strict=True)]
        )[order]
        """The row that each entry of x belongs to alone; -1 where it belongs to a whole question or mixes options."""
        self._matrix = matrix[:, order].tocsr()
        self._transposed = self._matrix.T.tocsr()
        positive = [
            np.full(block.shape[1], p.constraint in ("positive", "increasing"))
            for (block, _), p in zip(blocks, self.continuous, strict=True)
        ]
        self.exponentiated: Bools = np.concatenate(positive)[order]
        self._exp_at = np.flatnonzero(self.exponentiated)
        # Where no constraint mixes entries, A only picks places, and indexing does it faster.
        plain = all(p.constraint in ("real", "positive") for p in self.continuous)
        self._picked = self._matrix.tocsc().indices if plain else None
        self._fixed = np.concatenate(
            [
                np.zeros(n) if p.fixed is None else np.nan_to_num(p.fixed)
                for p, n in zip(self.continuous, sizes, strict=True)
            ]
        )
        self.fixed_ranks: dict[str, Ints] = {
            p.name: p.fixed.astype(np.int64) for p in self.discrete if p.fixed is not None
        }

    @property
    def n_free(self) -> int:
        """Length of x."""
        return len(self.question)

    def unpack(self, x: Floats, ranks: Mapping[str, Ints] | None = None) -> dict[str, NDArray[np.generic]]:
        """Natural values of every parameter; free orders must be given."""
        u = x.copy()
        u[..., self._exp_at] = self._exp(x)
        if self._picked is None:
            natural = _apply(self._matrix, u) + self._fixed
        else:
            natural = np.broadcast_to(self._fixed, (*x.shape[:-1], len(self._fixed))).copy()
            natural[..., self._picked] = u
        values: dict[str, NDArray[np.generic]] = {name: natural[..., part] for name, part in self._slices.items()}
        return values | self.fixed_ranks | dict(ranks or {})

    def pack(self, values: Values) -> Floats:
        """The vector of these natural values."""
        natural = np.concatenate([np.asarray(values[p.name], float) for p in self.continuous], axis=-1)
        free = natural - self._fixed
        # A has orthonormal or unit triangular columns; on its range, increments undo sums and the rest is A^T.
        for p in self.continuous:
            if p.constraint == "increasing":
                part = self._slices[p.name]
                free[..., part] = _increments(natural[..., part], p.question)
        u = _apply(self._inverse, free) if self._picked is None else free[..., self._picked]
        return np.where(self.exponentiated, np.log(np.where(self.exponentiated, u, 1.0)), u)

    def pull(self, gradients: Mapping[str, Floats], x: Floats) -> Floats:
        """From the gradient on the natural scale to the gradient in x, the Jacobian left aside."""
        natural = np.concatenate([gradients[p.name] for p in self.continuous], axis=-1)
        of_u = _apply(self._transposed, natural) if self._picked is None else natural[..., self._picked]
        of_u[..., self._exp_at] *= self._exp(x)
        return np.asarray(of_u)

    def jacobian(self, x: Floats) -> sparse.csr_array:
        """d natural / d x at one x; lines are the entries of `continuous`, one parameter after the other."""
        scale = np.exp(np.clip(np.where(self.exponentiated, x, 0.0), -_FAR, _FAR))
        return sparse.csr_array(self._matrix @ sparse.diags_array(scale))

    def _exp(self, x: Floats) -> Floats:
        # A line search may try anything; within these bounds every table and prior stays finite.
        return np.asarray(np.exp(np.clip(x[..., self._exp_at], -_FAR, _FAR)))

    def log_jacobian(self, x: Floats) -> Floats:
        """Log |d natural / d x| of each question, shape (..., Q); its gradient is 1 where exponentiated."""
        return self.sum_by_question(np.where(self.exponentiated, np.clip(x, -_FAR, _FAR), 0.0))

    def sum_by_question(self, entries: Floats) -> Floats:
        """Sum the entries of each question."""
        total = sum_runs(flat(entries), self.first)
        return np.asarray(total).reshape(*entries.shape[:-1], self.n_questions)

    @cached_property
    def _inverse(self) -> sparse.csr_array:
        """A^T with the summing matrices replaced by what merely picks places."""
        blocks = [_picking(p) if p.constraint == "increasing" else _block(p)[0] for p in self.continuous]
        owners = np.concatenate([_block(p)[1] for p in self.continuous])
        return sparse.csr_array(sparse.block_diag(blocks, format="csc")[:, np.argsort(owners, kind="stable")].T)


def _block(parameter: Parameter) -> tuple[sparse.csc_array, Ints]:
    """The matrix from a parameter's free coordinates to its entries, and the question of each coordinate."""
    question = parameter.question
    if parameter.constraint == "zero_sum":
        sizes = np.bincount(question, minlength=1)
        bases = [_plane(int(m)) for m in sizes if m > 0]
        owner = np.repeat(np.flatnonzero(sizes), sizes[sizes > 0] - 1)
        return sparse.csc_array(sparse.block_diag(bases) if bases else (0, 0)), owner
    if parameter.constraint == "increasing":
        return _summing(question), question
    return _picking(parameter), question[_free(parameter)]


def _rows(parameter: Parameter, size: int) -> Ints:
    if parameter.dim == "option" and parameter.constraint in ("real", "positive"):
        return _free(parameter)
    return np.full(size, -1)


def _summing(question: Ints) -> sparse.csc_array:
    """Ones where an entry is summed into another of its question, itself or a later one."""
    n = len(question)
    end = np.searchsorted(question, question, side="right")
    size = end - np.arange(n)
    start = np.concatenate([[0], np.cumsum(size)])
    into = np.arange(start[-1]) - np.repeat(start[:-1] - np.arange(n), size)
    return sparse.csc_array((np.ones(len(into)), into, start), shape=(n, n))


def _picking(parameter: Parameter) -> sparse.csc_array:
    free = _free(parameter)
    shape = (len(parameter.question), len(free))
    return sparse.csc_array((np.ones(len(free)), (free, np.arange(len(free)))), shape=shape)


def _free(parameter: Parameter) -> Ints:
    if parameter.fixed is None:
        return np.arange(len(parameter.question))
    return np.flatnonzero(np.isnan(parameter.fixed))


def _plane(size: int) -> Floats:
    """Orthonormal columns that span the vectors of `size` entries with sum zero (Helmert)."""
    k = np.arange(1, size)
    basis = np.where(np.arange(size)[:, None] < k, 1.0, 0.0)
    basis[k, k - 1] = -k
    return np.asarray(basis / np.sqrt(k * (k + 1)))


def _increments(values: Floats, question: Ints) -> Floats:
    """Differences within each question, the first against 0."""
    before = np.concatenate([np.zeros((*values.shape[:-1], 1)), values[..., :-1]], axis=-1)
    new = np.concatenate([[True], question[1:] != question[:-1]]) if len(question) else np.zeros(0, dtype=bool)
    return np.asarray(values - np.where(new, 0.0, before))


def _apply(matrix: sparse.csr_array, vectors: Floats) -> Floats:
    """The matrix times each vector along the last axis."""
    columns = vectors.reshape(-1, vectors.shape[-1]).T
    return np.asarray((matrix @ columns).T).reshape(*vectors.shape[:-1], matrix.shape[0])


def _slices(sizes: list[int]) -> list[slice]:
    ends = np.cumsum(sizes)
    return [slice(int(end) - size, int(end)) for size, end in zip(sizes, ends, strict=True)]
