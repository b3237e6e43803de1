"""Option curves: P(option | ability) with 90 % bands, and the shares that groups of respondents really chose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sprite.plots.ability import POINTS, ability_points, group_shares, probabilities
from sprite.plots.drawing import HEIGHT, WIDTH, Chart, lines_by_option, records, styled
from sprite.plots.palette import looks, question_index
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def option_curves_data(fit: Fit, question: str, points: int = POINTS) -> pd.DataFrame:
    """question, option, label, correct, ability, probability, lower, upper: one row an option and ability."""
    import pandas as pd

    j = question_index(fit, question)
    at = ability_points(fit, points)
    rows = slice(fit.responses.first[j], fit.responses.first[j + 1])
    middle, lower, upper = (table[rows] for table in probabilities(fit, at))
    drawn = looks(fit, j)
    return pd.DataFrame(
        {
            "question": question,
            "option": np.repeat([look.option for look in drawn], len(at)),
            "label": np.repeat([look.label for look in drawn], len(at)),
            "correct": np.repeat([look.correct for look in drawn], len(at)),
            "ability": np.tile(at, len(drawn)),
            "probability": middle.ravel(),
            "lower": lower.ravel(),
            "upper": upper.ravel(),
        }
    )


def observed_shares_data(fit: Fit, question: str, groups: int | None = None) -> pd.DataFrame:
    """question, option, label, group, ability, n, observed, expected: one row an option and group of respondents."""
    j = question_index(fit, question)
    shares = group_shares(fit, groups)
    shares = shares[shares["question"] == question].drop(columns="row").reset_index(drop=True)
    shares.insert(2, "label", shares["option"].map({look.option: look.label for look in looks(fit, j)}))
    return shares


def plot_option_curves(fit: Fit, question: str, ability: float | None = None) -> Chart:
    """Curves over populated ability; points are what groups of respondents chose; `ability` adds a vertical line."""
    return styled(curves_panel(fit, question, ability))


def curves_panel(fit: Fit, question: str, ability: float | None = None) -> Chart:
    """The same, to be put beside others."""
    import altair as alt

    drawn = looks(fit, question_index(fit, question))
    frame = option_curves_data(fit, question)
    seen = observed_shares_data(fit, question)
    seen = seen[seen["ability"].between(frame["ability"].min(), frame["ability"].max())]
    x = alt.X("ability:Q", title="ability", scale=alt.Scale(nice=False))
    layers: list[Chart] = []
    for look in drawn if frame["lower"].notna().any() else ():
        band = alt.Chart(records(frame.loc[frame["label"] == look.label, ["ability", "lower", "upper"]]))
        layers.append(band.mark_area(opacity=0.12, color=look.colour).encode(x, y=alt.Y("lower:Q"), y2="upper:Q"))
    share = alt.Y(
        "probability:Q", title="share who choose it", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
    )
    tooltip = ["label:N", alt.Tooltip("ability:Q", format=".2f"), alt.Tooltip("probability:Q", format=".0%")]
    layers.append(lines_by_option(alt.Chart(records(frame)), drawn, x=x, y=share, tooltip=tooltip))
    for look in drawn:
        points = alt.Chart(records(seen[seen["label"] == look.label]))
        marked: Any = {"filled": True, "size": 50, "opacity": 0.9, "color": look.colour, "shape": look.shape}
        tooltip = ["label:N", alt.Tooltip("observed:Q", format=".0%"), "n:Q"]
        layers.append(points.mark_point(**marked).encode(x="ability:Q", y="observed:Q", tooltip=tooltip))
    if ability is not None:
        layers.append(vertical(ability))
    title = alt.TitleParams(question, subtitle="curves: model; points: groups of respondents of similar ability")
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=title)


def vertical(ability: float) -> Chart:
    """A line at one ability."""
    import altair as alt
    import pandas as pd

    line = alt.Chart(records(pd.DataFrame({"ability": [float(ability)]})))
    return line.mark_rule(color="#1b2733", strokeDash=[4, 3]).encode(x="ability:Q")
