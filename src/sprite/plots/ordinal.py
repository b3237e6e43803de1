"""ORD's three panels: ability plus noise over the bins, the scheme, and the probabilities at one ability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sprite.core.errors import InputError
from sprite.core.readable import number
from sprite.core.types import Floats
from sprite.models.intervals import IntervalModel
from sprite.models.order import steps_of
from sprite.plots.drawing import HEIGHT, WIDTH, Chart, apart, by_option, records, styled
from sprite.plots.option_probabilities import middle_ability, probabilities_panel
from sprite.plots.palette import INK, looks, question_index
from sprite.plots.scheme import scheme_panel
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

_REACH = 4.0  # standard deviations of the noise that the density spans
_POINTS = 241


def bins(fit: Fit, question: str) -> Floats:
    """The bounds between the bins on the ability scale, lowest first: one fewer than there are options."""
    if not isinstance(fit.model, IntervalModel):
        raise InputError(
            "bins are drawn from fits of ORD and LORD", found=fit.model.name, remedy="Draw its curves instead"
        )
    j = question_index(fit, question)
    own = steps_of(fit.responses.layout, 2) == j
    bounds = [0.0, *np.asarray(fit.values["gamma"], float)[own].tolist()]
    return float(np.asarray(fit.values["alpha"])[j]) + np.array(bounds[: len(fit.responses.options[j]) - 1])


def ordinal_data(fit: Fit, question: str, ability: float | None = None) -> pd.DataFrame:
    """question, value, density, option, label, correct, bin: the density of ability plus noise, and whose bin it is."""
    import pandas as pd

    bounds = bins(fit, question)
    j = question_index(fit, question)
    at = middle_ability(fit) if ability is None else float(ability)
    low, high = min(at - _REACH, *bounds - 0.5), max(at + _REACH, *bounds + 0.5)
    inside = bounds[(bounds > low) & (bounds < high)]
    # Each bound belongs to both of its bins, so that the areas meet.
    value = np.concatenate([np.linspace(low, high, _POINTS), inside, inside])
    place = np.concatenate(
        [np.searchsorted(bounds, value[:_POINTS]), np.searchsorted(bounds, inside), np.searchsorted(bounds, inside) + 1]
    )
    rank = np.asarray(fit.values["rank"], int)[fit.responses.first[j] : fit.responses.first[j + 1]]
    drawn = looks(fit, j)
    of_bin = [drawn[k] for k in np.argsort(rank)]
    frame = pd.DataFrame(
        {
            "question": question,
            "value": value,
            "density": np.exp(-0.5 * (value - at) ** 2) / np.sqrt(2.0 * np.pi),
            "option": [of_bin[b].option for b in place],
            "label": [of_bin[b].label for b in place],
            "correct": [of_bin[b].correct for b in place],
            "bin": place + 1,
        }
    )
    return frame.sort_values(["bin", "value"], ignore_index=True)


def plot_ordinal(fit: Fit, question: str, ability: float | None = None) -> Chart:
    """Density with bins, scheme and probabilities, side by side."""
    import altair as alt
    import pandas as pd

    at = middle_ability(fit) if ability is None else ability
    drawn = looks(fit, question_index(fit, question))
    area = (
        alt.Chart(records(ordinal_data(fit, question, at)))
        .mark_area(opacity=0.75)
        .encode(
            x=alt.X("value:Q", title="ability plus noise", scale=alt.Scale(nice=False)),
            y=alt.Y("density:Q", title="density", stack=None),
            color=by_option(drawn, symbol="square"),
            detail="bin:O",
        )
    )
    bounds = alt.Chart(records(pd.DataFrame({"value": bins(fit, question)})))
    density = alt.layer(area, bounds.mark_rule(color=INK, strokeDash=[5, 3]).encode(x="value:Q"))
    density = density.properties(width=WIDTH, height=HEIGHT, title=f"{question}: bins at ability {number(at)}")
    panels = alt.hconcat(density, scheme_panel(fit, question, at), probabilities_panel(fit, question, at))
    return styled(apart(panels))
