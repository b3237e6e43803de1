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
from sprite.data.layouts import plain
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


def refuse_unknown(entries: Sequence[Entry], questions: Sequence[str], what: str) -> None:
    """Refuse a companion that names questions the answers do not have."""
    known = set(questions)
    unknown = [entry for entry in entries if entry.question not in known]
    if not unknown:
        return
    # A question with an entry of its own was hardly meant by another.
    named = {entry.question for entry in entries}
    free = [name for name in questions if name not in named]
    names = [entry.question for entry in unknown]
    if len(names) == 1:
        problem, remedy = f"the {what} names a question that the answers do not have", _meant(names[0], free)
    else:
        problem = (
            f"{len(names)} of {len(entries)} names in the {what} are unknown to the answers, the first of them here"
        )
        remedy = _respelt(names, free)
    raise InputError(problem, found=names[0], remedy=remedy or _left_out(len(names), free, what), **unknown[0].where)


def _left_out(n: int, free: Sequence[str], what: str) -> str:
    """What to do about names that resemble no question."""
    it = "it" if n == 1 else "them"
    drop = f"leave {it} out of the {what}, or, if the answers lack {it} by mistake, add {it} there"
    if not free:
        return drop.capitalize()
    return f"If {_some(free)} {'is' if len(free) == 1 else 'are'} meant, write {it} so; else {drop}"


def _loose(name: str) -> str:
    """A form in which names that differ only in case, blanks and signs are equal."""
    return plain(alike(name)) or alike(name)


def _meant(question: str, free: Sequence[str]) -> str:
    """The question that was perhaps meant."""
    close = [name for name in free if _loose(name) == _loose(question)]
    if not close and len(question) < _NAME:
        close = get_close_matches(question, [name for name in free if len(name) < _NAME], n=1)
    return f"Did you mean {close[0]!r}? If not, leave it out, or add it to the answers" if close else ""


def _respelt(unknown: Sequence[str], free: Sequence[str]) -> str:
    """In what all the unknown names differ from those of questions, if it is only their spelling."""
    for form, what in ((str.casefold, "upper and lower case"), (_loose, "case, blanks and signs")):
        meant = {form(name): name for name in free}
        if len(meant) == len(free) and all(form(name) in meant for name in unknown):
            return f"They differ only in {what}: write {meant[form(unknown[0])]!r} for {unknown[0]!r}, and so on"
    return ""


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
