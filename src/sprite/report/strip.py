"""Intervals of ability drawn in the cells of a table, all on one axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup

from sprite.core.readable import number
from sprite.core.types import Floats


class Strip:
    """An axis for intervals of ability that is wide enough for all but very long ones, which end in an arrow.

    `beyond` is how far the axis may go beyond the populated range (`ends`), as a part of that range: a few very long
    intervals would squeeze all others.
    """

    def __init__(self, lower: Floats, upper: Floats, ends: tuple[float, float], beyond: float) -> None:
        beyond *= ends[1] - ends[0]
        lower, upper = lower[np.isfinite(lower)], upper[np.isfinite(upper)]
        self.low = float(np.clip(lower.min(initial=ends[0]), ends[0] - beyond, ends[0]))
        self.high = float(np.clip(upper.max(initial=ends[1]), ends[1], ends[1] + beyond))

    @property
    def ends(self) -> tuple[str, str]:
        """Where the axis begins and ends, to read."""
        return number(self.low, 1), number(self.high, 1)

    def at(self, value: float) -> float:
        """Place of a value in percent, from the edge on for what lies beyond."""
        return float(np.clip(100 * (value - self.low) / (self.high - self.low), 0, 100))

    def drawn(self, middle: float, low: float, high: float) -> Markup:
        """A point with its interval; the pointer over it says the numbers, for intervals narrower than the point."""
        known = np.isfinite(low) and np.isfinite(high)
        begin, end = (low, high) if known else (middle, middle)
        marks = [name for name, out in (("cut-low", begin < self.low), ("cut-high", end > self.high)) if out]
        words = f"{number(middle)}, 90 % interval {number(low)} to {number(high)}" if known else number(middle)
        place: dict[str, Any] = {"l": self.at(begin), "w": self.at(end) - self.at(begin), "m": self.at(middle)}
        style = ";".join(f"--{name}:{value:.1f}%" for name, value in place.items())
        return Markup('<span class="{}" style="{}" title="{}"></span>').format(" ".join(["iv", *marks]), style, words)
