"""Short HMC of every question's sprites on its counts, one chain at a time.

The same density as `Sprite.on_counts` plus `Sprite.log_prior` on the unconstrained scale (means and log variances), in
one compiled loop: a question's update takes microseconds, less than the calls that would lead to it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints
from sprite.kernels.vexp import vexp

_FAR = 300.0


@njit(cache=True, nogil=True, error_model="numpy")
def move_sprites(
    x: Floats,
    counts: Floats,
    nodes: Floats,
    rows: Ints,
    entries: Ints,
    entry: Ints,
    prior: Floats,
    inverse: Floats,
    step: Floats,
    leaps: int,
    normal: Floats,
    uniform: Floats,
    probability: Floats,
) -> None:
    """Move x in place; into `probability` the chance that each question's move had.

    Question j has rows ``rows[j] : rows[j + 1]`` and entries ``entries[j] : entries[j + 1]`` of x. ``entry[r]`` are the
    entries of row r's mean and log variance, -1 where held at 0; `prior` is nu_mu, alpha, beta. ``inverse[j]`` is the
    inverse of the Cholesky factor of question j's metric.
    """
    most = inverse.shape[1]
    at, gradient, momentum = np.empty(most), np.empty(most), np.empty(most)
    room = np.empty((np.diff(rows).max() + 4, len(nodes)))
    for j in range(len(rows) - 1):
        begin, size = entries[j], entries[j + 1] - entries[j]
        if size == 0:
            probability[j] = 1.0
            continue
        low, high = _populated(counts, rows[j], rows[j + 1], room[0])
        at[:size] = x[begin : begin + size]
        where = (rows[j], rows[j + 1], begin, low, high)
        value = _density(at, counts, nodes, where, entry, prior, room, gradient)
        gain = -value
        for i in range(size):
            momentum[i] = normal[begin + i]
            gain += 0.5 * momentum[i] * momentum[i]
        _kick(momentum, gradient, inverse[j], 0.5 * step[j], size)
        for leap in range(leaps):
            for i in range(size):
                total = 0.0
                for k in range(i, size):
                    total += inverse[j, k, i] * momentum[k]
                at[i] += step[j] * total
            value = _density(at, counts, nodes, where, entry, prior, room, gradient)
            _kick(momentum, gradient, inverse[j], (1.0 if leap < leaps - 1 else 0.5) * step[j], size)
        gain += value
        for i in range(size):
            gain -= 0.5 * momentum[i] * momentum[i]
        # A step into nowhere has a NaN gain and is refused.
        probability[j] = math.exp(min(gain, 0.0)) if gain == gain else 0.0
        if uniform[j] < probability[j]:
            x[begin : begin + size] = at[:size]


@njit(nogil=True, error_model="numpy")
def _kick(momentum: Floats, gradient: Floats, inverse: Floats, step: float, size: int) -> None:
    for i in range(size):
        total = 0.0
        for k in range(i + 1):
            total += inverse[i, k] * gradient[k]
        momentum[i] += step * total


@njit(nogil=True, error_model="numpy")
def _populated(counts: Floats, begin: int, end: int, total: Floats) -> tuple[int, int]:
    """Answers to a question at each node into `total`, and the range of nodes, in whole vectors, that has any."""
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


@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _moments(chosen: Floats, share: Floats, scale: Floats, centred: Floats) -> tuple[float, float, float]:
    """Sums over the nodes of (chosen - scale share) times 1, u and u^2, with u in `centred`."""
    s0, s1, s2 = 0.0, 0.0, 0.0
    for k in range(len(chosen)):
        residual = chosen[k] - scale[k] * share[k]
        u = centred[k]
        s0 += residual
        s1 += residual * u
        s2 += residual * u * u
    return s0, s1, s2


@njit(nogil=True, error_model="numpy")
def _density(
    at: Floats,
    counts: Floats,
    nodes: Floats,
    where: tuple[int, int, int, int, int],
    entry: Ints,
    prior: Floats,
    room: Floats,
    gradient: Floats,
) -> float:
    """Log density of one question given its counts, and its gradient in the question's entries of x."""
    begin, end, shift, low, high = where
    n = high - low
    z = nodes[low:high]
    total, top, norm, work = room[0, low:high], room[1, :n], room[2, :n], room[3, :n]
    for k in range(n):
        top[k] = -np.inf
        norm[k] = 0.0
        work[k] = 0.0
    value = 0.0
    for r in range(begin, end):
        mu, log_nu = _sprite(at, entry, r, shift)
        half = -0.5 * math.exp(-log_nu)
        level = -0.5 * log_nu
        logit = room[4 + r - begin, :n]
        for k in range(n):
            u = z[k] - mu
            logit[k] = level + half * u * u
        for k in range(n):
            top[k] = logit[k] if logit[k] > top[k] else top[k]
        if entry[r, 0] >= 0:
            value -= 0.5 * mu * mu / prior[0]
        if entry[r, 1] >= 0:
            value -= prior[1] * log_nu + prior[2] * math.exp(-log_nu)
    for r in range(begin, end):
        logit, chosen = room[4 + r - begin, :n], counts[r, low:high]
        for k in range(n):
            work[k] += chosen[k] * (logit[k] - top[k])
        for k in range(n):
            logit[k] = vexp(logit[k] - top[k])
        for k in range(n):
            norm[k] += logit[k]
    for k in range(n):
        if total[k] > 0.0:
            value += work[k] - total[k] * math.log(norm[k])
    for k in range(n):
        norm[k] = total[k] / norm[k]
    for r in range(begin, end):
        mu, log_nu = _sprite(at, entry, r, shift)
        precision = math.exp(-log_nu)
        for k in range(n):
            work[k] = z[k] - mu
        s0, s1, s2 = _moments(counts[r, low:high], room[4 + r - begin, :n], norm, work)
        if entry[r, 0] >= 0:
            gradient[entry[r, 0] - shift] = s1 * precision - mu / prior[0]
        if entry[r, 1] >= 0:
            gradient[entry[r, 1] - shift] = 0.5 * (s2 * precision - s0) - prior[1] + prior[2] * precision
    return value


@njit(nogil=True, error_model="numpy")
def _sprite(at: Floats, entry: Ints, r: int, shift: int) -> tuple[float, float]:
    """Mean and log variance of a row; the latter within the bounds that keep everything finite."""
    mu = at[entry[r, 0] - shift] if entry[r, 0] >= 0 else 0.0
    log_nu = at[entry[r, 1] - shift] if entry[r, 1] >= 0 else 0.0
    return mu, min(max(log_nu, -_FAR), _FAR)
