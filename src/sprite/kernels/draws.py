"""Draws of ability from each respondent's posterior on the grid, and counts of answers at the drawn nodes."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.grid import accumulate, exponentiate, inputs
from sprite.kernels.threads import run, split


def draw_nodes(
    start: Ints, row: Rows, table: Floats, log_weight: Floats, uniform: Floats, threads: int | None = None
) -> Rows:
    """One node for each respondent, drawn exactly from its posterior by inversion of `uniform` (in [0, 1)).

    The node is -1 where the answers are impossible at every node.
    """
    start, row, table, log_weight = inputs(start, row, table, log_weight)
    node = np.empty(len(start) - 1, dtype=np.int32)
    run(
        lambda low, high: _draw_nodes(start, row, table, log_weight, uniform, low, high, node),
        split(start, len(log_weight), threads),
    )
    return node


def node_counts(start: Ints, row: Rows, node: Rows, n_rows: int, n_nodes: int) -> Floats:
    """How many choosers of each row stand at each node."""
    counts = np.zeros((n_rows, n_nodes))
    _count(start, row, node, 0, len(start) - 1, counts)
    return counts


def draw_counts(
    start: Ints,
    row: Rows,
    table: Floats,
    log_weight: Floats,
    uniform: Floats,
    threads: int | None = None,
    out: tuple[Rows, Floats] | None = None,
) -> tuple[Rows, Floats]:
    """`draw_nodes` and `node_counts` in one call, the heart of a Gibbs sweep; `out` gives arrays to overwrite."""
    start, row, table, log_weight = inputs(start, row, table, log_weight)
    if out is None:
        node, counts = np.empty(len(start) - 1, dtype=np.int32), np.empty(table.shape)
    else:
        node, counts = out
    counts[:] = 0.0
    run(
        lambda low, high: _draw_nodes(start, row, table, log_weight, uniform, low, high, node),
        split(start, len(log_weight), threads),
    )
    _count(start, row, node, 0, len(start) - 1, counts)
    return node, counts


def draw_abilities(
    start: Ints,
    row: Rows,
    table: Floats,
    log_weight: Floats,
    nodes: Floats,
    u_cell: Floats,
    u_within: Floats,
    threads: int | None = None,
) -> Floats:
    """One ability for each respondent, drawn off the grid: the log posterior density is linear between the nodes.

    The nodes are evenly spaced, and `log_weight` is the log prior density there up to a constant. Uniform jitter
    around a drawn node would add a twelfth of the squared spacing to the variance; this adds nothing of that order.
    NaN where the answers are impossible at every node.
    """
    start, row, table, log_weight = inputs(start, row, table, log_weight)
    z = np.empty(len(start) - 1)
    run(
        lambda low, high: _draw_abilities(start, row, table, log_weight, nodes, u_cell, u_within, low, high, z),
        split(start, len(log_weight), threads),
    )
    return z


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_nodes(start, row, table, log_weight, uniform, low, high, node):  # type: ignore[no-untyped-def]
    weight = np.empty(log_weight.shape[0])
    for i in range(low, high):
        accumulate(weight, log_weight, table, row, start[i], start[i + 1])
        _, left, right = exponentiate(weight, False)
        node[i] = _invert(weight, left, right, uniform[i])


@njit(cache=True, nogil=True, error_model="numpy")
def _count(start, row, node, low, high, counts):  # type: ignore[no-untyped-def]
    for i in range(low, high):
        if node[i] >= 0:
            for a in range(start[i], start[i + 1]):
                counts[row[a], node[i]] += 1.0


@njit(nogil=True, error_model="numpy")
def _invert(weight, left, right, uniform):  # type: ignore[no-untyped-def]
    """The first place where the cumulated weight exceeds its share `uniform`; -1 in an empty range."""
    total = 0.0
    for k in range(left, right):
        total += weight[k]
        weight[k] = total
    # The same sums in the same order on both sides: the last one always exceeds the target.
    target = uniform * total
    for k in range(left, right):
        if weight[k] > target:
            return k
    return right - 1 if right > left else -1


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_abilities(start, row, table, log_weight, nodes, u_cell, u_within, low, high, z):  # type: ignore[no-untyped-def]
    n = log_weight.shape[0]
    level = np.empty(n)
    weight = np.empty(n)
    mass = np.empty(n)
    spacing = (nodes[n - 1] - nodes[0]) / (n - 1)
    for i in range(low, high):
        accumulate(level, log_weight, table, row, start[i], start[i + 1])
        weight[:] = level
        _, left, right = exponentiate(weight, False)
        for k in range(left, right - 1):
            mass[k] = _cell_mass(weight[k], weight[k + 1], abs(level[k + 1] - level[k]))
        cell = _invert(mass, left, right - 1, u_cell[i])
        if cell < 0:
            # A single node carries everything, or none does.
            z[i] = nodes[left] if right > left else np.nan
        else:
            z[i] = nodes[cell] + spacing * _within(level[cell + 1] - level[cell], u_within[i])


@njit(nogil=True, error_model="numpy")
def _cell_mass(p, q, slope):  # type: ignore[no-untyped-def]
    """Integral over a cell of width 1 of a log-linear density from p to q, whose logs differ by `slope` >= 0."""
    high = max(p, q)
    # Near-equal ends cancel in the quotient: there a series, whose next term is below 1e-14, takes over.
    flat = high * (1.0 - slope * (0.5 - slope * (1.0 / 6.0 - slope * (1.0 / 24.0))))
    steep = abs(p - q) / slope
    return 0.0 if high == 0.0 else (flat if slope < 1e-3 else steep)


@njit(nogil=True, error_model="numpy")
def _within(rise, uniform):  # type: ignore[no-untyped-def]
    """Inverse CDF on [0, 1] of a density whose log rises linearly by `rise`."""
    steep = abs(rise)
    if steep < 1e-12:
        return uniform
    # Measured from the higher end, where nothing overflows.
    share = uniform if rise < 0.0 else 1.0 - uniform
    distance = -math.log1p(share * math.expm1(-steep)) / steep
    return distance if rise < 0.0 else 1.0 - distance
