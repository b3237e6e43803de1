"""What the units of all experiments have in common, and which of them a run is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sprite.engines.base import Engine
from sprite.experiments.reproduce.material import AnyTest
from sprite.experiments.work import Unit

_GIBBS = 20.0
"""How many times as long Gibbs takes as EM: for first guesses."""


class Part(Unit, Protocol):
    """A unit of an experiment."""

    @property
    def test_name(self) -> str:
        """The test, or what stands for it."""

    @property
    def model_name(self) -> str:
        """The contestant; nothing where there is no contest."""

    @property
    def engine_name(self) -> str:
        """How it is fitted."""

    @property
    def repeat(self) -> int:
        """Which pattern, replication or split: 0, 1, ..."""

    @property
    def kind(self) -> str:
        """Units of one kind take about the same time."""

    @property
    def expected(self) -> float:
        """A first guess at the seconds that it takes on one core, until one of its kind is done."""


@dataclass(frozen=True, eq=False)
class OnTest:
    """What units have that fit a model to a test."""

    test: AnyTest
    engine: Engine
    repeat: int

    @property
    def test_name(self) -> str:
        """The test."""
        return self.test.name

    @property
    def model_name(self) -> str:
        """No contest."""
        return ""

    @property
    def engine_name(self) -> str:
        """How it is fitted."""
        return self.engine.name

    @property
    def kind(self) -> str:
        """Test and what is done."""
        return f"{type(self).__name__}|{self.test_name}|{self.engine_name}"

    @property
    def expected(self) -> float:
        """A first guess at its seconds."""
        return (1.0 if self.engine.name == "em" else _GIBBS) * (0.5 + 2e-4 * self.test.cells)


@dataclass(frozen=True)
class Choice:
    """Which units to compute; those left out still show in the tables if they are in the store."""

    repeats: int | None = None
    engines: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    models: tuple[str, ...] = ()

    def includes(self, part: Part) -> bool:
        """Whether this run is to compute it."""
        return (
            (self.repeats is None or part.repeat < self.repeats)
            and (not self.engines or part.engine_name in (*self.engines, ""))
            and (not self.tests or part.test_name in self.tests)
            and (not self.models or part.model_name in (*self.models, ""))
        )


def chosen(parts: Sequence[Part], choice: Choice) -> list[Part]:
    """The units of this run: first patterns first, so that whatever gets done is a study of its own."""
    return sorted((part for part in parts if choice.includes(part)), key=lambda part: part.repeat)
