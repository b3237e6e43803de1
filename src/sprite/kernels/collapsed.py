"""Candidates for one option of a question, judged with ability integrated out.

Options compete through a softmax of curves, so an option that moves changes what all its rivals together get, by one
factor at each ability. With every respondent's posterior at hand, the likelihood of those who chose a rival is
multiplied by the mean of that factor. For the choosers of the option that moves, its old probability may have driven
the posterior to where the new one is small, beyond what float64 holds: theirs is taken anew from their other answers.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints
from sprite.kernels.standing import Answers, Standing, is_tame, sum_up, weigh
from sprite.kernels.sums import dot
from sprite.kernels.vexp import exp_into, vexp
from sprite.kernels.vlog import vlog

_HUGE, _TINY = 1e100, 1e-100


@njit(cache=True, nogil=True, error_model="numpy")
def judge(answers: Answers, at: Standing, changing: Ints, new: Floats, gain: Floats) -> None:
    """Into gain[c, j] what candidate c adds to the log likelihood by its question j alone.

    Candidates are curves, (candidates, questions, 4), of row ``changing[j]`` of each question (-1: none).
    """
    for j in range(len(changing)):
        if changing[j] >= 0:
            rest = _without(answers, at, j, changing[j])
            rivals = _rivals(answers, at, j, changing[j])
            own, others = _shares(answers, j, changing[j], rivals, new[:, j])
            _gains(answers, at, j, changing[j], rest, own, others, gain[:, j])


@njit(cache=True, nogil=True, error_model="numpy")
def choose(
    answers: Answers, at: Standing, changing: Ints, new: Floats, log_ratio: Floats, uniform: Floats, choice: Ints
) -> None:
    """Question after question, choose what is (0) or a candidate (1 ...), and bring all but the curves up to date.

    The chance of each is its likelihood times exp(log_ratio), (candidates + 1, questions): the prior over the density
    that candidates are drawn from, all of them independently. That leaves the posterior invariant.
    """
    gain = np.empty(len(new))
    for j in range(len(changing)):
        choice[j] = 0
        if changing[j] >= 0:
            rest = _without(answers, at, j, changing[j])
            rivals = _rivals(answers, at, j, changing[j])
            own, others = _shares(answers, j, changing[j], rivals, new[:, j])
            _gains(answers, at, j, changing[j], rest, own, others, gain)
            choice[j] = _pick(log_ratio[0, j], gain + log_ratio[1:, j], uniform[j])
            if choice[j] > 0:
                _move(answers, at, j, changing[j], rivals, new[choice[j] - 1, j])


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
def _rivals(answers: Answers, at: Standing, j: int, changing: int) -> tuple[Floats, Floats, Floats]:
    """Logits of question j's options less the log-sum-exp of all but the one that changes, options x nodes.

    That log-sum-exp in two parts, the largest logit and the rest: their sum would lose digits where logits are huge.
    """
    first, last, n = answers.first[j], answers.first[j + 1], len(answers.nodes)
    logit = np.empty((last - first, n))
    top, total = np.full(n, -np.inf), np.zeros(n)
    for r in range(first, last):
        line = logit[r - first]
        _draw(at.curves[r], answers.nodes, line)
        if r != changing:
            for k in range(n):
                top[k] = line[k] if line[k] > top[k] else top[k]
    for r in range(first, last):
        line = logit[r - first]
        for k in range(n):
            line[k] -= top[k]
        if r != changing:
            for k in range(n):
                total[k] += vexp(line[k])
    for k in range(n):
        total[k] = vlog(total[k])
    for r in range(first, last):
        line = logit[r - first]
        for k in range(n):
            line[k] -= total[k]
    return logit, top, total


@njit(nogil=True, error_model="numpy")
def _draw(curve: Floats, nodes: Floats, out: Floats) -> None:
    height, slope, bend, centre = curve[0], curve[1], curve[2], curve[3]
    for k in range(len(nodes)):
        u = nodes[k] - centre
        out[k] = height + (slope + bend * u) * u


@njit(nogil=True, error_model="numpy")
def _shares(
    answers: Answers, j: int, changing: int, rivals: tuple[Floats, Floats, Floats], new: Floats
) -> tuple[Floats, Floats]:
    """For each candidate its probability, and the factor by which its rivals' changes: candidates x nodes."""
    logit, top, total = rivals
    n = len(top)
    own, others = np.empty((len(new), n)), np.empty((len(new), n))
    odds, before, both = np.empty(n), np.empty(n), np.empty(n)
    # Log of one plus the odds of the option to its rivals, which is what the rivals lose; odds are logs here.
    now = logit[changing - answers.first[j]]
    for k in range(n):
        before[k] = max(now[k], 0.0) + vlog(1.0 + vexp(-abs(now[k])))
    for c in range(len(new)):
        of_own, of_others = own[c], others[c]
        _draw(new[c], answers.nodes, odds)
        for k in range(n):
            odds[k] = (odds[k] - top[k]) - total[k]
        for k in range(n):
            of_own[k] = vexp(-abs(odds[k]))
        for k in range(n):
            both[k] = 1.0 / (1.0 + of_own[k])
        for k in range(n):
            of_others[k] = vexp(before[k] - max(odds[k], 0.0)) * both[k]
        for k in range(n):
            of_own[k] = (1.0 if odds[k] > 0.0 else of_own[k]) * both[k]
    return own, others


