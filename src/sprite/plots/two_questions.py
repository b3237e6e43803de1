"""The paper's two-question figure: the most and the least informative question side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sprite.models.sprite import Sprite
from sprite.plots.drawing import Chart, apart, styled
from sprite.plots.option_curves import curves_panel, option_curves_data
from sprite.plots.question_information import question_information_data
from sprite.plots.sprites import sprites_data, sprites_panel
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def extremes(fit: Fit) -> dict[str, float]:
    """Bits of the most and of the least informative question, by name."""
    ranked = question_information_data(fit)
    ends = ranked.iloc[[0, -1]]
    return dict(zip(ends["question"], ends["bits"].astype(float), strict=True))


def two_questions_data(fit: Fit) -> pd.DataFrame:
    """The sprites of both (curves, for models without sprites), with the bits of each."""
    import pandas as pd

    data = sprites_data if isinstance(fit.model, Sprite) else option_curves_data
    return pd.concat([data(fit, q).assign(bits=bits) for q, bits in extremes(fit).items()], ignore_index=True)


def plot_two_questions(fit: Fit) -> Chart:
    """Sprites (curves, for models without sprites) of both, named with their bits."""
    import altair as alt

    panels = []
    for question, bits in extremes(fit).items():
        title = f"{question}: {bits:.2f} bits"
        if isinstance(fit.model, Sprite):
            panels.append(sprites_panel(fit, question, title=title))
        else:
            panels.append(curves_panel(fit, question).properties(title=title))
    return styled(apart(alt.hconcat(*panels)))
