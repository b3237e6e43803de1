"""Anything that holds a table, behind one face: names, columns on demand, and where a row stands in the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sprite.core.errors import InputError
from sprite.data import excel, tables, text
from sprite.data.columns import Column
from sprite.data.labels import tidy

TEXT_KINDS = "CSV, TSV, Parquet or Excel"

# First bytes of files that people mistake for tables, and what to do instead.
_STRANGERS = {
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"%PDF": "a PDF document",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"ARROW1": "an Arrow/Feather file",
    b"SQLite format 3": "an SQLite database",
    b"$FL2": "an SPSS file",
    b"$FL3": "an SPSS file",
    b"RDX": "an R data file",
    b"\x7fELF": "a program",
    b"\x89HDF": "an HDF5 file",
    b"<": "a web page or XML file",
    b"[{": "a JSON file",
    b'{"': "a JSON file",
}


@dataclass(frozen=True)
class Source:
    """A table that can be read column by column."""

    names: tuple[str, ...]
    """Column names, trimmed; empty where a column has none."""
    fetch: Callable[[Sequence[int]], list[Column]]
    line: Callable[[int], int]
    """The line of the file (or row of the table) on which a data row stands, counted from 1."""
    about: str
    file: str | None = None
    semicolons: bool = False
    is_array: bool = False
    index_names: bool = False
    """Whether the first column is an index: names of rows, never a question."""

    def at(self, row: int) -> str:
        """Where a data row stands, in words."""
        return f"{'line' if self.file else 'row'} {self.line(row)}"

    def where(self, row: int | None = None, column: int | str | None = None) -> dict[str, Any]:
        """The place of a cell, as `InputError` wants it."""
        name = column if isinstance(column, str | None) else self.names[column] or f"number {column + 1}"
        return {"file": self.file, "row": None if row is None else self.line(row), "column": name}


def open_source(source: object, *, separator: str | None = None, encoding: str | None = None) -> Source:
    """Look at a path, data frame or array, and make its columns available."""
    if isinstance(source, str | os.PathLike):
        return _open_path(Path(os.fspath(source)), separator, encoding)
    found = tables.open_table(source)
    return Source(
        names=tuple(tidy(name) for name in found.names),
        fetch=found.fetch,
        line=lambda row: row + 1,
        about=found.about,
        is_array=found.is_array,
        index_names=found.index_names,
    )


def _open_path(path: Path, separator: str | None, encoding: str | None) -> Source:
    path, sheet_name = _sheet_of(path)
    file = str(path)
    head = _first_bytes(path)
    if not head:
        raise InputError("the file is empty", file=file, remedy="Export the file again, with a header line")
    if head.startswith(b"PAR1"):
        found = tables.open_parquet(path)
        return Source(tuple(tidy(name) for name in found.names), found.fetch, lambda row: row + 1, found.about, file)
    if head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        sheet = excel.open_sheet(path, sheet_name)
        names = tuple(tidy(name) for name in sheet.names)
        return Source(names, sheet.fetch, sheet.line, sheet.about, file + sheet.which)
    if sheet_name:
        raise InputError(
            "a sheet can be named only of a spreadsheet",
            file=file,
            found=f"#{sheet_name}",
            remedy="Leave out the # and what follows",
        )
    for magic, kind in _STRANGERS.items():
        if head.lstrip().startswith(magic):
            raise InputError(
                f"this is {kind}, not a table",
                file=file,
                remedy=f"Save the table as {TEXT_KINDS} and read that file",
            )
    table = text.open_text(path, separator, encoding)
    names = tuple(tidy(name, guarded=True) for name in table.names)
    return Source(names, table.fetch, table.line, table.about, file, semicolons=table.separator == ";")


def _sheet_of(path: Path) -> tuple[Path, str]:
    """A file and, of BOOK.xlsx#SHEET, the name of a sheet; a file whose own name has a # is itself."""
    book, _, sheet = str(path).rpartition("#")
    return (Path(book), sheet) if book and sheet and not path.exists() and os.path.isfile(book) else (path, "")


def _first_bytes(path: Path) -> bytes:
    """The beginning of the file, or why it cannot be had."""
    file = str(path)
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        # It is read several times over, and a pipe may never end.
        raise InputError(
            "this is a pipe or a device, not a file",
            file=file,
            remedy="Save what comes out of it to a file, and read that",
        )
    try:
        with path.open("rb") as stream:
            return stream.read(4096)
    except (IsADirectoryError, PermissionError):
        if not path.is_dir():  # Windows calls opening a folder a lack of permission
            raise InputError(
                "the file may not be read", file=file, remedy="Change its permissions or copy it elsewhere"
            ) from None
        inside = path / "responses.csv"
        remedy = f"Name the file itself: {inside}" if inside.exists() else f"Name a {TEXT_KINDS} file"
        raise InputError("this is a folder, not a file", file=file, remedy=remedy) from None
    except FileNotFoundError:
        raise InputError("there is no such file", file=file, remedy=_near(path)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"the file cannot be read: {reason}", file=file, remedy="Check the path") from None


def _near(path: Path) -> str:
    """A hint at what the user may have meant."""
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return f"There is no folder {str(path.parent)!r} either: check the path"
    close = get_close_matches(path.name, os.listdir(path.parent), n=1)
    return f"Did you mean {close[0]!r}?" if close else "Check the name and the folder"
