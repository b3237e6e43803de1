"""Errors and warnings that carry what was found and what to do about it."""

from __future__ import annotations


class SpriteError(Exception):
    """Something the user can put right; the command line shows it without a traceback."""


class InputError(SpriteError, ValueError):
    """Bad input: says where it is, what was found there and what to do."""

    def __init__(
        self,
        problem: str,
        *,
        remedy: str = "",
        file: str | None = None,
        row: int | None = None,
        column: str | None = None,
        found: object = None,
    ) -> None:
        self.problem, self.remedy = problem, remedy
        self.file, self.row, self.column, self.found = file, row, column, found
        where = ", ".join(
            part
            for part in (
                file or "",
                f"{'line' if file else 'row'} {row}" if row is not None else "",
                f"column {column!r}" if column is not None else "",
            )
            if part
        )
        message = f"{where}: {problem}" if where else problem
        if found is not None:
            message += f" (found {_short(found)})"
        if remedy:
            message += f". {remedy}"
        super().__init__(printable(message))


class SpriteWarning(UserWarning):
    """Something odd that does not stop the work."""


def printable(text: str, limit: int = 1000) -> str:
    """Text from anywhere on one line: no line breaks, no codes that a terminal would obey, no flood."""
    text = text if len(text) <= limit else text[: limit // 2] + " … " + text[-limit // 2 :]
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _short(found: object, limit: int = 60) -> str:
    text = repr(found)
    return text if len(text) <= limit else text[: limit - 1] + "…"
