"""Ctrl-C amid compiled code that gives back arrays is an interruption, not an error of the system."""

from __future__ import annotations

import signal
from collections.abc import Callable

import numpy as np
import pytest

from sprite.kernels.intervals import interval_on_counts
from sprite.kernels.softmax import softmax_table

QUESTIONS, OPTIONS = 150, 4
FIRST, NODES = np.arange(QUESTIONS + 1) * OPTIONS, np.linspace(-4.0, 4.0, 61)
LINES = np.random.default_rng(0).normal(size=(4, 50, QUESTIONS * OPTIONS))
EDGES = np.tile([-np.inf, -1.0, 0.0, 1.0, np.inf], QUESTIONS)[None]
RANK = np.tile(np.arange(OPTIONS), QUESTIONS)[None]
COUNTS = np.ones((1, QUESTIONS * OPTIONS, len(NODES)))


def again_and_again(work: Callable[[], object]) -> None:
    for _ in range(1_000_000):
        work()


@pytest.mark.parametrize(
    "work",
    [
        lambda: softmax_table(*LINES, FIRST, NODES),
        lambda: interval_on_counts(EDGES, np.zeros((1, QUESTIONS)), RANK, COUNTS, FIRST, NODES[None]),
    ],
    ids=["softmax_table", "interval_on_counts"],
)
def test_an_interruption_comes_out_as_one(work: Callable[[], object]) -> None:
    work()  # compiles
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for tried in range(5):
            signal.setitimer(signal.ITIMER_REAL, 0.02 + 0.005 * tried)
            with pytest.raises(KeyboardInterrupt):
                again_and_again(work)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
