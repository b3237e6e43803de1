"""Tables that are typed already: Parquet files, data frames, NumPy arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sprite.core.errors import InputError
from sprite.core.memory import refuse_beyond_memory
from sprite.data.columns import Column, from_arrow, from_values

_CELL = 4  # bytes of a cell in memory, its text apart


@dataclass(frozen=True)
class Table:
    """Names and columns on demand."""

    names: tuple[str, ...]
    fetch: Callable[[Sequence[int]], list[Column]]
    about: str
    is_array: bool = False
    index_names: bool = False


def open_parquet(path: Path) -> Table:
    """A Parquet file; only the columns asked for are read."""
    import pyarrow.parquet as pq

    file = str(path)
    broken = InputError("the Parquet file is damaged", file=file, remedy="Write the file again")
    try:
        metadata = pq.read_metadata(path)
        schema = metadata.schema.to_arrow_schema()
        names = tuple(schema.names)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise broken from None
    _refuse_repeats(names, file)

    def fetch(columns: Sequence[int]) -> list[Column]:
        wanted = [names[c] for c in columns]
        refuse_beyond_memory(
            _CELL * metadata.num_rows * len(wanted), f"{metadata.num_rows:,} rows of {len(wanted):,} columns", file
        )
        texts = [name for name in wanted if pa.types.is_string(schema.field(name).type)]
        try:
            table = pq.read_table(path, columns=wanted, read_dictionary=texts)
            table.validate(full=True)
        except (pa.ArrowException, OSError):
            raise broken from None
        out = []
        for name in wanted:
            out.append(_column(table.column(name), file, name))
            table = table.drop_columns([name])  # its memory is needed for the next one
        return out

    return Table(names, fetch, "Parquet")


def open_table(source: object) -> Table:
    """A data frame of any library that narwhals knows, or a 2-D array."""
    if isinstance(source, np.ndarray):
        return _open_array(source)
    import narwhals as nw

    try:
        frame: Any = nw.from_native(source)
    except TypeError:
        raise InputError(
            "this cannot be read as a table",
            found=type(source).__name__,
            remedy="Give a path, a pandas, polars or pyarrow table, or a 2-D NumPy array",
        ) from None
    except (nw.exceptions.DuplicateError, ValueError):
        _refuse_repeats(tuple(str(name) for name in getattr(source, "columns", ())), None)
        raise
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    native = frame.to_native()
    about = f"{type(native).__module__.split('.')[0]} table"
    names = tuple(str(name) for name in frame.columns)
    _refuse_repeats(names, None)
    index = _index(native)
    if index is not None:
        names = (index[0], *names)

    def fetch(columns: Sequence[int]) -> list[Column]:
        out = []
        for c in columns:
            if index is not None and c == 0:
                out.append(_from_objects(index[1], names[0]))
                continue
            series = frame[:, c - (index is not None)]  # by place: names need not be text
            try:
                array = None if series.dtype == nw.Object else series.to_arrow()
            except (pa.ArrowException, UnicodeEncodeError):
                array = None
            if array is None:
                out.append(_from_objects(series.to_list(), names[c]))
            else:
                out.append(_column(array, None, names[c]))
        return out

    return Table(names, fetch, about, index_names=index is not None)


def _index(native: Any) -> tuple[str, list[object]] | None:
    """The row names of a pandas table, when they say more than the position: name and values."""
    index = getattr(native, "index", None)
    if index is None or not hasattr(index, "nlevels") or index.nlevels != 1:
        return None
    if index.name is None and index.dtype.kind in "iuf":
        return None
    return str(index.name or ""), list(index)


def _open_array(array: np.ndarray[Any, Any]) -> Table:
    if array.ndim != 2:
        raise InputError(
            "an array of answers has two dimensions, respondents by questions",
            found=f"shape {array.shape}",
            remedy="Reshape it",
        )

    def fetch(columns: Sequence[int]) -> list[Column]:
        out = []
        for c in columns:
            values = array[:, c]
            # The list of a masked array has None where the mask is, so only plain numbers take the quick way.
            if values.dtype.kind in "iuf" and not np.ma.isMaskedArray(values):
                out.append(from_arrow(pa.array(np.ascontiguousarray(values), from_pandas=True)))
            else:
                out.append(_from_objects(values.tolist(), f"Q{c + 1}"))
        return out

    return Table(tuple(f"Q{j + 1}" for j in range(array.shape[1])), fetch, "NumPy array", is_array=True)


def _column(array: Any, file: str | None, name: str) -> Column:
    try:
        return from_arrow(array)
    except (TypeError, pa.ArrowException):  # nested or binary cells, text that is not UTF-8, types that are no text
        raise InputError(
            f"cells hold {array.type}, not labels",
            file=file,
            column=name,
            remedy="Turn the column into text or leave it out",
        ) from None


def _from_objects(values: Iterable[object], name: str) -> Column:
    try:
        return from_values(values)
    except UnicodeEncodeError as error:
        raise InputError(
            "a cell holds half a character",
            column=name,
            found=error.object,
            remedy="The text was decoded wrongly: read its source again with the right encoding",
        ) from None


def _refuse_repeats(names: Sequence[str], file: str | None) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(
                f"{count} columns have this name", file=file, column=name, remedy="Rename or remove all but one"
            )
