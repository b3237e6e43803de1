"""A sheet of a spreadsheet, written to standard output: what `excel` runs in a process of its own.

A spreadsheet of a few kilobytes can ask for terabytes (one cell in the farthest corner, an archive that unpacks to
a thousand times its size), and the library that reads it then ends its process. So that process is not the user's.
Nothing heavy is imported here: the process begins in a few hundredths of a second.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Sequence
from typing import Any, BinaryIO

from sprite.data.cells import text_of

MEMORY = 4 << 30
"""Bytes that reading a spreadsheet may take: enough for a million rows of forty columns."""
SECONDS = 600
EMPTY, BROKEN, ABSENT = 3, 4, 5
"""Exit codes: nothing in any sheet; not a spreadsheet; no sheet of that name with content (names are sent)."""


def main(path: str, wanted: str = "") -> None:
    """Read within limits, and send the sheet of this name, or the first with content."""
    _limit()
    import python_calamine as calamine

    try:
        book = calamine.CalamineWorkbook.from_path(path)
        sheets = [(name, _rows(book, name)) for name in book.sheet_names]
    except (calamine.CalamineError, OSError, ValueError):
        sys.exit(BROKEN)
    filled = [(name, rows) for name, rows in sheets if rows]
    if not filled:
        sys.exit(EMPTY)
    names = [name for name, _ in filled]
    called = [name for name in names if name == wanted] or [name for name in names if name.lower() == wanted.lower()]
    if wanted and not called:
        sys.stdout.buffer.write(_line({"names": [], "sheets": names}))
        sys.exit(ABSENT)
    name, rows = filled[names.index(called[0]) if wanted else 0]
    send(rows, {"sheet": name, "sheets": names}, sys.stdout.buffer)


def send(rows: Sequence[Sequence[object]], about: dict[str, object], stream: BinaryIO) -> None:
    """A line that describes the sheet; then for every column a line of its texts and, as int32, which a cell holds.

    The first row with content is the header.
    """
    top = next(i for i, cells in enumerate(rows) if _full(cells))
    body = rows[top + 1 :]
    names = [text_of(cell) or "" for cell in rows[top]]
    stream.write(_line({**about, "top": top, "names": names, "rows": len(body)}))
    for c in range(len(names)):
        place: dict[str | None, int] = {None: -1}
        codes = array("i", (place.setdefault(text_of(cells[c]), len(place) - 1) for cells in body))
        stream.write(_line(list(place)[1:]))
        stream.write(codes.tobytes())


def _line(content: object) -> bytes:
    return json.dumps(content).encode() + b"\n"


def _rows(book: Any, name: str) -> list[list[object]]:
    rows: list[list[object]] = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    return rows if any(_full(cells) for cells in rows) else []


def _full(cells: Sequence[object]) -> bool:
    return any(text_of(cell) for cell in cells)


def _limit() -> None:
    """No more memory and time than any sensible sheet takes; where the system cannot limit them, all there is."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, wanted in ((resource.RLIMIT_AS, MEMORY), (resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (allowed, hard))
