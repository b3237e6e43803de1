"""Long tables: one row an answer, with columns for respondent, question and response."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sprite.core.errors import InputError
from sprite.core.types import Ints, Rows
from sprite.data.answers import Answers, refuse_many, undeclared
from sprite.data.columns import Column
from sprite.data.labels import OMITTED, Rules, Undeclared, settle
from sprite.data.layouts import Roles
from sprite.data.responses import MAX_OPTIONS, names_array
from sprite.data.sources import Source


def read_long(source: Source, rules: Rules, roles: Roles, *, key_name: str | None = None) -> Answers:
    """Answers from a long table; the respondent called `key_name` holds the key."""
    who, what, answer = source.fetch([roles.respondent, roles.question, roles.response])
    if not len(who.codes):
        raise InputError(
            "there is a header and nothing below it",
            file=source.file,
            remedy="The first line names the columns; every further line is one answer",
        )
    _refuse_nameless(source, who, what, answer, roles)
    who, what = _in_order(who), _in_order(what)
    answer = _with_missing(answer, rules)
    key_row: dict[str, str] = {}
    if key_name is not None:
        who, answer, key_row = _take_key(source, who, what, answer, key_name)
    questions = [str(name) for name in what.values.to_pylist()]
    given = (answer.codes >= 0) & (who.codes >= 0)
    if given.all():
        person, question, label = who.codes, what.codes, answer.codes
    else:
        person, question, label = (column.codes[given] for column in (who, what, answer))
    options, row = _rows(source, rules, questions, question, label, what, answer)
    n_rows = max(sum(map(len, options)), 1)
    # Sorting one number that holds respondent and row puts the answers in their final order.
    cell = person.astype(np.int64) * n_rows + row
    del person, question, label, row
    if np.any(cell[1:] < cell[:-1]):
        cell.sort()
    _refuse_twice(source, cell, options, n_rows, who, what, answer, roles)
    counts = np.bincount(cell // n_rows, minlength=len(who.values))
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    np.remainder(cell, n_rows, out=cell)
    return Answers(
        names_array(who.values.to_pylist()),
        questions,
        options,
        start,
        cell.astype(np.int32),
        key_row,
        frozenset(q for q in questions if rules.options_of(q) is not None),
    )


def _refuse_nameless(source: Source, who: Column, what: Column, answer: Column, roles: Roles) -> None:
    """Every row with anything in it must say who and what."""
    for column, place, role in ((who, roles.respondent, "respondent"), (what, roles.question, "question")):
        if (column.codes >= 0).all():
            continue
        bad = (column.codes < 0) & ((who.codes >= 0) | (what.codes >= 0) | (answer.codes >= 0))
        if bad.any():
            raise InputError(
                f"this row names no {role}",
                remedy="Fill it in, or remove the row",
                **source.where(int(np.argmax(bad)), place),
            )


def _in_order(column: Column) -> Column:
    """The same column with only the texts that occur, in order of first appearance."""
    used = column.used()
    if len(used) == len(column.values) and np.array_equal(used, np.arange(len(used))):
        return column
    table = np.full(len(column.values) + 1, -1, dtype=np.int32)
    table[used] = np.arange(len(used), dtype=np.int32)
    return Column(table[column.codes], column.values.take(pa.array(used)))


def _with_missing(answer: Column, rules: Rules) -> Column:
    """Codes of answers that are none become -1; empty cells become an option if the user wants it."""
    table = np.arange(len(answer.values) + 1, dtype=np.int32)
    table[-1] = -1
    # Numbers such as 9.0 may stand for a code 9, so anything that could be one is looked at in full.
    candidates = pc.or_(
        pc.is_in(answer.values, pa.array(sorted(rules.missing), pa.string())),
        pc.match_substring_regex(answer.values, r"\A[+-]?\d+[.,]0+\z"),
    )
    for i in np.flatnonzero(np.asarray(candidates)):
        if rules.is_missing(answer.values[int(i)].as_py()):
            table[i] = -1
    values = answer.values
    if rules.keeps_empty:
        table[-1] = len(values)
        values = pa.concat_arrays([values, pa.array([OMITTED], pa.string())])
    if rules.keeps_empty or (table[:-1] < 0).any():
        return Column(table[answer.codes], values)
    return answer


def _take_key(
    source: Source, who: Column, what: Column, answer: Column, key_name: str
) -> tuple[Column, Column, dict[str, str]]:
    """Take one respondent's answers out of the data as the key."""
    at = pc.index(who.values, key_name).as_py()
    if at < 0:
        raise InputError(
            f"the key should be in the rows of {key_name!r}, but there is no such respondent",
            file=source.file,
            remedy="Check the spelling: the name after @ is one in the column of respondents",
        )
    rows = np.flatnonzero(who.codes == at)
    key_row = {what.text(int(i)): answer.text(int(i)) for i in rows}
    given = answer.codes.copy()
    given[rows] = -1
    people = np.where(who.codes == at, -1, who.codes - (who.codes > at)).astype(np.int32)
    names = pa.concat_arrays([who.values[:at], who.values[at + 1 :]])
    return Column(people, names), Column(given, answer.values), key_row


