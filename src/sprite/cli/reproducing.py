"""`sprite reproduce`: the paper's experiments, repeated."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sprite.cli.options import Debug, Quiet
from sprite.core.errors import SpriteError

if TYPE_CHECKING:
    from sprite.experiments.reproduce.budget import Told
    from sprite.experiments.reproduce.study import Study

_EVERY = 30.0
"""Seconds between two lines where there is no terminal to draw a bar on."""


class ExperimentName(StrEnum):
    """The experiments."""

    synthetic = "synthetic"
    table1 = "table1"
    order = "order"
    information = "information"
    all = "all"


class By(StrEnum):
    """The engines that experiments use."""

    em = "em"
    gibbs = "gibbs"
    metropolis = "metropolis"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(reproduce)


def reproduce(
    experiment: Annotated[ExperimentName, typer.Argument(help="Which one.")],
    quick: Annotated[bool, typer.Option("--quick", help="A small version, to see that everything works.")] = False,
    store: Annotated[
        Path, typer.Option(help="Folder for what is done, tables and figures; the same one goes on.", metavar="DIR")
    ] = Path("reproduced"),
    jobs: Annotated[int, typer.Option(min=1, help="Processes to run at once.")] = 1,
    data: Annotated[
        Path | None, typer.Option(help="Folder of real tests, one subfolder each, with responses.csv.", metavar="DIR")
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(help="Only this test (synthetic: size); may be repeated.", metavar="NAME")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="Only this contestant, such as nrm; may be repeated.", metavar="NAME")
    ] = None,
    engine: Annotated[list[By] | None, typer.Option(help="Only this engine; may be repeated.")] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Only so many of the patterns, replications and splits.")
    ] = None,
    check: Annotated[
        int | None,
        typer.Option(min=1, help="Only compute so many of the stored units again, and compare.", metavar="N"),
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Repeat the paper's experiments; what is done is kept, and tables show all of it."""
    from sprite.experiments.reproduce.parts import Choice
    from sprite.experiments.reproduce.study import EXPERIMENTS, Study

    choice = Choice(repeats, tuple(by.value for by in engine or ()), tuple(test or ()), tuple(model or ()))
    study = Study.at(store, data, quick, jobs, choice)
    names = list(EXPERIMENTS) if experiment is ExperimentName.all else [experiment.value]
    if check is not None:
        for name in names:
            with _watched(f"{name}, again", quiet) as told:
                compared = study.check(name, check, told)
            print(compared.text)
        return
    if not quiet:
        _tell_plan(study, names)
    try:
        whole = ["--quick"] * quick + ["--store", str(store)] + ([] if data is None else ["--data", str(data)])
        commands = {name: shlex.join(["sprite", "reproduce", name, *whole]) for name in names}
        failures = [failure for name in names for failure in _run(study, name, commands[name], quiet)]
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"stopped. What is finished is in {store}; the same command goes on from there"
        ) from None
    if failures:
        shown = "\n  ".join(failures[:5])
        raise SpriteError(
            f"{len(failures)} unit(s) failed and are missing from the tables; the same command tries them again:\n"
            f"  {shown}"
        )


def _tell_plan(study: Study, names: list[str]) -> None:
    from sprite.experiments.reproduce.budget import in_words

    total = 0.0
    for name in names:
        units, there, left = study.plan(name)
        total += left
        print(f"{name}: {units:,} units, {there:,} of them in the store; about {in_words(left)} for the others")
    if len(names) > 1:
        print(f"In all about {in_words(total)} with {study.jobs} process{'es' * (study.jobs > 1)}.", flush=True)


def _run(study: Study, name: str, command: str, quiet: bool) -> list[str]:
    """One experiment: tables, then figures of them; what failed."""
    from sprite.plots.reproduction import figures
    from sprite.plots.saving import save_chart

    with _watched(name, quiet) as told:
        tables, failures = study.run(name, told, command)
    drawn = []
    for figure, chart in figures({name: table.frame for name, table in tables.items()}):
        save_chart(chart, study.store / f"{figure}.svg")
        drawn.append(f"{figure}.svg")
    if not quiet:
        print(f"{name}: written to {study.store}: {', '.join([*(f'{table}.csv' for table in tables), *drawn])}")
    return failures


@contextmanager
def _watched(name: str, quiet: bool) -> Iterator[Told]:
    """A bar on a terminal, a line now and then elsewhere; with the time left in either case."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    from sprite.experiments.reproduce.budget import in_words

    console = Console(stderr=True)
    if quiet:
        yield lambda done, total, left, words: None
    elif console.is_terminal:
        columns = (TextColumn(name), BarColumn(), TextColumn("{task.completed}/{task.total}, {task.description}"))
        with Progress(*columns, console=console, transient=True) as shown:
            task = shown.add_task("starting", total=None)
            yield lambda done, total, left, words: shown.update(
                task, completed=done, total=total, description=f"about {in_words(left)} left; {words}"
            )
    else:
        last = time.monotonic()

        def line(done: int, total: int, left: float, words: str) -> None:
            nonlocal last
            if done == total or time.monotonic() - last > _EVERY:
                last = time.monotonic()
                print(f"{name}: {done}/{total}, about {in_words(left)} left; {words}", file=sys.stderr, flush=True)

        yield line
