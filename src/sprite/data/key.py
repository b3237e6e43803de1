"""The key: which options of each question are correct, in all the forms people keep it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from sprite.core.errors import InputError
from sprite.core.types import Bools
from sprite.data.answers import Answers, listing, warn
from sprite.data.companions import (
    Entry,
    Grid,
    as_mapping,
    is_table,
    label_list,
    label_text,
    read_grid,
    refuse_unknown,
)
from sprite.data.labels import alike, sort_key, whole
from sprite.data.layouts import QUESTION, RESPONDENT, plain
from sprite.data.sources import Source, open_source

_CORRECT = {"correct", "key", "answer", "correctanswer", "correctoption", "option", "solution", "response", "right"}
_FORMS = "A key is a file of two columns (question, correct), or one row of labels below the names of the questions"


def row_name(key: object) -> str | None:
    """The respondent whose row holds the key, written ``@name``."""
    return key[1:].strip() if isinstance(key, str) and key.startswith("@") and len(key) > 1 else None


def apply_key(key: object, answers: Answers) -> Bools:
    """Which rows are correct. Options that only the key names are added to the questions."""
    entries = _entries(key, answers)
    refuse_unknown(entries, answers.questions, "key")
    _refuse_other_labels(entries, answers)
    place = {question: j for j, question in enumerate(answers.questions)}
    wanted: dict[str, list[str]] = {}
    extra: dict[str, list[str]] = {}
    for entry in entries:
        if entry.question in wanted:
            raise InputError(
                "the key names this question twice",
                found=entry.question,
                remedy="Keep one line; several correct options go into one cell as A;C",
                **entry.where,
            )
        options = answers.options[place[entry.question]]
        wanted[entry.question] = []
        for label in split_labels(entry.cells, options):
            match = _match(label, options)
            if match is None:
                _allow(label, entry, options, answers)
                extra.setdefault(entry.question, []).append(label)
            wanted[entry.question].append(label if match is None else match)
    if extra:
        said = [f"{question}: {', '.join(labels)}" for question, labels in extra.items()]
        warn(
            answers.notes,
            f"Nobody chose the correct option of {listing(said)}; it was added to the question's options. "
            "If that is not an option there, correct the key.",
        )
        answers.add_options(extra)
    correct = np.zeros(int(answers.first[-1]), dtype=bool)
    for question, labels in wanted.items():
        j = place[question]
        for label in labels:
            correct[answers.first[j] + answers.options[j].index(label)] = True
    without = [question for question in answers.questions if not wanted.get(question)]
    if without:
        answers.notes.append(f"No key for {len(without)} of {len(place)} questions: {listing(without)}.")
    return correct


def _refuse_other_labels(entries: Sequence[Entry], answers: Answers) -> None:
    """Refuse a key in letters for answers in numbers, and the like: none of its labels is one of the answers'."""
    options = dict(zip(answers.questions, answers.options, strict=True))
    known = {alike(label) for labels in answers.options for label in labels}
    wanted = [(entry, split_labels(entry.cells, options[entry.question])) for entry in entries]
    wanted = [(entry, labels) for entry, labels in wanted if labels and options[entry.question]]
    strange = [(entry, labels) for entry, labels in wanted if not {alike(whole(label)) for label in labels} & known]
    if len(strange) < 2 or 2 * len(strange) <= len(wanted):
        return
    entry = strange[0][0]
    own = {label for _, labels in strange for label in labels}
    shown = {label for labels in answers.options for label in labels}
    raise InputError(
        f"the key and the answers use different labels: the key {_first(own)}; the answers {_first(shown)}",
        remedy="Translate one of the two, so that both use the same labels",
        **entry.where,
    )


def _first(labels: Iterable[str]) -> str:
    """The first few labels in order."""
    shown = sorted(labels, key=sort_key)
    return ", ".join(shown[:5]) + (", …" if len(shown) > 5 else "")


def _allow(label: str, entry: Entry, options: Sequence[str], answers: Answers) -> None:
    """Let the key add an option nobody chose if it is one of another question; else it is a slip."""
    near = [option for option in options if alike(option) == alike(label)]
    closed = entry.question in answers.closed
    elsewhere = any(label in other for other in answers.options)
    if not near and not closed and (elsewhere or not options):
        return
    if near:
        remedy = f"Did you mean {near[0]!r}? Labels must match in case and blanks"
    elif closed:
        remedy = f"The declared options are {', '.join(options[:10])}"
    else:
        declared = ", ".join(repr(option) for option in [*options[:10], label])
        remedy = (
            f"The answers show {', '.join(options[:10])}. Correct the key, or, if nobody chose this option, "
            f"declare it: options={{{entry.question!r}: [{declared}]}} (or --options with a file: question, option)"
        )
    raise InputError(
        f"the key of question {entry.question!r} is not one of its options", found=label, remedy=remedy, **entry.where
    )


