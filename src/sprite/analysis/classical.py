"""The usual item analysis, from the marks alone: what the model is not needed for, and is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from sprite.core.errors import InputError
from sprite.core.types import Floats, Ints
from sprite.data.responses import Responses
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 100


def classical(fit: Fit, groups: int = 3) -> pd.DataFrame:
    """One row a question.

    The score is the number of correct answers among questions with a key; a missing answer is not a correct one.
    Statistics of a question are over those who answered it; alpha and alpha_if_dropped are over all respondents.

    question, n
        Its name, and how many answered it.
    p_correct
        Share of correct answers.
    item_rest
        Correlation of answering it correctly with the score on the other questions; NaN where either does not vary.
    alpha_if_dropped
        Cronbach's alpha of the test without it; above ``attrs["alpha"]``, the test is better without. NaN where fewer
        than two other questions have a key, or the score does not vary.
    discrimination
        p_correct in the highest score group less that in the lowest; NaN where one of them is empty.
    p_group_1, ..., p_group_g
        p_correct by score group, lowest first: about equally many respondents each, equal scores together. NaN where
        nobody of the group answered the question.

    ``frame.attrs`` has alpha, n (respondents), mean_score and sd_score (with n - 1). Without a key all are NaN.
    """
    import pandas as pd

    refuse_groups(groups)
    responses = fit.responses
    table = _Marks(responses)
    by_group = table.shares(score_groups(table.score, groups), groups)
    by_group[:, ~table.keyed] = np.nan
    frame = pd.DataFrame(
        {
            "question": list(responses.questions),
            "n": table.n.astype(np.int64),
            "p_correct": np.where(table.keyed, _ratio(table.right, table.n), np.nan),
            "item_rest": table.item_rest(),
            "alpha_if_dropped": table.alphas_if_dropped(),
            "discrimination": by_group[-1] - by_group[0],
            **{f"p_group_{g + 1}": by_group[g] for g in range(groups)},
        }
    )
    some = table.keyed.any()
    frame.attrs.update(
        alpha=table.alpha(),
        n=responses.n_respondents,
        mean_score=float(table.score.mean()) if some else np.nan,
        sd_score=float(np.sqrt(table.variance)) if some else np.nan,
    )
    return frame


def refuse_groups(groups: object) -> None:
    """Refuse a number of score groups that makes no sense: each is a column of its own."""
    if isinstance(groups, bool) or not isinstance(groups, int | np.integer) or not 2 <= groups <= MOST_GROUPS:
        raise InputError(f"groups must be a whole number from 2 to {MOST_GROUPS}", found=groups)


def score_groups(score: Floats, groups: int) -> Ints:
    """The group of each respondent, 0 for the lowest scores: equal sizes but for ties, which stay together."""
    if not len(score):
        return np.zeros(0, dtype=np.int64)
    return np.minimum((rankdata(score) - 0.5) / len(score) * groups, groups - 1).astype(np.int64)


class _Marks:
    """Sums over answers that all statistics are made of: nothing of size respondents x questions."""

    def __init__(self, responses: Responses) -> None:
        self.people = responses.n_respondents
        self.questions = responses.n_questions
        self.of = responses.question_of_row[responses.row]
        self.who = responses.respondent_of_answer
        self.mark = responses.correct[responses.row].astype(np.float64)
        self.keyed = np.bincount(responses.question_of_row, responses.correct, minlength=self.questions) > 0
        self.score: Floats = np.bincount(self.who, self.mark, minlength=self.people).astype(np.float64)
        self.n, self.right = self.sum(np.ones_like(self.mark)), self.sum(self.mark)

    def sum(self, values: Floats) -> Floats:
        """Sum over the answers to each question."""
        return np.bincount(self.of, values, minlength=self.questions).astype(np.float64)

    def item_rest(self) -> Floats:
        """Pearson's correlation over those who answered; NaN where either side does not vary."""
        rest = self.score[self.who] - self.mark
        n = np.maximum(self.n, 1.0)
        mean_rest, mean_mark = self.sum(rest) / n, self.right / n
        rest, mark = rest - mean_rest[self.of], self.mark - mean_mark[self.of]
        product = np.sqrt(self.sum(rest**2) * self.sum(mark**2))
        return np.where(
            self.keyed & (product > 1e-9), self.sum(rest * mark) / np.where(product > 0, product, 1.0), np.nan
        )

    @property
    def variance(self) -> float:
        """Variance of the scores."""
        return float(self.score.var(ddof=1)) if self.people > 1 else np.nan

    @property
    def variances(self) -> Floats:
        """Variance of each question's marks over all respondents, missing answers as wrong."""
        p = self.right / max(self.people, 1)
        return p * (1.0 - p) * self.people / max(self.people - 1, 1)

    def alpha(self) -> float:
        """Cronbach's alpha."""
        return float(_alpha(int(self.keyed.sum()), np.array(self.variances.sum()), np.array(self.variance)))

    def alphas_if_dropped(self) -> Floats:
        """Alpha without each question: var(T - x) = var(T) + var(x) - 2 cov(T, x)."""
        people = max(self.people, 1)
        covariance = (self.sum(self.mark * self.score[self.who]) - self.right * self.score.sum() / people) / max(
            people - 1, 1
        )
        total = self.variance + self.variances - 2.0 * covariance
        alphas = _alpha(int(self.keyed.sum()) - 1, self.variances.sum() - self.variances, total)
        return np.where(self.keyed, alphas, np.nan)

    def shares(self, group: Ints, groups: int) -> Floats:
        """Share correct of those who answered, by group and question."""
        cell = group[self.who] * self.questions + self.of
        size = groups * self.questions
        right = np.bincount(cell, self.mark, minlength=size).astype(np.float64)
        return _ratio(right, np.bincount(cell, minlength=size).astype(np.float64)).reshape(groups, self.questions)


def _alpha(k: int, parts: Floats, total: Floats) -> Floats:
    if k < 2:
        return np.full(np.shape(total), np.nan)
    ok = total > 1e-12
    return np.where(ok, k / (k - 1) * (1.0 - parts / np.where(ok, total, 1.0)), np.nan)


def _ratio(part: Floats, whole: Floats) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1.0), np.nan)
