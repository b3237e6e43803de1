"""The compiled loops; nothing is compiled anywhere else.

Numba keeps compiled code in ``__pycache__`` and renews it when the file of the outermost function changes, not when a
file that it calls into does: after a change to `lanes`, `grid` or `vexp`, delete that folder.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings

import numba

from sprite.core.errors import SpriteWarning


def _find_place_for_compiled_code() -> None:
    """Where neither this folder nor the user's own may be written, Numba gives up; a temporary folder will do."""
    try:
        numba.njit(cache=True)(lambda: None)
    except RuntimeError:
        place = tempfile.mkdtemp(prefix="sprite-numba-")
        atexit.register(shutil.rmtree, place, ignore_errors=True)
        os.environ["NUMBA_CACHE_DIR"] = numba.config.CACHE_DIR = place  # type: ignore[attr-defined]  # processes share it
        warnings.warn(
            "compiled code can be kept nowhere, so every run compiles it again. Set NUMBA_CACHE_DIR to a folder",
            SpriteWarning,
            stacklevel=2,
        )


_find_place_for_compiled_code()
