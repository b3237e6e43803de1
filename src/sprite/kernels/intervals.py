"""Options that are intervals of ability plus standard normal noise (ORD, LORD).

All functions take a leading batch axis (chains or draws).
"""

from __future__ import annotations

import math

import numba
import numpy as np

from sprite.core.types import Floats, Ints
from sprite.kernels.interrupts import interruptible

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_ROOT_HALF = math.sqrt(0.5)
_NARROW = 1e-4  # below this width an interval's probability is its width times the density inside
_SMALL = 1e-4  # below this probability a difference of two distribution functions has lost too many digits


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _log_normal_cdf(x: float) -> float:
    if x > -30.0:
        return math.log(0.5 * math.erfc(-x / math.sqrt(2.0)))
    # Mills ratio, to 1e-15 here: the next term is 945 / x^10.
    s = 1.0 / (x * x)
    return -0.5 * x * x - _HALF_LOG_2PI - math.log(-x) + math.log1p(-s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s))))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _log_interval(lower: float, upper: float, width: float) -> float:
    """Log of Phi(upper) - Phi(lower), accurate in both tails and for narrow intervals; width = upper - lower."""
    if lower > 0.0:  # work in the left tail, where the distribution function keeps its digits
        lower, upper = -upper, -lower
    middle = 0.5 * (lower + upper)
    if width * max(1.0, abs(middle)) < _NARROW:
        bend = width * width * (middle * middle - 1.0) / 24.0
        return math.log(width) - 0.5 * middle * middle - _HALF_LOG_2PI + math.log1p(bend)
    log_upper = _log_normal_cdf(upper)
    if lower == -np.inf:
        return log_upper
    # Where Phi(upper) is near 1, one minus the two tails is more accurate than a difference of logs.
    if upper > 0.0:
        tails = 0.5 * (math.erfc(-lower / math.sqrt(2.0)) + math.erfc(upper / math.sqrt(2.0)))
        return math.log1p(-tails)
    return log_upper + math.log1p(-math.exp(_log_normal_cdf(lower) - log_upper))


@interruptible
@numba.njit(cache=True, nogil=True, error_model="numpy")
def interval_table(lower: Floats, upper: Floats, width: Floats, nodes: Floats) -> Floats:
    """Log of Phi(upper - z) - Phi(lower - z) for each row; width is upper - lower, free of cancellation."""
    batches, n_rows = lower.shape
    table = np.empty((batches, n_rows, len(nodes)))
    for b in range(batches):
        for r in range(n_rows):
            for k in range(len(nodes)):
                table[b, r, k] = _log_interval(lower[b, r] - nodes[k], upper[b, r] - nodes[k], width[b, r])
    return table


@interruptible
@numba.njit(cache=True, nogil=True, error_model="numpy")
def interval_pullback(
    table: Floats, weight: Floats, lower: Floats, upper: Floats, nodes: Floats
) -> tuple[Floats, Floats]:
    """Gradient of sum(weight * table) in each row's lower and upper bound (0 for an infinite bound)."""
    batches, n_rows, n_nodes = table.shape
    of_lower = np.zeros((batches, n_rows))
    of_upper = np.zeros((batches, n_rows))
    for b in range(batches):
        for r in range(n_rows):
            low = lower[b, r]
            high = upper[b, r]
            s_low = 0.0
            s_high = 0.0
            for k in range(n_nodes):
                w = weight[b, r, k]
                if w == 0.0:
                    continue
                scale = _HALF_LOG_2PI + table[b, r, k]
                if low > -np.inf:
                    s_low -= w * math.exp(-0.5 * (low - nodes[k]) ** 2 - scale)
                if high < np.inf:
                    s_high += w * math.exp(-0.5 * (high - nodes[k]) ** 2 - scale)
            of_lower[b, r] = s_low
            of_upper[b, r] = s_high
    return of_lower, of_upper


@interruptible
@numba.njit(cache=True, nogil=True, error_model="numpy")
def interval_on_counts(
    edges: Floats, shift: Floats, rank: Ints, counts: Floats, first: Ints, nodes: Floats
) -> tuple[Floats, Floats]:
    """Sum of counts * log P by question, and its gradient in each edge.

    Question j's M + 1 edges (the outer two infinite) begin at first[j] + j; shift moves them all. Neighbouring options
    share an edge, so the normal distribution function is evaluated once an edge and node; and where nobody stands,
    nothing is.
    """
    batches = rank.shape[0]
    n_nodes = len(nodes)
    n_questions = len(first) - 1
    value = np.zeros((batches, n_questions))
    of_edge = np.zeros_like(edges)
    longest = 1
    for j in range(n_questions):
        longest = max(longest, first[j + 1] - first[j])
    below = np.zeros((longest + 1, n_nodes))
    density = np.zeros((longest + 1, n_nodes))
    for b in range(batches):
        for j in range(n_questions):
            begin, size = first[j], first[j + 1] - first[j]
            edge = begin + j
            for k in range(n_nodes):
                anyone = False
                for r in range(begin, begin + size):
                    if counts[b, r, k] > 0.0:
                        anyone = True
                        break
                if not anyone:
                    continue
                for e in range(1, size):
                    u = edges[b, edge + e] + shift[b, j] - nodes[k]
                    below[e, k] = 0.5 * math.erfc(-u * _ROOT_HALF)
                    density[e, k] = math.exp(-0.5 * u * u - _HALF_LOG_2PI)
            for e in (0, size):
                below[e] = 0.0 if e == 0 else 1.0
                density[e] = 0.0
            s = 0.0
            for r in range(begin, begin + size):
                low = rank[b, r]
                s_low = 0.0
                s_high = 0.0
                for k in range(n_nodes):
                    c = counts[b, r, k]
                    if c == 0.0:
                        continue
                    p = below[low + 1, k] - below[low, k]
                    if p > _SMALL:
                        s += c * math.log(p)
                        s_high += c * density[low + 1, k] / p
                        s_low -= c * density[low, k] / p
                    else:
                        x_low = edges[b, edge + low]
                        x_high = edges[b, edge + low + 1]
                        move = shift[b, j] - nodes[k]
                        log_p = _log_interval(x_low + move, x_high + move, max(x_high - x_low, 1e-300))
                        s += c * log_p
                        if low + 1 < size:
                            s_high += c * math.exp(-0.5 * (x_high + move) ** 2 - _HALF_LOG_2PI - log_p)
                        if low > 0:
                            s_low -= c * math.exp(-0.5 * (x_low + move) ** 2 - _HALF_LOG_2PI - log_p)
                of_edge[b, edge + low] += s_low
                of_edge[b, edge + low + 1] += s_high
            value[b, j] = s
    return value, of_edge
