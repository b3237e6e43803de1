"""Units of work: each is computed once, stored as soon as it is done, in as many processes as asked for."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any, Protocol, TypeAlias

from sprite.core.errors import SpriteError
from sprite.experiments.store import Store
from sprite.kernels.threads import get_threads, set_threads
from sprite.result.fit import Fit

Result: TypeAlias = dict[str, Any]
"""What a unit finds: what JSON can hold."""
_BLAS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Unit(Protocol):
    """One piece of work, small enough to lose and large enough to store; it must survive pickling."""

    @property
    def settings(self) -> dict[str, Any]:
        """All that the result depends on."""

    @property
    def words(self) -> str:
        """What it is, for those who watch."""

    def compute(self) -> Result:
        """Do it."""


@dataclass(frozen=True)
class Arrival:
    """A unit that is done, by its number: its result, or the error that it ended with."""

    number: int
    result: Result | None
    error: Exception | None = None
    stored: bool = False
    """Whether it was in the store already."""


def arrivals(units: Sequence[Unit], jobs: int, store: Store) -> Generator[Arrival]:
    """All units as they get done; what the store has comes first and is not computed again.

    Every unit has one thread to itself, so the number of processes cannot change a result. Each result is stored as
    soon as it is there: an interruption costs only what was under way. A unit that fails is not stored, and does not
    stop the others.
    """
    waiting = []
    for k, unit in enumerate(units):
        found = store.get(unit.settings)
        if found is None:
            waiting.append(k)
        else:
            yield Arrival(k, found, stored=True)
    one_by_one = jobs == 1 or len(waiting) <= 1
    for done in _alone(units, waiting) if one_by_one else _together(units, waiting, jobs):
        if done.result is not None:
            store.put(units[done.number].settings, done.result)
        yield done


def whole(fitted: Fit) -> Fit:
    """The fit, unless it was cut short by Ctrl-C: that is no result."""
    if fitted.interrupted:
        raise KeyboardInterrupt
    return fitted


def _alone(units: Sequence[Unit], waiting: Sequence[int]) -> Iterator[Arrival]:
    threads = get_threads()
    try:
        set_threads(1)
        for k in waiting:
            try:
                done = Arrival(k, units[k].compute())
            except Exception as error:
                done = Arrival(k, None, error)
            yield done
    finally:
        set_threads(threads)


def _together(units: Sequence[Unit], waiting: Sequence[int], jobs: int) -> Iterator[Arrival]:
    others = set(active_children())
    pool = ProcessPoolExecutor(min(jobs, len(waiting)), get_context("spawn"), initializer=_begin)
    finished = False
    try:
        with _one_thread_each():
            number = {pool.submit(units[k].compute): k for k in waiting}
        for future in as_completed(number):
            error = future.exception()
            if isinstance(error, BrokenProcessPool):
                raise SpriteError(
                    "a process ended unexpectedly, perhaps for lack of memory. Use fewer jobs; with a store, what was "
                    "finished is kept. In a script, call this below `if __name__ == '__main__':`"
                )
            if error is not None and not isinstance(error, Exception):
                raise error
            yield Arrival(number[future], None if error else future.result(), error)
        finished = True
    finally:
        # After an interruption nothing is waited for, and nothing more is begun.
        pool.shutdown(wait=finished, cancel_futures=True)
        for process in set(active_children()) - others:
            process.terminate()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes begun here do linear algebra in one thread, or they would get in each other's way."""
    before = {name: os.environ.get(name) for name in _BLAS}
    os.environ.update(dict.fromkeys(_BLAS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _begin() -> None:
    """What each process does first: Ctrl-C ends it without a word, the caller keeps the books."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    set_threads(1)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A process whose parent was killed would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
