"""Observed against expected shares: one point an option and ability group; a good model keeps to the diagonal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sprite.plots.ability import group_shares
from sprite.plots.drawing import Chart, records, styled
from sprite.plots.palette import INK, KEY_COLOUR, question_index
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

_MOST = 5000


def observed_expected_data(fit: Fit, question: str | None = None, groups: int | None = None) -> pd.DataFrame:
    """question, option, correct, group, n, observed, expected, deviation (in standard errors)."""
    frame = group_shares(fit, groups)
    if question is not None:
        question_index(fit, question)
        frame = frame[frame["question"] == question]
    error = np.sqrt(np.maximum(frame["expected"] * (1 - frame["expected"]), 1e-6) / frame["n"])
    frame = frame.assign(
        correct=fit.responses.correct[frame["row"].to_numpy()],
        deviation=(frame["observed"] - frame["expected"]) / error,
    )
    columns = ["question", "option", "correct", "group", "n", "observed", "expected", "deviation"]
    return frame[columns].reset_index(drop=True)


def plot_observed_expected(fit: Fit, question: str | None = None) -> Chart:
    """Observed share over the share that the model expects; of very many points those farthest off are drawn."""
    import altair as alt
    import pandas as pd

    frame = observed_expected_data(fit, question)
    if len(frame) > _MOST:
        frame = frame.loc[frame["deviation"].abs().sort_values(ascending=False).index[:_MOST]]
    domain = alt.Scale(domain=[0, 1])
    points = (
        alt.Chart(records(frame))
        .mark_point(filled=True, size=40, opacity=0.55)
        .encode(
            x=alt.X("expected:Q", title="expected share", axis=alt.Axis(format="%"), scale=domain),
            y=alt.Y("observed:Q", title="observed share", axis=alt.Axis(format="%"), scale=domain),
            color=alt.condition("datum.correct", alt.value(KEY_COLOUR), alt.value("#D55E00")),
            shape=alt.condition("datum.correct", alt.value("diamond"), alt.value("circle")),
            tooltip=["question:N", "option:N", "group:O", "n:Q", alt.Tooltip("deviation:Q", format="+.1f")],
        )
    )
    line = alt.Chart(records(pd.DataFrame({"expected": [0.0, 1.0], "observed": [0.0, 1.0]})))
    diagonal = line.mark_line(color=INK, strokeDash=[4, 3], strokeWidth=1).encode(x="expected:Q", y="observed:Q")
    subtitle = "one point an option and ability group; diamonds: correct options"
    title = alt.TitleParams(f"Observed and expected{f': {question}' if question else ''}", subtitle=subtitle)
    return styled(alt.layer(diagonal, points).properties(width=360, height=360, title=title))
