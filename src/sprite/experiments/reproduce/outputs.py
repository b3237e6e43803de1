"""Tables as files: CSV for programs, Markdown for people, and a note of the command that made them."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sprite.data.writing import replacing, write_csv

if TYPE_CHECKING:
    import pandas as pd

MADE = "made.json"


@dataclass(frozen=True, eq=False)
class Table:
    """The numbers, and how they are shown."""

    frame: pd.DataFrame
    text: str
    """Markdown."""


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; what is in the cells cannot break it."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def folded(title: str, text: str) -> str:
    """Markdown that a page shows when its title is clicked; GitHub and MkDocs both understand it."""
    return f'<details markdown="1"><summary>{title}</summary>\n\n{text}\n</details>\n'


def write_tables(folder: Path, tables: dict[str, Table]) -> None:
    """`name.csv` and `name.md` for each, all of a file or nothing."""
    for name, table in tables.items():
        frame = table.frame
        rows = ([_cell(value) for value in line] for line in frame.itertuples(index=False))
        write_csv(folder / f"{name}.csv", [list(map(str, frame.columns)), *rows])
        _write(folder / f"{name}.md", table.text)


def note(folder: Path, experiment: str, command: str, done: int, units: int, seconds: float) -> None:
    """Put into `made.json` the command that makes all of an experiment, how much of it there is, and the versions."""
    path = folder / MADE
    known: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    packages = {"sprite": "sprite-irt", "numpy": "numpy", "scipy": "scipy", "numba": "numba"}
    versions = {name: version(of) for name, of in packages.items()} | {"python": platform.python_version()}
    known[experiment] = {
        "command": command,
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "done": done,
        "units": units,
        "core_hours": round(seconds / 3600, 2),
        "versions": versions,
    }
    _write(path, json.dumps(known, indent=1) + "\n")
    rows = [
        [name, f"`{one['command']}`", _of(one), f"{one['core_hours']:.2f}", one["finished"][:10]]
        for name, one in known.items()
    ]
    said = ", ".join(f"{name} {number}" for name, number in versions.items())
    table = markdown(["experiment", "command", "units done", "core hours in them", "last run"], rows)
    _write(folder / "made.md", table + f"\nVersions at the last run: {said}.\n")


def _of(one: dict[str, Any]) -> str:
    return f"all {one['units']:,}" if one["done"] == one["units"] else f"{one['done']:,} of {one['units']:,}"


def _write(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _cell(value: Any) -> str:
    """Numbers to six digits; nothing where there is no number."""
    if isinstance(value, float):
        return f"{value:.6g}" if math.isfinite(value) else ""
    return "" if value is None else str(value)
