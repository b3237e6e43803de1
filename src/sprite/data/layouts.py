"""Which column is what: wide or long, and where the respondents' names are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sprite.core.errors import InputError
from sprite.data.columns import Column
from sprite.data.responses import MAX_OPTIONS
from sprite.data.sources import Source

LayoutName = Literal["auto", "wide", "long"]

_WHO = "respondent student person learner candidate participant examinee pupil subject user testtaker"
RESPONDENT = {f"{who}{end}" for who in _WHO.split() for end in ("", "id", "no", "number", "name", "code")}
RESPONDENT |= {"id", "name", "fullname", "email", "emailaddress", "rownames", "unnamed0", "sid", "uid"}
QUESTION = {f"{what}{end}" for what in ("question", "item", "problem") for end in ("", "id", "name", "no", "number")}
RESPONSE = {"response", "answer", "option", "choice", "selected", "selectedoption", "chosen", "chosenoption"}
RESPONSE |= {"responselabel", "studentresponse", "answergiven", "optionlabel", "responsevalue"}


_KNOWN = {"respondent": RESPONDENT, "question": QUESTION, "response": RESPONSE}
_USUAL = {
    "respondent": "respondent, student, person or id",
    "question": "question or item",
    "response": "response, answer, option or choice",
}


@dataclass(frozen=True)
class Roles:
    """The columns that name respondent, question and response in a long table."""

    respondent: int
    question: int
    response: int


def plain(name: str) -> str:
    """A column name without case, blanks and signs."""
    return re.sub(r"[\W_]+", "", name).casefold()


def find_column(source: Source, name: str, role: str) -> int:
    """The position of a column that the user named."""
    if name in source.names:
        return source.names.index(name)
    raise InputError(
        f"there is no column called {name!r} for the {role}",
        file=source.file,
        remedy=f"The columns are {', '.join(map(repr, source.names[:8]))}" + ", …" * (len(source.names) > 8),
    )


def long_roles(
    source: Source, respondent: str | None, question: str | None, response: str | None, *, forced: bool
) -> Roles | None:
    """The columns of a long table, by the user's word, by name or by shape; None if it does not look like one."""
    found: list[int | None] = [
        _by_name(source, role) if given is None else find_column(source, given, role)
        for role, given in zip(_KNOWN, (respondent, question, response), strict=True)
    ]
    if len(source.names) == 3 and found.count(None) == 1 and len(set(found)) == 3:
        # Two are known, so the third column has only one part left to play.
        left = next(iter({0, 1, 2} - {c for c in found if c is not None}))
        found = [left if c is None else c for c in found]
    if None not in found and len(set(found)) == 3:
        return Roles(*(c for c in found if c is not None))
    if len(source.names) == 3 and (forced or _looks_long(source)):
        return Roles(0, 1, 2)
    if forced:
        unknown = [role for role, c in zip(_KNOWN, found, strict=True) if c is None]
        if len(unknown) == 1:
            problem, remedy = f"cannot tell which column of the long table holds the {unknown[0]}s", call_it(unknown[0])
        else:
            problem = "cannot tell which columns of the long table hold respondent, question and response"
            remedy = "Rename them so, or name them with respondent=, question= and response= (--respondent and so on)"
        raise InputError(problem, file=source.file, found=list(source.names[:8]), remedy=remedy)
    return None


def _by_name(source: Source, role: str) -> int | None:
    return next((c for c, name in enumerate(source.names) if plain(name) in _KNOWN[role]), None)


def long_but_for(source: Source) -> str | None:
    """The one part of a long table that no column is named for, where the other two are."""
    unknown = [role for role in _KNOWN if _by_name(source, role) is None]
    return unknown[0] if len(unknown) == 1 else None


def call_it(role: str) -> str:
    """How to say which column of a long table plays a part."""
    return f"The column of the {role}s is called {_USUAL[role]}; if it has another name, say {role}= (--{role})"


def _looks_long(source: Source) -> bool:
    """Whether three columns of unknown names are respondent, question and response.

    The pairs of the first two never repeat though each of them does, and the first shares no value with the third,
    as the columns of a wide table without names would.
    """
    if source.is_array:
        return False
    who, what, answer = source.fetch([0, 1, 2])
    n = len(who.codes)
    n_who, n_what = len(who.used()), len(what.used())
    if n < 2 * max(n_who, n_what) or (who.codes < 0).any() or (what.codes < 0).any():
        return False
    if set(_texts(who)) & set(_texts(answer)):
        return False
    pair = who.codes.astype(np.int64) * len(what.values) + what.codes
    return len(np.unique(pair)) == n


def respondent_column(source: Source, columns: list[Column], respondent: str | None) -> int | None:
    """The column of a wide table that names the respondents; None where they are to be numbered."""
    if respondent is not None:
        return find_column(source, respondent, "respondent")
    if source.is_array or not columns:
        return None
    for c, name in enumerate(source.names):
        if plain(name) in RESPONDENT and (c == 0 or _unique(columns[c])):
            return c
    if source.index_names or len(columns) == 1:
        return 0 if source.index_names else None
    if _unique(columns[0]) and (not source.names[0] or _not_options(columns)):
        return 0
    return None


def _unique(column: Column) -> bool:
    return bool((column.codes >= 0).all()) and len(column.used()) == len(column.codes)


def _not_options(columns: list[Column]) -> bool:
    """Whether the first column, all of whose values differ, holds names rather than answers."""
    names = _texts(columns[0])
    others = [_texts(column) for column in columns[1:]]
    most = max(map(len, others))
    if len(names) > MAX_OPTIONS or (len(names) >= 10 and len(names) > 2 * most):
        return True
    return not set(names) & set().union(*others)


def _texts(column: Column) -> list[str]:
    return [str(text) for text in column.values.take(column.used()).to_pylist()]
