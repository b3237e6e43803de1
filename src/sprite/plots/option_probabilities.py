"""How probable each option of a question is at one ability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sprite.analysis.curves import populated
from sprite.core.errors import InputError
from sprite.core.readable import number
from sprite.plots.ability import probabilities
from sprite.plots.drawing import HEIGHT, Chart, by_option, records, styled
from sprite.plots.palette import INK, looks, question_index
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def middle_ability(fit: Fit) -> float:
    """An ability to show where none is asked for: the middle of the populated range."""
    return float(np.mean(populated(fit)))


def option_probabilities_data(fit: Fit, question: str, ability: float | None = None) -> pd.DataFrame:
    """question, option, label, correct, ability, probability, lower, upper: one row an option."""
    import pandas as pd

    j = question_index(fit, question)
    at = middle_ability(fit) if ability is None else float(ability)
    if not np.isfinite(at):
        raise InputError("ability must be a finite number", found=ability)
    rows = slice(fit.responses.first[j], fit.responses.first[j + 1])
    middle, lower, upper = (table[rows, 0] for table in probabilities(fit, np.array([at])))
    drawn = looks(fit, j)
    return pd.DataFrame(
        {
            "question": question,
            "option": [look.option for look in drawn],
            "label": [look.label for look in drawn],
            "correct": [look.correct for look in drawn],
            "ability": at,
            "probability": middle,
            "lower": lower,
            "upper": upper,
        }
    )


def plot_option_probabilities(fit: Fit, question: str, ability: float | None = None) -> Chart:
    """Bars with 90 % intervals; the correct option's has a heavy outline."""
    return styled(probabilities_panel(fit, question, ability))


def probabilities_panel(fit: Fit, question: str, ability: float | None = None) -> Chart:
    """The same, to be put beside others."""
    import altair as alt

    drawn = looks(fit, question_index(fit, question))
    frame = option_probabilities_data(fit, question, ability)
    x = alt.X("label:N", title="option", sort=None, axis=alt.Axis(labelAngle=-30, labelLimit=140))
    bars = (
        alt.Chart(records(frame))
        .mark_bar()
        .encode(
            x=x,
            y=alt.Y("probability:Q", title="probability", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            color=by_option(drawn, legend=False),
            stroke=alt.condition("datum.correct", alt.value(INK), alt.value(None)),
            strokeWidth=alt.condition("datum.correct", alt.value(3), alt.value(0)),
            tooltip=["label:N", alt.Tooltip("probability:Q", format=".0%")],
        )
    )
    layers = [bars]
    if frame["lower"].notna().any():
        layers.append(
            alt.Chart(records(frame)).mark_rule(color=INK, strokeWidth=1.5).encode(x=x, y="lower:Q", y2="upper:Q")
        )
    title = alt.TitleParams(f"{question} at ability {number(frame['ability'].iloc[0])}")
    return alt.layer(*layers).properties(width=alt.Step(38), height=HEIGHT, title=title)
