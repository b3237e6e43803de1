"""Where hyperparameters are looked for when the prior is learned; one that runs to an end is not told by the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

Ranges: TypeAlias = Mapping[str, tuple[float, float]]
"""Names with the lowest and the highest value; those above 0 are searched on the logarithmic scale."""

VARIANCE = (1e-3, 1e3)
MEAN = (-20.0, 20.0)
SHAPE = (0.1, 100.0)
"""Of the inverse gamma distribution; at 100 the variances of all sprites are equal to within a tenth."""
