"""The part of a question's counts that holds any: drawn abilities leave the ends of the grid empty."""

from __future__ import annotations

from numba import njit

from sprite.core.types import Floats, Ints


@njit(nogil=True, error_model="numpy")
def populated(counts: Floats, begin: int, end: int, total: Floats) -> tuple[int, int]:
    """Answers to the question of these rows at each node into `total`; the range of nodes, in whole vectors, with any.

    Take views of the range: an index that begins at 0 needs no check for wrapping round, so that loops vectorise.
    """
    for k in range(len(total)):
        total[k] = 0.0
    for r in range(begin, end):
        line = counts[r]
        for k in range(len(total)):
            total[k] += line[k]
    low, high = 0, len(total)
    while low < high and total[low] == 0.0:
        low += 1
    while high > low and total[high - 1] == 0.0:
        high -= 1
    return low - low % 8, min(len(total), high + (-high) % 8)


@njit(nogil=True, error_model="numpy")
def longest(first: Ints) -> int:
    """Options of the question that has most, at least 1."""
    most = 1
    for j in range(len(first) - 1):
        most = max(most, first[j + 1] - first[j])
    return most
