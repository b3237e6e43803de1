"""Options that several commands share, and decorators that give them to a command.

A command that reads answers takes `responses`, one that prints a table returns a frame; the decorators add the options
for how to read and how to print, so that each is spelt once.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sprite.core.errors import InputError, printable

if TYPE_CHECKING:
    import pandas as pd

    from sprite.data.responses import Responses

_LONGEST = 10_000  # characters of a cell in a printed table
_TABLES = frozenset({".csv", ".json", ".txt"})


class Format(StrEnum):
    """How results are printed."""

    table = "table"
    csv = "csv"
    json = "json"


class Layout(StrEnum):
    """How the table of answers is laid out."""

    auto = "auto"
    wide = "wide"
    long = "long"


Source = Annotated[str, typer.Argument(metavar="RESPONSES", help="CSV, TSV, Parquet or Excel file of answers.")]
Key = Annotated[
    str | None, typer.Option(help="Key: file (question, correct), or @NAME for that respondent's row.", metavar="KEY")
]
TextsOption = Annotated[str | None, typer.Option(help="File of wordings: question, option, text.", metavar="FILE")]
Order = Annotated[
    str | None, typer.Option(help="File of the options' order: question, A<B<C from lowest to highest.", metavar="FILE")
]
LayoutOption = Annotated[Layout, typer.Option(help="One row a respondent (wide) or an answer (long).")]
Missing = Annotated[
    list[str] | None, typer.Option("--missing", help="A code that means no answer; may be repeated.", metavar="CODE")
]
Omitted = Annotated[
    list[str] | None,
    typer.Option(help="A code to keep as an option of its own; '' for empty cells.", metavar="CODE"),
]
Options = Annotated[
    str | None, typer.Option(help="All options: A;B;C;D for every question, or a file (question, option).")
]
Separator = Annotated[str | None, typer.Option(help="Separator of a text file; 'tab' for a tab.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file, such as utf-8 or cp1252.")]
Respondent = Annotated[str | None, typer.Option(help="Column that names the respondents.", metavar="COLUMN")]
Question = Annotated[str | None, typer.Option(help="Column of questions in a long table.", metavar="COLUMN")]
Response = Annotated[str | None, typer.Option(help="Column of responses in a long table.", metavar="COLUMN")]
Ignore = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.", metavar="COLUMN")]
FormatOption = Annotated[Format, typer.Option("--format", help="How to print.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file.", metavar="FILE")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Only what asks for attention.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")]
FitFile = Annotated[Path, typer.Argument(metavar="FIT.nc", help="A fit, as `sprite fit` wrote it.")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same result.")]


def answers(
    source: Source,
    key: Key = None,
    texts: TextsOption = None,
    order: Order = None,
    layout: LayoutOption = Layout.auto,
    missing: Missing = None,
    omitted: Omitted = None,
    options: Options = None,
    separator: Separator = None,
    encoding: Encoding = None,
    respondent: Respondent = None,
    question: Question = None,
    response: Response = None,
    ignore: Ignore = None,
) -> Responses:
    """Read answers for a command: warnings are left to the notes, which commands print."""
    import warnings

    from sprite.core.errors import SpriteWarning
    from sprite.data.reading import read

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpriteWarning)
        return read(
            source,
            key=key,
            texts=texts,
            order=order,
            layout=layout.value,
            missing_codes=missing or (),
            omitted=omitted,
            options=options,
            separator="\t" if separator in ("tab", "\\t") else separator,
            encoding=encoding,
            respondent=respondent,
            question=question,
            response=response,
            ignore=ignore or (),
        )


def reads_answers(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that takes `responses`, from the file and options that `answers` reads."""
    shared = inspect.signature(answers).parameters

    def run(**given: Any) -> Any:
        read = {name: given.pop(name) for name in shared}
        return command(responses=answers(**read), **given)

    return _with_options(run, command, answers, without="responses")


