"""Wide tables: one row a respondent, one column a question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sprite.core.errors import InputError
from sprite.core.types import Bools, Ints, Rows, Strings
from sprite.data.answers import Answers, listing, refuse_many, undeclared
from sprite.data.columns import Column
from sprite.data.labels import OMITTED, Rules, Undeclared, fractions, settle
from sprite.data.layouts import call_it, long_but_for, respondent_column
from sprite.data.responses import MAX_OPTIONS, names_array
from sprite.data.sources import Source


def read_wide(
    source: Source,
    rules: Rules,
    *,
    respondent: str | None = None,
    ignore: Sequence[str] = (),
    key_name: str | None = None,
) -> Answers:
    """Answers from a wide table; the respondent called `key_name` holds the key."""
    kept = [c for c, name in enumerate(source.names) if name not in ignore]
    columns = dict(zip(kept, source.fetch(kept), strict=True))
    if not kept or not len(columns[kept[0]].codes):
        raise InputError(
            "there is a header and nothing below it",
            file=source.file,
            remedy="The first line names the columns; every further line is a respondent",
        )
    who = _who(source, columns, respondent)
    notes: list[str] = []
    if who is None and not source.is_array:
        notes.append("No column names the respondents: they are numbered from 1.")
    columns = _drop_unnamed(source, columns, who, notes)
    _refuse_repeats(source, [c for c in columns if c != who])
    present = _present(columns, notes)
    names, key_at = _names(source, None if who is None else columns.pop(who), present, key_name)
    if not columns:
        raise InputError(
            "there are respondents but no questions",
            file=source.file,
            found=list(source.names[:8]),
            remedy="A wide table has one column a question; name the separator if the columns were not told apart",
        )
    questions = [source.names[c] for c in columns]
    options: list[list[str]] = []
    codes: list[Rows] = []
    key_row: dict[str, str] = {}
    for c, column in columns.items():
        if key_at is not None:
            key_row[source.names[c]] = column.text(key_at)
        labels, code = _question(source, c, column, rules, present, key_at)
        options.append(labels)
        codes.append(code)
    _refuse_numbers(source, dict(zip(questions, options, strict=True)), rules)
    keep = present.copy()
    if key_at is not None:
        keep[key_at] = False
    start, row = _compress([code[keep] for code in codes], [len(labels) for labels in options])
    closed = frozenset(q for q in questions if rules.options_of(q) is not None)
    return Answers(names[keep[present]], questions, options, start, row, key_row, closed, notes)


def _who(source: Source, columns: dict[int, Column], respondent: str | None) -> int | None:
    """The column of the respondents' names among those kept."""
    kept = list(columns)
    part = Source(
        tuple(source.names[c] for c in kept),
        source.fetch,
        source.line,
        source.about,
        source.file,
        is_array=source.is_array,
        index_names=source.index_names and kept[:1] == [0],
    )
    found = respondent_column(part, list(columns.values()), respondent)
    return None if found is None else kept[found]


def _drop_unnamed(source: Source, columns: dict[int, Column], who: int | None, notes: list[str]) -> dict[int, Column]:
    """Leave out columns with neither name nor content, as trailing separators make them."""
    out = {}
    for c, column in columns.items():
        if source.names[c] or c == who:
            out[c] = column
        elif (column.codes >= 0).any():
            row = int(np.argmax(column.codes >= 0))
            raise InputError(
                f"column {c + 1} has answers but no name in the header{_header(source)}",
                found=column.text(row),
                remedy="Give the column a name, or remove it"
                + ("; if that line is a title, remove what stands above the header" if source.file else ""),
                **source.where(row),
            )
        else:
            notes.append(f"Column {c + 1} has neither name nor content and was left out.")
    return out


def _header(source: Source) -> str:
    """Where the header of a file was found, and what stands there."""
    if not source.file:
        return ""
    names = [name[:40] for name in source.names if name]
    return f", which was taken to be line {_header_line(source)}: {listing(names, 2)}"


def _header_line(source: Source) -> int:
    return max(source.line(0) - 1, 1)


def _refuse_repeats(source: Source, columns: list[int]) -> None:
    seen: dict[str, int] = {}
    for c in columns:
        name = source.names[c]
        if name in seen:
            line = _header_line(source) if source.file else None
            raise InputError(
                f"two columns (numbers {seen[name] + 1} and {c + 1}) are for the same question",
                file=source.file,
                row=line,
                column=name,
                remedy="Rename one of them; if the file has no header line, add one",
            )
        seen[name] = c


def _present(columns: dict[int, Column], notes: list[str]) -> Bools:
    """Rows with anything in them; spreadsheets leave blank ones at the end."""
    present = np.zeros(len(next(iter(columns.values())).codes), dtype=bool)
    for column in columns.values():
        present |= column.codes >= 0
    blank = int((~present).sum())
    if blank:
        notes.append(f"{blank} blank row{'s were' if blank > 1 else ' was'} left out.")
    return present


