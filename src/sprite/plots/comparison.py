"""Models beside each other, from the frame that `compare` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sprite.core.errors import InputError
from sprite.plots.drawing import WIDTH, Chart, in_order, records, styled
from sprite.plots.palette import INK, KEY_COLOUR, MUTED

if TYPE_CHECKING:
    import pandas as pd


def comparison_data(frame: pd.DataFrame) -> pd.DataFrame:
    """model, score, measure, difference, lower, upper: the best first; differences to the first model of `frame`.

    `measure` is the log loss of hidden answers (lower is better) or elpd (higher is better); lower and upper are two
    standard errors to either side of the difference.
    """
    import pandas as pd

    for measure, words, sign in (("log_loss", "log loss", 1), ("elpd", "elpd", -1)):
        if {"model", measure, f"diff_{measure}", f"diff_{measure}_se"} <= set(frame.columns):
            reach = 2.0 * frame[f"diff_{measure}_se"].fillna(0.0)
            out = pd.DataFrame(
                {
                    "model": frame["model"],
                    "score": frame[measure],
                    "measure": words,
                    "difference": frame[f"diff_{measure}"],
                    "lower": frame[f"diff_{measure}"] - reach,
                    "upper": frame[f"diff_{measure}"] + reach,
                }
            )
            return out.sort_values("score", ascending=sign > 0, kind="stable", ignore_index=True)
    raise InputError("this is no comparison of models", found=list(frame.columns), remedy="Give what compare() returns")


def plot_comparison(frame: pd.DataFrame) -> Chart:
    """Differences to the first model with two standard errors; an interval that holds 0 does not tell them apart."""
    import altair as alt
    import pandas as pd

    data = comparison_data(frame)
    measure = str(data["measure"].iloc[0])
    better = "lower is better" if measure == "log loss" else "higher is better"
    y = alt.Y("model:N", sort=None, scale=in_order(data["model"]), title=None, axis=alt.Axis(labelLimit=260))
    base = alt.Chart(records(data)).encode(y=y)
    zero = alt.Chart(records(pd.DataFrame({"difference": [0.0]})))
    layers = [
        zero.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="difference:Q"),
        base.mark_rule(color=MUTED, strokeWidth=2).encode(x="lower:Q", x2="upper:Q"),
        base.mark_point(filled=True, size=80, color=KEY_COLOUR, opacity=1).encode(
            x=alt.X("difference:Q", title=f"difference in {measure} to {frame['model'].iloc[0]}"),
            tooltip=["model:N", alt.Tooltip("score:Q", format=".4f"), alt.Tooltip("difference:Q", format="+.4f")],
        ),
    ]
    title = alt.TitleParams("Models compared", subtitle=f"{better}; lines: two standard errors")
    return styled(alt.layer(*layers).properties(width=WIDTH, height=alt.Step(26), title=title))
