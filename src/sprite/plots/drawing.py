"""From frames to Vega-Lite: records that JSON can hold, scales by option, and one look for all charts.

Names and labels that users wrote are only ever values, never field names: `a.b[c]` is harmless as a value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from sprite.plots.palette import GRID, INK, MUTED, Look

if TYPE_CHECKING:
    import pandas as pd

Chart: TypeAlias = Any
"""An Altair chart; their many classes share no type that knows all of their methods."""
FONT = "Helvetica Neue, Helvetica, Arial, sans-serif"
WIDTH, HEIGHT = 460, 280


def records(frame: pd.DataFrame) -> Any:
    """The rows of a frame as Altair data, numbers to 6 digits, nothing where there is no number."""
    import altair as alt

    return alt.InlineData(
        values=[{str(name): _plain(cell) for name, cell in row.items()} for row in frame.to_dict("records")]
    )


def _plain(cell: Any) -> Any:
    cell = cell.item() if hasattr(cell, "item") else cell
    if isinstance(cell, float):
        return float(f"{cell:.6g}") if math.isfinite(cell) else None
    return cell if isinstance(cell, bool | int | str) else None


def by_option(looks: Sequence[Look], channel: str, title: str | None = "option") -> Any:
    """An encoding of the options: `color`, `strokeDash`, `strokeWidth` or `shape`, in label order."""
    import altair as alt

    scales: dict[str, Any] = {
        "color": [look.colour for look in looks],
        "strokeDash": [list(look.dash) or [1, 0] for look in looks],
        "strokeWidth": [look.width for look in looks],
        "shape": [look.shape for look in looks],
    }
    encodings: dict[str, Any] = {
        "color": alt.Color,
        "strokeDash": alt.StrokeDash,
        "strokeWidth": alt.StrokeWidth,
        "shape": alt.Shape,
    }
    scale = alt.Scale(domain=[look.label for look in looks], range=scales[channel])
    # One legend: the line with its colour and dash.
    legend = (
        alt.Legend(title=title, symbolType="stroke", symbolSize=400) if channel in ("color", "strokeDash") else None
    )
    return encodings[channel]("label:N", scale=scale, legend=legend, sort=None)


def styled(chart: Chart) -> Chart:
    """The same look for every chart; to be applied once, to the outermost."""
    return (
        chart.configure(font=FONT, background="white", padding=12)
        .configure_view(stroke=None)
        .configure_axis(
            gridColor=GRID, domainColor=MUTED, tickColor=MUTED, labelColor=INK, titleColor=INK, titleFontWeight="normal"
        )
        .configure_title(anchor="start", color=INK, subtitleColor=MUTED, fontSize=14, subtitleFontSize=12)
        .configure_legend(labelColor=INK, titleColor=INK, titleFontWeight="normal", labelLimit=260)
        .configure_header(labelColor=INK, titleColor=INK)
    )