def split_labels(cells: Sequence[str], options: Sequence[str]) -> list[str]:
    """Single labels; ``A;C`` are two, unless the question has an option written just so."""
    labels: list[str] = []
    for cell in cells:
        parts = [cell] if _match(cell, options) else [part.strip() for part in cell.split(";")]
        labels += [part for part in parts if part and part not in labels]
    return labels


def _match(label: str, options: Sequence[str]) -> str | None:
    return next((form for form in (label, whole(label)) if form in options), None)


# --- the forms ---------------------------------------------------------------------------------------------------


def _entries(key: object, answers: Answers) -> list[Entry]:
    if row_name(key) is not None:
        return [Entry(question, (cell,)) for question, cell in answers.key_row.items()]
    mapping = as_mapping(key)
    if mapping is not None:
        return _from_mapping(mapping)
    if isinstance(key, str) and len(key) == len(answers.questions) and not os.path.exists(key):
        key = list(key)  # "ABDC": one letter a question
    if is_table(key):
        return _from_grid(read_grid(key, "key"), answers.questions)
    if isinstance(key, Sequence | np.ndarray):
        if len(key) != len(answers.questions):
            raise InputError(
                f"the key has {len(key)} entries and there are {len(answers.questions)} questions",
                remedy="Give one entry a question, in order, or a mapping from question to label",
            )
        return [Entry(q, label_list(value)) for q, value in zip(answers.questions, key, strict=True)]
    raise InputError("this cannot be read as a key", found=type(key).__name__, remedy=_FORMS)


def _from_mapping(key: Mapping[Any, Any]) -> list[Entry]:
    return [Entry(label_text(question), label_list(value)) for question, value in key.items()]


def _from_grid(grid: Grid, questions: Sequence[str]) -> list[Entry]:
    known = set(questions)
    names = grid.names
    in_header = [c for c, name in enumerate(names) if name in known]
    if len(grid.rows) == 1 and in_header and (len(names) != 2 or grid.rows[0][0] not in known):
        return _one_row(grid, known)
    pair = _pair(names)
    if pair is None:
        raise InputError("this cannot be read as a key", file=grid.source.file, found=list(names[:8]), remedy=_FORMS)
    entries = [
        Entry(cells[pair[0]], (cells[pair[1]],), grid.where(i)) for i, cells in enumerate(grid.rows) if any(cells)
    ]
    if names[pair[0]] in known and plain(names[pair[1]]) not in _CORRECT:
        # No header line: what stands there is the first question's entry.
        entries.insert(0, Entry(names[pair[0]], (names[pair[1]],), {"file": grid.source.file, "row": 1}))
    if not entries:
        raise InputError("the key holds nothing below its header", file=grid.source.file, remedy=_FORMS)
    return entries


def refuse_swapped(table: Source, key: object) -> None:
    """Refuse a key in place of the answers, and the answers in place of the key."""
    if len(table.names) != 2 or not is_table(key) or (isinstance(key, str) and not os.path.exists(key)):
        return
    other = open_source(key)
    if len(other.names) < 3 or _named_pair(other.names):
        return
    if _named_pair(table.names) or _names_columns(table, other):
        raise InputError(
            "the two files look swapped: this one is like a key, of two columns (question, correct), and the key "
            f"has {len(other.names):,} columns, like answers",
            file=table.file,
            found=list(table.names),
            remedy="Give the answers first, and this one as the key: key= (--key)",
        )


def _names_columns(table: Source, other: Source) -> bool:
    """Whether a column of one table names most columns of the other."""
    for name, column in zip(table.names, table.fetch([0, 1]), strict=True):
        if 2 * len({name, *column.values.to_pylist()} & set(other.names)) > len(other.names):
            return True
    return False


def _one_row(grid: Grid, known: set[str]) -> list[Entry]:
    """A header of questions and one row of labels, perhaps with a cell for the row's own name."""
    named = grid.names[0] not in known and plain(grid.names[0]) in RESPONDENT | {"", "key"}
    where = grid.where(0)
    return [
        Entry(name, (cell,), {**where, "column": name})
        for c, (name, cell) in enumerate(zip(grid.names, grid.rows[0], strict=True))
        if not (c == 0 and named)
    ]


def _pair(names: Sequence[str]) -> tuple[int, int] | None:
    """The columns of question and correct label."""
    return _named_pair(names) or ((0, 1) if len(names) == 2 else None)


def _named_pair(names: Sequence[str]) -> tuple[int, int] | None:
    question = next((c for c, name in enumerate(names) if plain(name) in QUESTION), None)
    correct = next((c for c, name in enumerate(names) if plain(name) in _CORRECT and c != question), None)
    return None if question is None or correct is None else (question, correct)
