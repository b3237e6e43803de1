"""How options look in every chart: colours safe for colour-blind readers, dashes, the correct one bold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sprite.core.errors import InputError
from sprite.result.fit import Fit

KEY_COLOUR = "#0072B2"
"""Of the correct option in every chart; with several, of the first."""
COLOURS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C6D31", "#5B4B8A", "#666666")
"""Okabe and Ito's palette for the other options, without its yellow, which vanishes on white."""
DASHES = ((7, 3), (2, 2), (9, 3, 2, 3), (4, 4), (12, 4), (1, 3), (6, 2, 2, 2, 2, 2), (3, 6))
"""Of the options that are not correct; the correct one is solid."""
SHAPES = ("square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left", "square")
INK, MUTED, GRID = "#1b2733", "#5a6772", "#e3e7eb"


@dataclass(frozen=True)
class Look:
    """How one option is drawn."""

    option: str
    """The label as the user wrote it."""
    label: str
    """The same, with `(correct)` behind a correct one, so that it is known without colour."""
    correct: bool
    colour: str
    dash: tuple[int, ...]
    """Empty for a solid line."""
    width: float
    shape: str


def looks(fit: Fit, j: int) -> list[Look]:
    """How the options of question j are drawn, in label order."""
    data = fit.responses
    return looks_of(data.options[j], data.correct[data.first[j] : data.first[j + 1]].tolist())


def looks_of(options: Sequence[str], correct: Sequence[bool]) -> list[Look]:
    """How these options are drawn, of which some are correct."""
    out: list[Look] = []
    others = 0
    for option, right in zip(options, correct, strict=True):
        if right and not any(look.correct for look in out):
            colour, shape = KEY_COLOUR, "circle"
        else:
            colour, shape = COLOURS[others % len(COLOURS)], SHAPES[others % len(SHAPES)]
        dash = () if right else DASHES[others % len(DASHES)]
        others += colour != KEY_COLOUR
        label = f"{option} (correct)" if right else option
        out.append(Look(option, label, right, colour, dash, 3.0 if right else 1.75, "circle" if right else shape))
    return out


def question_index(fit: Fit, question: str | None) -> int:
    """Where a question stands in the test."""
    known = fit.responses.questions
    if question is None:
        raise InputError("this chart is drawn for one question", remedy=f"Name one, such as {known[0]!r}")
    if question not in known:
        shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
        raise InputError("there is no such question", found=question, remedy=f"The questions are {shown}")
    return known.index(question)
