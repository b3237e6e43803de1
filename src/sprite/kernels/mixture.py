"""Mixtures of t distributions with three degrees of freedom around remembered places: drawn from, and their density.

Their tails are heavy, as those of log variances are, and their density takes no power function.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from sprite.core.types import Floats, Ints
from sprite.kernels.interrupts import interruptible


@njit(cache=True, nogil=True, error_model="numpy")
def log_mixture(
    rows: Ints,
    at: Floats,
    size: Ints,
    places: Floats,
    sharpness: Floats,
    widths: Floats,
    shares: Floats,
    out: Floats,
) -> None:
    """Log density, up to a constant, at each point of the mixture of its row.

    Point i lies in row rows[i] (-1: no row, density 1) and has size[row] coordinates; the mixture has a component for
    every place and every width in units of the place's spread; places and sharpness, which is one over the spread, are
    (rows, places, coordinates).
    """
    n_places = places.shape[1]
    height, away, fall = np.empty(n_places), np.empty(n_places), np.empty((len(widths), n_places))
    for i in range(len(rows)):
        row = rows[i]
        if row < 0:
            out[i] = 0.0
            continue
        height[:] = 1.0
        fall[:] = 1.0
        for e in range(size[row]):
            here = at[i, e]
            for p in range(n_places):
                sharp = sharpness[row, p, e]
                away[p] = ((here - places[row, p, e]) * sharp) ** 2
                height[p] *= sharp
            for w in range(len(widths)):
                line, narrow = fall[w], 1.0 / (3.0 * widths[w] ** 2)
                for p in range(n_places):
                    line[p] *= 1.0 + away[p] * narrow
        density = 0.0
        for w in range(len(widths)):
            density += shares[w] * _heights(height, fall[w]) / widths[w] ** size[row]
        out[i] = math.log(density)


# Sums may be reordered, which vectors need; nothing is assumed of NaN or infinity.
@njit(nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _heights(height: Floats, fall: Floats) -> float:
    """Sum of the kernels' densities where each has fallen off by the square of `fall`."""
    total = 0.0
    for p in range(len(height)):
        total += height[p] / (fall[p] * fall[p])
    return total


@interruptible
@njit(cache=True, nogil=True, error_model="numpy")
def spread_around(places: Floats, number: int) -> Floats:
    """Standard deviation, by coordinate, of the `number` places nearest to each, itself among them: as `places`."""
    n_rows, n_places, size = places.shape
    out = np.empty_like(places)
    near = np.empty(number, dtype=np.int64)
    distance = np.empty(number)
    away, lines = np.empty(n_places), np.empty((size, n_places))
    for row in range(n_rows):
        for e in range(size):
            for p in range(n_places):
                lines[e, p] = places[row, p, e]
        for p in range(n_places):
            away[:] = 0.0
            for e in range(size):
                line, here = lines[e], lines[e, p]
                for other in range(n_places):
                    away[other] += (line[other] - here) * (line[other] - here)
            found = 0
            farthest = np.inf
            for other in range(n_places):
                apart = away[other]
                if apart >= farthest:
                    continue
                found = min(found + 1, number)
                at = found - 1
                while at > 0 and distance[at - 1] > apart:
                    distance[at], near[at] = distance[at - 1], near[at - 1]
                    at -= 1
                distance[at], near[at] = apart, other
                farthest = distance[number - 1] if found == number else np.inf
            for e in range(size):
                line, mean = lines[e], 0.0
                for k in range(found):
                    mean += line[near[k]]
                mean /= found
                square = 0.0
                for k in range(found):
                    square += (line[near[k]] - mean) ** 2
                out[row, p, e] = math.sqrt(square / found)
    return out
