"""What both layouts come to: answers in compressed rows, before key, order and texts are known."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sprite.core.errors import InputError, SpriteWarning
from sprite.core.types import Ints, Rows, Strings
from sprite.data.labels import sort_key
from sprite.data.responses import MAX_OPTIONS


@dataclass
class Answers:
    """Answers being read. `row` counts options over all questions, as in `Responses`."""

    respondents: Strings
    questions: list[str]
    options: list[list[str]]
    start: Ints
    row: Rows
    key_row: dict[str, str] = field(default_factory=dict)
    """The cells of the row that the user named as the key, by question."""
    closed: frozenset[str] = frozenset()
    """Questions whose options were declared: none may be added."""
    notes: list[str] = field(default_factory=list)

    @property
    def first(self) -> Ints:
        """Row at which each question begins, and the number of rows at the end."""
        return np.concatenate([[0], np.cumsum([len(labels) for labels in self.options])]).astype(np.int64)

    def add_options(self, extra: dict[str, list[str]]) -> None:
        """Give questions options that nobody chose."""
        if not extra:
            return
        old = self.first
        remap: list[Ints] = []
        offset = 0
        for j, question in enumerate(self.questions):
            before = self.options[j]
            added = [label for label in extra.get(question, ()) if label not in before]
            after = [*before, *added]
            if added and before == sorted(before, key=sort_key):  # else the order is the user's: it stays
                after.sort(key=sort_key)
            place = {label: i for i, label in enumerate(after)}
            remap.append(offset + np.array([place[label] for label in before], dtype=np.int64))
            offset += len(after)
            self.options[j] = after
        if old[-1]:
            self.row = np.concatenate(remap).astype(np.int32)[self.row]


def warn(notes: list[str], message: str) -> None:
    """Say something at once, and keep it for `Responses.notes`."""
    notes.append(message)
    warnings.warn(message, SpriteWarning, stacklevel=2)


def listing(items: Sequence[str], limit: int = 5) -> str:
    """The first few of a list, for a message."""
    shown = ", ".join(repr(item) for item in items[:limit])
    return shown + (f" and {len(items) - limit} more" if len(items) > limit else "")


def undeclared(declared: Sequence[str]) -> str:
    """What to do about an answer that is not among the declared options."""
    shown = ", ".join(declared[:10]) + (", …" if len(declared) > 10 else "")
    return f"Correct it, or declare it too: the list must hold all options of the question (declared: {shown})"


def refuse_many(n_options: int, where: Mapping[str, object], found: object, remedy: str) -> None:
    """Refuse a question with more options than any test has."""
    if n_options > MAX_OPTIONS:
        raise InputError(
            f"question with {n_options:,} different answers, more than the {MAX_OPTIONS} that are allowed",
            remedy=f"Is this free text, a number or a time rather than a choice? {remedy}",
            found=found,
            **where,  # type: ignore[arg-type]
        )
