"""A logarithm that the compiler turns into vector instructions, as `vexp` is an exponential.

Split x into m 2^e with m around 1, take a polynomial in (m - 1) / (m + 1), and add e log 2.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_MANTISSA = np.int64((1 << 52) - 1)
_ONE = np.int64(1023 << 52)
# The bits of 2^52 with a whole number below 2^52 in the last places are 2^52 plus that number.
_MAGIC = 4503599627370496.0
_MAGIC_BITS = np.int64(1075 << 52)
_ROOT_2 = 1.4142135623730951
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10


@njit(nogil=True, error_model="numpy", fastmath={"contract"})
def vlog(x: float) -> float:
    """log(x) within 2 units in the last place, for x = 0 and normal x > 0; NaN stays NaN; to be called in a loop."""
    bits = np.float64(x).view(np.int64)
    exponent = np.int64((bits >> 52) | _MAGIC_BITS).view(np.float64) - (_MAGIC + 1023.0)
    m = np.int64((bits & _MANTISSA) | _ONE).view(np.float64)
    upper = m > _ROOT_2
    m = 0.5 * m if upper else m
    e = exponent + 1.0 if upper else exponent
    s = (m - 1.0) / (m + 1.0)
    # 2 artanh(s) = 2 s + s^3 q(s^2), q by interpolation at Chebyshev points: relative error 5e-18.
    y = s * s
    q = 0.1533172160055604 + y * 0.14616449685043406
    q = 0.2222221113479508 + y * (0.18182889125261723 + y * q)
    q = 0.666666666666667 + y * (0.399999999998995 + y * (0.28571428625975487 + y * q))
    # The largest terms last, so that the smaller ones keep their digits.
    value = e * _LN2_HIGH + (2.0 * s + (s * y * q + e * _LN2_LOW))
    return -np.inf if x == 0.0 else (value if x < np.inf else x)
