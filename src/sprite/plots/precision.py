"""How precisely the whole test measures, along ability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sprite.plots.ability import ability_points
from sprite.plots.drawing import HEIGHT, WIDTH, Chart, records, styled
from sprite.plots.palette import INK, KEY_COLOUR
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def precision_data(fit: Fit, points: int = 61) -> pd.DataFrame:
    """ability, fisher, lower, upper, reliability over populated ability."""
    frame = fit.information(ability_points(fit, points).tolist())
    columns = ["ability", "fisher", "lower", "upper", "reliability"]
    return frame.loc[frame["reliability"].notna(), columns].reset_index(drop=True)


def plot_precision(fit: Fit) -> Chart:
    """Fisher information with its band, and below it the reliability that follows."""
    import altair as alt

    base = alt.Chart(records(precision_data(fit)))
    x = alt.X("ability:Q", title="ability", scale=alt.Scale(nice=False))
    band = base.mark_area(color=KEY_COLOUR, opacity=0.15).encode(x, y=alt.Y("lower:Q"), y2="upper:Q")
    line = base.mark_line(color=KEY_COLOUR, strokeWidth=3).encode(x, y=alt.Y("fisher:Q", title="information"))
    first = alt.layer(band, line).properties(width=WIDTH, height=HEIGHT, title="Test information")
    second = (
        base.mark_line(color=INK, strokeWidth=2)
        .encode(x, y=alt.Y("reliability:Q", scale=alt.Scale(domain=[0, 1])))
        .properties(width=WIDTH, height=HEIGHT // 2, title="Reliability")
    )
    return styled(alt.vconcat(first, second))
