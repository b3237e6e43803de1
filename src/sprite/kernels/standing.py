"""Where a chain stands with every ability integrated out: table, curves, and each respondent's posterior on the grid.

Posteriors are kept as sums of log probabilities as well, out of which an answer can be taken again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints, Rows
from sprite.kernels.grid import NEGLIGIBLE
from sprite.kernels.sums import total
from sprite.kernels.vexp import vexp

_TAME = -1e6
"""A log probability below this leaves too few digits of a sum it is taken out of again."""


class Answers(NamedTuple):
    """All answers, and who chose what of the questions that may change.

    Of all questions only some may change: theirs are rows ``first[j]`` to ``first[j + 1]`` among themselves, and rows
    from ``begin[j]`` of the whole table.
    """

    start: Ints
    row: Rows
    who: Rows
    """The choosers of row r of theirs are ``who[by_row[r] : by_row[r + 1]]``."""
    by_row: Ints
    first: Ints
    begin: Ints
    log_weight: Floats
    nodes: Floats


class Standing(NamedTuple):
    """Where one chain stands."""

    table: Floats
    """Log probabilities of the whole test, rows x nodes."""
    curves: Floats
    """Height, slope, curve and centre of every row that may change."""
    level: Floats
    """Each respondent's log posterior up to a constant, respondents x nodes."""
    weight: Floats
    """The posterior itself, zero where negligible."""
    support: Ints
    """The range of nodes outside which it is zero, (respondents, 2)."""


def standing(answers: Answers, table: Floats, curves: Floats) -> Standing:
    """Take up a chain's table, which will be written to, and curves."""
    shape = (len(answers.start) - 1, len(answers.log_weight))
    out = Standing(table, curves, np.empty(shape), np.empty(shape), np.empty((shape[0], 2), dtype=np.int64))
    _stand(answers, out)
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def _stand(answers: Answers, at: Standing) -> None:
    for i in range(len(at.level)):
        sum_up(answers, at.table, i, -1, at.level[i])
        weigh(at, i)


@njit(nogil=True, error_model="numpy")
def sum_up(answers: Answers, table: Floats, i: int, but: int, level: Floats) -> None:
    """Respondent i's log posterior up to a constant, from all its answers but one."""
    n = len(level)
    for k in range(n):
        level[k] = answers.log_weight[k]
    for a in range(answers.start[i], answers.start[i + 1]):
        if answers.row[a] != but:
            added = table[answers.row[a]]
            for k in range(n):
                level[k] += added[k]


@njit(nogil=True, error_model="numpy")
def weigh(at: Standing, i: int) -> None:
    """Respondent i's posterior from its level; all zero where its answers are impossible."""
    level, weight, support = at.level[i], at.weight[i], at.support[i]
    n = len(level)
    top = -np.inf
    for k in range(n):
        top = level[k] if level[k] > top else top
    left, right = 0, n if top > -np.inf else 0
    while left < right and level[left] < top - NEGLIGIBLE:
        left += 1
    while right > left and level[right - 1] < top - NEGLIGIBLE:
        right -= 1
    weight[:] = 0.0
    some, of = weight[left:right], level[left:right]
    for k in range(right - left):
        some[k] = vexp(of[k] - top)
    whole = total(some)
    for k in range(right - left):
        some[k] /= whole
    support[0], support[1] = left, right


@njit(nogil=True, error_model="numpy")
def is_tame(line: Floats) -> bool:
    """Whether every log probability can be taken out of a sum again."""
    lowest = 0.0
    for k in range(len(line)):
        lowest = line[k] if line[k] < lowest else lowest
    return lowest > _TAME
