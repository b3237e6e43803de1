"""Draws of ability from each respondent's posterior on the grid, and counts of answers at the drawn nodes.

Arguments are those of `passes`. Draws are the same on any number of threads.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.grid import BLOCK, block_buffer, exponentiate, fill, fixed, one_each, prepare, window
from sprite.kernels.threads import run, split

BELOW_ONE = 1.0 - 2.0**-53


def draw_nodes(
    start: Ints, row: Rows, table: Floats, log_weight: Floats, uniform: Floats, threads: int | None = None
) -> Rows:
    """One node for each respondent, drawn exactly from its posterior by inversion of `uniform` (in [0, 1)).

    The node is -1 where the answers are impossible at every node.
    """
    data = prepare(start, row, table, log_weight)
    uniform = one_each(uniform, len(start) - 1, "uniform")
    node = np.empty(len(start) - 1, dtype=np.int32)

    def task(low: int, high: int) -> None:
        _draw_nodes(*data, low, high, block_buffer(data.log_weight), uniform, node)

    run(task, split(start, len(log_weight), threads))
    return node


def node_counts(start: Ints, row: Rows, node: Rows, n_rows: int, n_nodes: int) -> Floats:
    """How many choosers of each row stand at each node; respondents at node -1 are left out."""
    counts = np.zeros((n_rows, n_nodes))
    _count(fixed(start, np.int64), fixed(row, np.int32), fixed(node, np.int32), 0, len(start) - 1, counts)
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
    data = prepare(start, row, table, log_weight)
    uniform = one_each(uniform, len(start) - 1, "uniform")
    if out is None:
        node, counts = np.empty(len(start) - 1, dtype=np.int32), np.zeros(table.shape)
    else:
        node, counts = out
        if node.shape != uniform.shape or node.dtype != np.int32 or counts.shape != table.shape:
            raise ValueError(
                f"out must be int32 of {uniform.shape} and float64 of {table.shape}, "
                f"found {node.dtype} of {node.shape} and {counts.dtype} of {counts.shape}"
            )
        counts[:] = 0.0

    def task(low: int, high: int) -> Floats:
        own = counts if low == 0 else np.zeros(table.shape)
        _draw_nodes(*data, low, high, block_buffer(data.log_weight), uniform, node)
        _count(data.start, data.row, fixed(node, np.int32), low, high, own)
        return own

    for own in run(task, split(start, len(log_weight), threads))[1:]:
        counts += own
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
    data = prepare(start, row, table, log_weight)
    n = len(start) - 1
    u_cell, u_within = one_each(u_cell, n, "u_cell"), one_each(u_within, n, "u_within")
    nodes = one_each(nodes, len(log_weight), "nodes")
    z = np.empty(n)

    def task(low: int, high: int) -> None:
        buffer = block_buffer(data.log_weight)
        _draw_abilities(*data, low, high, buffer, nodes, u_cell, u_within, z)

    run(task, split(start, len(log_weight), threads))
    return z


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_nodes(
    start: Ints,
    row: Rows,
    table: Floats,
    log_weight: Floats,
    low: int,
    high: int,
    level: Floats,
    uniform: Floats,
    node: Rows,
) -> None:
    n = log_weight.shape[0]
    for first in range(low, high, BLOCK):
        last = min(first + BLOCK, high)
        fill(level, start, row, table, log_weight, first, last)
        for i in range(first, last):
            at = (i - first) * n
            top, left, right = window(level, at, n)
            exponentiate(level, at + left, at + right, top)
            place = _invert(level[at + left : at + right], uniform[i])
            node[i] = left + place if place >= 0 else -1


@njit(cache=True, nogil=True, error_model="numpy")
def _count(start: Ints, row: Rows, node: Rows, low: int, high: int, counts: Floats) -> None:
    for i in range(low, high):
        if node[i] >= 0:
            for a in range(start[i], start[i + 1]):
                counts[row[a], node[i]] += 1.0


@njit(nogil=True, error_model="numpy")
def _invert(weight: Floats, uniform: float) -> int:
    """The first place where the cumulated weight exceeds its share `uniform`; -1 if there is no weight, or a NaN."""
    total = 0.0
    for k in range(weight.shape[0]):
        total += weight[k]
        weight[k] = total
    # Below one, so that the last place with any weight always exceeds it.
    target = min(uniform, BELOW_ONE) * total
    # Counting is a vector loop, where a search would end in a mispredicted branch.
    place = 0
    for k in range(weight.shape[0]):
        place += weight[k] <= target
    return place if total > 0.0 else -1


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_abilities(
    start: Ints,
    row: Rows,
    table: Floats,
    log_weight: Floats,
    low: int,
    high: int,
    level: Floats,
    nodes: Floats,
    u_cell: Floats,
    u_within: Floats,
    z: Floats,
) -> None:
    n = log_weight.shape[0]
    weight = np.empty(n)
    mass = np.empty(n)
    spacing = (nodes[-1] - nodes[0]) / (nodes.shape[0] - 1)
    for first in range(low, high, BLOCK):
        last = min(first + BLOCK, high)
        fill(level, start, row, table, log_weight, first, last)
        for i in range(first, last):
            at = (i - first) * n
            top, left, right = window(level, at, n)
            line = level[at + left : at + right]
            size = line.shape[0]
            for k in range(size):
                weight[k] = line[k]
            exponentiate(weight, 0, size, top)
            for k in range(size - 1):
                mass[k] = _cell_mass(weight[k], weight[k + 1], abs(line[k + 1] - line[k]))
            cell = _invert(mass[: max(size - 1, 0)], u_cell[i])
            if cell >= 0:
                within = _within(line[cell + 1] - line[cell], u_within[i])
                z[i] = nodes[left + cell] + spacing * within
            else:
                # One node alone is possible, or none is.
                z[i] = nodes[left + np.argmax(line)] if np.isfinite(top) else np.nan


@njit(nogil=True, error_model="numpy")
def _cell_mass(p: float, q: float, slope: float) -> float:
    """Integral over a cell of width 1 of a log-linear density from p to q, whose logs differ by `slope` >= 0."""
    high = max(p, q)
    # Near-equal ends cancel in the quotient: there a series, whose next term is below 1e-14, takes over.
    flat = high * (1.0 - slope * (0.5 - slope * (1.0 / 6.0 - slope * (1.0 / 24.0))))
    steep = abs(p - q) / slope
    return 0.0 if high == 0.0 else (flat if slope < 1e-3 else steep)


@njit(nogil=True, error_model="numpy")
def _within(rise: float, uniform: float) -> float:
    """Inverse CDF on [0, 1] of a density whose log rises linearly by `rise`."""
    steep = abs(rise)
    if steep < 1e-12:
        return uniform
    # Measured from the higher end, where nothing overflows.
    share = uniform if rise < 0.0 else 1.0 - uniform
    distance = min(-math.log1p(share * math.expm1(-steep)) / steep, 1.0)
    return distance if rise < 0.0 else 1.0 - distance
