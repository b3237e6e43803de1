"""`questions`: how many answered, how many correctly, and what each question tells about ability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sprite.analysis.curves import curves, interval, keyed_questions
from sprite.analysis.options import point_biserials
from sprite.analysis.verdicts import question_verdicts
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def questions(fit: Fit) -> pd.DataFrame:
    """One row a question.

    question
        As you wrote it.
    n, p_correct
        How many answered it, and which part of them correctly (NaN without a key).
    point_biserial
        Correlation of being right with the share correct among the other questions; NaN without a key, or where
        either does not vary.
    bits, bits_lower, bits_upper
        I(Z; Y): what the choice of an option tells about ability, with its 90 % interval (NaN where the fit has no
        standard errors).
    bits_here
        The same among these respondents, whose abilities may be spread otherwise than the model's distribution: of a
        question that nearly all of them get right it is little, whatever it would tell of weaker ones.
    bits_right_wrong
        What remains when the question is scored right or wrong; NaN without a key.
    bits_lost
        bits - bits_right_wrong: what scoring right or wrong throws away.
    verdict
        The most important verdict on it at the default level (see `verdicts`); empty where there is none.
    """
    import pandas as pd

    data = fit.responses
    layout, found = data.layout, curves(fit)
    n = layout.sum_by_question(data.count.astype(float))
    right = layout.sum_by_question((data.count * data.correct).astype(float))
    known = keyed_questions(layout) & (n > 0)
    estimate = found.estimate
    lower, upper = interval(None if found.draws is None else found.draws.question_bits, estimate.question_bits)
    top: dict[int, str] = {}
    for verdict in question_verdicts(fit):
        top.setdefault(verdict.question, verdict.kind)
    return pd.DataFrame(
        {
            "question": list(data.questions),
            "n": n.astype(np.int64),
            "p_correct": np.where(known, right / np.maximum(n, 1.0), np.nan),
            "point_biserial": point_biserials(data)[1],
            "bits": estimate.question_bits,
            "bits_lower": lower,
            "bits_upper": upper,
            "bits_here": curves(fit, "respondents").estimate.question_bits,
            "bits_right_wrong": estimate.right_bits,
            "bits_lost": estimate.question_bits - estimate.right_bits,
            "verdict": [top.get(j, "") for j in range(data.n_questions)],
        }
    )
