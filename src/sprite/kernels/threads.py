"""Contiguous runs of respondents, one a thread: the compiled loops let go of the interpreter lock."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from sprite.core.errors import InputError
from sprite.core.types import Ints

Result = TypeVar("Result")

RESPONDENT_COST = 10
"""What a respondent costs besides its answers (exponentials, window, writing), in answers."""
SMALL = 1_000_000
"""Answers x nodes below which handing work to another thread costs more than it saves (about 50 microseconds)."""

SMALL_TABLE = 60_000
"""Entries of a table below which one thread fills it sooner than two."""

_threads: int | None = None
_pool: ThreadPoolExecutor | None = None
_pool_owner = (0, 0)


def set_threads(threads: int | None) -> None:
    """Set how many threads the kernels use unless told otherwise; None restores the default.

    The default is the environment variable SPRITE_THREADS, or else the number of processors.
    """
    global _threads
    if threads is not None and threads < 1:
        raise ValueError(f"threads must be at least 1, found {threads}")
    _threads = threads


def get_threads() -> int:
    """How many threads the kernels use unless told otherwise."""
    if _threads is None:
        named = os.environ.get("SPRITE_THREADS", "").strip()
        if named and not (named.isdigit() and int(named)):
            raise InputError(
                "the environment variable SPRITE_THREADS is not a number of threads",
                found=named,
                remedy="Set it to 1 or more, or unset it to use all processors",
            )
        return int(named) if named else os.cpu_count() or 1
    return _threads


def split(start: Ints, n_nodes: int, threads: int | None) -> list[tuple[int, int]]:
    """Runs (low, high) of respondents with about the same work, as many as there are threads to use."""
    n = len(start) - 1
    if threads is None:
        # Only the default gives way to the size of the work: a number asked for is a number of runs.
        small = (int(start[-1] - start[0]) + RESPONDENT_COST * n) * n_nodes < SMALL
        threads = 1 if small else get_threads()
    if threads <= 1 or n <= 1:
        return [(0, n)]

    def work(i: int) -> int:
        return int(start[i]) + RESPONDENT_COST * i

    first, total = work(0), work(n) - work(0)
    cuts = [bisect_left(range(n), first + total * part // threads, key=work) for part in range(1, threads)]
    return [(low, high) for low, high in pairwise([0, *cuts, n]) if low < high]


def split_evenly(items: int, work: int) -> list[tuple[int, int]]:
    """Runs of equal items, as many as there are threads to use; one where `work` (table entries) is small."""
    threads = min(get_threads(), items) if work >= SMALL_TABLE else 1
    edges = [items * part // max(threads, 1) for part in range(threads + 1)]
    return list(pairwise(edges))


def run(task: Callable[[int, int], Result], runs: list[tuple[int, int]]) -> list[Result]:
    """task(low, high) for every run, in their order; the first one in the calling thread."""
    if len(runs) == 1:
        return [task(*runs[0])]
    waiting = [_workers(len(runs) - 1).submit(task, low, high) for low, high in runs[1:]]
    return [task(*runs[0]), *(future.result() for future in waiting)]


def each(items: int, task: Callable[[int], None]) -> None:
    """task(item) for every item, dealt to the threads in runs."""
    threads = min(get_threads(), items)

    def several(low: int, high: int) -> None:
        for item in range(low, high):
            task(item)

    run(several, list(pairwise(items * part // threads for part in range(threads + 1))))


def _workers(n: int) -> ThreadPoolExecutor:
    # A forked child inherits the pool object but none of its threads, so a pool belongs to one process.
    global _pool, _pool_owner
    if _pool is None or _pool_owner[0] != os.getpid() or _pool_owner[1] < n:
        _pool = ThreadPoolExecutor(n, thread_name_prefix="sprite")
        _pool_owner = (os.getpid(), n)
    return _pool
