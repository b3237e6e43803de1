"""What the paper printed (Ning, Waters, Studer and Baraniuk 2015), copied from its tables and text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

CONTESTANTS = ("sprite", "(l)ord", "nrm", "gpcm")
"""The columns of its first table; (l)ord is ORD on the ordered test and LORD on the others."""


@dataclass(frozen=True)
class PaperTest:
    """A line of its second table (what the test is like) with the line of the first (errors and their deviations)."""

    name: str
    questions: int
    respondents: int
    options: int
    ordered: bool
    observed: float
    error: Mapping[str, tuple[float, float]] = field(default_factory=dict, compare=False)
    """By contestant; empty for a test that is not the paper's."""


def _errors(*pairs: tuple[float, float]) -> dict[str, tuple[float, float]]:
    return dict(zip(CONTESTANTS, pairs, strict=True))


TESTS = (
    PaperTest("algebra test", 34, 99, 5, True, 1.00, _errors((0.25, 0.01), (0.29, 0.02), (0.31, 0.01), (0.26, 0.01))),
    PaperTest(
        "computer engineering",
        203,
        82,
        12,
        False,
        0.97,
        _errors((0.17, 0.01), (0.31, 0.02), (0.33, 0.01), (0.21, 0.01)),
    ),
    PaperTest("probability", 86, 49, 7, False, 0.67, _errors((0.41, 0.01), (0.68, 0.03), (0.57, 0.01), (0.62, 0.01))),
    PaperTest(
        "signals and systems",
        143,
        44,
        11,
        False,
        0.64,
        _errors((0.29, 0.01), (0.48, 0.02), (0.41, 0.01), (0.56, 0.01)),
    ),
    PaperTest(
        "university exam", 60, 1567, 4, False, 0.71, _errors((0.53, 0.01), (0.71, 0.01), (0.63, 0.01), (0.62, 0.01))
    ),
)
PUNCTURE, PATTERNS = 0.2, 50
WARMUP, DRAWS = 90_000, 10_000
"""Iterations of its sampler."""
OPTIONS = 5
"""Options of every question of its synthetic data."""
MOST_BITS, LEAST_BITS = 0.42, 0.08
"""Of the informative and the less informative question that it draws."""
