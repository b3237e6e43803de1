"""Options that are intervals of ability plus standard normal noise (ORD, LORD).

All functions take a leading batch axis (chains or draws).
"""

from __future__ import annotations

import math

import numba
import numpy as np

from sprite.core.types import Floats, Ints
from sprite.kernels.interrupts import interruptible
from sprite.kernels.normal import density, mills
from sprite.kernels.populated import longest, populated
from sprite.kernels.vexp import vexp
from sprite.kernels.vlog import vlog

_HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)
_NARROWEST = 1e-300  # two bounds may coincide in floating point; the option between them stays possible
_NARROW = 1e-4  # below this width an interval's probability is its width times the density inside
_LOST = 1e-4  # a difference smaller than this part of what it is taken from has lost too many digits
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
def _between(lower: float, upper: float, of_lower: float, of_upper: float) -> float:
    """Phi(upper) - Phi(lower) from the tails Phi(-|u|) of both; 0 where that has not digits enough."""
    left, right = upper <= 0.0, lower >= 0.0
    whole = of_upper if left else (of_lower if right else 1.0)
    p = of_upper - of_lower if left else (of_lower - of_upper if right else 1.0 - of_lower - of_upper)
    # A product of conditions where `and` would be a branch, which keeps a loop scalar.
    return p if (whole > _TINY) & (p > _LOST * whole) else 0.0


@interruptible
@numba.njit(cache=True, nogil=True, error_model="numpy")
def interval_table(edges: Floats, shift: Floats, rank: Ints, first: Ints, nodes: Floats) -> Floats:
    """Log P of every row at every node; edges as in `interval_on_counts`."""
    batches, n_rows = rank.shape
    n_nodes = len(nodes)
    table = np.empty((batches, n_rows, n_nodes))
    tail = np.zeros((longest(first) + 1, n_nodes))
    for b in range(batches):
        for j in range(len(first) - 1):
            begin, size = first[j], first[j + 1] - first[j]
            edge = edges[b, begin + j : begin + j + size + 1] + shift[b, j]
            for e in range(1, size):
                _tails(edge[e], nodes, tail[e])
            tail[size] = 0.0
            for r in range(begin, begin + size):
                low, line = rank[b, r], table[b, r]
                lost = _into_between(edge[low], edge[low + 1], nodes, tail[low], tail[low + 1], line)
                if lost == 0:
                    for k in range(n_nodes):
                        line[k] = vlog(line[k])
                    continue
                width = max(edges[b, begin + j + low + 1] - edges[b, begin + j + low], _NARROWEST)
                for k in range(n_nodes):
                    lower, upper = edge[low] - nodes[k], edge[low + 1] - nodes[k]
                    line[k] = math.log(line[k]) if line[k] > 0.0 else _log_interval(lower, upper, width)
    return table


@numba.njit(nogil=True, error_model="numpy")
def _tails(edge: float, nodes: Floats, out: Floats) -> None:
    """Phi(-|u|) with u = edge - node: of the two sides of u, the one whose probability keeps its digits."""
    for k in range(len(nodes)):
        u = abs(edge - nodes[k])
        out[k] = density(u) * mills(u)


@numba.njit(nogil=True, error_model="numpy")
def _into_between(lower: float, upper: float, nodes: Floats, of_lower: Floats, of_upper: Floats, out: Floats) -> int:
    """P between two edges at every node; how many have not digits enough, and are 0."""
    lost = 0
    for k in range(len(nodes)):
        p = _between(lower - nodes[k], upper - nodes[k], of_lower[k], of_upper[k])
        out[k] = p
        lost += p == 0.0
    return lost


@interruptible
@numba.njit(cache=True, nogil=True, error_model="numpy")
def interval_pullback(
    table: Floats, weight: Floats, lower: Floats, upper: Floats, nodes: Floats
) -> tuple[Floats, Floats]:
    """Gradient of sum(weight * table) in each row's lower and upper bound (0 for an infinite bound)."""
    batches, n_rows, _ = table.shape
    of_lower = np.zeros((batches, n_rows))
    of_upper = np.zeros((batches, n_rows))
    for b in range(batches):
        for r in range(n_rows):
            of_lower[b, r] = -_of_bound(table[b, r], weight[b, r], lower[b, r], nodes)
            of_upper[b, r] = _of_bound(table[b, r], weight[b, r], upper[b, r], nodes)
    return of_lower, of_upper


