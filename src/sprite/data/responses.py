"""`Responses`: who chose which option of which question, stored compactly and never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from sprite.core.errors import InputError
from sprite.core.layout import Layout
from sprite.core.types import Bools, Ints, Rows, Strings, frozen
from sprite.data.scores import chooser_scores

if TYPE_CHECKING:
    import os

    import pandas as pd

MAX_OPTIONS = 255


@dataclass(frozen=True)
class Texts:
    """Wording of questions and options, for reports; anything may be left out."""

    questions: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """By (question, option label)."""


@dataclass(frozen=True, eq=False)
class Responses:
    """Which option each respondent chose.

    Options of all questions are the rows of one ragged table (see `Layout`). An answer is one int32, the row of
    the chosen option; respondent i owns ``row[start[i]:start[i + 1]]``, in the order of the questions.
    """

    respondents: Strings
    questions: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]
    start: Ints
    row: Rows
    correct: Bools
    """Whether each row is a correct option."""
    rank: Rows | None = None
    """The order of the options as the user gave it (0 = lowest), by row; None for label order."""
    texts: Texts = field(default_factory=Texts)
    notes: tuple[str, ...] = ()
    """What reading them found worth saying."""

    def __post_init__(self) -> None:
        for array in (self.respondents, self.start, self.row, self.correct, self.rank):
            if array is not None:
                frozen(array)

    # --- sizes -----------------------------------------------------------------------------------------------

    @property
    def n_respondents(self) -> int:
        """Number of respondents, those who answered nothing included."""
        return len(self.respondents)

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return len(self.questions)

    @property
    def n_answers(self) -> int:
        """Number of observed answers."""
        return len(self.row)

    @cached_property
    def first(self) -> Ints:
        """Row at which each question begins, and the number of rows at the end."""
        return np.concatenate([[0], np.cumsum([len(labels) for labels in self.options])]).astype(np.int64)

    @cached_property
    def question_of_row(self) -> Rows:
        """The question each row belongs to."""
        return np.repeat(np.arange(self.n_questions, dtype=np.int32), np.diff(self.first))

    @cached_property
    def count(self) -> Ints:
        """How often each row was chosen."""
        return np.bincount(self.row, minlength=int(self.first[-1])).astype(np.int64)

    @property
    def respondent_of_answer(self) -> Ints:
        """The respondent of each answer: as long as `row`, made when asked for."""
        return np.repeat(np.arange(self.n_respondents), np.diff(self.start))

    # --- what models and users ask -----------------------------------------------------------------------------

    @cached_property
    def layout(self) -> Layout:
        """The ragged table of options with the summaries that models may use."""
        labels = np.arange(self.first[-1]) - self.first[self.question_of_row]
        return Layout(
            first=self.first,
            correct=self.correct,
            rank=(labels if self.rank is None else self.rank).astype(np.int32),
            count=self.count,
            score=chooser_scores(self.start, self.row, self.correct, self.question_of_row),
        )

    @cached_property
    def key(self) -> dict[str, tuple[str, ...]]:
        """The correct options by question; questions without a key are left out."""
        rows = np.flatnonzero(self.correct)
        key: dict[str, list[str]] = {}
        for row, j in zip(rows, self.question_of_row[rows], strict=True):
            key.setdefault(self.questions[j], []).append(self.options[j][row - self.first[j]])
        return {question: tuple(labels) for question, labels in key.items()}

    def answers(self, respondent: str) -> dict[str, str]:
        """What one respondent chose: option labels by question."""
        (found,) = np.nonzero(self.respondents == respondent)
        if not len(found):
            raise InputError(f"no respondent called {respondent!r}", remedy="See responses.respondents")
        rows = self.row[self.start[found[0]] : self.start[found[0] + 1]]
        return {
            self.questions[j]: self.options[j][r - self.first[j]]
            for r, j in zip(rows, self.question_of_row[rows], strict=True)
        }

    def without(self, cells: ArrayLike) -> Responses:
        """The same test with some answers removed; `cells` are positions in `row` or a mask over it.

        Respondents, questions and option sets stay, so that a model fitted to what remains can be asked about
        what was removed.
        """
        keep = np.ones(self.n_answers, dtype=bool)
        keep[np.asarray(cells)] = False
        kept = np.concatenate([[0], np.cumsum(keep)])[self.start]
        return replace(self, start=kept.astype(np.int64), row=self.row[keep])

    def to_frame(self) -> pd.DataFrame:
        """A long pandas table: one row an answer, and whether it is correct where there is a key."""
        from sprite.data.writing import long_frame

        return long_frame(self)

    def write(self, path: str | os.PathLike[str], layout: Literal["wide", "long"] | None = None) -> None:
        """Write the answers as CSV (wide unless told otherwise) or Parquet (long); `sprite.read` reads them back."""
        from sprite.data.writing import write

        write(self, path, layout)

    def __repr__(self) -> str:
        cells = self.n_respondents * self.n_questions
        share = self.n_answers / cells if cells else 0.0
        return (
            f"Responses({self.n_respondents:,} respondents x {self.n_questions:,} questions, "
            f"{self.n_answers:,} answers ({share:.1%} observed), key for {len(self.key)} questions)"
        )


def names_array(names: Sequence[str]) -> Strings:
    """Names as a compact array."""
    array: Any = np.array(names, dtype=np.dtypes.StringDType())
    return array  # type: ignore[no-any-return]


def from_codes(
    codes: ArrayLike,
    options: Sequence[Sequence[str]],
    *,
    questions: Sequence[str] | None = None,
    respondents: Sequence[str] | None = None,
    correct: Bools | None = None,
    rank: Rows | None = None,
    texts: Texts | None = None,
) -> Responses:
    """Responses from a dense table of option positions (0, 1, ... within each question; -1 = missing)."""
    table = np.asarray(codes)
    n, q = table.shape
    first = np.concatenate([[0], np.cumsum([len(labels) for labels in options])])
    observed = table >= 0
    names = [f"r{i + 1}" for i in range(n)] if respondents is None else list(respondents)
    return Responses(
        respondents=names_array(names),
        questions=tuple(questions) if questions is not None else tuple(f"Q{j + 1}" for j in range(q)),
        options=tuple(tuple(labels) for labels in options),
        start=np.concatenate([[0], np.cumsum(observed.sum(axis=1))]).astype(np.int64),
        row=(table + first[:-1])[observed].astype(np.int32),
        correct=np.zeros(first[-1], dtype=bool) if correct is None else np.array(correct, dtype=bool),
        rank=rank,
        texts=texts or Texts(),
    )
