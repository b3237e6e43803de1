"""One column of any table as codes and distinct texts: the form in which all readers work."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sprite.core.types import Ints, Rows
from sprite.data.cells import text_of
from sprite.data.labels import tidy_all

TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True, eq=False)
class Column:
    """Texts stored once each, and for every cell the position of its text."""

    codes: Rows
    """Position in `values`; -1 where the cell is empty."""
    values: pa.StringArray
    """Distinct, trimmed, never empty."""

    def text(self, row: int) -> str:
        """What the cell of one row says; empty text for an empty cell."""
        code = int(self.codes[row])
        return str(self.values[code].as_py()) if code >= 0 else ""

    def used(self) -> Ints:
        """Positions in `values` of the texts that occur, in order of first appearance."""
        last_first = np.full(len(self.values) + 1, -1, dtype=np.int64)
        # Written backwards, so that the first appearance is the one that stays; -1 lands in the spare last place.
        last_first[self.codes[::-1]] = np.arange(len(self.codes) - 1, -1, -1)
        found = np.flatnonzero(last_first[:-1] >= 0)
        return found[np.argsort(last_first[found])]


def from_arrow(array: pa.ChunkedArray | pa.Array, *, guarded: bool = False) -> Column:
    """A column from an Arrow array of any simple type."""
    encoded = _encoded(array)
    texts = tidy_all(encoded.dictionary, guarded=guarded)
    merged = texts.dictionary_encode()
    final = _numbers(merged.indices)
    values = merged.dictionary
    empty = pc.index(values, "").as_py()
    if empty >= 0:
        values = pa.concat_arrays([values[:empty], values[empty + 1 :]])
        final = np.where(final == empty, -1, final - (final > empty)).astype(np.int32)
    codes = _numbers(encoded.indices)
    if not np.array_equal(final, np.arange(len(final))):
        codes = np.append(final, np.int32(-1))[codes]
    return Column(codes, values)


def from_values(values: Iterable[object]) -> Column:
    """A column from Python objects of mixed kinds."""
    return from_arrow(pa.array([text_of(value) for value in values], type=pa.string()))


def _numbers(indices: pa.Array) -> Rows:
    """Positions as a NumPy array, -1 for null."""
    return np.asarray(indices.fill_null(-1) if indices.null_count else indices, dtype=np.int32)


def _encoded(array: pa.ChunkedArray | pa.Array) -> pa.DictionaryArray:
    """Dictionary-encoded text: numbers are turned into text once for each distinct value."""
    if isinstance(array, pa.Array):
        array = pa.chunked_array([array])
    if isinstance(array.type, pa.BaseExtensionType):
        array = array.cast(array.type.storage_type)
    if not pa.types.is_dictionary(array.type):
        if pa.types.is_null(array.type):
            array = array.cast(pa.string())
        if pa.types.is_nested(array.type):
            raise TypeError(f"cells hold {array.type}")
        array = array.dictionary_encode()
    array = array.unify_dictionaries()
    encoded = array.combine_chunks() if array.num_chunks != 1 else array.chunk(0)
    if isinstance(encoded, pa.ChunkedArray):  # what older versions return for no rows at all
        encoded = pa.array([], TEXT) if encoded.num_chunks == 0 else encoded.chunk(0)
    return pa.DictionaryArray.from_arrays(encoded.indices.cast(pa.int32()), _as_text(encoded.dictionary))


def _as_text(values: pa.Array) -> pa.StringArray:
    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
        return pa.array([text_of(value.as_py()) for value in values], type=pa.string())
    if pa.types.is_binary(kind) or pa.types.is_nested(kind):
        raise TypeError(f"cells hold {kind}")
    return values.cast(pa.string())
