"""Sums and products over ragged runs of entries, a run a question: too small for NumPy calls of their own."""

from __future__ import annotations

import numba
import numpy as np

from sprite.core.types import Floats, Ints
from sprite.kernels.interrupts import interruptible


@interruptible
@numba.njit(cache=True, nogil=True, error_model="numpy")
def sum_runs(values: Floats, first: Ints) -> Floats:
    """Sum of each run, (batches, entries) -> (batches, runs)."""
    batches = values.shape[0]
    out = np.zeros((batches, len(first) - 1))
    for b in range(batches):
        for j in range(len(first) - 1):
            for i in range(first[j], first[j + 1]):
                out[b, j] += values[b, i]
    return out


@interruptible
@numba.njit(cache=True, nogil=True, error_model="numpy")
def multiply_runs(matrix: Floats, vectors: Floats, first: Ints, transposed: bool) -> Floats:
    """Each run times its own matrix (or its transpose), of which the leading part as long as the run counts."""
    out = np.zeros_like(vectors)
    for b in range(vectors.shape[0]):
        for j in range(len(first) - 1):
            begin = first[j]
            size = first[j + 1] - begin
            for i in range(size):
                s = 0.0
                for k in range(size):
                    s += (matrix[j, k, i] if transposed else matrix[j, i, k]) * vectors[b, begin + k]
                out[b, begin + i] = s
    return out
