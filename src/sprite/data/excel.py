"""Excel and OpenDocument sheets, through python-calamine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sprite.core.errors import InputError
from sprite.data.columns import Column, from_values, text_of


@dataclass(frozen=True)
class Sheet:
    """The first sheet that holds anything."""

    names: tuple[str, ...]
    fetch: Callable[[Sequence[int]], list[Column]]
    line: Callable[[int], int]
    about: str


def open_sheet(path: Path) -> Sheet:
    """Read the first sheet with content; the first row with content is the header."""
    file = str(path)
    try:
        import python_calamine as calamine
    except ImportError:
        raise InputError(
            "this is a spreadsheet, and reading those needs python-calamine",
            file=file,
            remedy="Run: pip install 'sprite-irt[excel]', or save the sheet as CSV",
        ) from None
    try:
        book = calamine.CalamineWorkbook.from_path(str(path))
        sheets = [(name, _rows(book, name)) for name in book.sheet_names]
    except (calamine.CalamineError, OSError):
        raise InputError(
            "this is neither a spreadsheet nor a text table, though it begins like a spreadsheet or a zip archive",
            file=file,
            remedy="Unpack the archive, or save the answers as CSV",
        ) from None
    filled = [(name, rows) for name, rows in sheets if rows]
    if not filled:
        raise InputError("the spreadsheet is empty", file=file, remedy="Save the sheet with the answers")
    name, rows = filled[0]
    top = next(i for i, cells in enumerate(rows) if _full(cells))
    header = [text_of(cell) or "" for cell in rows[top]]
    body = rows[top + 1 :]
    more = f" (of {len(filled)} sheets with content; move the one you want to the front)"

    def fetch(columns: Sequence[int]) -> list[Column]:
        return [from_values(cells[c] for cells in body) for c in columns]

    return Sheet(
        names=tuple(header),
        fetch=fetch,
        line=lambda row: top + 2 + row,
        about=f"spreadsheet, sheet {name!r}" + (more if len(filled) > 1 else ""),
    )


def _rows(book: Any, name: str) -> list[list[object]]:
    rows: list[list[object]] = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    return rows if any(_full(cells) for cells in rows) else []


def _full(cells: Sequence[object]) -> bool:
    return any(text_of(cell) for cell in cells)
