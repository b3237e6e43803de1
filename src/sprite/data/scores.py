"""A first, model-free idea of where the choosers of each option stand: what starting values and orders are made of."""

from __future__ import annotations

import numpy as np

from sprite.core.types import Bools, Floats, Ints, Rows


def chooser_scores(start: Ints, row: Rows, correct: Bools, question: Rows) -> Floats:
    """Mean standardised score of those who chose each row, the question itself left out; 0 where nobody did.

    With a key the score is the share correct among the other questions. Without one it is the first axis of
    reciprocal averaging (options score the mean of their choosers, respondents the mean of their options), its
    sign such that later labels tend to score higher.
    """
    n_rows = len(correct)
    respondent = np.repeat(np.arange(len(start) - 1), np.diff(start))
    count = np.bincount(row, minlength=n_rows)
    if not len(row):
        return np.zeros(n_rows)
    if correct.any():
        keyed = _any_by_question(correct, question)[question]
        right, answered = correct[row].astype(np.float64), keyed[row].astype(np.float64)
    else:
        right, answered = _reciprocal_averages(start, row, respondent, question, count)[row], np.ones(len(row))
    total = np.bincount(respondent, right, minlength=len(start) - 1)
    of = np.bincount(respondent, answered, minlength=len(start) - 1)
    rest = (total[respondent] - right) / np.maximum(of[respondent] - answered, 1.0)
    rest -= rest.mean()
    spread = rest.std()
    if spread > 0:
        rest /= spread
    return np.asarray(np.bincount(row, rest, minlength=n_rows) / np.maximum(count, 1))


def _any_by_question(flag: Bools, question: Rows) -> Bools:
    out = np.zeros(int(question[-1]) + 1, dtype=bool)
    np.logical_or.at(out, question, flag)
    return out


def _reciprocal_averages(start: Ints, row: Rows, respondent: Ints, question: Rows, count: Ints) -> Floats:
    """Option scores on the first axis of reciprocal averaging, by power iteration from the label order."""
    answered = np.maximum(np.diff(start), 1)
    chosen = np.maximum(count, 1)
    n_rows = len(count)
    first = np.searchsorted(question, np.arange(int(question[-1]) + 1))
    label = np.arange(n_rows, dtype=np.float64) - first[question]
    score = label.copy()
    for _ in range(50):
        score = _standardised(score, count, question)
        person = np.bincount(respondent, score[row], minlength=len(start) - 1) / answered
        score = np.bincount(row, person[respondent], minlength=n_rows) / chosen
    score = _standardised(score, count, question)
    if np.sum(count * score * _standardised(label, count, question)) < 0:
        score = -score
    return score


def _standardised(score: Floats, count: Ints, question: Rows) -> Floats:
    """Centre within each question (the trivial axis is constant there) and scale to unit mean square."""
    centred = score - (np.bincount(question, count * score) / np.maximum(np.bincount(question, count), 1))[question]
    size = float(np.sqrt(np.sum(count * centred**2) / max(int(np.sum(count)), 1)))
    return np.asarray(centred / size if size > 0 else centred)
