"""How much memory there is: files that claim to need more are refused before anything is set aside for them."""

from __future__ import annotations

import os
from pathlib import Path

from sprite.core.errors import InputError

_CONTAINER = Path("/sys/fs/cgroup/memory.max")


def memory() -> int | None:
    """Bytes that this process can hope for; None where the system does not say."""
    found = [limit for limit in (_installed(), _of_container(), _of_process()) if limit]
    return min(found, default=None)


def refuse_beyond_memory(needed: int, what: str, file: str) -> None:
    """Refuse what cannot fit, with both numbers."""
    there_is = memory()
    if there_is is not None and needed > there_is:
        raise InputError(
            f"{what} would take {_in_words(needed)} of memory, and there are {_in_words(there_is)}",
            file=file,
            remedy="Check that the file is not damaged; if it is sound, read a part of it or use a larger machine",
        )


def _installed() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        return None


def _of_container() -> int | None:
    try:
        return int(_CONTAINER.read_text())
    except (OSError, ValueError):  # no container, or "max"
        return None


def _of_process() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _in_words(size: int) -> str:
    for unit, factor in (("TB", 1e12), ("GB", 1e9)):
        if size >= factor:
            return f"{size / factor:,.1f} {unit}"
    return f"{size / 1e6:,.0f} MB"
