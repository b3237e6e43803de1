"""`sprite fit`, `sprite simulate` and `sprite demo`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sprite.cli.checking import probably_misread
from sprite.cli.options import Debug, Quiet, Seed, reads_answers, refuse_unwritable
from sprite.core.errors import InputError, printable

if TYPE_CHECKING:
    from sprite.data.responses import Responses
    from sprite.engines.base import Engine, Progress
    from sprite.models.base import Model
    from sprite.result.fit import Fit


class ModelName(StrEnum):
    """The models."""

    sprite = "sprite"
    nrm = "nrm"
    gpcm = "gpcm"
    ord = "ord"
    lord = "lord"


class EngineName(StrEnum):
    """The engines."""

    gibbs = "gibbs"
    em = "em"
    nuts = "nuts"
    metropolis = "metropolis"


class Anchor(StrEnum):
    """What SPRITE holds fixed in each question."""

    correct = "correct"
    scale = "scale"
    none = "none"


class PriorName(StrEnum):
    """Where the prior comes from."""

    default = "default"
    none = "none"
    learned = "learned"


class Kind(StrEnum):
    """What simulated questions are like."""

    exam = "exam"
    prior = "prior"


Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="A setting of the model, such as nu_mu=2; may be repeated.", metavar="NAME=VALUE"),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(reads_answers(fit))
    app.command()(simulate)
    app.command()(demo)


def fit(
    responses: Responses,
    model: Annotated[ModelName, typer.Option(help="The model.", case_sensitive=False)] = ModelName.sprite,
    engine: Annotated[
        EngineName, typer.Option(help="How to fit: draws of the posterior, or em.", case_sensitive=False)
    ] = EngineName.gibbs,
    anchor: Annotated[
        Anchor, typer.Option(help="What SPRITE holds fixed in each question.", case_sensitive=False)
    ] = Anchor.correct,
    prior: Annotated[
        PriorName,
        typer.Option(help="none: maximum likelihood, by em; learned: from these answers.", case_sensitive=False),
    ] = PriorName.default,
    settings: Set = None,
    chains: Annotated[int | None, typer.Option(min=1, help="Number of chains.")] = None,
    draws: Annotated[int | None, typer.Option(min=1, help="Draws kept of each chain.")] = None,
    warmup: Annotated[int | None, typer.Option(min=0, help="Sweeps before the first draw is kept.")] = None,
    seed: Seed = 0,
    output: Annotated[Path, typer.Option("--output", "-o", help="Write the fit here.", metavar="FIT.nc")] = Path(
        "fit.nc"
    ),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit a model to a file of answers and write the fit."""
    from sprite.fitting import fit as fit_model

    refuse_unwritable(output, {".nc"})
    chosen = model_from(model.value, anchor.value, prior.value, settings or [])
    by = engine_from(engine.value, chains=chains, draws=draws, warmup=warmup)
    for line in probably_misread(responses):
        print(printable(f"Warning: {line}"), file=sys.stderr)
    with bar(quiet) as progress:
        found = fit_model(responses, chosen, by, seed=seed, progress=progress)
    found.save(output)
    if not quiet:
        told = five_lines(found)
        told += [f"Note: {message}" for message in found.messages if message not in "".join(told)]
        print("\n".join([*map(printable, told), f"Written to {output}; next: sprite report {output} -o report.html"]))


