"""The command line: parse, call, print. Everything heavy is imported inside the commands."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sprite.core.errors import InputError, SpriteError

if TYPE_CHECKING:
    from sprite.data.check import Check
    from sprite.data.responses import Responses

app = typer.Typer(
    name="sprite",
    help="Models which option each respondent of a multiple-choice test chose.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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


# Options that every command which reads answers shares.
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
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Only what asks for attention.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the full traceback of an error.")]


def main() -> None:
    """Run a command; bad input gives one message and exit code 2."""
    try:
        app()
    except SpriteError as error:
        if "--debug" in sys.argv:
            raise
        print(f"sprite: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


@app.callback(invoke_without_command=True)
def _about(
    version: Annotated[bool, typer.Option("--version", help="Show the version.", is_eager=True)] = False,
) -> None:
    if version:
        import sprite

        print(f"sprite {sprite.__version__}")
        raise typer.Exit


@app.command()
def check(
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
    format: FormatOption = Format.table,
    output: Output = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say what was understood of a file of answers, what looks odd and how to fix it."""
    from sprite.data.check import check as look_over

    responses = read_answers(
        source,
        key=key,
        texts=texts,
        order=order,
        layout=layout.value,
        missing_codes=missing or (),
        omitted=omitted,
        options=options,
        separator=separator,
        encoding=encoding,
        respondent=respondent,
        question=question,
        response=response,
        ignore=ignore or (),
    )
    found = look_over(responses)
    if output is not None or format is not Format.table:
        emit(_as_text(found, format), output)
    else:
        _print_check(found, quiet=quiet)


def read_answers(source: str, **given: Any) -> Responses:
    """Read answers for a command: warnings are left to the notes, which every command prints."""
    import warnings

    from sprite.core.errors import SpriteWarning
    from sprite.data.reading import read

    if given.get("separator") in ("tab", "\\t"):
        given["separator"] = "\t"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpriteWarning)
        return read(source, **given)


def emit(text: str, output: Path | None) -> None:
    """Print, or write to a file, all of it or nothing."""
    if output is None:
        print(text.rstrip("\n"))
        return
    from sprite.data.writing import replacing

    if output.is_dir():
        raise InputError("this is a folder", file=str(output), remedy="Name a file to write to")
    with replacing(output) as temporary:
        temporary.write_text(text.rstrip("\n") + "\n", encoding="utf-8")


def _as_text(found: Check, format: Format) -> str:
    if format is Format.json:
        import json

        return json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    return found.to_frame().to_csv(index=False) if format is Format.csv else str(found)


def _print_check(found: Check, *, quiet: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not quiet:
        for line in found.summary():
            console.print(Text(line))
    findings = [finding for finding in found.findings if not quiet or finding.severity != "info"]
    if not findings:
        if not quiet:
            console.print(Text("\nNothing looks odd.", style="green"))
        return
    style = {"warning": "bold red", "look": "yellow", "info": "dim"}
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=True, header_style="bold")
    for name in ("", "what was found", "what to do"):
        table.add_column(name, overflow="fold")
    for finding in findings:
        severity = Text(finding.severity, style=style[finding.severity])
        table.add_row(severity, Text(finding.message), Text(finding.remedy))
    console.print()
    console.print(table)
