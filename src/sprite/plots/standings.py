"""Contestants on many tests: differences in log loss to the first, test by test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sprite.experiments.compare import BASELINE
from sprite.plots.comparison import comparison_data
from sprite.plots.drawing import Chart, in_order, records, styled
from sprite.plots.palette import COLOURS, INK

if TYPE_CHECKING:
    import pandas as pd

_WIDTH, _STEP = 420, 11


def standings_data(frame: pd.DataFrame, engine: str) -> pd.DataFrame:
    """test, model, score, difference, lower, upper (two standard errors), of one engine; the reference is left out."""
    import pandas as pd

    parts = []
    for test, group in frame[frame["engine"] == engine].groupby("test", sort=False):
        own = comparison_data(group).assign(test=test)
        parts.append(own[own["model"] != group["model"].iloc[0]])
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def plot_standings(frame: pd.DataFrame, engine: str, title: str = "Log loss of hidden answers") -> Chart:
    """A row a test, a point a contestant; right of the line it predicts worse than the reference."""
    import altair as alt
    import pandas as pd

    data = standings_data(frame, engine)
    reference = str(frame["model"].iloc[0])
    # In the order of the tables; a contestant that only some tests have would else come after the baseline.
    models = sorted(set(data["model"]), key=lambda model: (model == BASELINE, model))
    tests = list(dict.fromkeys(data["test"]))
    colour = alt.Color(
        "model:N",
        title=None,
        scale=alt.Scale(domain=models, range=[COLOURS[k % len(COLOURS)] for k in range(len(models))]),
    )
    y = alt.Y("test:N", title=None, scale=in_order(tests), axis=alt.Axis(labelLimit=240, grid=True, tickBand="extent"))
    offset = alt.YOffset("model:N", scale=alt.Scale(domain=models))
    base = alt.Chart(records(data)).encode(y=y, yOffset=offset, color=colour)
    zero = alt.Chart(records(pd.DataFrame({"difference": [0.0]})))
    layers = [
        zero.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="difference:Q"),
        base.mark_rule(strokeWidth=1.5).encode(x="lower:Q", x2="upper:Q"),
        base.mark_point(filled=True, size=36, opacity=1).encode(
            x=alt.X("difference:Q", title=f"log loss less that of {reference} (right: worse)"),
            shape=alt.Shape("model:N", title=None, scale=alt.Scale(domain=models)),
            tooltip=["test:N", "model:N", alt.Tooltip("difference:Q", format="+.4f")],
        ),
    ]
    height = _STEP * (len(models) + 1) * len(tests)
    named = alt.TitleParams(title, subtitle=f"fitted by {engine}; lines: two standard errors")
    return styled(alt.layer(*layers).properties(width=_WIDTH, height=height, title=named))
