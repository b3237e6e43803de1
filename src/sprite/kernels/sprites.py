"""Short HMC of every question's sprites on its counts, one chain at a time.

The same density as `Sprite.on_counts` plus `Sprite.log_prior` on the unconstrained scale (means and log variances), in
one compiled loop: a question's update takes microseconds, less than the calls that would lead to it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints
from sprite.kernels.populated import longest, populated
from sprite.kernels.softmax import likelihood, moments

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
    room, logits = np.empty((4, len(nodes))), np.empty((longest(rows), len(nodes)))
    for j in range(len(rows) - 1):
        begin, size = entries[j], entries[j + 1] - entries[j]
        if size == 0:
            probability[j] = 1.0
            continue
        low, high = populated(counts, rows[j], rows[j + 1], room[0])
        data = (nodes, counts, rows[j], low, high, logits, room)
        own = entry[rows[j] : rows[j + 1]] - begin
        at[:size] = x[begin : begin + size]
        value = _density(at, own, prior, data, gradient)
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
            value = _density(at, own, prior, data, gradient)
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
def _density(
    at: Floats,
    entry: Ints,
    prior: Floats,
    data: tuple[Floats, Floats, int, int, int, Floats, Floats],
    gradient: Floats,
) -> float:
    """Log density of one question given its counts, and its gradient; `entry` as in `at`, below 0 where held.

    `data` are nodes, counts, the question's first row, the range of nodes, and room for logits and for `likelihood`.
    """
    nodes, counts, begin, low, high, logits, room = data
    n = high - low
    z, top, centred = nodes[low:high], room[1, :n], room[3, :n]
    for k in range(n):
        top[k] = -np.inf
    value = 0.0
    for r in range(len(entry)):
        mu, log_nu = _sprite(at, entry[r])
        half = -0.5 * math.exp(-log_nu)
        level = -0.5 * log_nu
        logit = logits[r, :n]
        for k in range(n):
            u = z[k] - mu
            logit[k] = level + half * u * u
        for k in range(n):
            top[k] = logit[k] if logit[k] > top[k] else top[k]
        if entry[r, 0] >= 0:
            value -= 0.5 * mu * mu / prior[0]
        if entry[r, 1] >= 0:
            value -= prior[1] * log_nu + prior[2] * math.exp(-log_nu)
    value += likelihood(logits, counts, begin, begin + len(entry), low, high, room)
    for r in range(len(entry)):
        mu, log_nu = _sprite(at, entry[r])
        precision = math.exp(-log_nu)
        for k in range(n):
            centred[k] = z[k] - mu
        s0, s1, s2 = moments(counts[begin + r, low:high], logits[r, :n], room[2, :n], centred)
        if entry[r, 0] >= 0:
            gradient[entry[r, 0]] = s1 * precision - mu / prior[0]
        if entry[r, 1] >= 0:
            gradient[entry[r, 1]] = 0.5 * (s2 * precision - s0) - prior[1] + prior[2] * precision
    return value


@njit(nogil=True, error_model="numpy")
def _sprite(at: Floats, entry: Ints) -> tuple[float, float]:
    """Mean and log variance of a row; the latter within the bounds that keep everything finite."""
    mu = at[entry[0]] if entry[0] >= 0 else 0.0
    log_nu = at[entry[1]] if entry[1] >= 0 else 0.0
    return mu, min(max(log_nu, -_FAR), _FAR)
