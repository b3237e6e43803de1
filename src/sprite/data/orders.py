"""Options declared by the user, their order, and the wording of questions and options."""

from __future__ import annotations

import os
from collections.abc import Iterable

import numpy as np

from sprite.core.errors import InputError
from sprite.core.types import Rows
from sprite.data.answers import Answers, listing
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
from sprite.data.labels import are_numbers, whole
from sprite.data.layouts import QUESTION, plain
from sprite.data.responses import MAX_OPTIONS, Texts

_OPTION = {"option", "label", "optionlabel", "choice", "response", "answer"}
_ORDER_FORMS = (
    "An order is a file of two columns, question and options from lowest to highest as A<B<C, "
    "or of three, question, option and rank"
)


# --- options -------------------------------------------------------------------------------------------------------


def declared_options(options: object) -> tuple[dict[str, list[str]], list[str] | None]:
    """Declared options by question, and those declared for all questions."""
    if options is None:
        return {}, None
    mapping = as_mapping(options)
    if mapping is not None:
        return {label_text(q): _checked(label_list(labels), label_text(q)) for q, labels in mapping.items()}, None
    if isinstance(options, str) and ";" in options and not os.path.exists(options):
        return {}, _checked([label.strip() for label in options.split(";") if label.strip()], None)
    if is_table(options):
        grid = read_grid(options, "table of options")
        question, option = _columns(grid, "options")
        out: dict[str, list[str]] = {}
        for cells in grid.rows:
            if cells[question]:
                out.setdefault(cells[question], []).extend([cells[option]] if cells[option] else [])
        return {q: _checked(labels, q) for q, labels in out.items()}, None
    if isinstance(options, Iterable):
        return {}, _checked(label_list(options), None)
    raise InputError(
        "this cannot be read as options",
        found=type(options).__name__,
        remedy="Give a mapping from question to labels, one list for all questions, or a file (question, option)",
    )


def _checked(labels: Iterable[str], question: str | None) -> list[str]:
    out = list(labels)
    twice = next((label for i, label in enumerate(out) if label in out[:i]), None)
    if twice is not None or "" in out:
        raise InputError(
            "a declared option is empty" if twice is None else "an option is declared twice",
            column=question,
            found=twice,
            remedy="Declare every option once",
        )
    if len(out) > MAX_OPTIONS:
        raise InputError(f"more than {MAX_OPTIONS} options are declared", column=question, remedy="Declare fewer")
    return out


# --- order ---------------------------------------------------------------------------------------------------------


def apply_order(order: object, answers: Answers) -> Rows:
    """The position of every row in its question's order (0 = lowest); label order where none is given."""
    place = {question: j for j, question in enumerate(answers.questions)}
    extra: dict[str, list[str]] = {}
    wanted: dict[str, list[str]] = {}
    entries = _orders(order)
    refuse_unknown(entries, answers.questions, "order")
    for entry in entries:
        options = answers.options[place[entry.question]]
        labels = [whole(label) if label not in options and whole(label) in options else label for label in entry.cells]
        left_out = [option for option in options if option not in labels]
        twice = [label for i, label in enumerate(labels) if label in labels[:i]]
        if left_out or twice or entry.question in wanted:
            problem = "leaves out an option" if left_out else "names an option twice" if twice else "is given twice"
            raise InputError(
                f"the order of question {entry.question!r} {problem}",
                found=(left_out or twice or [entry.question])[0],
                remedy=f"Name each of {', '.join(options[:10])} once, from lowest to highest",
                **entry.where,
            )
        unchosen = [label for label in labels if label not in options]
        if unchosen and entry.question in answers.closed:
            raise InputError(
                f"the order of question {entry.question!r} names an option that was not declared",
                found=unchosen[0],
                remedy=f"The declared options are {', '.join(options[:10])}",
                **entry.where,
            )
        wanted[entry.question] = labels
        if unchosen:
            extra[entry.question] = unchosen
    if extra:
        said = [f"{question}: {', '.join(labels)}" for question, labels in extra.items()]
        answers.notes.append(f"Options that only the order names were added, chosen by nobody: {listing(said)}.")
        answers.add_options(extra)
    ranks = [
        [wanted[q].index(label) for label in labels] if q in wanted else list(range(len(labels)))
        for q, labels in zip(answers.questions, answers.options, strict=True)
    ]
    return np.array([rank for own in ranks for rank in own], dtype=np.int32)


