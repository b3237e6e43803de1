"""A first, model-free idea of where the choosers of each option stand: what starting values and orders are made of."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from sprite.core.types import Bools, Floats, Ints, Rows

_NO_SPREAD = 1e-9  # a deviation this small is rounding: everybody scores alike
_BLOCK = 1 << 20  # answers looked at at a time, so that memory does not grow with their number
_SETTLED = 1e-8  # mean square by which scores of unit size may still move


def chooser_scores(start: Ints, row: Rows, correct: Bools, question: Rows) -> Floats:
    """Mean standardised score of those who chose each row, the question itself left out; 0 where nobody did.

    With a key the score is the share correct among the other questions. Without one it is the first axis of
    reciprocal averaging (options score the mean of their choosers, respondents the mean of their options), its
    sign such that later labels tend to score higher.
    """
    n_rows = len(correct)
    count = np.bincount(row, minlength=n_rows)
    if not len(row):
        return np.zeros(n_rows)
    if correct.any():
        points, counted = correct.astype(np.float64), _any_by_question(correct, question)[question].astype(np.float64)
    else:
        points, counted = _reciprocal_averages(start, row, question, count), np.ones(n_rows)
    by_row, total, squared = np.zeros(n_rows), 0.0, 0.0
    for respondent, chosen in _blocks(start, row):
        own, one = points[chosen], counted[chosen]
        others = np.bincount(respondent, one)[respondent] - one
        rest = (np.bincount(respondent, own)[respondent] - own) / np.maximum(others, 1.0)
        by_row += np.bincount(chosen, rest, minlength=n_rows)
        total, squared = total + float(rest.sum()), squared + float(rest @ rest)
    mean = total / len(row)
    spread = float(np.sqrt(max(squared / len(row) - mean**2, 0.0)))
    centred = (by_row - count * mean) / np.maximum(count, 1)
    return np.asarray(centred / spread if spread > _NO_SPREAD else centred)


def axis_scores(start: Ints, row: Rows, question: Rows, like: Floats) -> Floats:
    """`chooser_scores` as without a key, turned to the side of the scores `like`."""
    score = chooser_scores(start, row, np.zeros(len(like), dtype=bool), question)
    return -score if np.sum(np.bincount(row, minlength=len(like)) * score * like) < 0 else score


def _blocks(start: Ints, row: Rows) -> Iterator[tuple[Ints, Rows]]:
    """Whole respondents at a time: who gave each answer, counted from 0 in every block, and what it was."""
    cuts = np.unique(np.append(np.searchsorted(start, np.arange(0, len(row), _BLOCK)), len(start) - 1))
    for low, high in pairwise(cuts):
        yield np.repeat(np.arange(high - low), np.diff(start[low : high + 1])), row[start[low] : start[high]]


def _any_by_question(flag: Bools, question: Rows) -> Bools:
    out = np.zeros(int(question[-1]) + 1, dtype=bool)
    np.logical_or.at(out, question, flag)
    return out


def _reciprocal_averages(start: Ints, row: Rows, question: Rows, count: Ints) -> Floats:
    """Option scores on the first axis of reciprocal averaging, by power iteration from the label order."""
    n_rows = len(count)
    first = np.searchsorted(question, np.arange(int(question[-1]) + 1))
    label = np.arange(n_rows, dtype=np.float64) - first[question]
    score = label.copy()
    before = np.zeros(n_rows)
    for _ in range(50):
        score, by_row = _standardised(score, count, question), np.zeros(n_rows)
        if np.sum(count * (score - before) ** 2) < _SETTLED * np.sum(count):
            break
        before = score
        for respondent, chosen in _blocks(start, row):
            mean = np.bincount(respondent, score[chosen]) / np.maximum(np.bincount(respondent), 1)
            by_row += np.bincount(chosen, mean[respondent], minlength=n_rows)
        score = by_row / np.maximum(count, 1)
    score = _standardised(score, count, question)
    if np.sum(count * score * _standardised(label, count, question)) < 0:
        score = -score
    return score


def _standardised(score: Floats, count: Ints, question: Rows) -> Floats:
    """Centre within each question (the trivial axis is constant there) and scale to unit mean square."""
    centred = score - (np.bincount(question, count * score) / np.maximum(np.bincount(question, count), 1))[question]
    size = float(np.sqrt(np.sum(count * centred**2) / max(int(np.sum(count)), 1)))
    return np.asarray(centred / size if size > 0 else centred)
