"""The standard normal distribution in vector instructions."""

from __future__ import annotations

from numba import njit

from sprite.kernels.vexp import vexp

_BY_ROOT_2PI = 0.3989422804014327


@njit(nogil=True, error_model="numpy")
def density(u: float) -> float:
    """The density at u; 0 beyond 37.6, where it leaves the range of `vexp`."""
    return _BY_ROOT_2PI * vexp(-0.5 * u * u)


@njit(nogil=True, error_model="numpy", fastmath={"contract"})
def mills(u: float) -> float:
    """Phi(-u) / density(u) for u >= 0, to 1e-15 as far as the density reaches, and finite beyond; for use in loops."""
    # A polynomial in 1 / (u + 5), scaled to [-1, 1] for 0 <= u <= 38.5, by interpolation at Chebyshev points.
    w = 1.0 / (u + 5.0)
    t = 1.2597402597402598 - 11.2987012987013 * w
    p = -3.1579687753488825e-09 + t * 5.003451306066642e-10
    p = 4.108555367706383e-08 + t * (-8.061076873649887e-09 + t * p)
    p = -3.888274393817545e-07 + t * (8.369817363723124e-08 + t * p)
    p = 3.905813664122015e-06 + t * (-7.156180859718849e-07 + t * p)
    p = -4.4002284160960926e-05 + t * (4.49684343579084e-06 + t * p)
    p = 0.0004777947151446855 + t * (1.175711177919191e-05 + t * p)
    p = -0.0021250072124333027 + t * (-0.0013052863124655035 + t * p)
    p = -0.11463401035495276 + t * (0.027514481791774636 + t * p)
    p = -0.6937114359041373 + t * (0.3214760677581523 + t * p)
    p = -1.758697536877614 + t * (1.212676980127017 + t * p)
    return w * (2.1374621857341083 + t * p)
