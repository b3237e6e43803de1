"""The tables that the page offers as CSV, as JSON inside the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 20_000


def download(frame: pd.DataFrame) -> dict[str, Any]:
    """Columns and rows; numbers to 6 digits, nothing where there is none; at most `MOST_ROWS` rows."""
    part = frame.head(MOST_ROWS)
    columns = [[_cell(value) for value in part[name].tolist()] for name in part.columns]
    return {"columns": [str(name) for name in part.columns], "rows": [list(row) for row in zip(*columns, strict=True)]}


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Each row by column name."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def _cell(value: Any) -> Any:
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return None
