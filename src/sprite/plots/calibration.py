"""Simulation-based calibration at a glance: how far the distribution of ranks is from uniform, a panel a pair.

``python -m sprite.plots.calibration FOLDER`` draws `ranks.svg` from the `ranks.csv` that
`sprite.experiments.calibration` has written there.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from sprite.plots.drawing import Chart, records, styled
from sprite.plots.palette import KEY_COLOUR
from sprite.plots.saving import save_chart

BAND = 0.99
"""At each place, so many of calibrated quantities lie within the band."""
COLUMNS = 4
_WIDTH, _HEIGHT = 170, 110


def calibration_data(counts: pd.DataFrame) -> pd.DataFrame:
    """pair, quantity, at, difference, low, high: share of ranks up to a place less the expected, with a band."""
    from scipy.stats import binom

    parts = []
    for (pair, quantity), group in counts.groupby(["pair", "quantity"], sort=False):
        places = int(group["draws"].iloc[0]) + 1
        n = int(group["count"].sum())
        by_rank = np.bincount(group["rank"], weights=group["count"], minlength=places)
        at = np.arange(1, places) / places
        low, high = (binom.ppf(tail, n, at) / n - at for tail in ((1 - BAND) / 2, (1 + BAND) / 2))
        parts.append(
            pd.DataFrame(
                {
                    "pair": f"{pair}, {n} tests",
                    "quantity": quantity,
                    "at": at,
                    "difference": np.cumsum(by_rank)[:-1] / n - at,
                    "low": low,
                    "high": high,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def plot_calibration(counts: pd.DataFrame) -> Chart:
    """A line a quantity; where an engine samples its posterior, about 1 in 100 of all points lie outside the band."""
    import altair as alt

    data = calibration_data(counts)
    x = alt.X("at:Q", title="rank of the truth", scale=alt.Scale(domain=[0, 1], nice=False))
    y = alt.Y("difference:Q", title="share too many")
    panels = []
    for pair, own in data.groupby("pair", sort=False):
        band = alt.Chart(records(own.drop_duplicates("at"))).mark_area(opacity=0.25, color="gray")
        lines = alt.Chart(records(own)).mark_line(strokeWidth=1, opacity=0.7, color=KEY_COLOUR)
        drawn = alt.layer(
            band.encode(x=x, y=alt.Y("low:Q", title="share too many"), y2="high:Q"),
            lines.encode(x=x, y=y, detail="quantity:N", tooltip="quantity:N"),
        )
        panels.append(drawn.properties(width=_WIDTH, height=_HEIGHT, title=str(pair)))
    rows = [alt.hconcat(*panels[k : k + COLUMNS]) for k in range(0, len(panels), COLUMNS)]
    return styled(alt.vconcat(*rows))


def main() -> None:
    """Draw the ranks in a folder."""
    folder = Path(sys.argv[1])
    save_chart(plot_calibration(pd.read_csv(folder / "ranks.csv")), folder / "ranks.svg")


if __name__ == "__main__":
    main()