def _names(source: Source, column: Column | None, present: Bools, key_name: str | None) -> tuple[Strings, int | None]:
    """Names of the respondents, and the row that holds the key."""
    if column is None:
        if key_name is not None:
            raise InputError(
                f"the key should be in the row of {key_name!r}, but the table has no column of names",
                file=source.file,
                remedy="Name it with respondent=, or give the key as a file or mapping",
            )
        numbers = pc.cast(pa.array(np.arange(1, int(present.sum()) + 1)), pa.string())
        return names_array(numbers.to_pylist()), None
    nameless = np.flatnonzero(present & (column.codes < 0))
    if len(nameless):
        raise InputError(
            "a respondent has answers but no name",
            remedy="Give every respondent a name or number of their own",
            **source.where(int(nameless[0])),
        )
    codes = column.codes[present]
    count = np.bincount(codes, minlength=len(column.values))
    if (count > 1).any():
        twice = int(np.argmax(count[codes] > 1))
        rows = np.flatnonzero(column.codes == codes[twice])
        raise InputError(
            f"this respondent has two rows, the first on {source.at(int(rows[0]))}",
            found=column.text(int(rows[1])),
            remedy=_one_row_each(source),
            **source.where(int(rows[1]), "respondent"),
        )
    names = names_array(column.values.take(pa.array(codes)).to_pylist())
    if key_name is None:
        return names, None
    at = pc.index(column.values, key_name).as_py()
    rows = np.flatnonzero(column.codes == at) if at >= 0 else np.zeros(0, dtype=np.int64)
    if not len(rows):
        raise InputError(
            f"the key should be in the row of {key_name!r}, but there is no such respondent",
            file=source.file,
            remedy="Check the spelling: the name after @ is one in the column of respondents",
        )
    return names, int(rows[0])


def _one_row_each(source: Source) -> str:
    """What to do where a respondent has two rows."""
    lacking = long_but_for(source)
    if lacking is not None:
        rather = f"it lacks the {lacking}s. {call_it(lacking)}"
    else:
        rather = "say layout='long' (--layout long)"
    return f"Remove or rename one; if the table is long (one row an answer), {rather}"


def _question(
    source: Source, c: int, column: Column, rules: Rules, present: Bools, key_at: int | None
) -> tuple[list[str], Rows]:
    """The options of one question, and for every row the position of the chosen one (-1 for none)."""
    name = source.names[c]
    codes = column.codes
    if key_at is not None:
        codes = codes.copy()
        codes[key_at] = -1
    labels = [str(text) for text in column.values.to_pylist()]
    counted = np.bincount(codes[codes >= 0], minlength=len(labels))
    chosen = [i for i in np.flatnonzero(counted) if not rules.is_missing(labels[i])]
    if len(chosen) > MAX_OPTIONS:
        row = int(np.argmax(codes >= 0))
        remedy = f"Leave the column out: {_ignoring([name])}"
        refuse_many(len(chosen), source.where(None, name), column.text(row), remedy)
    given = [labels[i] for i in chosen]
    if rules.keeps_empty and (codes[present] < 0).any():
        given.append(OMITTED)
    try:
        options, place = settle(given, rules, rules.options_of(name))
    except Undeclared as error:
        row = int(np.argmax(codes == chosen[error.position]))
        # Options declared for all questions hold for every column that was not left out.
        no_question = "" if name in rules.declared else f". If it is no question, leave it out: {_ignoring([name])}"
        raise InputError(
            "this answer is not among the declared options of the question",
            found=given[error.position],
            remedy=undeclared(rules.options_of(name) or ()) + no_question,
            **source.where(row, name),
        ) from None
    table = np.full(len(labels) + 1, -1, dtype=np.int32)
    table[chosen] = place[: len(chosen)]
    if len(place) > len(chosen):
        table[-1] = place[-1]
    return options, table[codes]


def _refuse_numbers(source: Source, options: dict[str, list[str]], rules: Rules) -> None:
    """Refuse columns of measurements, unless the user has declared that they are options."""
    open_ones = {name: labels for name, labels in options.items() if rules.options_of(name) is None}
    found = {name: fractions(labels, comma=rules.comma_decimals) for name, labels in open_ones.items()}
    bad = [name for name in found if found[name]]
    if not bad:
        return
    name, also = bad[0], f"; the same holds for {listing(bad[1:])}" if len(bad) > 1 else ""
    raise InputError(
        f"the column has {len(options[name])} different answers, many of them numbers with a fractional part, such as "
        f"{' and '.join(found[name][:2])}, so it does not look like a question{also}",
        remedy=f"Leave it out: {_ignoring(bad)}. If these really are options, declare all of them: "
        f"options={{{name!r}: [...]}} (--options with a file: question, option)",
        **source.where(None, name),
    )


def _ignoring(names: Sequence[str]) -> str:
    """How to leave out columns, in Python and on the command line."""
    more = ", and so on" if len(names) > 5 else ""
    return f"ignore=[{', '.join(map(repr, names[:5]))}] ({' '.join(f'--ignore {name!r}' for name in names[:5])}){more}"


def _compress(codes: list[Rows], sizes: list[int]) -> tuple[Ints, Rows]:
    """Put the answers of all columns in one array, respondent after respondent."""
    n = len(codes[0])
    answered = np.zeros(n, dtype=np.int64)
    for code in codes:
        answered += code >= 0
    start = np.concatenate([[0], np.cumsum(answered)]).astype(np.int64)
    row = np.empty(int(start[-1]), dtype=np.int32)
    place = start[:-1].copy()
    first = 0
    for code, size in zip(codes, sizes, strict=True):
        given = code >= 0
        row[place[given]] = code[given] + first
        place[given] += 1
        first += size
    return start, row
