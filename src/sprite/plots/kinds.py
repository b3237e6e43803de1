"""The charts by name, for the command line: the one place where a new chart is entered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from sprite.core.errors import InputError
from sprite.plots.ability_map import plot_ability_map
from sprite.plots.chains import plot_chains
from sprite.plots.drawing import Chart
from sprite.plots.observed_expected import plot_observed_expected
from sprite.plots.option_curves import plot_option_curves
from sprite.plots.option_order import plot_option_order
from sprite.plots.option_probabilities import plot_option_probabilities
from sprite.plots.ordinal import plot_ordinal
from sprite.plots.overview import plot_overview
from sprite.plots.precision import plot_precision
from sprite.plots.question_information import plot_question_information
from sprite.plots.scheme import plot_scheme
from sprite.plots.sprites import plot_sprites
from sprite.plots.two_questions import plot_two_questions
from sprite.result.fit import Fit


@dataclass(frozen=True)
class Kind:
    """A chart that can be asked for by name."""

    draw: Callable[..., Chart]
    question: Literal["needed", "optional", "none"]
    ability: bool = False
    """Whether an ability can be named."""


KINDS: dict[str, Kind] = {
    "sprites": Kind(plot_sprites, "needed", ability=True),
    "scheme": Kind(plot_scheme, "needed", ability=True),
    "curves": Kind(plot_option_curves, "needed", ability=True),
    "probabilities": Kind(plot_option_probabilities, "needed", ability=True),
    "overview": Kind(plot_overview, "needed", ability=True),
    "ordinal": Kind(plot_ordinal, "needed", ability=True),
    "order": Kind(plot_option_order, "optional"),
    "observed": Kind(plot_observed_expected, "optional"),
    "abilities": Kind(plot_ability_map, "none"),
    "information": Kind(plot_question_information, "none"),
    "test-information": Kind(plot_precision, "none"),
    "two-questions": Kind(plot_two_questions, "none"),
    "chains": Kind(plot_chains, "none"),
}


def plot(fit: Fit, kind: str, question: str | None = None, ability: float | None = None) -> Chart:
    """A chart of a fit by its name; see `KINDS`."""
    if kind not in KINDS:
        raise InputError("there is no such chart", found=kind, remedy=f"Choose one of {', '.join(KINDS)}")
    chosen = KINDS[kind]
    given: dict[str, Any] = {}
    if chosen.question == "none" and question is not None:
        raise InputError(f"the chart {kind!r} shows the whole test", found=question, remedy="Leave the question out")
    if chosen.question == "needed" and question is None:
        first = fit.responses.questions[0]
        raise InputError(f"the chart {kind!r} shows one question", remedy=f"Name one: question={first!r} (--question)")
    if question is not None:
        given["question"] = question
    if ability is not None:
        if not chosen.ability:
            raise InputError(f"the chart {kind!r} is not drawn at one ability", remedy="Leave the ability out")
        if not isfinite(ability):
            raise InputError("an ability is a number", found=ability, remedy="Name one such as 0.5, or leave it out")
        given["ability"] = ability
    return chosen.draw(fit, **given)
