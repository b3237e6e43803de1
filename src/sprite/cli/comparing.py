"""`sprite compare`: models beside each other on answers they have not seen."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sprite.cli.fitting import EngineName, bar, engine_from
from sprite.cli.options import Seed, prints_table, reads_answers

if TYPE_CHECKING:
    import pandas as pd

    from sprite.data.responses import Responses


class Method(StrEnum):
    """How models are compared."""

    puncture = "puncture"
    loo = "loo"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(prints_table(reads_answers(compare)))


def compare(
    responses: Responses,
    models: Annotated[
        str, typer.Option(help="Models, separated by commas; nrm-learned is nrm with its prior learned.")
    ] = "sprite,nrm,gpcm,ord,lord",
    engine: Annotated[EngineName, typer.Option(help="How to fit each of them.", case_sensitive=False)] = EngineName.em,
    method: Annotated[Method, typer.Option(help="Hidden answers, or leave-one-out by respondent.")] = Method.puncture,
    repeats: Annotated[int, typer.Option(min=1, help="Patterns of hidden answers.")] = 10,
    puncture: Annotated[float, typer.Option(help="Share of answers that are hidden.")] = 0.2,
    jobs: Annotated[int, typer.Option(min=1, help="Processes to run at once.")] = 1,
    store: Annotated[
        Path | None, typer.Option(help="Folder that keeps what is done, to go on from.", metavar="DIR")
    ] = None,
    seed: Seed = 0,
) -> pd.DataFrame:
    """Compare models by how well they predict answers that they have not seen."""
    import warnings

    from sprite.core.errors import SpriteWarning
    from sprite.experiments.compare import compare as compare_models
    from sprite.experiments.compare import doubts

    names = [name.strip() for name in models.split(",") if name.strip()]
    by = engine_from(engine.value)
    if method is Method.puncture and (doubt := doubts(responses, by)):
        print(f"Note: {doubt}.", file=sys.stderr)
    with bar(quiet=False) as progress, warnings.catch_warnings():
        warnings.simplefilter("ignore", SpriteWarning)  # it has just been said
        return compare_models(
            responses,
            names,
            by,
            method.value,
            puncture=puncture,
            repeats=repeats,
            seed=seed,
            jobs=jobs,
            store=store,
            progress=progress,
        )
