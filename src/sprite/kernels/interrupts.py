"""Ctrl-C in compiled functions that give back arrays.

Handing an array to Python runs pending signal handlers, and what they raise comes out as a SystemError ("returned a
result with an exception set"). Functions that write into arrays they are given need none of this.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


def interruptible(compiled: Callable[Given, Result]) -> Callable[Given, Result]:
    """The compiled function, with an interruption as what it is."""

    @wraps(compiled)
    def call(*args: Given.args, **kwargs: Given.kwargs) -> Result:
        try:
            return compiled(*args, **kwargs)
        except SystemError as error:
            cause: BaseException | None = error
            while isinstance(cause, SystemError):  # one for every call that it passed through
                cause = cause.__cause__
            if isinstance(cause, KeyboardInterrupt):
                raise cause from None
            raise

    return call
