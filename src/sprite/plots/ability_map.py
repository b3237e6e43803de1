"""The respondents' abilities, with every option of every question on the same axis: who the test is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sprite.analysis.curves import curves, interval, populated
from sprite.plots.drawing import WIDTH, Chart, in_order, records, styled
from sprite.plots.palette import INK, KEY_COLOUR, MUTED
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def ability_distribution_data(fit: Fit, bins: int | None = None) -> pd.DataFrame:
    """lower, upper, n: how many respondents have their estimated ability (EAP) in each bin."""
    import pandas as pd

    eap = fit.ability_moments()[0]
    eap = eap[np.isfinite(eap)]
    low, high = (min(eap.min(), populated(fit)[0]), max(eap.max(), populated(fit)[1])) if len(eap) else populated(fit)
    wanted = bins or int(np.clip(1.5 * np.sqrt(len(eap)), 8, 30))
    n, edges = np.histogram(eap, bins=wanted, range=(low, high))
    return pd.DataFrame({"lower": edges[:-1], "upper": edges[1:], "n": n})


def ability_map_data(fit: Fit) -> pd.DataFrame:
    """question, option, correct, ability, ability_lower, ability_upper, n: how able each option's choosers are here.

    Ability is E[z | option] over the respondents at hand, so that it can be read beside their distribution; `options`
    has it over the model's population, which is the same for all tests.
    """
    columns = ["question", "option", "correct", "n"]
    found = curves(fit, "respondents")
    lower, upper = interval(None if found.draws is None else found.draws.mean, found.estimate.mean)
    return fit.options()[columns].assign(ability=found.estimate.mean, ability_lower=lower, ability_upper=upper)


def plot_ability_map(fit: Fit) -> Chart:
    """A histogram of abilities; below it a line a question, each option at the mean ability of its choosers."""
    import altair as alt

    spread = ability_distribution_data(fit)
    options = ability_map_data(fit)
    options = options[options["n"] > 0]
    ends = [
        float(min(spread["lower"].min(), options["ability"].min())),
        float(max(spread["upper"].max(), options["ability"].max())),
    ]
    scale = alt.Scale(domain=ends, nice=False, padding=8)
    people = (
        alt.Chart(records(spread))
        .mark_bar(color=MUTED)
        .encode(
            x=alt.X("lower:Q", bin="binned", title=None, scale=scale),
            x2="upper:Q",
            y=alt.Y("n:Q", title="respondents"),
            tooltip=["n:Q"],
        )
        .properties(width=WIDTH + 120, height=120, title="Abilities of the respondents")
    )
    order = in_order(fit.responses.questions)
    places = (
        alt.Chart(records(options))
        .mark_text(fontSize=11, limit=90)
        .encode(
            x=alt.X("ability:Q", title="ability", scale=scale),
            y=alt.Y("question:N", sort=None, scale=order, title=None, axis=alt.Axis(grid=True, labelLimit=160)),
            text="option:N",
            color=alt.condition("datum.correct", alt.value(KEY_COLOUR), alt.value(INK)),
            tooltip=["question:N", "option:N", alt.Tooltip("ability:Q", format=".2f"), "n:Q"],
        )
    )
    # The correct option stands in a ring, so that it is known without colour.
    ring = (
        alt.Chart(records(options[options["correct"]]))
        .mark_point(shape="circle", size=230, color=KEY_COLOUR, strokeWidth=2)
        .encode(x=alt.X("ability:Q", scale=scale), y=alt.Y("question:N", sort=None, scale=order))
    )
    title = alt.TitleParams("Mean ability of those who chose each option", subtitle="ring: correct option")
    options_chart = alt.layer(ring, places).properties(width=WIDTH + 120, height=alt.Step(20), title=title)
    return styled(alt.vconcat(people, options_chart))