def _orders(order: object) -> list[Entry]:
    mapping = as_mapping(order)
    if mapping is not None:
        return [Entry(label_text(q), _steps(value)) for q, value in mapping.items()]
    if not is_table(order):
        raise InputError("this cannot be read as an order", found=type(order).__name__, remedy=_ORDER_FORMS)
    grid = read_grid(order, "order")
    if len(grid.names) == 2:
        return [Entry(q, _steps(steps), grid.where(i)) for i, (q, steps) in enumerate(grid.rows) if q]
    if len(grid.names) != 3:
        raise InputError(
            "this cannot be read as an order", file=grid.source.file, found=list(grid.names[:8]), remedy=_ORDER_FORMS
        )
    ranked: dict[str, list[tuple[float, str, int]]] = {}
    for i, (question, option, rank) in enumerate(grid.rows):
        if not are_numbers([rank]):
            raise InputError(
                "a rank is a number", column=grid.names[2], found=rank, remedy=_ORDER_FORMS, **grid.where(i)
            )
        ranked.setdefault(question, []).append((float(rank), option, i))
    return [
        Entry(question, tuple(option for _, option, _ in sorted(steps)), grid.where(steps[0][2]))
        for question, steps in ranked.items()
    ]


def _steps(value: object) -> tuple[str, ...]:
    """``A<B<C`` or ``A;B;C`` or a list, from lowest to highest."""
    if not isinstance(value, str):
        return label_list(value)
    return tuple(step.strip() for step in value.split("<" if "<" in value else ";"))


# --- texts ---------------------------------------------------------------------------------------------------------


def read_texts(texts: object, answers: Answers) -> Texts:
    """Wording from a file or frame (question, option, text), a mapping, or `Texts`."""
    if isinstance(texts, Texts):
        questions, options = dict(texts.questions), dict(texts.options)
    else:
        questions, options = _texts(texts)
    known = set(answers.questions)
    strange = sorted({q for q in questions if q not in known} | {q for q, _ in options if q not in known})
    if strange and not known & (set(questions) | {q for q, _ in options}):
        refuse_unknown([Entry(name, ()) for name in strange], answers.questions, "table of texts")
    if strange:
        answers.notes.append(f"Texts of questions that the answers do not have were left out: {listing(strange)}.")
    return Texts(
        {q: text for q, text in questions.items() if q in known},
        {(q, option): text for (q, option), text in options.items() if q in known},
    )


def _texts(texts: object) -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    questions: dict[str, str] = {}
    options: dict[tuple[str, str], str] = {}
    mapping = as_mapping(texts)
    if mapping is not None:
        for name, text in mapping.items():
            if isinstance(name, tuple):
                options[label_text(name[0]), label_text(name[1])] = str(text)
            else:
                questions[label_text(name)] = str(text)
        return questions, options
    if not is_table(texts):
        raise InputError(
            "this cannot be read as texts",
            found=type(texts).__name__,
            remedy="Give a file with columns question, option, text, or a mapping {question: text}",
        )
    grid = read_grid(texts, "table of texts")
    question, option = _columns(grid, "texts")
    wording = next((c for c in range(len(grid.names)) if c not in (question, option)), None)
    if wording is None:
        raise InputError(
            "a table of texts has columns question, option and text", file=grid.source.file, found=list(grid.names)
        )
    for cells in grid.rows:
        if cells[option]:
            options[cells[question], cells[option]] = cells[wording]
        else:
            questions[cells[question]] = cells[wording]
    return questions, options


def _columns(grid: Grid, what: str) -> tuple[int, int]:
    """The columns of question and option, by name or else the first two."""
    question = next((c for c, name in enumerate(grid.names) if plain(name) in QUESTION), 0)
    option = next((c for c, name in enumerate(grid.names) if plain(name) in _OPTION and c != question), None)
    if option is None:
        option = next((c for c in range(len(grid.names)) if c != question), None)
    if option is None:
        raise InputError(
            f"a table of {what} has columns question and option", file=grid.source.file, found=list(grid.names)
        )
    return question, option
