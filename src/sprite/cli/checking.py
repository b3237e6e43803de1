"""`sprite check`: what was understood of a file, before any fitting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from sprite.cli.options import Debug, Format, FormatOption, Output, Quiet, emit, reads_answers

if TYPE_CHECKING:
    from sprite.data.check import Check
    from sprite.data.responses import Responses


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
