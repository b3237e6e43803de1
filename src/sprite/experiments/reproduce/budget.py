"""How long what is left will take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from sprite.experiments.reproduce.parts import Part


class Told(Protocol):
    """Told of every unit that is done."""

    def __call__(self, done: int, total: int, left: float, words: str) -> None:
        """`done` of `total` units, and the seconds until all are."""


class Budget:
    """Goes by units of the same kind that are done; by first guesses, set right by what is known, for the others."""

    def __init__(self, parts: Sequence[Part], jobs: int) -> None:
        self._jobs = jobs
        self._guess = {part.kind: part.expected for part in parts}
        self._waiting = Counter(part.kind for part in parts)
        self._done: Counter[str] = Counter()
        self._took: dict[str, float] = dict.fromkeys(self._guess, 0.0)

    def done(self, part: Part, seconds: float | None) -> None:
        """A unit is done, or has failed."""
        self._waiting[part.kind] -= 1
        if seconds is not None:
            self._done[part.kind] += 1
            self._took[part.kind] += seconds

    @property
    def spent(self) -> float:
        """Core seconds in what is done."""
        return sum(self._took.values())

    @property
    def left(self) -> float:
        """Seconds until all is done."""
        guessed = sum(n * self._guess[kind] for kind, n in self._done.items())
        scale = self.spent / guessed if guessed > 0 else 1.0
        return (
            sum(
                n * (self._took[kind] / self._done[kind] if self._done[kind] else scale * self._guess[kind])
                for kind, n in self._waiting.items()
            )
            / self._jobs
        )


def in_words(seconds: float) -> str:
    """Such as 3 h 05 min; no finer than is worth knowing."""
    minutes = round(seconds / 60)
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02d} min"
