"""From frames to Vega-Lite: records that JSON can hold, scales by option, and one look for all charts.

Names and labels that users wrote are only ever values, never field names: `a.b[c]` is harmless as a value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
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


def by_option(looks: Sequence[Look], *, legend: bool = True, symbol: str = "stroke") -> Any:
    """Colour by option, in label order."""
    import altair as alt

    scale = alt.Scale(domain=[look.label for look in looks], range=[look.colour for look in looks])
    return alt.Color("label:N", scale=scale, legend=_legend(symbol) if legend else None, sort=None)


def lines_by_option(base: Chart, looks: Sequence[Look], **encodings: Any) -> Chart:
    """A line an option: solid and thick for a correct one, each of the others with its own dashes."""
    import altair as alt

    dashes: Any = [list(look.dash) or [1, 0] for look in looks]
    dash = alt.StrokeDash(
        "label:N", scale=alt.Scale(domain=[look.label for look in looks], range=dashes), legend=_legend(), sort=None
    )
    width: Any = alt.condition("datum.correct", alt.value(3.5), alt.value(1.75))
    return base.mark_line().encode(color=by_option(looks), strokeDash=dash, strokeWidth=width, **encodings)


def in_order(names: Iterable[str]) -> Any:
    """A scale that keeps names in this order; `sort` would write them into an expression, which some names break."""
    import altair as alt

    return alt.Scale(domain=list(dict.fromkeys(map(str, names))))


def _legend(symbol: str = "stroke") -> Any:
    import altair as alt

    return alt.Legend(
        title="option", symbolType=symbol, symbolSize=500 if symbol == "stroke" else 120, symbolStrokeWidth=2
    )


def apart(chart: Chart) -> Chart:
    """Panels side by side whose options have nothing to do with each other: each keeps its own scales and legend."""
    return chart.resolve_scale(color="independent", strokeDash="independent", strokeWidth="independent")


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
