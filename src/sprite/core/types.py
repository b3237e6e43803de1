"""Names for the array types that pass between the parts."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Rows: TypeAlias = NDArray[np.int32]
Bools: TypeAlias = NDArray[np.bool_]
Strings: TypeAlias = np.ndarray[Any, np.dtypes.StringDType]


def frozen(array: NDArray[Any]) -> None:
    """Make an array read-only, so that an immutable object stays so."""
    array.flags.writeable = False
