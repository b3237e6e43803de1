"""One respondent on the grid: the steps that every pass shares."""

from __future__ import annotations

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.vexp import vexp

NEGLIGIBLE = 39.5
"""A node this far below the largest log posterior has less than 1e-17 of its weight: nothing in float64."""


def inputs(start: Ints, row: Rows, table: Floats, log_weight: Floats) -> tuple[Ints, Rows, Floats, Floats]:
    """The arrays as the kernels take them: of one type each, contiguous and read-only, so as to compile once."""
    start = np.ascontiguousarray(start, dtype=np.int64)
    row = np.ascontiguousarray(row, dtype=np.int32)
    table = np.ascontiguousarray(table, dtype=np.float64)
    log_weight = np.ascontiguousarray(log_weight, dtype=np.float64)
    if table.ndim != 2 or table.shape[1:] != log_weight.shape:
        raise ValueError(f"a table of {table.shape} does not fit {log_weight.shape} log weights")
    return _fixed(start), _fixed(row), _fixed(table), _fixed(log_weight)


def _fixed(array):  # type: ignore[no-untyped-def]
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


@njit(nogil=True, error_model="numpy")
def accumulate(total, log_weight, table, row, begin, end):  # type: ignore[no-untyped-def]
    """total = log_weight plus the table's rows of answers begin to end."""
    n = total.shape[0]
    for k in range(n):
        total[k] = log_weight[k]
    a = begin
    # Four rows at a time, so that the running total is loaded and stored a quarter as often.
    while a + 4 <= end:
        r0, r1, r2, r3 = row[a], row[a + 1], row[a + 2], row[a + 3]
        for k in range(n):
            total[k] += (table[r0, k] + table[r1, k]) + (table[r2, k] + table[r3, k])
        a += 4
    while a < end:
        r0 = row[a]
        for k in range(n):
            total[k] += table[r0, k]
        a += 1


@njit(nogil=True, error_model="numpy")
def exponentiate(weight, normalise):  # type: ignore[no-untyped-def]
    """Turn log posteriors into weights in place; return their log-sum-exp and the range of nodes that matter.

    Weights are relative to the largest, or sum to one if asked. Outside the range nothing is written. The range is
    empty where no node has a finite log posterior. A NaN anywhere makes the log-sum-exp NaN.
    """
    n = weight.shape[0]
    top = -np.inf
    for k in range(n):
        top = max(top, weight[k])
    if top == -np.inf:
        for k in range(n):
            if np.isnan(weight[k]):
                return np.nan, 0, 0
        return -np.inf, 0, 0
    left, right = 0, n
    # Written so that a NaN stops the search and stays in the range.
    while weight[left] < top - NEGLIGIBLE:
        left += 1
    while weight[right - 1] < top - NEGLIGIBLE:
        right -= 1
    total = 0.0
    for k in range(left, right):
        weight[k] = vexp(weight[k] - top)
        total += weight[k]
    if normalise:
        for k in range(left, right):
            weight[k] /= total
    return top + np.log(total), left, right
