"""How far learned orders of the options agree with given ones: a mark a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sprite.plots.drawing import WIDTH, Chart, in_order, records, styled
from sprite.plots.palette import INK, KEY_COLOUR

if TYPE_CHECKING:
    import pandas as pd


def order_agreement_data(frame: pd.DataFrame) -> pd.DataFrame:
    """row (test, model and engine in words), tau, questions: how many questions of the row have this tau."""
    rows = frame["test"] + ": " + frame["model"].str.upper() + " by " + frame["engine"]
    known = frame.assign(row=rows, tau=frame["tau"].astype(float).round(2)).dropna(subset="tau")
    return known.groupby(["row", "tau"], sort=False).size().rename("questions").reset_index()


def plot_order_agreement(frame: pd.DataFrame) -> Chart:
    """A circle a value of Kendall's tau, as large as the number of questions that have it; the tick is the mean."""
    import altair as alt

    data = order_agreement_data(frame)
    data["weighted"] = data["tau"] * data["questions"]
    total = data.groupby("row", sort=False)[["weighted", "questions"]].sum()
    means = (total["weighted"] / total["questions"]).rename("tau").reset_index()
    y = alt.Y("row:N", title=None, scale=in_order(data["row"]), axis=alt.Axis(labelLimit=320))
    x = alt.X("tau:Q", title="Kendall's tau of learned and given order", scale=alt.Scale(domain=[-1, 1]))
    circles = alt.Chart(records(data)).mark_point(filled=True, color=KEY_COLOUR, opacity=0.6)
    layers = [
        circles.encode(x=x, y=y, size=alt.Size("questions:Q", title="questions", legend=alt.Legend(tickMinStep=1))),
        alt.Chart(records(means)).mark_tick(color=INK, thickness=2, size=18).encode(x=x, y=y),
    ]
    title = alt.TitleParams("Learned and given order", subtitle="circles: questions; tick: their mean")
    return styled(alt.layer(*layers).properties(width=WIDTH, height=alt.Step(28), title=title))
