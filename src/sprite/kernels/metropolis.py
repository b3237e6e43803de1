"""Sums over answers at each respondent's own ability, and draws of missing answers.

Here a table has one column a respondent: ``table[r, i]`` is log P(option r | z_i). An answer is a cell (respondent,
question) with the row of its option; cells come in any order.
"""

from __future__ import annotations

import math

from numba import njit

from sprite.core.types import Bools, Floats, Ints


@njit(cache=True, nogil=True, error_model="numpy")
def answer_sums(
    who: Ints, question: Ints, row: Ints, table: Floats, by_respondent: Floats, by_question: Floats
) -> None:
    """Log likelihood of the answers, summed for each respondent and for each question, into the last two arguments."""
    by_respondent[:] = 0.0
    by_question[:] = 0.0
    for a in range(row.shape[0]):
        value = table[row[a], who[a]]
        by_respondent[who[a]] += value
        by_question[question[a]] += value


@njit(cache=True, nogil=True, error_model="numpy")
def impute(who: Ints, question: Ints, first: Ints, table: Floats, uniform: Floats, row: Ints) -> None:
    """Draw the answer of every cell from P(option | z) into `row`, by inversion of `uniform`."""
    for a in range(row.shape[0]):
        last = first[question[a] + 1] - 1
        left = uniform[a]
        r = first[question[a]]
        while r < last:
            left -= math.exp(table[r, who[a]])
            if left < 0.0:
                break
            r += 1
        row[a] = r


@njit(cache=True, nogil=True, error_model="numpy")
def tally(
    who: Ints, question: Ints, first: Ints, table: Floats, row: Ints, at: Ints, count: Floats, probability: Floats
) -> None:
    """Add each cell's answer to `count` and its P(option | z) to `probability`; cell a owns at[a] to at[a + 1]."""
    for a in range(row.shape[0]):
        begin = first[question[a]]
        count[at[a] + row[a] - begin] += 1.0
        for k in range(at[a + 1] - at[a]):
            probability[at[a] + k] += math.exp(table[begin + k, who[a]])


@njit(cache=True, nogil=True, error_model="numpy")
def take_columns(table: Floats, proposed: Floats, take: Bools) -> None:
    """Overwrite the columns of respondents who move."""
    for r in range(table.shape[0]):
        for i in range(table.shape[1]):
            table[r, i] = proposed[r, i] if take[i] else table[r, i]


@njit(cache=True, nogil=True, error_model="numpy")
def take_rows(table: Floats, proposed: Floats, take: Bools, first: Ints) -> None:
    """Overwrite the rows of questions that move."""
    for j in range(take.shape[0]):
        if take[j]:
            table[first[j] : first[j + 1]] = proposed[first[j] : first[j + 1]]
