"""How well a known truth is recovered: box plots over replications, as in the paper's synthetic figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sprite.plots.drawing import Chart, in_order, records, styled
from sprite.plots.palette import COLOURS, KEY_COLOUR

if TYPE_CHECKING:
    import pandas as pd

PANELS = {
    "E_Z": "abilities, E_Z",
    "E_mu": "means of the sprites, E_mu",
    "E_nu": "variances, E_nu",
    "E_log_nu": "log variances",
}
WORDS = {
    "gibbs": "Gibbs",
    "half-sweeps": "the paper's sampler, half-sweeps",
    "joint": "the paper's sampler, joint acceptance",
}
_WIDTH, _HEIGHT = 330, 220
_LEAST = 1e-4  # a log scale needs something above 0


def recovery_data(frame: pd.DataFrame) -> pd.DataFrame:
    """size, sampler, words, replication, measure, panel, error: one row a replication and measure."""
    long = frame.melt(["size", "sampler", "replication"], list(PANELS), "measure", "error")
    long["panel"] = long["measure"].map(PANELS)
    long["words"] = long["sampler"].map(WORDS)
    long["error"] = long["error"].astype(float).clip(lower=_LEAST)
    return long


def plot_recovery(frame: pd.DataFrame) -> Chart:
    """A panel a measure, boxes by size and sampler, on a log scale: at 1 the estimate is no better than 0."""
    import altair as alt
    import pandas as pd

    data = recovery_data(frame)
    present = [words for words in WORDS.values() if words in set(data["words"])]
    sizes = in_order(map(str, sorted(data["size"].unique())))
    samplers = alt.Scale(domain=present, range=[KEY_COLOUR, *COLOURS][: len(present)])
    panels = []
    for title in PANELS.values():
        own = data[data["panel"] == title].assign(size=lambda part: part["size"].astype(str))
        y = alt.Y("error:Q", title="relative squared error", scale=alt.Scale(type="log"))
        boxes = (
            alt.Chart(records(own))
            .mark_boxplot(size=13, outliers={"size": 14}, median={"color": "white"})
            .encode(
                x=alt.X("size:N", title="respondents = questions", scale=sizes, axis=alt.Axis(labelAngle=0)),
                xOffset=alt.XOffset("words:N", scale=alt.Scale(domain=present)),
                y=y,
                color=alt.Color("words:N", title=None, scale=samplers, legend=alt.Legend(orient="bottom", columns=1)),
            )
        )
        line = alt.Chart(records(pd.DataFrame({"error": [1.0]}))).mark_rule(strokeDash=[4, 3]).encode(y=y)
        panels.append(alt.layer(line, boxes).properties(width=_WIDTH, height=_HEIGHT, title=title))
    return styled(alt.vconcat(alt.hconcat(*panels[:2]), alt.hconcat(*panels[2:])))
