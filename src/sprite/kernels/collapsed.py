"""Candidates for one option of a question, judged with ability integrated out.

With every respondent's posterior at hand, changing a question multiplies each likelihood by the mean over that
posterior of the ratio of new to old probability. For the choosers of the option that changes, the old probability may
have driven the posterior to where the new one is small, beyond what float64 holds: theirs is taken anew from their
other answers.

All arrays are one chain's. Of all questions only some may change: theirs are rows ``first[j]`` to ``first[j + 1]`` of
`new` and rows from ``begin[j]`` of the whole `table`. ``new[c]`` is the table of candidate c, in which row
``changing[j]`` of each question has moved (-1: none). `weight` are the posteriors, respondents x nodes, and the
choosers of row r are ``who[by_row[r] : by_row[r + 1]]``.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.vexp import exp_into, vexp

_HUGE, _TINY = 1e100, 1e-100


@njit(cache=True, nogil=True, error_model="numpy")
def judge(
    start: Ints,
    row: Rows,
    who: Rows,
    by_row: Ints,
    first: Ints,
    begin: Ints,
    log_weight: Floats,
    weight: Floats,
    table: Floats,
    changing: Ints,
    new: Floats,
    gain: Floats,
) -> None:
    """Into gain[c, j] what candidate c adds to the log likelihood by its question j alone."""
    for j in range(len(first) - 1):
        if changing[j] >= 0:
            rest = _without(start, row, who, by_row, log_weight, table, changing[j], begin[j] - first[j])
            ratio = _ratios(new, table, first[j], first[j + 1], begin[j])
            _gains(who, by_row, weight, table, first[j], begin[j], changing[j], new, rest, ratio, gain[:, j])


@njit(cache=True, nogil=True, error_model="numpy")
def choose(
    start: Ints,
    row: Rows,
    who: Rows,
    by_row: Ints,
    first: Ints,
    begin: Ints,
    log_weight: Floats,
    weight: Floats,
    table: Floats,
    changing: Ints,
    new: Floats,
    log_ratio: Floats,
    uniform: Floats,
    choice: Ints,
) -> None:
    """Question after question, choose what is (0) or a candidate (1 ...), and bring weight and table up to date.

    The chance of each is its likelihood times exp(log_ratio), (candidates + 1, questions): the prior over the density
    that candidates are drawn from, all of them independently. That leaves the posterior invariant.
    """
    candidates = len(new)
    gain, chance = np.empty(candidates), np.empty(weight.shape[1])
    for j in range(len(first) - 1):
        choice[j] = 0
        r = changing[j]
        if r < 0:
            continue
        rest = _without(start, row, who, by_row, log_weight, table, r, begin[j] - first[j])
        ratio = _ratios(new, table, first[j], first[j + 1], begin[j])
        _gains(who, by_row, weight, table, first[j], begin[j], r, new, rest, ratio, gain)
        choice[j] = _pick(log_ratio[0, j], gain + log_ratio[1:, j], uniform[j])
        if choice[j] > 0:
            taken = choice[j] - 1
            for m in range(first[j], first[j + 1]):
                for a in range(by_row[m], by_row[m + 1]):
                    line = weight[who[a]]
                    if m == r:
                        line[:] = rest[a - by_row[r]]
                        exp_into(new[taken, r], chance)
                        _tilt(line, chance)
                    else:
                        _tilt(line, ratio[taken, m - first[j]])
                table[begin[j] + m - first[j]] = new[taken, m]


@njit(nogil=True, error_model="numpy")
def _pick(current: float, candidates: Floats, uniform: float) -> int:
    """0 or the place of a candidate plus 1, by their log weights; a candidate of NaN is never picked."""
    top = current
    for value in candidates:
        if value > top:
            top = value
    if not np.isfinite(top):
        return 0
    total = math.exp(current - top)
    for value in candidates:
        total += math.exp(value - top) if value == value else 0.0
    left = uniform * total - math.exp(current - top)
    if left < 0.0:
        return 0
    for c in range(len(candidates)):
        left -= math.exp(candidates[c] - top) if candidates[c] == candidates[c] else 0.0
        if left < 0.0:
            return c + 1
    return 0


@njit(nogil=True, error_model="numpy")
def _gains(
    who: Rows,
    by_row: Ints,
    weight: Floats,
    table: Floats,
    first: int,
    begin: int,
    changing: int,
    new: Floats,
    rest: Floats,
    ratio: Floats,
    gain: Floats,
) -> None:
    """What each candidate adds to the log likelihood of the question that begins at row `first`."""
    candidates = len(new)
    product = np.ones(candidates)
    gain[:] = 0.0
    for m in range(ratio.shape[1]):
        if first + m == changing:
            continue
        for a in range(by_row[first + m], by_row[first + m + 1]):
            left, right = _support(weight[who[a]])
            line = weight[who[a], left:right]
            for c in range(candidates):
                value = product[c] * _dot(line, ratio[c, m, left:right])
                # A logarithm only now and then.
                if not _TINY < value < _HUGE:
                    gain[c] += math.log(value)
                    value = 1.0
                product[c] = value
    now = np.empty(weight.shape[1])
    then = np.empty((candidates, weight.shape[1]))
    exp_into(table[begin + changing - first], now)
    for c in range(candidates):
        exp_into(new[c, changing], then[c])
        gain[c] += math.log(product[c])
    for a in range(len(rest)):
        before = math.log(_dot(rest[a], now))
        for c in range(candidates):
            gain[c] += math.log(_dot(rest[a], then[c])) - before


@njit(nogil=True, error_model="numpy")
def _without(
    start: Ints,
    row: Rows,
    who: Rows,
    by_row: Ints,
    log_weight: Floats,
    table: Floats,
    changing: int,
    shift: int,
) -> Floats:
    """Posteriors of a row's choosers up to a factor each, that answer left out; it is row + shift of the table."""
    low, high = by_row[changing], by_row[changing + 1]
    rest = np.empty((high - low, len(log_weight)))
    for i in range(high - low):
        line = rest[i]
        for k in range(len(log_weight)):
            line[k] = log_weight[k]
        for a in range(start[who[low + i]], start[who[low + i] + 1]):
            if row[a] != changing + shift:
                added = table[row[a]]
                for k in range(len(log_weight)):
                    line[k] += added[k]
        top = -np.inf
        for k in range(len(log_weight)):
            top = line[k] if line[k] > top else top
        for k in range(len(log_weight)):
            line[k] = vexp(line[k] - top)
    return rest


@njit(nogil=True, error_model="numpy")
def _ratios(new: Floats, table: Floats, first: int, last: int, begin: int) -> Floats:
    """New over old probability: candidates x options x nodes."""
    ratio = np.empty((len(new), last - first, table.shape[1]))
    for c in range(len(new)):
        for m in range(last - first):
            out, above, below = ratio[c, m], new[c, first + m], table[begin + m]
            for k in range(table.shape[1]):
                out[k] = vexp(above[k] - below[k])
    return ratio


@njit(nogil=True, error_model="numpy")
def _support(line: Floats) -> tuple[int, int]:
    """The range outside which a posterior is zero."""
    left, right = 0, line.shape[0]
    while left < right and line[left] == 0.0:
        left += 1
    while right > left and line[right - 1] == 0.0:
        right -= 1
    return left, right


# Sums may be reordered, which vectors need; nothing is assumed of NaN or infinity.
@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _dot(a: Floats, b: Floats) -> float:
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total


@njit(nogil=True, error_model="numpy")
def _tilt(line: Floats, ratio: Floats) -> None:
    """Multiply a posterior by a ratio and normalise it."""
    total = _dot(line, ratio)
    for k in range(line.shape[0]):
        line[k] *= ratio[k] / total
