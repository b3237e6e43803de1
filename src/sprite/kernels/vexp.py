"""An exponential that the compiler turns into vector instructions.

A call to the C library's ``exp`` keeps a loop scalar. This one is plain arithmetic: split x into n log 2 + r, take a
polynomial of r, and write n straight into the exponent bits.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sprite.core.types import Floats

LOWEST = -708.0
"""Below this `vexp` is zero: 2^n would leave the range of normal numbers."""
HIGHEST = 709.782712893384
"""Above this it is infinite, as the true exponential is in float64."""

# Adding 1.5 * 2^52 leaves the nearest whole number in the low bits of the sum.
_MAGIC = 6755399441055744.0
_LOG2_E = 1.4426950408889634
# log 2 in two parts: n * _LN2_HIGH is exact for every n in range.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10


@njit(nogil=True, error_model="numpy", fastmath={"contract"})
def vexp(x: float) -> float:
    """exp(x) within 2 units in the last place; NaN stays NaN; to be called inside a loop, which it lets vectorise."""
    shifted = x * _LOG2_E + _MAGIC
    n = shifted - _MAGIC
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    # exp(r) = 1 + r + r^2 q(r), q by interpolation at Chebyshev points of |r| <= log(2)/2: relative error 1.5e-17.
    r2 = r * r
    r4 = r2 * r2
    q01 = 0.5000000000000001 + r * 0.16666666666666669
    q23 = 0.041666666666624164 + r * 0.008333333333330065
    q45 = 0.0013888888917196719 + r * 0.00019841269863040545
    q67 = 2.4801521322368692e-05 + r * 2.7557268480310024e-06
    q89 = 2.7620075879983367e-07 + r * 2.5100375832561234e-08
    q = (q01 + r2 * q23) + r4 * ((q45 + r2 * q67) + r4 * q89)
    mantissa = 1.0 + (r + r2 * q)
    # 2^(n - 1), doubled afterwards: n = 1024 has no exponent bits of its own.
    bits = (np.float64(shifted).view(np.int64) << 52) + np.int64(1022 << 52)
    value = (mantissa * np.int64(bits).view(np.float64)) * 2.0
    return 0.0 if x < LOWEST else (np.inf if x > HIGHEST else value)


@njit(cache=True, nogil=True, error_model="numpy")
def exp_into(x: Floats, out: Floats) -> None:
    """out = exp(x) over one-dimensional arrays, which may be the same array."""
    for k in range(x.shape[0]):
        out[k] = vexp(x[k])
