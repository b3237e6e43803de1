"""Options that compete through a softmax of quadratics in ability (SPRITE, NRM, GPCM).

All functions take a leading batch axis (chains or draws).
"""

from __future__ import annotations

import math

import numba
import numpy as np

from sprite.core.types import Floats, Ints
from sprite.kernels.vexp import vexp


@numba.njit(cache=True, nogil=True, error_model="numpy")
def softmax_table(height: Floats, slope: Floats, curve: Floats, centre: Floats, first: Ints, nodes: Floats) -> Floats:
    """Log softmax, within each question, of height + slope u + curve u^2 with u = z - centre."""
    batches, n_rows = height.shape
    n_nodes = len(nodes)
    table = np.empty((batches, n_rows, n_nodes))
    top = np.empty(n_nodes)
    total = np.empty(n_nodes)
    for b in range(batches):
        for j in range(len(first) - 1):
            top[:] = -np.inf
            for r in range(first[j], first[j + 1]):
                for k in range(n_nodes):
                    u = nodes[k] - centre[b, r]
                    logit = height[b, r] + (slope[b, r] + curve[b, r] * u) * u
                    table[b, r, k] = logit
                    top[k] = max(top[k], logit)
            total[:] = 0.0
            for r in range(first[j], first[j + 1]):
                for k in range(n_nodes):
                    total[k] += vexp(table[b, r, k] - top[k])
            for k in range(n_nodes):
                total[k] = math.log(total[k])
            # Subtracting the maximum first keeps the digits where logits are huge.
            for r in range(first[j], first[j + 1]):
                for k in range(n_nodes):
                    table[b, r, k] = (table[b, r, k] - top[k]) - total[k]
    return table


@numba.njit(cache=True, nogil=True, error_model="numpy")
def softmax_pullback(
    table: Floats, weight: Floats, centre: Floats, first: Ints, nodes: Floats
) -> tuple[Floats, Floats, Floats]:
    """Gradient of sum(weight * table) in each row's height, slope and curve."""
    batches, n_rows, n_nodes = table.shape
    of_height = np.zeros((batches, n_rows))
    of_slope = np.zeros((batches, n_rows))
    of_curve = np.zeros((batches, n_rows))
    total = np.empty(n_nodes)
    for b in range(batches):
        for j in range(len(first) - 1):
            total[:] = 0.0
            for r in range(first[j], first[j + 1]):
                for k in range(n_nodes):
                    total[k] += weight[b, r, k]
            for r in range(first[j], first[j + 1]):
                s0 = 0.0
                s1 = 0.0
                s2 = 0.0
                for k in range(n_nodes):
                    of_logit = weight[b, r, k] - vexp(table[b, r, k]) * total[k]
                    u = nodes[k] - centre[b, r]
                    s0 += of_logit
                    s1 += of_logit * u
                    s2 += of_logit * u * u
                of_height[b, r] = s0
                of_slope[b, r] = s1
                of_curve[b, r] = s2
    return of_height, of_slope, of_curve


# Sums may be reordered, so that they vectorise; a NaN still shows (no "nnan"), as a rejected step relies on.
@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def softmax_on_counts(
    height: Floats, slope: Floats, curve: Floats, centre: Floats, counts: Floats, first: Ints, nodes: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Sum of counts * log softmax by question, and its gradient in each row's height, slope and curve.

    Only the range of nodes that a question's counts populate is visited: drawn abilities leave the grid's ends empty.
    """
    batches, n_rows = height.shape
    n_nodes = len(nodes)
    n_questions = len(first) - 1
    value = np.zeros((batches, n_questions))
    of_height = np.zeros((batches, n_rows))
    of_slope = np.zeros((batches, n_rows))
    of_curve = np.zeros((batches, n_rows))
    longest = 1
    for j in range(n_questions):
        longest = max(longest, first[j + 1] - first[j])
    logits = np.empty((longest, n_nodes))
    total = np.empty(n_nodes)
    top = np.empty(n_nodes)
    norm = np.empty(n_nodes)
    for b in range(batches):
        for j in range(n_questions):
            begin, end = first[j], first[j + 1]
            total[:] = 0.0
            for r in range(begin, end):
                for k in range(n_nodes):
                    total[k] += counts[b, r, k]
            low, high = 0, n_nodes
            while low < high and total[low] == 0.0:
                low += 1
            while high > low and total[high - 1] == 0.0:
                high -= 1
            for k in range(low, high):
                top[k] = -np.inf
                norm[k] = 0.0
            for r in range(begin, end):
                logit = logits[r - begin]
                h, g, c, m = height[b, r], slope[b, r], curve[b, r], centre[b, r]
                for k in range(low, high):
                    u = nodes[k] - m
                    logit[k] = h + (g + c * u) * u
                    top[k] = max(top[k], logit[k])
            s = 0.0
            for r in range(begin, end):
                logit = logits[r - begin]
                chosen = counts[b, r]
                for k in range(low, high):
                    x = logit[k] - top[k]
                    s += chosen[k] * x
                    logit[k] = vexp(x)
                    norm[k] += logit[k]
            for k in range(low, high):
                s -= total[k] * math.log(norm[k])
                norm[k] = total[k] / norm[k]
            value[b, j] = s
            for r in range(begin, end):
                logit = logits[r - begin]
                chosen = counts[b, r]
                m = centre[b, r]
                s0 = 0.0
                s1 = 0.0
                s2 = 0.0
                for k in range(low, high):
                    of_logit = chosen[k] - norm[k] * logit[k]
                    u = nodes[k] - m
                    s0 += of_logit
                    s1 += of_logit * u
                    s2 += of_logit * u * u
                of_height[b, r] = s0
                of_slope[b, r] = s1
                of_curve[b, r] = s2
    return value, of_height, of_slope, of_curve