@njit(nogil=True, error_model="numpy")
def _gains(
    answers: Answers, at: Standing, j: int, changing: int, rest: Floats, own: Floats, others: Floats, gain: Floats
) -> None:
    """What each candidate adds to the log likelihood."""
    candidates = len(own)
    product = np.ones(candidates)
    gain[:] = 0.0
    for r in range(answers.first[j], answers.first[j + 1]):
        if r == changing:
            continue
        for a in range(answers.by_row[r], answers.by_row[r + 1]):
            i = answers.who[a]
            left, right = at.support[i]
            line = at.weight[i, left:right]
            for c in range(candidates):
                value = product[c] * dot(line, others[c, left:right])
                # A logarithm only now and then.
                if not _TINY < value < _HUGE:
                    gain[c] += math.log(value)
                    value = 1.0
                product[c] = value
    for c in range(candidates):
        gain[c] += math.log(product[c])
    now = np.empty(len(answers.nodes))
    exp_into(at.table[answers.begin[j] + changing - answers.first[j]], now)
    for a in range(len(rest)):
        before = math.log(dot(rest[a], now))
        for c in range(candidates):
            gain[c] += math.log(dot(rest[a], own[c])) - before


@njit(nogil=True, error_model="numpy")
def _without(answers: Answers, at: Standing, j: int, changing: int) -> Floats:
    """Posteriors of the choosers of the row that changes, up to a factor each, that answer left out."""
    low, high = answers.by_row[changing], answers.by_row[changing + 1]
    row = answers.begin[j] + changing - answers.first[j]
    rest = np.empty((high - low, len(answers.nodes)))
    out, tame = at.table[row], is_tame(at.table[row])
    for i in range(high - low):
        line, who = rest[i], answers.who[low + i]
        if tame:
            level = at.level[who]
            for k in range(len(line)):
                line[k] = level[k] - out[k]
        else:
            sum_up(answers, at.table, who, row, line)
        top = -np.inf
        for k in range(len(line)):
            top = line[k] if line[k] > top else top
        for k in range(len(line)):
            line[k] = vexp(line[k] - top)
    return rest


@njit(nogil=True, error_model="numpy")
def _move(
    answers: Answers, at: Standing, j: int, changing: int, rivals: tuple[Floats, Floats, Floats], new: Floats
) -> None:
    """Let question j's row have this curve: table, levels and weights."""
    logit, top, total = rivals
    n = len(top)
    odds, more, line = np.empty(n), np.empty(n), np.empty(n)
    _draw(new, answers.nodes, odds)
    for k in range(n):
        odds[k] = (odds[k] - top[k]) - total[k]
    for k in range(n):
        more[k] = vlog(1.0 + vexp(-abs(odds[k])))
    for r in range(answers.first[j], answers.first[j + 1]):
        for k in range(n):
            line[k] = (
                min(odds[k], 0.0) if r == changing else logit[r - answers.first[j], k] - max(odds[k], 0.0)
            ) - more[k]
        old = at.table[answers.begin[j] + r - answers.first[j]]
        tame = is_tame(old)
        for k in range(n):
            line[k], old[k] = line[k] - old[k], line[k]
        for a in range(answers.by_row[r], answers.by_row[r + 1]):
            i = answers.who[a]
            level = at.level[i]
            if tame:
                for k in range(n):
                    level[k] += line[k]
            else:
                sum_up(answers, at.table, i, -1, level)
            weigh(at, i)
