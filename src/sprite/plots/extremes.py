"""The most and the least informative question of a test, from stored sprites; `two_questions` draws them from a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sprite.plots.ability import POINTS
from sprite.plots.drawing import Chart, apart, styled
from sprite.plots.palette import looks_of
from sprite.plots.sprites import densities, densities_panel

if TYPE_CHECKING:
    import pandas as pd


def plot_extremes(frame: pd.DataFrame) -> Chart:
    """Both questions of one test, named with their bits.

    `frame` has a row an option: question, bits, option, correct, mu, nu, low and high (the ends of ability).
    """
    import altair as alt

    panels = []
    for question, own in frame.groupby("question", sort=False):
        drawn = looks_of([str(option) for option in own["option"]], [bool(right) for right in own["correct"]])
        mu, nu = (own[name].to_numpy(dtype=float) for name in ("mu", "nu"))
        at = np.linspace(float(own["low"].iloc[0]), float(own["high"].iloc[0]), POINTS)
        title = f"{question}: {own['bits'].iloc[0]:.2f} bits"
        panels.append(densities_panel(densities(str(question), drawn, mu, nu, at), drawn, title))
    return styled(apart(alt.hconcat(*panels)))
