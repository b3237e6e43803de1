"""`sprite check`: what was understood of a file, before any fitting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sprite.cli.options import Debug, Format, FormatOption, Output, Quiet, emit, reads_answers

if TYPE_CHECKING:
    from sprite.data.check import Check
    from sprite.data.responses import Responses


# What a fit should not be made of unawares; the rest of the findings can wait for `sprite check`.
_MISREAD = ("not_a_question", "not_options", "unkeyed_questions", "key_row", "label_collision")
_SHOWN = 5


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(reads_answers(check))


def check(
    responses: Responses,
    format: FormatOption = Format.table,
    output: Output = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say what was understood of a file of answers, what looks odd and how to fix it."""
    from sprite.data.check import check as look_over

    found = look_over(responses)
    if output is not None or format is not Format.table:
        emit(_as_text(found, format), output)
    else:
        _print_check(found, quiet=quiet)


def probably_misread(responses: Responses) -> list[str]:
    """What says that a file was not understood as it was meant, in a few lines."""
    from sprite.data.check import check as look_over

    said = [f"{f.message} {f.remedy}" for f in look_over(responses).findings if f.kind in _MISREAD]
    more = [f"{len(said) - _SHOWN} more like these; `sprite check` shows all"] if len(said) > _SHOWN else []
    return said[:_SHOWN] + more


def _as_text(found: Check, format: Format) -> str:
    if format is Format.json:
        import json

        return json.dumps(found.to_dict(), indent=2, ensure_ascii=False)
    return found.to_frame().to_csv(index=False) if format is Format.csv else str(found)


def _print_check(found: Check, *, quiet: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from sprite.core.errors import printable

    console = Console(highlight=False)
    if not quiet:
        for line in found.summary():
            console.print(Text(printable(line)))
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
        table.add_row(severity, Text(printable(finding.message)), Text(printable(finding.remedy)))
    console.print()
    console.print(table)