def simulate(
    model: Annotated[ModelName, typer.Option(help="The model to draw from.", case_sensitive=False)] = ModelName.sprite,
    respondents: Annotated[int, typer.Option("-n", "--respondents", min=1)] = 500,
    questions: Annotated[int, typer.Option("-q", "--questions", min=1)] = 30,
    options: Annotated[int, typer.Option("-m", "--options", min=1)] = 4,
    kind: Annotated[Kind, typer.Option(help="exam: the key above its distractors; prior: drawn from the prior.")] = (
        Kind.exam
    ),
    observed: Annotated[float, typer.Option(help="Share of answers that are not missing.")] = 1.0,
    seed: Seed = 0,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.", metavar="DIR")] = Path(
        "simulated"
    ),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make a test of which the truth is known: answers, key and true abilities."""
    from sprite.data.writing import save_folder
    from sprite.simulation import simulate as draw

    made = draw(model.value, respondents, questions, options, kind=kind.value, observed=observed, seed=seed)
    names = [str(name) for name in made.responses.respondents]
    truth = [(name, repr(float(z))) for name, z in zip(names, made.truth.abilities, strict=True)]
    save_folder(made.responses, output, {"abilities.csv": [("respondent", "ability"), *truth]})
    if not quiet:
        print(f"{made.responses}\nWritten to {output}: responses.csv, key.csv and the true abilities.csv")


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder to write to.", metavar="DIR")] = Path(
        "sprite-demo"
    ),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Fit the bundled example test (simulated answers) and write its report."""
    from sprite.data.bundled import example
    from sprite.data.writing import make_folder
    from sprite.fitting import fit as fit_model
    from sprite.report.build import write_report

    make_folder(output)
    with bar(quiet) as progress:
        found = fit_model(example(), progress=progress)
    found.save(output / "fit.nc")
    write_report(found, output / "report.html", title="Algebra test (simulated example)")
    if not quiet:
        print("\n".join(five_lines(found)))
        print(f"The report: {(output / 'report.html').resolve()}")
        print(f"The fit:    {(output / 'fit.nc').resolve()}")


def model_from(name: str, anchor: str, prior: str, settings: list[str]) -> Model:
    """The model that the options describe."""
    from sprite.models.registry import MODELS

    kind = MODELS[name]
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    given: dict[str, Any] = {"prior": None if prior == "none" else prior}
    if name == "sprite":
        given["anchor"] = anchor
    elif anchor != "correct":
        raise InputError("--anchor belongs to the sprite model", found=f"--model {name} --anchor {anchor}")
    for setting in settings:
        field, _, value = setting.partition("=")
        if field not in known:
            raise InputError(
                f"{kind.__name__} has no such setting", found=setting, remedy=f"Settings: {', '.join(known)}"
            )
        given[field] = _number(value, setting) if isinstance(known[field].default, float) else value
    return kind(**given)


def engine_from(name: str, **given: int | None) -> Engine:
    """The engine with those settings that were given; one that it does not have is refused."""
    from sprite.engines.registry import ENGINES

    kind = ENGINES[name]
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    settings = {field: value for field, value in given.items() if value is not None}
    if foreign := sorted(set(settings) - known):
        raise InputError(f"the {name} engine has no --{foreign[0]}", remedy=f"Settings: {', '.join(sorted(known))}")
    return kind(**settings)


def five_lines(found: Fit) -> list[str]:
    """What matters of a fit."""
    from sprite.result.words import learned_prior

    data, state = found.responses, found.diagnostics
    verdicts = found.verdicts()
    suspects = list(dict.fromkeys(verdicts.loc[verdicts["verdict"] == "key_suspect", "question"]))
    trust = "Converged" if state.converged else "NOT converged: " + "; ".join(state.messages[:1])
    prior = f", prior learned ({learned_prior(found)})" if found.learned else ""
    return [
        f"{data.n_respondents:,} respondents, {data.n_questions:,} questions, {data.n_answers:,} answers",
        f"{type(found.model).__name__} by {found.engine} in {found.seconds:.0f} s, "
        f"log likelihood {found.log_likelihood:.1f}{prior}",
        trust,
        f"Reliability {found.information().attrs['marginal_reliability']:.2f}",
        _of_keys(suspects) if data.correct.any() else "No key was given, so none was checked: --key KEY.csv",
    ]


def _of_keys(suspects: list[str]) -> str:
    return f"Keys to look at: {', '.join(suspects)}" if suspects else "No key looks wrong"


@contextmanager
def bar(quiet: bool) -> Iterator[Progress | None]:
    """A progress bar on the terminal, with the time left."""
    if quiet:
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    count = TextColumn("{task.completed}/{task.total}")
    columns = (TextColumn("{task.description}"), BarColumn(), count, TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as shown:
        task = shown.add_task("starting", total=None)
        yield lambda done, total, text: shown.update(task, completed=done, total=total, description=text)


def _number(value: str, setting: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise InputError("not a number", found=setting, remedy="Write --set NAME=NUMBER") from None
