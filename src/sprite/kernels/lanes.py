"""The four innermost steps, written as vector instructions of eight numbers.

Numba's automatic vectorisation keeps no running total in registers across a loop over answers, and will not take a
maximum of floats at all (NaN forbids it). So these few loops are spelled out for the compiler, which maps eight
numbers onto whatever the processor has: one register of AVX-512, two of AVX2, four of SSE or NEON.

Arrays are flat or two-dimensional and C-contiguous, with rows a multiple of `LANES` long. They should start on a
cache line (`scratch`): a vector across two lines costs twice.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sprite.core.types import Floats

LANES = 8
_LINE = 64
_INT = ir.IntType(64)
_INDEX = ir.IntType(32)
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_KEPT = 2**20
_memory = threading.local()


def padded(n: int) -> int:
    """The next multiple of `LANES`."""
    return -(-n // LANES) * LANES


def scratch(name: str, *shape: int) -> Floats:
    """A C-contiguous array that starts on a cache line, its contents undefined.

    A thread gets the same memory again under the same name: fresh pages from the system would cost more than a
    small pass over the answers. Very large ones are not kept.
    """
    size = math.prod(shape)
    memory: Floats | None = getattr(_memory, name, None)
    if memory is None or len(memory) < size:
        spare = np.empty(size + LANES)
        skip = -spare.ctypes.data % _LINE // spare.itemsize
        memory = spare[skip : skip + size]
        if size <= _KEPT:
            setattr(_memory, name, memory)
    return memory[:size].reshape(shape)


def _pointer(context: Any, builder: Any, kind: Any, array: Any) -> tuple[Any, Any]:
    """Where an array's numbers begin, and the length of its last axis."""
    struct = context.make_array(kind)(context, builder, array)
    return struct.data, builder.extract_value(struct.shape, kind.ndim - 1)


def _at(builder: Any, pointer: Any, index: Any, vector: int = 0) -> Any:
    """The address of a vector `vector` places after the number at `index`."""
    place = builder.gep(pointer, [builder.add(index, _INT(LANES * vector))])
    return builder.bitcast(place, _VECTOR.as_pointer())


def _load(builder: Any, place: Any) -> Any:
    return builder.load(place, align=8)


def _store(builder: Any, value: Any, place: Any) -> None:
    builder.store(value, place, align=8)


def _row_at(builder: Any, rows: Any, answer: Any, stride: Any, column: Any) -> Any:
    """Index in a flat table of a column of the row that an answer names."""
    row = builder.sext(builder.load(builder.gep(rows, [answer])), _INT)
    return builder.add(builder.mul(row, stride), column)


def _add_rows(width: int) -> Any:
    @intrinsic
    def add_rows(typing: Any, total: Any, at: Any, table: Any, column: Any, row: Any, begin: Any, end: Any) -> Any:
        """total[at + column ...] += table[row[a], column ...] for answers begin to end, `width` vectors wide."""
        n = types.int64

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args
            totals, _ = _pointer(context, builder, kinds[0], args[0])
            tables, stride = _pointer(context, builder, kinds[2], args[2])
            rows, _ = _pointer(context, builder, kinds[4], args[4])
            column, begin, end = args[3], args[5], args[6]
            places = [_at(builder, totals, builder.add(args[1], column), v) for v in range(width)]
            # Stack slots, which the optimiser turns into registers that live through the loop.
            registers = [cgutils.alloca_once(builder, _VECTOR) for _ in places]
            for place, register in zip(places, registers, strict=True):
                builder.store(_load(builder, place), register)
            with cgutils.for_range(builder, end, start=begin, intp=_INT) as loop:
                first = _row_at(builder, rows, loop.index, stride, column)
                for v, register in enumerate(registers):
                    term = _load(builder, _at(builder, tables, first, v))
                    builder.store(builder.fadd(builder.load(register), term), register)
            for place, register in zip(places, registers, strict=True):
                _store(builder, builder.load(register), place)

        return types.void(total, n, table, n, row, n, n), generate

    return add_rows


def _add_to_rows(width: int) -> Any:
    @intrinsic
    def add_to_rows(typing: Any, counts: Any, weight: Any, at: Any, column: Any, row: Any, begin: Any, end: Any) -> Any:
        """counts[row[a], column ...] += weight[at + column ...] for answers begin to end, `width` vectors wide."""
        n = types.int64

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kinds = signature.args
            tables, stride = _pointer(context, builder, kinds[0], args[0])
            weights, _ = _pointer(context, builder, kinds[1], args[1])
            rows, _ = _pointer(context, builder, kinds[4], args[4])
            column, begin, end = args[3], args[5], args[6]
            source = builder.add(args[2], column)
            terms = [_load(builder, _at(builder, weights, source, v)) for v in range(width)]
            with cgutils.for_range(builder, end, start=begin, intp=_INT) as loop:
                first = _row_at(builder, rows, loop.index, stride, column)
                for v, term in enumerate(terms):
                    place = _at(builder, tables, first, v)
                    _store(builder, builder.fadd(_load(builder, place), term), place)

        return types.void(counts, weight, n, n, row, n, n), generate

    return add_to_rows


# Four vectors at a time leave registers to spare on every processor.
add_rows_1, add_rows_2, add_rows_4 = (_add_rows(width) for width in (1, 2, 4))
add_to_rows_1, add_to_rows_2, add_to_rows_3, add_to_rows_4 = (_add_to_rows(width) for width in (1, 2, 3, 4))


def _highest(typing: Any, values: Any, at: Any, size: Any) -> Any:
    """The largest of values[at : at + size] that is not NaN; -inf if there is none. `size` is a multiple of LANES."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers, _ = _pointer(context, builder, signature.args[0], args[0])

        def larger(a: Any, b: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", a, b), a, b)

        top = cgutils.alloca_once(builder, _VECTOR)
        builder.store(ir.Constant(_VECTOR, [float("-inf")] * LANES), top)
        with cgutils.for_range(builder, builder.sdiv(args[2], _INT(LANES)), intp=_INT) as loop:
            index = builder.add(args[1], builder.mul(loop.index, _INT(LANES)))
            builder.store(larger(_load(builder, _at(builder, numbers, index)), builder.load(top)), top)
        folded, half = builder.load(top), LANES // 2
        while half:
            order = ir.VectorType(_INDEX, half)
            nothing = ir.Constant(folded.type, ir.Undefined)
            low = builder.shuffle_vector(folded, nothing, ir.Constant(order, list(range(half))))
            high = builder.shuffle_vector(folded, nothing, ir.Constant(order, list(range(half, 2 * half))))
            folded, half = larger(low, high), half // 2
        return builder.extract_element(folded, _INDEX(0))

    return types.float64(values, types.int64, types.int64), generate


def _all_below(typing: Any, values: Any, at: Any, level: Any) -> Any:
    """Whether all of the LANES values from `at` are below a level; a NaN is not."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        numbers, _ = _pointer(context, builder, signature.args[0], args[0])
        nothing = ir.Constant(_VECTOR, ir.Undefined)
        level = builder.insert_element(nothing, args[2], _INDEX(0))
        level = builder.shuffle_vector(level, nothing, ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES))
        below = builder.fcmp_ordered("<", _load(builder, _at(builder, numbers, args[1])), level)
        mask = ir.IntType(LANES)
        return builder.icmp_unsigned("==", builder.bitcast(below, mask), mask(2**LANES - 1))

    return types.boolean(values, types.int64, types.float64), generate


# Seen from Python these take no typing context; their declared types would have one.
highest: Any = intrinsic(_highest)
all_below: Any = intrinsic(_all_below)
