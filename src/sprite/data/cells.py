"""A cell of a typed table as the text that a person would write."""

from __future__ import annotations

import datetime
import math
from numbers import Integral, Real


def text_of(value: object) -> str | None:
    """Whole numbers without a decimal point; None for no value."""
    if value is None:
        return None
    if isinstance(value, Real) and not isinstance(value, Integral):
        number = float(value)
        return None if math.isnan(number) else str(int(number)) if number.is_integer() else str(value)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    text = str(value)
    return None if text in {"NaT", "<NA>"} else text
