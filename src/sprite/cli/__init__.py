"""The command line: parse, call, print. Everything heavy is imported inside the commands."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sprite.cli import asking, checking, comparing, fitting, pages
from sprite.core.errors import SpriteError

app = typer.Typer(
    name="sprite",
    help="Models which option each respondent of a multiple-choice test chose.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for part in (checking, fitting, asking, comparing, pages):
    part.register(app)


def main() -> None:
    """Run a command; what the user can put right gives one message and exit code 2."""
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
