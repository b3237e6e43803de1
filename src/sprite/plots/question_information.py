"""Which questions tell most about ability: bits with 90 % intervals, ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sprite.plots.drawing import WIDTH, Chart, in_order, records, styled
from sprite.plots.palette import INK, KEY_COLOUR, MUTED
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def question_information_data(fit: Fit) -> pd.DataFrame:
    """question, bits, bits_lower, bits_upper, bits_right_wrong, the most informative first."""
    columns = ["question", "bits", "bits_lower", "bits_upper", "bits_right_wrong"]
    return fit.questions()[columns].sort_values("bits", ascending=False, kind="stable", ignore_index=True)


def plot_question_information(fit: Fit) -> Chart:
    """Points with intervals; the tick is what remains when the question is scored right or wrong."""
    import altair as alt

    frame = question_information_data(fit)
    y = alt.Y("question:N", sort=None, scale=in_order(frame["question"]), title=None, axis=alt.Axis(labelLimit=160))
    base = alt.Chart(records(frame)).encode(y=y)
    x = alt.X("bits:Q", title="bits about ability", scale=alt.Scale(zero=True))
    layers = [
        base.mark_rule(color=MUTED, strokeWidth=2).encode(x="bits_lower:Q", x2="bits_upper:Q"),
        base.mark_tick(color=INK, thickness=2, size=12).encode(x="bits_right_wrong:Q"),
        base.mark_point(filled=True, size=70, color=KEY_COLOUR, opacity=1).encode(
            x=x, tooltip=["question:N", alt.Tooltip("bits:Q", format=".3f")]
        ),
    ]
    title = alt.TitleParams(
        "What each question tells about ability", subtitle="point: all options; tick: when scored right or wrong"
    )
    return styled(alt.layer(*layers).properties(width=WIDTH, height=alt.Step(18), title=title))