def prints_table(command: Callable[..., pd.DataFrame]) -> Callable[..., None]:
    """A command that returns a frame, printed as a table, CSV or JSON, or written to a file."""

    def printing(
        format: FormatOption = Format.table, output: Output = None, quiet: Quiet = False, debug: Debug = False
    ) -> None: ...

    def run(**given: Any) -> None:
        format, output = given.pop("format"), given.pop("output")
        if output is not None:
            refuse_unwritable(output)
        del given["quiet"], given["debug"]
        show(command(**given), format, output)

    return _with_options(run, command, printing)


def _with_options(
    run: Callable[..., Any], command: Callable[..., Any], more: Callable[..., Any], without: str = ""
) -> Callable[..., Any]:
    """`run` with the name and help of `command` and the parameters of both, as typer reads them."""
    functools.update_wrapper(run, command)
    del run.__wrapped__  # type: ignore[attr-defined]
    parameters = [*_parameters(more), *(p for p in _parameters(command) if p.name != without)]
    # Arguments come before options in the help.
    parameters.sort(key=lambda p: p.default is not inspect.Parameter.empty)
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run


def _parameters(command: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """The parameters with their types; a name that only the type checker knows (a frame, responses) stays a string."""
    known = inspect.unwrap(command).__globals__
    for p in inspect.signature(command).parameters.values():
        later = isinstance(p.annotation, str) and p.annotation in ("Responses",)
        resolved = p.annotation if later or not isinstance(p.annotation, str) else eval(p.annotation, known)
        yield p.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=resolved)


def show(frame: pd.DataFrame, format: Format, output: Path | None) -> None:
    """Print a frame, or write it to a file: as CSV where the name ends so, unless told otherwise."""
    from sprite.data.labels import guard

    if output is not None and format is Format.table:
        format = Format.json if output.suffix.lower() == ".json" else Format.csv
    if format is Format.json:
        emit(str(frame.to_json(orient="records", indent=1, force_ascii=False)), output)
    elif format is Format.csv:
        text = frame.copy()
        for name in text.columns:
            if text[name].dtype == object or str(text[name].dtype) in ("str", "string", "category"):
                text[name] = [guard(cell) if isinstance(cell, str) else cell for cell in text[name]]
        emit(text.to_csv(index=False), output)
    else:
        _print_frame(frame)


def emit(text: str, output: Path | None) -> None:
    """Print, or write to a file, all of it or nothing."""
    if output is None:
        print(text.rstrip("\n"))
        return
    from sprite.data.writing import replacing

    with replacing(output) as temporary:
        temporary.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def refuse_unwritable(output: Path, endings: AbstractSet[str] = _TABLES) -> None:
    """Before long work, not after it; and no name that says it is something else, perhaps somebody's answers."""
    if output.suffix and output.suffix.lower() not in endings:
        raise InputError(
            f"this is no name for what is written here, which ends in {' or '.join(sorted(endings))}",
            file=str(output),
            remedy=f"Write to {output.with_suffix(min(endings)).name}",
        )
    if output.is_dir():
        raise InputError("this is a folder", file=str(output), remedy="Name a file to write to")
    if not output.parent.is_dir():
        raise InputError("there is no such folder", file=str(output.parent), remedy="Make it first, or write elsewhere")
    if not os.access(output.parent, os.W_OK):
        raise InputError("the folder may not be written", file=str(output.parent), remedy="Write elsewhere")


def _print_frame(frame: pd.DataFrame) -> None:
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in frame.columns:
        number = frame[name].dtype.kind in "fiu"
        prose = name in ("message", "text")
        table.add_column(
            str(name), justify="right" if number else "left", no_wrap=not prose, max_width=70 if prose else None
        )
    for line in frame.itertuples(index=False):
        table.add_row(*(Text(_cell(value)) for value in line))
    # A table wider than the terminal keeps its lines whole: cut-off numbers would be worse than a long line.
    console = Console(highlight=False)
    needed = Measurement.get(console, console.options.update(width=100_000), table).maximum
    Console(highlight=False, width=max(console.width, needed)).print(table, crop=False)
    for line in frame.attrs.get("closing", ()):
        print(printable(line, _LONGEST))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        if value != value:
            return ""
        text = f"{value:.3f}".rstrip("0").rstrip(".") if abs(value) < 1e5 else f"{value:.4g}"
        return "0" if text == "-0" else text
    return "" if value is None else printable(str(value), _LONGEST)
