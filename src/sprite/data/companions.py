"""Small tables that go with the answers (key, order, texts, options), from files, mappings or data frames."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from sprite.core.errors import InputError
from sprite.data.cells import text_of
from sprite.data.labels import alike
from sprite.data.sources import Source, open_source

_NAME = 200  # characters of a name that is worth searching for others like it: the search takes their product


@dataclass(frozen=True)
class Entry:
    """What one line of a companion says about one question."""

    question: str
    cells: tuple[str, ...]
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Grid:
    """A whole companion table as text."""

    source: Source
    names: tuple[str, ...]
    rows: list[tuple[str, ...]]

    def where(self, row: int) -> dict[str, Any]:
        """Where a row stands."""
        return {"file": self.source.file, "row": self.source.line(row)}


def is_table(given: object) -> bool:
    """Whether it is a file or data frame, rather than a mapping or a sequence."""
    return isinstance(given, str | os.PathLike) or hasattr(given, "columns") or hasattr(given, "column_names")


def as_mapping(given: object) -> Mapping[Any, Any] | None:
    """A mapping, or a pandas Series taken as one; None for anything else."""
    if isinstance(given, Mapping):
        return given
    return given.to_dict() if hasattr(given, "to_dict") and not hasattr(given, "columns") else None


def read_grid(given: object, what: str) -> Grid:
    """Read a companion in full: it is small."""
    source = open_source(given)
    if not source.names:
        raise InputError(f"the {what} has no columns", file=source.file)
    columns = source.fetch(range(len(source.names)))
    texts = [[*column.values.to_pylist(), ""] for column in columns]
    cells = [[own[code] for code in column.codes] for own, column in zip(texts, columns, strict=True)]
    return Grid(source, source.names, list(zip(*cells, strict=True)))


def label_text(value: object) -> str:
    """A label that the user gave in Python: 1 and 1.0 are the label ``1``."""
    return (text_of(value) or "").strip()


def label_list(value: object) -> tuple[str, ...]:
    """One label or several."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (label_text(value),)
    return tuple(label_text(each) for each in value)


def unknown_question(question: str, questions: Sequence[str], what: str, where: Mapping[str, Any]) -> InputError:
    """The error for a companion that names a question the answers do not have."""
    close = [name for name in questions if alike(name) == alike(question)]
    if not close and len(question) < _NAME:
        close = get_close_matches(question, [name for name in questions if len(name) < _NAME], n=1)
    remedy = f"Did you mean {close[0]!r}? If not, leave it out" if close else f"The questions are {_some(questions)}"
    return InputError(
        f"the {what} names a question that the answers do not have", found=question, remedy=remedy, **where
    )


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
