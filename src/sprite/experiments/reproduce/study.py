"""Run an experiment: compute what is missing, then make tables of all that there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from sprite.core.errors import InputError, SpriteError
from sprite.experiments.reproduce import information, order, synthetic, table1
from sprite.experiments.reproduce.budget import Budget, Told
from sprite.experiments.reproduce.check import again
from sprite.experiments.reproduce.material import AnyTest, real_tests, stand_ins
from sprite.experiments.reproduce.outputs import Table, note, write_tables
from sprite.experiments.reproduce.parts import Choice, Part, chosen
from sprite.experiments.reproduce.settings import FULL, QUICK, Settings
from sprite.experiments.store import Store, write_archive
from sprite.experiments.work import Result, arrivals

Tables = dict[str, Table]
Found = Sequence[tuple[Part, Result]]


@dataclass(frozen=True)
class Experiment:
    """What is to be done, and what is made of it."""

    parts: Callable[[Sequence[AnyTest], Settings], list[Part]]
    tables: Callable[[Sequence[Part], Found], Tables]
    needs_tests: bool = True


EXPERIMENTS = {
    "synthetic": Experiment(
        lambda tests, settings: synthetic.parts(settings), lambda parts, found: synthetic.tables(found), False
    ),
    "table1": Experiment(table1.parts, table1.tables),
    "order": Experiment(order.parts, lambda parts, found: order.tables(found)),
    "information": Experiment(information.parts, lambda parts, found: information.tables(found)),
}
"""By name, in the order in which `all` runs them."""


@dataclass(frozen=True)
class Study:
    """Where and how experiments are run."""

    store: Path
    settings: Settings
    tests: Sequence[AnyTest]
    jobs: int = 1
    choice: Choice = field(default_factory=Choice)

    @classmethod
    def at(cls, store: Path, data: Path | None, quick: bool, jobs: int, choice: Choice) -> Study:
        """A study with the tests under `data`; a quick one without it makes do with simulated tests."""
        tests: Sequence[AnyTest] = real_tests(data) if data is not None else stand_ins() if quick else ()
        return cls(store, QUICK if quick else FULL, tests, jobs, choice)

    def parts(self, name: str) -> list[Part]:
        """All units of an experiment, chosen for this run or not."""
        experiment = EXPERIMENTS[name]
        if experiment.needs_tests and not self.tests:
            raise InputError(
                f"the experiment {name!r} needs real tests",
                remedy="Name the folder that holds them, --data FOLDER, or use simulated ones with --quick",
            )
        return experiment.parts(self.tests, self.settings)

    def plan(self, name: str) -> tuple[int, int, float]:
        """How many units this run is about, how many of them are there, and the seconds that the rest will take."""
        units = chosen(self.parts(name), self.choice)
        budget, store, there = Budget(units, self.jobs), self._units(name), 0
        for unit in units:
            found = store.get(unit.settings)
            if found is not None:
                budget.done(unit, found["seconds"])
                there += 1
        return len(units), there, budget.left

    def run(self, name: str, told: Told, command: str = "") -> tuple[Tables, list[str]]:
        """Compute what is chosen and missing, write the tables, and give them back with what failed.

        `command` is noted beside the tables: the one that computes all of the experiment.
        """
        everything = self.parts(name)
        units = chosen(everything, self.choice)
        if not units:
            raise InputError(
                "there is nothing to do: no unit fits --test, --model, --engine and --repeats",
                remedy=f"Tests: {', '.join(dict.fromkeys(part.test_name for part in everything))}",
            )
        budget, store = Budget(units, self.jobs), self._units(name)
        failures = []
        with closing(arrivals(units, self.jobs, store)) as coming:
            for done, arrival in enumerate(coming, start=1):
                unit = units[arrival.number]
                budget.done(unit, arrival.result["seconds"] if arrival.result is not None else None)
                if arrival.error is not None:
                    failures.append(f"{unit.words}: {type(arrival.error).__name__}: {arrival.error}")
                told(done, len(units), budget.left, "from the store" if arrival.stored else unit.words)
        found = _in(store, everything)
        if not found:
            raise SpriteError(f"every unit failed; the first: {failures[0]}")
        tables = EXPERIMENTS[name].tables(everything, found)
        write_tables(self.store, tables)
        write_archive(self._archive(name), ((part.settings, part.words, result) for part, result in found))
        note(self.store, name, command, len(found), len(everything), sum(result["seconds"] for _, result in found))
        return tables, failures

    def check(self, name: str, how_many: int, told: Told) -> Table:
        """Compute some of what is chosen and in the store again, and lay it beside what is stored; writes nothing."""
        return again(_in(self._units(name), chosen(self.parts(name), self.choice)), how_many, self.jobs, told)

    def _units(self, name: str) -> Store:
        return Store.at(self.store / "units", self._archive(name))

    def _archive(self, name: str) -> Path:
        """All results of an experiment in one file, small enough to be kept with the tables."""
        return self.store / f"units_{name}.csv"


def _in(store: Store, parts: Sequence[Part]) -> Found:
    """Those of the units that are done, with their results."""
    return [(part, result) for part in parts if (result := store.get(part.settings)) is not None]
