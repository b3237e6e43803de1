"""Sums along a line in vector instructions.

They may be reordered, which vectors need; nothing is assumed of NaN or infinity.
"""

from __future__ import annotations

from numba import njit

from sprite.core.types import Floats, Ints


@njit(nogil=True, error_model="numpy", fastmath={"reassoc"})
def total(a: Floats) -> float:
    """The sum of a."""
    out = 0.0
    for k in range(a.shape[0]):
        out += a[k]
    return out


@njit(nogil=True, error_model="numpy", fastmath={"reassoc"})
def dot(a: Floats, b: Floats) -> float:
    """The sum of a b."""
    out = 0.0
    for k in range(a.shape[0]):
        out += a[k] * b[k]
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def add_products(left: Floats, right: Floats, i: Ints, j: Ints, low: int, high: int, out: Floats) -> None:
    """Add row i[e] of `left` times row j[e] of `right` to out[e], for e from low to high: chosen cells of a product."""
    for e in range(low, high):
        out[e] += dot(left[i[e]], right[j[e]])
