"""Options that compete through a softmax of quadratics in ability (SPRITE, NRM, GPCM).

All functions take a leading batch axis (chains or draws).
"""

from __future__ import annotations

import math

import numba
import numpy as np

from sprite.core.types import Floats, Ints
from sprite.kernels.interrupts import interruptible
from sprite.kernels.vexp import vexp


@interruptible
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
            total[:] = 0.0
            for r in range(first[j], first[j + 1]):
                logit = table[b, r]
                h, g, c, m = height[b, r], slope[b, r], curve[b, r], centre[b, r]
                for k in range(n_nodes):
                    u = nodes[k] - m
                    logit[k] = h + (g + c * u) * u
                for k in range(n_nodes):
                    top[k] = logit[k] if logit[k] > top[k] else top[k]
            for r in range(first[j], first[j + 1]):
                logit = table[b, r]
                # Subtracting the maximum first keeps the digits where logits are huge.
                for k in range(n_nodes):
                    logit[k] -= top[k]
                for k in range(n_nodes):
                    total[k] += vexp(logit[k])
            for k in range(n_nodes):
                total[k] = math.log(total[k])
            for r in range(first[j], first[j + 1]):
                logit = table[b, r]
                for k in range(n_nodes):
                    logit[k] -= total[k]
    return table


@interruptible
@numba.njit(cache=True, nogil=True, error_model="numpy")
def softmax_pullback(table: Floats, weight: Floats, first: Ints) -> Floats:
    """Gradient of sum(weight * table) in the logits."""
    batches, n_rows, n_nodes = table.shape
    of_logit = np.empty((batches, n_rows, n_nodes))
    total = np.empty(n_nodes)
    for b in range(batches):
        for j in range(len(first) - 1):
            total[:] = 0.0
            for r in range(first[j], first[j + 1]):
                for k in range(n_nodes):
                    total[k] += weight[b, r, k]
            for r in range(first[j], first[j + 1]):
                out, log_p, w = of_logit[b, r], table[b, r], weight[b, r]
                for k in range(n_nodes):
                    out[k] = vexp(log_p[k])
                for k in range(n_nodes):
                    out[k] = w[k] - out[k] * total[k]
    return of_logit


@numba.njit(cache=True, nogil=True, error_model="numpy")
def softmax_on_counts(
    height: Floats,
    slope: Floats,
    curve: Floats,
    centre: Floats,
    counts: Floats,
    first: Ints,
    nodes: Floats,
    low_batch: int,
    high_batch: int,
    value: Floats,
    of_logit: Floats,
) -> None:
    """Sum of counts * log softmax by question into `value`, and its gradient in the logits into `of_logit`.

    Only the range of nodes that a question's counts populate is visited: drawn abilities leave the grid's ends empty.
    Batches low to high are done, so that threads can share them. Loops run along the nodes without
    a sum over them and touch few arrays each, which is what lets them vectorise.
    """
    n_nodes = len(nodes)
    total = np.empty(n_nodes)
    top = np.empty(n_nodes)
    norm = np.empty(n_nodes)
    match = np.empty(n_nodes)
    for b in range(low_batch, high_batch):
        for j in range(len(first) - 1):
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
            low -= low % 8  # whole vectors
            high = min(n_nodes, high + (-high) % 8)
            # Views of the range: an index that begins at 0 needs no check for wrapping round, so the loops vectorise.
            n = high - low
            z = nodes[low:high]
            for k in range(n):
                top[k] = -np.inf
                norm[k] = 0.0
                match[k] = 0.0
            for r in range(begin, end):
                logit = of_logit[b, r, low:high]
                h, g, c, m = height[b, r], slope[b, r], curve[b, r], centre[b, r]
                for k in range(n):
                    u = z[k] - m
                    logit[k] = h + (g + c * u) * u
                for k in range(n):
                    top[k] = logit[k] if logit[k] > top[k] else top[k]
            for r in range(begin, end):
                logit = of_logit[b, r, low:high]
                chosen = counts[b, r, low:high]
                for k in range(n):
                    match[k] += chosen[k] * (logit[k] - top[k])
                for k in range(n):
                    logit[k] = vexp(logit[k] - top[k])
                for k in range(n):
                    norm[k] += logit[k]
            s = 0.0
            of = total[low:high]
            for k in range(n):
                if of[k] > 0.0:
                    s += match[k] - of[k] * math.log(norm[k])
            value[b, j] = s
            for k in range(n):
                norm[k] = of[k] / norm[k]
            for r in range(begin, end):
                of_logit[b, r, :low] = 0.0
                of_logit[b, r, high:] = 0.0
                logit = of_logit[b, r, low:high]
                chosen = counts[b, r, low:high]
                for k in range(n):
                    logit[k] = chosen[k] - norm[k] * logit[k]
