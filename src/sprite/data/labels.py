"""Option labels: kept as written, except for the few changes listed here.

Surrounding blanks go; ``1.0`` becomes ``1`` where all labels of the question are numbers; nothing else changes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

MISSING = frozenset({"", "NA", "N/A", "#N/A", "<NA>", "NaN", "nan", "null", "NULL"})
"""What counts as no answer in every table, whatever the user adds."""

OMITTED = "(omitted)"
"""The label of empty cells when the user wants them kept as an option of their own."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_COMMA_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")
_WHOLE = re.compile(r"([+-]?(?:0|[1-9]\d*))[.,]0+")
_FRACTION = re.compile(r"[+-]?\d*\.\d*[1-9]\d*")
_COMMA_FRACTION = re.compile(r"[+-]?\d*[.,]\d*[1-9]\d*")
_FEW = 10  # as many numbers with fractions may be options: 3.14, 2.72 and 1.41, say
_FORMULA = re.compile(r"'*[=+\-@]")
_GUARDED = re.compile(r"'+[=+\-@]")


@dataclass(frozen=True)
class Rules:
    """How the cells of a table become option labels."""

    missing: frozenset[str] = MISSING
    omitted: frozenset[str] = frozenset()
    declared: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Options by question, in the user's order; only these may occur there."""
    common: Sequence[str] | None = None
    """Options of every question that `declared` does not name."""
    comma_decimals: bool = False
    """Whether ``1,0`` is a number, as in files separated by semicolons."""

    @property
    def keeps_empty(self) -> bool:
        """Whether an empty cell is an option of its own."""
        return "" in self.omitted

    def options_of(self, question: str) -> Sequence[str] | None:
        """The options declared for a question; None where the data decide."""
        return self.declared.get(question, self.common)

    def is_missing(self, label: str) -> bool:
        """Whether the label means that there is no answer."""
        if label in self.omitted or whole(label) in self.omitted:
            return False
        return label in self.missing or whole(label) in self.missing


class Undeclared(Exception):  # noqa: N818 - never leaves the package: the reader says where it happened
    """A label that is not among the declared options."""

    def __init__(self, position: int) -> None:
        self.position = position


def settle(labels: Sequence[str], rules: Rules, declared: Sequence[str] | None) -> tuple[list[str], list[int]]:
    """The options of one question in order, and the place of each given label among them."""
    judged = [label for label in labels if label not in rules.omitted and label != OMITTED]
    numeric = are_numbers(judged, comma=rules.comma_decimals)
    final = [whole(label) if numeric else label for label in labels]
    omitted = {label for label in final if label in rules.omitted or (label == OMITTED and rules.keeps_empty)}
    if declared is None:
        options = sorted(set(final) - omitted, key=sort_key) + sorted(omitted, key=sort_key)
    else:
        options = [*declared, *sorted(omitted - set(declared), key=sort_key)]
        for i, label in enumerate(labels):
            if label in options:
                final[i] = label
            elif whole(label) in options:
                final[i] = whole(label)
            else:
                raise Undeclared(i)
    place = {label: position for position, label in enumerate(options)}
    return options, [place[label] for label in final]


def are_numbers(labels: Iterable[str], *, comma: bool = False) -> bool:
    """Whether every label is a number written out in digits."""
    pattern = _COMMA_NUMBER if comma else _NUMBER
    return all(pattern.fullmatch(label) for label in labels)


def fractions(labels: Sequence[str], *, comma: bool = False) -> list[str]:
    """The labels with a fractional part, where they are many: an age, a time or a score. Else none.

    Halves are every second number at best, and some cells may say "unknown".
    """
    if len(labels) <= _FEW:
        return []
    found = [label for label in labels if (_COMMA_FRACTION if comma else _FRACTION).fullmatch(label)]
    numbers = sum(are_numbers([label], comma=comma) for label in labels)
    return found if 2 * numbers > len(labels) and 4 * len(found) >= len(labels) else []


def whole(label: str) -> str:
    """``1.0`` and ``1,0`` as ``1``; anything else as it is (``01`` too)."""
    match = _WHOLE.fullmatch(label)
    return match[1] if match else label


def sort_key(label: str) -> tuple[int, float, str]:
    """Numbers first, by value; then the rest by their characters."""
    if _COMMA_NUMBER.fullmatch(label):
        return 0, float(label.replace(",", ".")), label
    return 1, 0.0, label


def alike(label: str) -> str:
    """A form in which labels that differ only in case, blanks or how accents are stored are equal."""
    return "".join(unicodedata.normalize("NFKC", label).casefold().split())


def collisions(options: Sequence[str]) -> list[tuple[str, ...]]:
    """Groups of labels that a person would take for one."""
    groups: dict[str, list[str]] = {}
    for label in options:
        groups.setdefault(alike(label), []).append(label)
    return [tuple(group) for group in groups.values() if len(group) > 1]


# --- text as it stands in files --------------------------------------------------------------------------------


def guard(text: str) -> str:
    """Put a quote before text that a spreadsheet would run as a formula; `unguard` takes exactly that away."""
    return "'" + text if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def unguard(text: str) -> str:
    """Undo `guard`: remove one quote that stands before a formula sign (or before more such quotes)."""
    return text[1:] if _GUARDED.match(text) else text


def tidy(text: str, *, guarded: bool = False) -> str:
    """One name or label as read: blanks around it gone, the formula guard undone."""
    return unguard(text.strip()) if guarded else text.strip()


def tidy_all(values: pa.StringArray, *, guarded: bool = False) -> pa.StringArray:
    """`tidy` for a whole array."""
    values = pc.utf8_trim_whitespace(values)
    if guarded and pc.any(pc.starts_with(values, "'")).as_py():
        values = pc.replace_substring_regex(values, pattern=r"\A'('*[=+\-@])", replacement=r"\1")
    return values
