"""Excel and OpenDocument sheets, read by python-calamine in a process of its own (see `sheet_process`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from sprite.core.errors import InputError
from sprite.data.columns import Column, from_arrow
from sprite.data.sheet_process import ABSENT, BROKEN, EMPTY, MEMORY

_CHILD = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from sprite.data.sheet_process import main; "
_CHILD += "main(*sys.argv[2:])"


@dataclass(frozen=True)
class Sheet:
    """One sheet of a spreadsheet."""

    names: tuple[str, ...]
    fetch: Callable[[Sequence[int]], list[Column]]
    line: Callable[[int], int]
    about: str
    which: str
    """The sheet's name as errors add it to the file's, where there are several."""


def open_sheet(path: Path, wanted: str = "") -> Sheet:
    """Read the sheet of this name, or the first with content; the first row with content is the header."""
    if find_spec("python_calamine") is None:
        raise InputError(
            "this is a spreadsheet, and reading those needs python-calamine",
            file=str(path),
            remedy="Run: python -m pip install python-calamine, or save the sheet as CSV",
        )
    about, columns = _read(path, wanted)
    sheets = about["sheets"]
    several = len(sheets) > 1

    def fetch(wanted: Sequence[int]) -> list[Column]:
        return [from_arrow(columns[c]) for c in wanted]

    return Sheet(
        names=tuple(about["names"]),
        fetch=fetch,
        line=lambda row: int(about["top"]) + 2 + row,
        about=f"spreadsheet, the first of {len(sheets)} sheets with content (for another: {path.name}#{sheets[1]})"
        if several and not wanted
        else f"spreadsheet, sheet {about['sheet']!r}",
        which=f", sheet {about['sheet']!r}" if several else "",
    )


def _read(path: Path, wanted: str) -> tuple[dict[str, Any], list[pa.DictionaryArray]]:
    """What the process found; where it failed, why."""
    command = [sys.executable, "-c", _CHILD, json.dumps(sys.path), str(path.resolve()), wanted]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdout is not None
        try:
            found = _received(child.stdout)
        except ValueError:  # cut short: the exit code says why
            found = None
        code = child.wait()
    if found is not None and code == 0:
        return found
    if code == EMPTY:
        raise InputError("the spreadsheet is empty", file=str(path), remedy="Save the sheet with the table")
    if found is not None and code == ABSENT:
        raise InputError(
            "no sheet with content has this name",
            file=str(path),
            found=wanted,
            remedy=f"Name one of these after the #: {', '.join(found[0]['sheets'])}",
        )
    if code == BROKEN:
        raise InputError(
            "this is neither a spreadsheet nor a text table, though it begins like a spreadsheet or a zip archive",
            file=str(path),
            remedy="Unpack the archive, or save the table as CSV",
        )
    raise InputError(
        f"the spreadsheet cannot be read in {MEMORY >> 30} GB of memory: it is damaged, or much larger than it looks",
        file=str(path),
        remedy="Remove cells far outside the table, or save the sheet as CSV",
    )


def _received(stream: IO[bytes]) -> tuple[dict[str, Any], list[pa.DictionaryArray]]:
    about = json.loads(stream.readline())
    columns = []
    for _ in about["names"]:
        texts = pa.array(json.loads(stream.readline()), pa.string())
        codes = np.frombuffer(stream.read(4 * about["rows"]), dtype=np.int32)
        columns.append(pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), texts))
    return about, columns
