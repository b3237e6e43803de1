"""The vectorised logarithm and the normal distribution's tails against extended precision and SciPy."""

import numpy as np
from numba import njit
from scipy.special import ndtr

from sprite.kernels.normal import density, mills
from sprite.kernels.vlog import vlog


@njit(error_model="numpy")
def logarithms(x, out):
    for k in range(len(x)):
        out[k] = vlog(x[k])


@njit(error_model="numpy")
def tails(u, out):
    for k in range(len(u)):
        out[k] = density(u[k]) * mills(u[k])


def applied(function, x):
    out = np.empty_like(x)
    function(x, out)
    return out


def test_logarithm_within_two_units_in_the_last_place():
    rng = np.random.default_rng(0)
    x = np.concatenate([np.exp(rng.uniform(-708, 709, 200_000)), rng.uniform(0.5, 2.0, 200_000), [np.sqrt(2.0)]])
    truth = np.log(x.astype(np.longdouble))
    error = np.abs(applied(logarithms, x) - truth) / np.spacing(np.abs(truth).astype(np.float64))
    assert error.max() < 2.0


def test_logarithm_of_special_values():
    found = applied(logarithms, np.array([1.0, 0.0, np.inf, np.nan]))
    np.testing.assert_array_equal(found, [0.0, -np.inf, np.inf, np.nan])


def test_tails_keep_their_digits():
    u = np.concatenate([np.linspace(0.0, 8.0, 4001), np.linspace(8.0, 37.5, 4001)])
    # What the rounding of u^2 / 2 alone costs grows with u.
    np.testing.assert_array_less(np.abs(applied(tails, u) / ndtr(-u) - 1.0), 2e-15 + 4e-16 * u**2)


def test_tails_end_in_zero():
    np.testing.assert_array_equal(applied(tails, np.array([38.0, 100.0, 1e300, np.inf])), 0.0)
