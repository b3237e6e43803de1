"""The command line: parse, call, print. Everything heavy is imported inside the commands."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sprite.cli import asking, checking, comparing, fitting, pages, reproducing
from sprite.core.errors import SpriteError, printable


class _Commands(TyperGroup):
    """Commands that end at Ctrl-C with a word, and say where a second file belongs."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            print(f"sprite: {stop.args[0] if stop.args else 'stopped; no output was written'}", file=sys.stderr)
            sys.exit(130)
        except Exception as error:  # usage errors have no public name in typer
            command = getattr(getattr(error, "ctx", None), "command", None)
            takes_key = any(option.name == "key" for option in getattr(command, "params", ()))
            if takes_key and str(getattr(error, "message", "")).startswith("Got unexpected extra argument"):
                error.message += ". A file beside the answers is named by its option: --key FILE"  # type: ignore[attr-defined]
            raise


app = typer.Typer(
    name="sprite",
    cls=_Commands,
    help="Models which option each respondent of a multiple-choice test chose.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for part in (checking, fitting, asking, comparing, pages, reproducing):
    part.register(app)


def main() -> None:
    """Run a command; what the user can put right gives one message and exit code 2."""
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # here and not at the very end, where a full disk would be past explaining
    except (SpriteError, OSError, MemoryError) as error:
        if "--debug" in sys.argv:
            raise
        _leave_output()
        print(f"sprite: {_in_words(error)}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)


def _in_words(error: BaseException) -> str:
    """One line, whatever went wrong."""
    if isinstance(error, MemoryError):
        return "there is not enough memory for this. Use fewer answers, draws or jobs, or a larger machine"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return printable(f"{where}cannot read or write: {error.strerror or error}. Check the disk and your permissions")
    return printable(str(error))


def _leave_output() -> None:
    """What could not be printed is not tried again when the interpreter ends."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@app.callback(invoke_without_command=True)
def _about(
    version: Annotated[bool, typer.Option("--version", help="Show the version.", is_eager=True)] = False,
) -> None:
    if version:
        import sprite

        print(f"sprite {sprite.__version__}")
        raise typer.Exit
