"""`read`: from whatever people have to `Responses`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sprite.core.errors import InputError
from sprite.data import key as keys
from sprite.data.answers import Answers, listing, warn
from sprite.data.companions import Entry, label_list, refuse_unknown
from sprite.data.labels import MISSING, OMITTED, Rules, collisions
from sprite.data.layouts import QUESTION, LayoutName, call_it, find_column, long_but_for, long_roles, plain
from sprite.data.long import read_long
from sprite.data.orders import apply_order, declared_options, read_texts
from sprite.data.responses import Responses, Texts
from sprite.data.sources import Source, open_source
from sprite.data.wide import read_wide

_WIDE_AFTER_ALL = "If the rows are respondents after all, say layout='wide' (--layout wide)"


def read(
    source: object,
    key: object = None,
    *,
    texts: object = None,
    order: object = None,
    layout: LayoutName = "auto",
    missing_codes: object = (),
    omitted: object = None,
    options: object = None,
    separator: str | None = None,
    encoding: str | None = None,
    respondent: str | None = None,
    question: str | None = None,
    response: str | None = None,
    ignore: str | Sequence[str] = (),
) -> Responses:
    """Read which option each respondent chose.

    Parameters
    ----------
    source
        Path of a CSV, TSV, Parquet or Excel file; a pandas, polars or pyarrow table; a 2-D NumPy array.
    key
        The correct options: a file (question, correct) or one row of labels; a mapping; ``"@KEY"`` for the row of
        the data whose respondent is called KEY; a sequence with one entry a question. Several as ``A;C``.
    texts
        Wording: a file (question, option, text; no option for the question's own) or a mapping.
    order
        Options from lowest to highest: a file (question, ``A<B<C``; or question, option, rank) or a mapping.
    layout
        ``"wide"`` (one row a respondent), ``"long"`` (one row an answer) or ``"auto"``.
    missing_codes
        Labels that mean no answer, besides empty, NA, N/A, NaN and null.
    omitted
        A code to keep as an option of its own; ``""`` keeps empty cells, as the option ``(omitted)``.
    options
        All options: a mapping from question, one list for all questions, or a file (question, option).
    separator, encoding
        Of a text file, where they should not be detected.
    respondent, question, response
        Names of the columns, where they should not be detected.
    ignore
        Columns to leave out.

    Raises
    ------
    InputError
        With file, row, column, what was found there and what to do.

    """
    table = open_source(source, separator=separator, encoding=encoding)
    ignore = (ignore,) if isinstance(ignore, str) else tuple(ignore)
    for name in ignore:
        find_column(table, name, "list of columns to ignore")
    keys.refuse_swapped(table, key)
    rules = _rules(table, missing_codes, omitted, options)
    key_name = keys.row_name(key)
    answers, said = _answers(table, rules, layout, (respondent, question, response), ignore, key_name)
    answers.notes[:0] = [f"Read from {table.file or 'memory'}: {table.about}.", said]
    _refuse_strange_options(rules, answers)
    _say_collisions(answers)
    rank = None if order is None else apply_order(order, answers)
    n_rows = int(answers.first[-1])
    correct = np.zeros(n_rows, dtype=bool) if key is None else keys.apply_key(key, answers)
    if rank is not None and len(correct) != n_rows:  # the key has added options
        rank = apply_order(order, answers)
    wording = Texts() if texts is None else read_texts(texts, answers)
    _say_what_is_thin(answers)
    return Responses(
        respondents=answers.respondents,
        questions=tuple(answers.questions),
        options=tuple(map(tuple, answers.options)),
        start=answers.start,
        row=answers.row,
        correct=correct,
        rank=rank,
        texts=wording,
        notes=tuple(answers.notes),
    )


def _rules(table: Source, missing_codes: object, omitted: object, options: object) -> Rules:
    codes = label_list(missing_codes) if isinstance(missing_codes, Iterable) else label_list([missing_codes])
    kept = frozenset() if omitted is None else frozenset(label_list(omitted))
    both = sorted(kept & set(codes))
    if both:
        raise InputError(
            "a code cannot be both missing and an option of its own",
            found=both[0],
            remedy="Name it in missing_codes= or in omitted=, not in both",
        )
    declared, common = declared_options(options)
    return Rules(
        missing=MISSING | frozenset(codes),
        omitted=kept | ({OMITTED} if "" in kept else set()),
        declared=declared,
        common=common,
        comma_decimals=table.semicolons,
    )


def _answers(
    table: Source,
    rules: Rules,
    layout: str,
    named: tuple[str | None, str | None, str | None],
    ignore: Sequence[str],
    key_name: str | None,
) -> tuple[Answers, str]:
    """Read the table in the layout given or found."""
    if layout not in ("auto", "wide", "long"):
        raise InputError("there is no such layout", found=layout, remedy="Use 'wide', 'long' or 'auto'")
    roles = None
    if layout == "long" or (layout == "auto" and not table.is_array):
        forced = layout == "long" or named[1] is not None or named[2] is not None
        roles = long_roles(table, *named, forced=forced)
    if roles is None:
        if layout == "auto" and long_but_for(table) == "respondent" and named[0] is None:
            raise InputError(
                "every row seems to be an answer, but no column names the respondents",
                file=table.file,
                found=list(table.names[:8]),
                remedy=f"{call_it('respondent')}. {_WIDE_AFTER_ALL}",
            )
        if layout == "auto" and table.names and plain(table.names[0]) in QUESTION and named[0] is None:
            raise InputError(
                "the first column names questions, so every row seems to be a question",
                file=table.file,
                column=table.names[0],
                remedy=f"Exchange rows and columns. {_WIDE_AFTER_ALL}",
            )
        answers = read_wide(table, rules, respondent=named[0], ignore=ignore, key_name=key_name)
        return answers, "Layout wide: one row a respondent, one column a question."
    answers = read_long(table, rules, roles, key_name=key_name)
    who, what, which = (table.names[c] for c in (roles.respondent, roles.question, roles.response))
    return answers, f"Layout long: one row an answer; columns {who!r}, {what!r}, {which!r}."


def _refuse_strange_options(rules: Rules, answers: Answers) -> None:
    refuse_unknown([Entry(question, ()) for question in rules.declared], answers.questions, "table of options")


def _say_collisions(answers: Answers) -> None:
    """Warn of labels that are probably one."""
    found = [
        f"{question}: {' and '.join(map(repr, group))}"
        for question, labels in zip(answers.questions, answers.options, strict=True)
        for group in collisions(labels)
    ]
    if found:
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        warn(
            answers.notes,
            f"Labels that differ only in case or blanks count as different options: {'; '.join(found[:5])}{more}. "
            "Correct the data if they are the same.",
        )


def _say_what_is_thin(answers: Answers) -> None:
    """Note respondents without answers, and questions that leave no choice."""
    silent = np.flatnonzero(np.diff(answers.start) == 0)
    if len(silent):
        names = [str(name) for name in answers.respondents[silent[:6]]]
        more = f" and {len(silent) - 5:,} more" if len(silent) > 5 else ""
        people = "respondent" if len(silent) == 1 else "respondents"
        answers.notes.append(f"{len(silent):,} {people} answered nothing: {', '.join(map(repr, names[:5]))}{more}.")
    for few, words in ((0, "has no answers"), (1, "has only one option")):
        thin = [q for q, labels in zip(answers.questions, answers.options, strict=True) if len(labels) == few]
        if thin:
            answers.notes.append(f"{listing(thin)} {words}.")