def _rows(
    source: Source,
    rules: Rules,
    questions: list[str],
    question: Rows,
    label: Rows,
    what: Column,
    answer: Column,
) -> tuple[list[list[str]], Rows]:
    """Options of every question, and for every answer its row in the table of all options."""
    n_labels = max(len(answer.values), 1)
    pair = question.astype(np.int64) * n_labels + label
    size = len(questions) * n_labels
    dense = size <= max(4 * len(pair), 1 << 20)
    inverse: Ints | None = None
    if dense:
        pairs = np.flatnonzero(np.bincount(pair, minlength=size))
    else:  # many labels in few questions each, as with free text
        pairs, inverse = np.unique(pair, return_inverse=True)
    bounds = np.searchsorted(pairs, np.arange(len(questions) + 1) * n_labels)
    texts = answer.values
    options: list[list[str]] = []
    row_of_pair = np.empty(len(pairs), dtype=np.int32)
    first = 0
    for j, name in enumerate(questions):
        own = pairs[bounds[j] : bounds[j + 1]] - j * n_labels
        if len(own) > MAX_OPTIONS:
            where = {"file": source.file, "column": name}
            refuse_many(len(own), where, texts[int(own[0])].as_py(), "Leave out the rows of this question")
        given = [str(text) for text in texts.take(pa.array(own)).to_pylist()]
        try:
            labels, place = settle(given, rules, rules.options_of(name))
        except Undeclared as error:
            at = np.argmax((what.codes == j) & (answer.codes == own[error.position]))
            raise InputError(
                f"this answer is not among the declared options of question {name!r}",
                found=given[error.position],
                remedy=undeclared(rules.options_of(name) or ()),
                **source.where(int(at), "response"),
            ) from None
        row_of_pair[bounds[j] : bounds[j + 1]] = first + np.array(place, dtype=np.int64)
        options.append(labels)
        first += len(labels)
    if inverse is not None:
        return options, row_of_pair[inverse]
    table = np.zeros(size, dtype=np.int32)
    table[pairs] = row_of_pair
    return options, table[pair]


def _refuse_twice(
    source: Source,
    cell: Ints,
    options: list[list[str]],
    n_rows: int,
    who: Column,
    what: Column,
    answer: Column,
    roles: Roles,
) -> None:
    """Two answers of one respondent to one question stand next to each other once sorted."""
    question_of_row = np.repeat(np.arange(len(options), dtype=np.int32), [len(labels) for labels in options])
    if not len(question_of_row):
        return
    question = question_of_row[cell % n_rows]
    # Equal questions next to each other can also belong to different respondents: compare those few in full.
    near = np.flatnonzero(question[1:] == question[:-1])
    twice = near[cell[near] // n_rows == cell[near + 1] // n_rows]
    if not len(twice):
        return
    person, item = int(cell[twice[0]] // n_rows), int(question[twice[0]])
    both = np.flatnonzero((who.codes == person) & (what.codes == item) & (answer.codes >= 0))
    a, b = int(both[0]), int(both[1])
    raise InputError(
        f"{who.text(a)!r} has a second answer to {what.text(a)!r}; the first, {answer.text(a)!r}, is on {source.at(a)}",
        found=answer.text(b),
        remedy="Keep one answer a respondent and question, the first attempt, say",
        **source.where(b, roles.response),
    )
