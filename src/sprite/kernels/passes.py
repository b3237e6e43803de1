"""Passes over all answers with ability integrated on a grid.

For respondent i the log posterior at node k is, up to a constant, ``log_weight[k]`` (quadrature weight times prior
density) plus the sum of ``table[row, k]`` (log P(option | z_k)) over the rows of its answers. Rows are trusted to lie
in the table: `Responses` has checked them.

`threads` is the number of threads; by default what `threads.set_threads` says, and one where the work is small.
Results depend on it in the last digits of the counts only, and are the same from run to run.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.grid import BLOCK, block_buffer, exponentiate, fill, one_each, prepare, scale, window
from sprite.kernels.lanes import (
    LANES,
    add_to_rows_1,
    add_to_rows_2,
    add_to_rows_3,
    add_to_rows_4,
    scratch,
)
from sprite.kernels.threads import run, split


def log_likelihood(start: Ints, row: Rows, table: Floats, log_weight: Floats, threads: int | None = None) -> Floats:
    """Marginal log likelihood of each respondent: the log of the sum over nodes of weight times probabilities."""
    data = prepare(start, row, table, log_weight)
    out = np.empty(len(start) - 1)

    def task(low: int, high: int) -> None:
        _log_likelihood(*data, low, high, block_buffer(data.log_weight), out)

    run(task, split(start, len(log_weight), threads))
    return out


def expected_counts(
    start: Ints, row: Rows, table: Floats, log_weight: Floats, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Marginal log likelihoods, and for every row and node the expected number of its choosers at that node.

    A respondent whose answers are impossible at every node has log likelihood -inf and is not counted.
    """
    data = prepare(start, row, table, log_weight)
    n_rows, width = data.table.shape
    out = np.empty(len(start) - 1)

    def task(low: int, high: int) -> Floats:
        # One vector longer than the nodes: rows a power of two apart would compete for the same places in cache.
        counts = scratch("counts", n_rows, width + LANES)
        counts[:] = 0.0
        _expected_counts(*data, low, high, block_buffer(data.log_weight), out, counts)
        return counts[:, : len(log_weight)].copy()

    total, *others = run(task, split(start, len(log_weight), threads))
    for counts in others:
        total += counts
    return out, total


def posterior(
    start: Ints, row: Rows, table: Floats, log_weight: Floats, low: int, high: int, threads: int | None = None
) -> Floats:
    """Posterior probabilities of the nodes for respondents low to high, one line each.

    All zero for a respondent whose answers are impossible at every node.
    """
    data = prepare(start[low : high + 1], row, table, log_weight)
    out = np.zeros((high - low, len(log_weight)))

    def task(low: int, high: int) -> None:
        _posterior(*data, low, high, block_buffer(data.log_weight), out)

    run(task, split(data.start, len(log_weight), threads))
    return out


def moments(
    start: Ints, row: Rows, table: Floats, log_weight: Floats, nodes: Floats, threads: int | None = None
) -> tuple[Floats, Floats, Floats, Floats]:
    """Marginal log likelihood, posterior mean, standard deviation and mode of each respondent.

    The mode is that of the grid, refined by the parabola through the largest log posterior and its two neighbours:
    it is the mode of the density where the quadrature weights are equal, as on evenly spaced nodes. Mean, deviation
    and mode are NaN for a respondent whose answers are impossible at every node.
    """
    data = prepare(start, row, table, log_weight)
    wide_nodes = np.zeros(len(data.log_weight))
    wide_nodes[: len(log_weight)] = one_each(nodes, len(log_weight), "nodes")
    out = np.empty((4, len(start) - 1))

    def task(low: int, high: int) -> None:
        _moments(*data, low, high, block_buffer(data.log_weight), wide_nodes, len(nodes), out)

    run(task, split(start, len(log_weight), threads))
    return out[0], out[1], out[2], out[3]


@njit(cache=True, nogil=True, error_model="numpy")
def _log_likelihood(
    start: Ints,
    row: Rows,
    table: Floats,
    log_weight: Floats,
    low: int,
    high: int,
    level: Floats,
    out: Floats,
) -> None:
    n = log_weight.shape[0]
    for first in range(low, high, BLOCK):
        last = min(first + BLOCK, high)
        fill(level, start, row, table, log_weight, first, last)
        for i in range(first, last):
            at = (i - first) * n
            top, left, right = window(level, at, n)
            out[i] = top
            if left < right:
                out[i] += np.log(exponentiate(level, at + left, at + right, top))


