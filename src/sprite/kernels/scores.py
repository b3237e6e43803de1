"""What respondents' expected scores take away from the information: one small product an answer."""

from __future__ import annotations

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.threads import run, split


def squared_scores(start: Ints, row: Rows, weight: Floats, scores: Floats) -> Floats:
    """For each row, the sum over its choosers of the square (D x D) of their expected score.

    `weight` is the posterior of ability of the respondents that `start` bounds, (respondents, nodes); `scores` is
    each row's derivative at each node, (rows, nodes, D).
    """

    def task(low: int, high: int) -> Floats:
        out = np.zeros((len(scores), scores.shape[2], scores.shape[2]))
        _squared_scores(start, row, weight, scores, low, high, out)
        return out

    total, *others = run(task, split(start, weight.shape[1], None))
    for part in others:
        total += part
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _squared_scores(start: Ints, row: Rows, weight: Floats, scores: Floats, low: int, high: int, out: Floats) -> None:
    nodes, size = scores.shape[1], scores.shape[2]
    mean = np.empty(size)
    for i in range(low, high):
        left, right = 0, nodes
        while left < right and weight[i, left] == 0.0:
            left += 1
        while right > left and weight[i, right - 1] == 0.0:
            right -= 1
        for answer in range(start[i], start[i + 1]):
            r = row[answer]
            mean[:] = 0.0
            for k in range(left, right):
                for d in range(size):
                    mean[d] += weight[i, k] * scores[r, k, d]
            for a in range(size):
                for b in range(size):
                    out[r, a, b] += mean[a] * mean[b]
