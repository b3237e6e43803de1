"""Mixtures of t distributions with three degrees of freedom around remembered places: drawn from, and their density.

Their tails are heavy, as those of log variances are, and their density takes no power function.
"""

from __future__ import annotations

import math

from numba import njit

from sprite.core.types import Floats, Ints


@njit(cache=True, nogil=True, error_model="numpy")
def log_mixture(
    rows: Ints,
    at: Floats,
    size: Ints,
    places: Floats,
    spread: Floats,
    widths: Floats,
    shares: Floats,
    out: Floats,
) -> None:
    """Log density, up to a constant, at each point of the mixture of its row.

    Point i lies in row rows[i] (-1: no row, density 1) and has size[row] coordinates; the mixture has a component for
    every place and every width in units of the place's spread; places and spread are (rows, places, coordinates).
    """
    for i in range(len(rows)):
        row = rows[i]
        if row < 0:
            out[i] = 0.0
            continue
        density = 0.0
        for w in range(len(widths)):
            total = 0.0
            for p in range(places.shape[1]):
                kernel = 1.0
                for e in range(size[row]):
                    scale = widths[w] * spread[row, p, e]
                    apart = (at[i, e] - places[row, p, e]) / scale
                    fall = 1.0 + apart * apart * (1.0 / 3.0)
                    kernel /= scale * fall * fall
                total += kernel
            density += shares[w] * total
        out[i] = math.log(density)
