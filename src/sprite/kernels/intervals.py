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
_NARROWEST = 1e-300  # two bounds may coincide in floating point; the option between them stays possible
_NARROW = 1e-4  # below this width an interval's probability is its width times the density inside
_LOST = 1e-4  # a difference smaller than this part of what it is taken from has lost too many digits
_UNKNOWN = -1.0  # a density not evaluated yet
_TINY = 1e-280  # below this a tail nears the end of floating point


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


@numba.njit(nogil=True, error_model="numpy")
def _tail(u: float) -> float:
    """Phi(-|u|): of the two sides of u, the one whose probability keeps its digits."""
    return 0.5 * math.erfc(abs(u) * _ROOT_HALF)


@numba.njit(nogil=True, error_model="numpy")
def _between(lower: float, upper: float, of_lower: float, of_upper: float) -> float:
    """Phi(upper) - Phi(lower) from their tails; 0 where that has not digits enough and `_log_interval` has."""
    if upper <= 0.0:
        whole, p = of_upper, of_upper - of_lower
    elif lower >= 0.0:
        whole, p = of_lower, of_lower - of_upper
    else:
        whole, p = 1.0, 1.0 - of_lower - of_upper
    return p if whole > _TINY and p > _LOST * whole else 0.0


@interruptible
@numba.njit(cache=True, nogil=True, error_model="numpy")
def interval_table(edges: Floats, shift: Floats, rank: Ints, first: Ints, nodes: Floats) -> Floats:
    """Log P of every row at every node; edges as in `interval_on_counts`."""
    batches, n_rows = rank.shape
    n_nodes = len(nodes)
    table = np.empty((batches, n_rows, n_nodes))
    tail = np.zeros((_longest(first) + 1, n_nodes))
    for b in range(batches):
        for j in range(len(first) - 1):
            begin, size = first[j], first[j + 1] - first[j]
            edge = edges[b, begin + j : begin + j + size + 1] + shift[b, j]
            for e in range(1, size):
                for k in range(n_nodes):
                    tail[e, k] = _tail(edge[e] - nodes[k])
            tail[size] = 0.0
            for r in range(begin, begin + size):
                low = rank[b, r]
                width = edges[b, begin + j + low + 1] - edges[b, begin + j + low]
                for k in range(n_nodes):
                    lower, upper = edge[low] - nodes[k], edge[low + 1] - nodes[k]
                    p = _between(lower, upper, tail[low, k], tail[low + 1, k])
                    table[b, r, k] = math.log(p) if p > 0.0 else _log_interval(lower, upper, max(width, _NARROWEST))
    return table


@numba.njit(nogil=True, error_model="numpy")
def _longest(first: Ints) -> int:
    """Options of the question that has most, at least 1."""
    longest = 1
    for j in range(len(first) - 1):
        longest = max(longest, first[j + 1] - first[j])
    return longest


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
    tail = np.zeros((_longest(first) + 1, n_nodes))
    density = np.zeros(tail.shape)
    for b in range(batches):
        for j in range(n_questions):
            begin, size = first[j], first[j + 1] - first[j]
            edge = edges[b, begin + j : begin + j + size + 1] + shift[b, j]
            of = of_edge[b, begin + j : begin + j + size + 1]
            density[1:size] = _UNKNOWN
            tail[size] = 0.0
            density[size] = 0.0
            s = 0.0
            for r in range(begin, begin + size):
                low = rank[b, r]
                s_low = 0.0
                s_high = 0.0
                for k in range(n_nodes):
                    c = counts[b, r, k]
                    if c == 0.0:
                        continue
                    lower, upper = edge[low] - nodes[k], edge[low + 1] - nodes[k]
                    for e, u in ((low, lower), (low + 1, upper)):
                        if density[e, k] == _UNKNOWN:
                            tail[e, k] = _tail(u)
                            density[e, k] = math.exp(-0.5 * u * u - _HALF_LOG_2PI)
                    p = _between(lower, upper, tail[low, k], tail[low + 1, k])
                    if p > 0.0:
                        s += c * math.log(p)
                        s_high += c * density[low + 1, k] / p
                        s_low -= c * density[low, k] / p
                    else:
                        width = edges[b, begin + j + low + 1] - edges[b, begin + j + low]
                        log_p = _log_interval(lower, upper, max(width, _NARROWEST))
                        s += c * log_p
                        if low + 1 < size:
                            s_high += c * math.exp(-0.5 * upper**2 - _HALF_LOG_2PI - log_p)
                        if low > 0:
                            s_low -= c * math.exp(-0.5 * lower**2 - _HALF_LOG_2PI - log_p)
                of[low] += s_low
                of[low + 1] += s_high
            value[b, j] = s
    return value, of_edge
