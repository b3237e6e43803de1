"""Passes over all answers with ability integrated on a grid.

For respondent i the log posterior at node k is, up to a constant, ``log_weight[k]`` (quadrature weight times prior
density) plus the sum of ``table[row, k]`` (log P(option | z_k)) over the rows of its answers. Rows are trusted:
`Responses` has checked them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.grid import accumulate, exponentiate, inputs
from sprite.kernels.threads import run, split


def log_likelihood(start: Ints, row: Rows, table: Floats, log_weight: Floats, threads: int | None = None) -> Floats:
    """Marginal log likelihood of each respondent: the log of the sum over nodes of weight times probabilities."""
    start, row, table, log_weight = inputs(start, row, table, log_weight)
    out = np.empty(len(start) - 1)
    run(
        lambda low, high: _log_likelihood(start, row, table, log_weight, low, high, out),
        split(start, len(log_weight), threads),
    )
    return out


def expected_counts(
    start: Ints, row: Rows, table: Floats, log_weight: Floats, threads: int | None = None
) -> tuple[Floats, Floats]:
    """Marginal log likelihoods, and for every row and node the expected number of its choosers at that node.

    A respondent whose answers are impossible at every node has log likelihood -inf and is not counted.
    """
    start, row, table, log_weight = inputs(start, row, table, log_weight)
    out = np.empty(len(start) - 1)

    def task(low: int, high: int) -> Floats:
        counts = np.zeros(table.shape)
        _expected_counts(start, row, table, log_weight, low, high, out, counts)
        return counts

    first, *others = run(task, split(start, len(log_weight), threads))
    for counts in others:
        first += counts
    return out, first


def posterior(
    start: Ints, row: Rows, table: Floats, log_weight: Floats, low: int, high: int, threads: int | None = None
) -> Floats:
    """Posterior probabilities of the nodes for respondents low to high, one line each."""
    start, row, table, log_weight = inputs(start, row, table, log_weight)
    block = start[low : high + 1]
    out = np.zeros((high - low, len(log_weight)))
    run(
        lambda a, b: _posterior(block, row, table, log_weight, a, b, out),
        split(block, len(log_weight), threads),
    )
    return out


def moments(
    start: Ints, row: Rows, table: Floats, log_weight: Floats, nodes: Floats, threads: int | None = None
) -> tuple[Floats, Floats, Floats, Floats]:
    """Marginal log likelihood, posterior mean, standard deviation and mode of each respondent.

    The mode is that of the grid, refined by the parabola through the largest log posterior and its two neighbours:
    it is the mode of the density where the quadrature weights are equal, as on evenly spaced nodes.
    """
    start, row, table, log_weight = inputs(start, row, table, log_weight)
    nodes = np.ascontiguousarray(nodes, dtype=np.float64)
    out = np.empty((4, len(start) - 1))
    run(
        lambda low, high: _moments(start, row, table, log_weight, nodes, low, high, out),
        split(start, len(log_weight), threads),
    )
    return out[0], out[1], out[2], out[3]


@njit(cache=True, nogil=True, error_model="numpy")
def _log_likelihood(start, row, table, log_weight, low, high, out):  # type: ignore[no-untyped-def]
    weight = np.empty(log_weight.shape[0])
    for i in range(low, high):
        accumulate(weight, log_weight, table, row, start[i], start[i + 1])
        out[i] = exponentiate(weight, False)[0]


@njit(cache=True, nogil=True, error_model="numpy")
def _expected_counts(start, row, table, log_weight, low, high, out, counts):  # type: ignore[no-untyped-def]
    weight = np.empty(log_weight.shape[0])
    for i in range(low, high):
        accumulate(weight, log_weight, table, row, start[i], start[i + 1])
        out[i], left, right = exponentiate(weight, True)
        for a in range(start[i], start[i + 1]):
            for k in range(left, right):
                counts[row[a], k] += weight[k]


@njit(cache=True, nogil=True, error_model="numpy")
def _posterior(start, row, table, log_weight, low, high, out):  # type: ignore[no-untyped-def]
    weight = np.empty(log_weight.shape[0])
    for i in range(low, high):
        accumulate(weight, log_weight, table, row, start[i], start[i + 1])
        _, left, right = exponentiate(weight, True)
        out[i, left:right] = weight[left:right]


@njit(cache=True, nogil=True, error_model="numpy")
def _moments(start, row, table, log_weight, nodes, low, high, out):  # type: ignore[no-untyped-def]
    weight = np.empty(log_weight.shape[0])
    for i in range(low, high):
        accumulate(weight, log_weight, table, row, start[i], start[i + 1])
        out[3, i] = _mode(weight, nodes)
        out[0, i], left, right = exponentiate(weight, True)
        mean = 0.0
        for k in range(left, right):
            mean += weight[k] * nodes[k]
        variance = 0.0
        for k in range(left, right):
            variance += weight[k] * (nodes[k] - mean) ** 2
        found = left < right
        out[1, i] = mean if found else np.nan
        out[2, i] = np.sqrt(variance) if found else np.nan


@njit(nogil=True, error_model="numpy")
def _mode(log_density, nodes):  # type: ignore[no-untyped-def]
    top = np.argmax(log_density)
    if not np.isfinite(log_density[top]):
        return np.nan
    if top == 0 or top == log_density.shape[0] - 1:
        return nodes[top]
    below = nodes[top] - nodes[top - 1]
    above = nodes[top + 1] - nodes[top]
    fall_below = log_density[top] - log_density[top - 1]
    fall_above = log_density[top] - log_density[top + 1]
    # The vertex of the parabola; a neighbour at -inf pulls the mode halfway towards the other one.
    if np.isinf(fall_below) or np.isinf(fall_above):
        return nodes[top]
    curvature = fall_below * above + fall_above * below
    if curvature <= 0.0:
        return nodes[top]
    return nodes[top] + 0.5 * (fall_below * above * above - fall_above * below * below) / curvature
