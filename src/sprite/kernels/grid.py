"""A block of respondents on the grid: the steps that every pass shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.lanes import (
    LANES,
    add_rows_1,
    add_rows_2,
    add_rows_4,
    all_below,
    highest,
    padded,
    scratch,
)
from sprite.kernels.vexp import vexp

BLOCK = 32
"""Respondents taken together through each step. The table, then the counts, stay in cache for the whole block."""
NEGLIGIBLE = 39.5
"""A node this far below the largest log posterior has less than 1e-17 of its weight: nothing in float64."""


class Inputs(NamedTuple):
    """The arrays as the kernels take them; read-only where they are the caller's, so as to compile only once."""

    start: Ints
    row: Rows
    table: Floats
    """Rows x nodes, padded with zeros to whole vectors."""
    log_weight: Floats
    """Padded with -inf: nodes that no posterior reaches."""


def prepare(start: Ints, row: Rows, table: Floats, log_weight: Floats) -> Inputs:
    """Check the shapes; copy table and weights to where vectors load fast (small beside one pass over the answers)."""
    n_nodes = len(log_weight)
    if np.ndim(table) != 2 or table.shape[1] != n_nodes:
        raise ValueError(f"a table of shape {np.shape(table)} does not fit {n_nodes} log weights")
    if start[-1] > len(row):
        raise ValueError(f"the last respondent ends at answer {start[-1]} of {len(row)}")
    wide_table = scratch("table", table.shape[0], padded(n_nodes))
    wide_table[:, :n_nodes] = table
    wide_table[:, n_nodes:] = 0.0
    wide_log_weight = np.full(padded(n_nodes), -np.inf)
    wide_log_weight[:n_nodes] = log_weight
    return Inputs(fixed(start, np.int64), fixed(row, np.int32), wide_table, wide_log_weight)


def one_each(values: ArrayLike, n: int, what: str) -> Floats:
    """A line of `n` numbers, as the kernels take it."""
    line = fixed(values, np.float64)
    if line.shape != (n,):
        raise ValueError(f"{what} must be {n} numbers, found an array of shape {line.shape}")
    return line


def fixed(values: ArrayLike, kind: type[np.generic]) -> np.ndarray:
    """A contiguous, read-only view (a copy only if the type differs)."""
    array = np.ascontiguousarray(values, dtype=kind)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def block_buffer(log_weight: Floats) -> Floats:
    """Room for the log posteriors of a block, one line of nodes after the other."""
    return scratch("block", BLOCK * len(log_weight))


@njit(nogil=True, error_model="numpy")
def fill(level: Floats, start: Ints, row: Rows, table: Floats, log_weight: Floats, low: int, high: int) -> None:
    """Log posteriors of respondents low to high, up to a constant each, one line of nodes after the other."""
    n = log_weight.shape[0]
    for i in range(low, high):
        at = (i - low) * n
        line = level[at : at + n]
        for k in range(n):
            line[k] = log_weight[k]
        begin, end = start[i], start[i + 1]
        column = 0
        while column + 4 * LANES <= n:
            add_rows_4(level, at, table, column, row, begin, end)
            column += 4 * LANES
        if column + 2 * LANES <= n:
            add_rows_2(level, at, table, column, row, begin, end)
            column += 2 * LANES
        if column < n:
            add_rows_1(level, at, table, column, row, begin, end)


@njit(nogil=True, error_model="numpy")
def window(level: Floats, at: int, n: int) -> tuple[float, int, int]:
    """The largest log posterior of a line, and the range of nodes that matter, in whole vectors.

    Where no node has a finite log posterior the range is empty and the value NaN or -inf. Any NaN is in the range.
    """
    top = highest(level, at, n)
    if top == -np.inf:
        for k in range(at, at + n):
            if np.isnan(level[k]):
                top = np.nan
        return top, 0, 0
    left, right = 0, n
    while all_below(level, at + left, top - NEGLIGIBLE):
        left += LANES
    while all_below(level, at + right - LANES, top - NEGLIGIBLE):
        right -= LANES
    return top, left, right


# Sums may be reordered, which vectors need; nothing is assumed of NaN or infinity.
@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def exponentiate(level: Floats, left: int, right: int, top: float) -> float:
    """Replace log posteriors by weights relative to the largest, and return their sum."""
    # A slice, because an index that might be negative would keep the loop from vectorising.
    line = level[left:right]
    total = 0.0
    for k in range(line.shape[0]):
        value = vexp(line[k] - top)
        line[k] = value
        total += value
    return total


@njit(nogil=True, error_model="numpy")
def scale(weight: Floats, left: int, right: int, factor: float) -> None:
    """Multiply weights by a number."""
    line = weight[left:right]
    for k in range(line.shape[0]):
        line[k] *= factor
