"""Pairs of answers and expected scores: what the information of all questions together is made of."""

from __future__ import annotations

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.sums import dot
from sprite.kernels.threads import get_threads, run, split

TILE = 8
"""Nodes whose counts lie side by side: one cache line."""
_NEGLIGIBLE = 1e-12
"""Posterior probability of a node below which a respondent is not counted there."""


def add_pair_counts(start: Ints, row: Rows, weight: Floats, low: int, begin: int, counts: Floats) -> None:
    """Add to `counts` how many respondents are expected to have chosen both of two rows at each node.

    `weight` is the posterior of ability of the respondents that `start` bounds, (respondents, nodes). `counts` begins
    at node `low`, and the earlier answer of a pair at row `begin`: (tiles, earlier rows, rows, TILE). The nodes of a
    tile are side by side, so that a pair touches one line of a table small enough for the cache. Threads take tiles in
    turn, for most of the mass is in the middle ones.
    """
    threads = min(get_threads(), len(counts))

    def task(first: int, step: int) -> None:
        for tile in range(first, len(counts), step):
            at = low + TILE * tile
            _add_pair_counts(start, row, weight, at, min(at + TILE, weight.shape[1]), begin, counts[tile])

    run(task, [(first, threads) for first in range(threads)])


@njit(cache=True, nogil=True, error_model="numpy")
def _add_pair_counts(start: Ints, row: Rows, weight: Floats, low: int, high: int, begin: int, counts: Floats) -> None:
    flat, end, rows = counts.reshape(-1), begin + counts.shape[0], counts.shape[1]
    mass = np.zeros(TILE)
    for i in range(len(start) - 1):
        most = 0.0
        for k in range(low, high):
            mass[k - low] = weight[i, k]
            most = max(most, weight[i, k])
        if most < _NEGLIGIBLE:
            continue
        m0, m1, m2, m3, m4, m5, m6, m7 = mass[0], mass[1], mass[2], mass[3], mass[4], mass[5], mass[6], mass[7]
        for a in range(start[i], start[i + 1]):
            if row[a] < begin or row[a] >= end:
                continue
            line = (row[a] - begin) * rows
            for b in range(a + 1, start[i + 1]):
                # Unsigned, and one place after the other: the eight become one vector.
                at = np.uint64(TILE * (line + row[b]))
                flat[at] += m0
                flat[at + np.uint64(1)] += m1
                flat[at + np.uint64(2)] += m2
                flat[at + np.uint64(3)] += m3
                flat[at + np.uint64(4)] += m4
                flat[at + np.uint64(5)] += m5
                flat[at + np.uint64(6)] += m6
                flat[at + np.uint64(7)] += m7


def expected_scores(start: Ints, row: Rows, weight: Floats, scores: Floats, column: Ints, size: int) -> Floats:
    """Each respondent's expected score, (respondents, size).

    `scores` is each row's derivative in its question's entries at each node, (rows, D, nodes), padded with zeros;
    `column` is where the entries of each row's question begin.
    """
    out = np.zeros((len(start) - 1, size + scores.shape[1]))  # a short question's padding lies beyond its entries

    def task(low: int, high: int) -> None:
        _expected_scores(start, row, weight, scores, column, low, high, out)

    run(task, split(start, weight.shape[1], None))
    return out[:, :size]


@njit(cache=True, nogil=True, error_model="numpy")
def _expected_scores(
    start: Ints, row: Rows, weight: Floats, scores: Floats, column: Ints, low: int, high: int, out: Floats
) -> None:
    size, nodes = scores.shape[1], scores.shape[2]
    for i in range(low, high):
        left, right = 0, nodes
        while left < right and weight[i, left] == 0.0:
            left += 1
        while right > left and weight[i, right - 1] == 0.0:
            right -= 1
        mass = weight[i, left:right]
        for answer in range(start[i], start[i + 1]):
            r = row[answer]
            for d in range(size):
                out[i, column[r] + d] += dot(mass, scores[r, d, left:right])