@njit(cache=True, nogil=True, error_model="numpy")
def _expected_counts(
    start: Ints,
    row: Rows,
    table: Floats,
    log_weight: Floats,
    low: int,
    high: int,
    level: Floats,
    out: Floats,
    counts: Floats,
) -> None:
    n = log_weight.shape[0]
    lefts = np.empty(BLOCK, dtype=np.int64)
    rights = np.empty(BLOCK, dtype=np.int64)
    for first in range(low, high, BLOCK):
        last = min(first + BLOCK, high)
        fill(level, start, row, table, log_weight, first, last)
        for i in range(first, last):
            out[i], lefts[i - first], rights[i - first] = _normalise(level, (i - first) * n, n)
        for i in range(first, last):
            _add_answers(
                counts,
                level,
                (i - first) * n,
                lefts[i - first],
                rights[i - first],
                row,
                start[i],
                start[i + 1],
            )


@njit(nogil=True, error_model="numpy")
def _add_answers(
    counts: Floats, weight: Floats, at: int, left: int, right: int, row: Rows, begin: int, end: int
) -> None:
    """Add one respondent's posterior, nodes left to right, to the rows of its answers."""
    while left + 4 * LANES <= right:
        add_to_rows_4(counts, weight, at, left, row, begin, end)
        left += 4 * LANES
    if right - left == 3 * LANES:
        add_to_rows_3(counts, weight, at, left, row, begin, end)
    elif right - left == 2 * LANES:
        add_to_rows_2(counts, weight, at, left, row, begin, end)
    elif right - left == LANES:
        add_to_rows_1(counts, weight, at, left, row, begin, end)


@njit(nogil=True, error_model="numpy")
def _normalise(level: Floats, at: int, n: int) -> tuple[float, int, int]:
    """Turn a line of log posteriors into the posterior where it matters; log-sum-exp, and where that is."""
    top, left, right = window(level, at, n)
    if left < right:
        total = exponentiate(level, at + left, at + right, top)
        scale(level, at + left, at + right, 1.0 / total)
        top += np.log(total)
    return top, left, right


@njit(cache=True, nogil=True, error_model="numpy")
def _posterior(
    start: Ints,
    row: Rows,
    table: Floats,
    log_weight: Floats,
    low: int,
    high: int,
    level: Floats,
    out: Floats,
) -> None:
    n = log_weight.shape[0]
    for first in range(low, high, BLOCK):
        last = min(first + BLOCK, high)
        fill(level, start, row, table, log_weight, first, last)
        for i in range(first, last):
            at = (i - first) * n
            _, left, right = _normalise(level, at, n)
            for k in range(left, min(right, out.shape[1])):
                out[i, k] = level[at + k]


@njit(cache=True, nogil=True, error_model="numpy")
def _moments(
    start: Ints,
    row: Rows,
    table: Floats,
    log_weight: Floats,
    low: int,
    high: int,
    level: Floats,
    nodes: Floats,
    n_nodes: int,
    out: Floats,
) -> None:
    n = log_weight.shape[0]
    for first in range(low, high, BLOCK):
        last = min(first + BLOCK, high)
        fill(level, start, row, table, log_weight, first, last)
        for i in range(first, last):
            line = level[(i - first) * n : (i - first) * n + n]
            out[3, i] = _mode(line[:n_nodes], nodes)
            out[0, i], left, right = _normalise(level, (i - first) * n, n)
            out[1, i], out[2, i] = _mean_and_sd(line[left:right], nodes[left:right])


@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _mean_and_sd(weight: Floats, nodes: Floats) -> tuple[float, float]:
    if weight.shape[0] == 0:
        return np.nan, np.nan
    mean = 0.0
    for k in range(weight.shape[0]):
        mean += weight[k] * nodes[k]
    variance = 0.0
    for k in range(weight.shape[0]):
        variance += weight[k] * ((nodes[k] - mean) * (nodes[k] - mean))
    return mean, np.sqrt(variance)


@njit(nogil=True, error_model="numpy")
def _mode(level: Floats, nodes: Floats) -> float:
    top = np.argmax(level)
    if not np.isfinite(level[top]):
        return np.nan
    if top == 0 or top == level.shape[0] - 1:
        return float(nodes[top])
    below, above = nodes[top] - nodes[top - 1], nodes[top + 1] - nodes[top]
    fall_below, fall_above = level[top] - level[top - 1], level[top] - level[top + 1]
    curvature = fall_below * above + fall_above * below
    # No vertex between the neighbours where both are as high, or where one is impossible.
    if not 0.0 < curvature < np.inf:
        return float(nodes[top])
    shift = 0.5 * (fall_below * above * above - fall_above * below * below) / curvature
    return float(nodes[top] + shift)
