"""Which options stand above which: the mean ability of each option's choosers, with intervals that may overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sprite.analysis.order import partial_order
from sprite.plots.drawing import WIDTH, Chart, in_order, records, styled
from sprite.plots.palette import KEY_COLOUR, MUTED, question_index
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def option_order_data(fit: Fit, question: str | None = None) -> pd.DataFrame:
    """question, option, label, correct, ability, ability_lower, ability_upper, n, order: a question's highest first."""
    frame = fit.options()[["question", "option", "correct", "ability", "ability_lower", "ability_upper", "n"]]
    order = partial_order(fit).set_index("question")["order"].to_dict()
    if question is not None:
        question_index(fit, question)
        frame = frame[frame["question"] == question]
    frame = frame.assign(
        order=frame["question"].map(order),
        place=frame["question"].map({q: j for j, q in enumerate(fit.responses.questions)}),
    )
    frame = frame.sort_values(["place", "ability"], ascending=[True, False], kind="stable").drop(columns="place")
    label = frame["option"].where(~frame["correct"], frame["option"] + " (correct)")
    frame.insert(2, "label", label)
    return frame.reset_index(drop=True)


def plot_option_order(fit: Fit, question: str | None = None) -> Chart:
    """One block a question, its options in order; where intervals overlap the order may not be settled."""
    import altair as alt

    frame = option_order_data(fit, question)
    frame["name"] = frame["question"] + "  " + frame["label"]
    axis, lines = alt.Axis(labelLimit=260), in_order(frame["name"])
    base = alt.Chart(records(frame)).encode(
        y=alt.Y("name:N", title=None, axis=axis, sort=None, scale=lines),
        color=alt.condition("datum.correct", alt.value(KEY_COLOUR), alt.value(MUTED)),
    )
    x = alt.X("ability:Q", title="mean ability of those who chose it", scale=alt.Scale(zero=False))
    layers = [
        base.mark_rule(strokeWidth=2).encode(x="ability_lower:Q", x2="ability_upper:Q"),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            x=x,
            shape=alt.condition("datum.correct", alt.value("diamond"), alt.value("circle")),
            tooltip=["question:N", "label:N", alt.Tooltip("ability:Q", format=".2f"), "n:Q", "order:N"],
        ),
    ]
    subtitle = f"settled order: {frame['order'].iloc[0]}" if question is not None and len(frame) else "90 % intervals"
    title = alt.TitleParams("Order of the options" + (f" of {question}" if question else ""), subtitle=subtitle)
    chart = alt.layer(*layers).properties(width=WIDTH, height=alt.Step(17), title=title)
    return styled(chart)
