"""The vectorised exponential against extended precision."""

import numpy as np
from numba import njit

from sprite.kernels.vexp import HIGHEST, LOWEST, exp_into


def exponential(x):
    out = np.empty_like(x)
    exp_into(x, out)
    return out


def test_within_two_units_in_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(LOWEST, HIGHEST, 200_000), rng.uniform(-2, 2, 200_000)])
    truth = np.exp(x.astype(np.longdouble))
    error = np.abs(exponential(x) - truth) / np.spacing(truth.astype(np.float64))
    assert error.max() < 2.0


def test_special_values():
    x = np.array([0.0, -0.0, -np.inf, np.inf, np.nan, -1e300, 1e300, -709.0, 710.0, 5e-324])
    np.testing.assert_array_equal(exponential(x), [1, 1, 0, np.inf, np.nan, 0, np.inf, 0, np.inf, 1])


def test_in_place_and_of_any_length():
    for n in range(20):
        x = np.linspace(-3, 1, n)
        expected = np.exp(x)
        exp_into(x, x)
        np.testing.assert_allclose(x, expected, rtol=5e-16)


def test_the_loop_is_vectorised():
    fresh = njit(error_model="numpy")(exp_into.py_func)  # code from the cache cannot be inspected
    fresh(np.zeros(1), np.zeros(1))
    code = "".join(fresh.inspect_asm().values())
    # Names of x86-64; elsewhere they differ and nothing is claimed.
    if "mulsd" in code:
        assert "mulpd" in code
