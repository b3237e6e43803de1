"""Log densities of the priors, each with its derivative. Normalised, so that hyperparameters can be compared."""

from __future__ import annotations

import math

import numpy as np

from sprite.core.types import Floats

LOG_2PI = math.log(2 * math.pi)


def normal(x: Floats, mean: float, variance: float) -> tuple[Floats, Floats]:
    """Log density of N(mean, variance) and its derivative in x."""
    residual = x - mean
    return -0.5 * (LOG_2PI + math.log(variance) + residual**2 / variance), -residual / variance


def inverse_gamma(x: Floats, shape: float, scale: float) -> tuple[Floats, Floats]:
    """Log density of the inverse gamma distribution and its derivative in x."""
    constant = shape * math.log(scale) - math.lgamma(shape)
    return constant - (shape + 1) * np.log(x) - scale / x, -(shape + 1) / x + scale / x**2
