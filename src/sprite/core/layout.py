"""The ragged table of options: all that a model may know of a test.

The options of all questions are rows of one table, question after question, with no padding. Question j owns rows
``first[j]`` to ``first[j + 1]``, in label order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sprite.core.types import Bools, Floats, Ints, Rows


@dataclass(frozen=True, eq=False)
class Layout:
    """Questions and their options as row ranges, with the summaries of the data that models may use."""

    first: Ints
    """Row at which each question begins, and the number of rows at the end: Q + 1 numbers."""
    correct: Bools
    """Whether the row is a correct option; all False in a question without a key."""
    rank: Rows
    """Position of each option in its question's order (0 = lowest): the user's order, or label order."""
    count: Ints
    """How often each option was chosen."""
    score: Floats
    """Mean standardised rest score of those who chose the option; 0 where nobody did."""

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return len(self.first) - 1

    @property
    def n_rows(self) -> int:
        """Number of options of all questions together."""
        return int(self.first[-1])

    @cached_property
    def n_options(self) -> Ints:
        """Number of options of each question."""
        return np.diff(self.first)

    @cached_property
    def question(self) -> Ints:
        """The question each row belongs to."""
        return np.repeat(np.arange(self.n_questions), self.n_options)

    @cached_property
    def position(self) -> Ints:
        """Position of each row in label order within its question (0 = first label)."""
        return np.arange(self.n_rows) - self.first[self.question]

    @cached_property
    def reference(self) -> Ints:
        """The row of each question that an anchor holds.

        The correct option; of several correct ones the most chosen; with no key the most chosen of all.
        Ties go to the first label. Questions without any option have no row and get -1.
        """
        keyed = self.sum_by_question(self.correct.astype(np.float64)) > 0
        eligible = self.correct | ~keyed[self.question]
        # lexsort's last key is the most significant: question, then eligible first, then most chosen, then label.
        order = np.lexsort((self.position, -self.count, ~eligible, self.question))
        first = np.minimum(self.first[:-1], max(self.n_rows - 1, 0))
        chosen = order[first] if self.n_rows else np.zeros(self.n_questions, dtype=np.int64)
        return np.where(self.n_options > 0, chosen, -1)

    def only(self, questions: Bools) -> tuple[Layout, Ints]:
        """These questions as a test of their own, and where its rows lie in this one."""
        rows = np.flatnonzero(questions[self.question])
        first = np.concatenate([[0], np.cumsum(self.n_options[questions])])
        part = Layout(first, self.correct[rows], self.rank[rows], self.count[rows], self.score[rows])
        return part, rows

    def sum_by_question(self, values: Floats) -> Floats:
        """Sum over the rows of each question; the row axis is the last one."""
        if self.n_options.min(initial=1) > 0:
            return np.asarray(np.add.reduceat(values, self.first[:-1], axis=-1))
        total = np.zeros((*values.shape[:-1], self.n_rows + 1))
        np.cumsum(values, axis=-1, out=total[..., 1:])
        return np.asarray(total[..., self.first[1:]] - total[..., self.first[:-1]])
