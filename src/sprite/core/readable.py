"""Numbers as people read them, the same in messages, charts and on the page."""

from __future__ import annotations

import math

MINUS = "−"
"""As wide as a plus, which a hyphen is not, and no line is broken behind it."""


def number(value: float | None, digits: int = 2, sign: bool = False) -> str:
    """A number to read, with a real minus sign; a dash where there is none. `sign` puts a plus before others."""
    if value is None or not math.isfinite(value):
        return "–"
    form = f"{'+' if sign else ''}.{digits}f"
    text = f"{value:{form}}"
    return f"{0.0:{form}}" if float(text) == 0 else text.replace("-", MINUS)
