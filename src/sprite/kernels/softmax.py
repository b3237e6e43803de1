"""Options that compete through a softmax of quadratics in ability (SPRITE, NRM, GPCM).

All functions take a leading batch axis (chains or draws).
"""

from __future__ import annotations

import numba
import numpy as np

from sprite.core.types import Floats, Ints
from sprite.kernels.interrupts import interruptible
from sprite.kernels.populated import longest, populated
from sprite.kernels.vexp import vexp
from sprite.kernels.vlog import vlog


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
                total[k] = vlog(total[k])
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
    of_curve: Floats,
) -> None:
    """Sum of counts * log softmax by question into `value`; its gradient in height, slope, curve into `of_curve`.

    Nodes and counts are those of every batch, or one for all. Batches low to high are done, so that threads can share
    them. Loops run along the nodes and touch few arrays each, which is what lets them vectorise.
    """
    n_nodes = nodes.shape[1]
    logits, room = np.empty((longest(first), n_nodes)), np.empty((4, n_nodes))
    for b in range(low_batch, high_batch):
        own, of_all = counts[b if len(counts) > 1 else 0], nodes[b if len(nodes) > 1 else 0]
        for j in range(len(first) - 1):
            begin, end = first[j], first[j + 1]
            low, high = populated(own, begin, end, room[0])
            n = high - low
            z, top, centred = of_all[low:high], room[1, :n], room[3, :n]
            for k in range(n):
                top[k] = -np.inf
            for r in range(begin, end):
                logit = logits[r - begin, :n]
                h, g, c, m = height[b, r], slope[b, r], curve[b, r], centre[b, r]
                for k in range(n):
                    u = z[k] - m
                    logit[k] = h + (g + c * u) * u
                for k in range(n):
                    top[k] = logit[k] if logit[k] > top[k] else top[k]
            value[b, j] = likelihood(logits, own, begin, end, low, high, room)
            for r in range(begin, end):
                for k in range(n):
                    centred[k] = z[k] - centre[b, r]
                s0, s1, s2 = moments(own[r, low:high], logits[r - begin, :n], room[2, :n], centred)
                of_curve[0, b, r] = s0
                of_curve[1, b, r] = s1
                of_curve[2, b, r] = s2


# Whole arrays and a range, not views of two dimensions: rows of such a view are not known to be contiguous, and loops
# along them do not vectorise.
@numba.njit(nogil=True, error_model="numpy")
def likelihood(logits: Floats, counts: Floats, begin: int, end: int, low: int, high: int, room: Floats) -> float:
    """Sum of counts * log softmax over rows begin to end, of one question, and nodes low to high.

    `room` holds the counts of all rows together, at low to high, then from 0 on the largest logits and two lines for
    work. Left behind are exp(logit - top) in `logits` and, in the third line of `room`, what turns this into expected
    counts.
    """
    n = high - low
    total, top, norm, match = room[0, low:high], room[1, :n], room[2, :n], room[3, :n]
    for k in range(n):
        norm[k] = 0.0
        match[k] = 0.0
    for r in range(begin, end):
        logit, chosen = logits[r - begin, :n], counts[r, low:high]
        for k in range(n):
            match[k] += chosen[k] * (logit[k] - top[k])
        for k in range(n):
            logit[k] = vexp(logit[k] - top[k])
        for k in range(n):
            norm[k] += logit[k]
    for k in range(n):
        match[k] -= total[k] * vlog(norm[k])
    value = 0.0
    for k in range(n):
        value += match[k]
    for k in range(n):
        norm[k] = total[k] / norm[k]
    return value


@numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def moments(chosen: Floats, share: Floats, scale: Floats, centred: Floats) -> tuple[float, float, float]:
    """Sums over the nodes of (chosen - scale share) times 1, u and u^2, with u in `centred`."""
    s0, s1, s2 = 0.0, 0.0, 0.0
    for k in range(len(chosen)):
        residual = chosen[k] - scale[k] * share[k]
        u = centred[k]
        s0 += residual
        s1 += residual * u
        s2 += residual * u * u
    return s0, s1, s2