# Sums may be reordered, which vectors need; nothing is assumed of NaN or infinity.
@numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc"})
def _of_bound(log_p: Floats, weight: Floats, bound: float, nodes: Floats) -> float:
    """Sum of weight * density(bound - node) / P."""
    total = 0.0
    if abs(bound) < np.inf:
        for k in range(len(nodes)):
            u = bound - nodes[k]
            ratio = vexp(-0.5 * u * u - _HALF_LOG_2PI - log_p[k])
            total += weight[k] * ratio if weight[k] != 0.0 else 0.0
    return total


@interruptible
@numba.njit(cache=True, nogil=True, error_model="numpy")
def interval_on_counts(
    edges: Floats, shift: Floats, rank: Ints, counts: Floats, first: Ints, nodes: Floats
) -> tuple[Floats, Floats]:
    """Sum of counts * log P by question, and its gradient in each edge.

    Question j's M + 1 edges (the outer two infinite) begin at first[j] + j; shift moves them all. Nodes and counts are
    those of every batch, or one for all. Neighbouring options share an edge, so the normal distribution function is
    evaluated once an edge and node; and beyond where anybody stands, nothing is.
    """
    batches, n_nodes, most = rank.shape[0], nodes.shape[1], longest(first)
    value = np.zeros((batches, len(first) - 1))
    of_edge = np.zeros_like(edges)
    total, room = np.empty(n_nodes), np.empty(n_nodes)
    tail, dense = np.zeros((most + 1, n_nodes)), np.zeros((most + 1, n_nodes))
    for b in range(batches):
        own = counts[b if len(counts) > 1 else 0]
        for j in range(len(first) - 1):
            begin, size = first[j], first[j + 1] - first[j]
            left, right = populated(own, begin, begin + size, total)
            n = right - left
            z, p = nodes[b if len(nodes) > 1 else 0, left:right], room[:n]
            edge = edges[b, begin + j : begin + j + size + 1] + shift[b, j]
            of = of_edge[b, begin + j : begin + j + size + 1]
            for e in range(1, size):
                _tails_and_densities(edge[e], z, tail[e, :n], dense[e, :n])
            tail[size, :n] = 0.0
            dense[size, :n] = 0.0
            for r in range(begin, begin + size):
                low = rank[b, r]
                lost = _into_between(edge[low], edge[low + 1], z, tail[low, :n], tail[low + 1, :n], p)
                s, s_low, s_high = _sums(own[r, left:right], p, dense[low, :n], dense[low + 1, :n])
                if lost:
                    width = max(edges[b, begin + j + low + 1] - edges[b, begin + j + low], _NARROWEST)
                    more = _sums_of_lost(own[r, left:right], p, z, edge[low], edge[low + 1], width)
                    s, s_low, s_high = s + more[0], s_low + more[1], s_high + more[2]
                value[b, j] += s
                of[low] -= s_low
                of[low + 1] += s_high
    return value, of_edge


@numba.njit(nogil=True, error_model="numpy")
def _tails_and_densities(edge: float, z: Floats, tail: Floats, dense: Floats) -> None:
    for k in range(len(z)):
        dense[k] = density(edge - z[k])
    for k in range(len(z)):
        tail[k] = dense[k] * mills(abs(edge - z[k]))


@numba.njit(nogil=True, error_model="numpy", fastmath={"reassoc"})
def _sums(chosen: Floats, p: Floats, of_lower: Floats, of_upper: Floats) -> tuple[float, float, float]:
    """Sums of chosen times log P, and times density / P at either edge; those without digits enough left out."""
    s, s_low, s_high = 0.0, 0.0, 0.0
    for k in range(len(p)):
        known = p[k] > 0.0
        c, q = (chosen[k] if known else 0.0), (p[k] if known else 1.0)
        ratio = c / q
        s += c * vlog(q)
        s_low += ratio * of_lower[k]
        s_high += ratio * of_upper[k]
    return s, s_low, s_high


@numba.njit(nogil=True, error_model="numpy")
def _sums_of_lost(
    chosen: Floats, p: Floats, z: Floats, low: float, high: float, width: float
) -> tuple[float, float, float]:
    """The same sums of those left out, in logs."""
    s, s_low, s_high = 0.0, 0.0, 0.0
    for k in range(len(p)):
        if p[k] > 0.0 or chosen[k] == 0.0:
            continue
        lower, upper = low - z[k], high - z[k]
        log_p = _log_interval(lower, upper, width)
        s += chosen[k] * log_p
        s_low += chosen[k] * math.exp(-0.5 * lower**2 - _HALF_LOG_2PI - log_p)
        s_high += chosen[k] * math.exp(-0.5 * upper**2 - _HALF_LOG_2PI - log_p)
    return s, s_low, s_high
