"""`sprite report` and `sprite plot`: what a person looks at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sprite.cli.options import Debug, FitFile, Quiet, refuse_unwritable


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(report)
    app.command()(plot)


def report(
    fit: FitFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.", metavar="HTML")] = Path(
        "report.html"
    ),
    title: Annotated[str | None, typer.Option(help="What the test is called.")] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write the report: one page that opens in any browser, without a network."""
    from sprite.report.build import write_report
    from sprite.result.storage import load

    refuse_unwritable(output, {".html", ".htm"})
    write_report(load(fit), output, title=title)
    if not quiet:
        print(f"Written to {output}")


def plot(
    fit: FitFile,
    kind: Annotated[
        str,
        typer.Option(
            help="What to draw: curves, sprites, scheme, probabilities, overview, ordinal, order, observed, abilities, "
            "information, test-information, two-questions or chains."
        ),
    ] = "curves",
    question: Annotated[str | None, typer.Option(help="The question, for charts of one question.")] = None,
    ability: Annotated[float | None, typer.Option(help="The ability to mark, for charts of one question.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="An .html, .png, .svg or .pdf file.")] = Path(
        "chart.html"
    ),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Draw one chart of a fit."""
    from sprite.plots.kinds import plot as draw
    from sprite.plots.saving import save_chart
    from sprite.result.storage import load

    refuse_unwritable(output, {".html", ".png", ".svg", ".pdf"})
    save_chart(draw(load(fit), kind, question=question, ability=ability), output)
    if not quiet:
        print(f"Written to {output}")
