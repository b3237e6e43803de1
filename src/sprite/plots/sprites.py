"""The sprites of a question: each option's Gaussian over ability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sprite.core.errors import InputError
from sprite.core.types import Floats
from sprite.models.sprite import Sprite
from sprite.plots.ability import POINTS, ability_points
from sprite.plots.drawing import HEIGHT, WIDTH, Chart, lines_by_option, records, styled
from sprite.plots.option_curves import vertical
from sprite.plots.palette import Look, looks, question_index
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def sprites_data(fit: Fit, question: str, points: int = POINTS) -> pd.DataFrame:
    """question, option, label, correct, mu, nu, ability, density: one row an option and ability, at the estimate."""
    if not isinstance(fit.model, Sprite):
        raise InputError(
            "sprites are drawn from fits of the SPRITE model", found=fit.model.name, remedy="Draw its curves instead"
        )
    j = question_index(fit, question)
    rows = slice(fit.responses.first[j], fit.responses.first[j + 1])
    mu, nu = (np.asarray(fit.values[name], float)[rows] for name in ("mu", "nu"))
    return densities(question, looks(fit, j), mu, nu, ability_points(fit, points))


def densities(question: str, drawn: Sequence[Look], mu: Floats, nu: Floats, at: Floats) -> pd.DataFrame:
    """The same for sprites of these means and variances, at these abilities."""
    import pandas as pd

    density = np.exp(-0.5 * (at - mu[:, None]) ** 2 / nu[:, None]) / np.sqrt(2.0 * np.pi * nu[:, None])

    def each(values: object) -> object:
        return np.repeat(np.asarray(values), len(at))

    return pd.DataFrame(
        {
            "question": question,
            "option": each([look.option for look in drawn]),
            "label": each([look.label for look in drawn]),
            "correct": each([look.correct for look in drawn]),
            "mu": each(mu),
            "nu": each(nu),
            "ability": np.tile(at, len(drawn)),
            "density": density.ravel(),
        }
    )


def plot_sprites(fit: Fit, question: str, ability: float | None = None) -> Chart:
    """The Gaussians over populated ability; the highest at an ability is the likeliest choice there."""
    return styled(sprites_panel(fit, question, ability))


def sprites_panel(fit: Fit, question: str, ability: float | None = None, title: str | None = None) -> Chart:
    """The same, to be put beside others."""
    drawn = looks(fit, question_index(fit, question))
    return densities_panel(sprites_data(fit, question), drawn, title or f"Sprites of {question}", ability)


def densities_panel(data: pd.DataFrame, drawn: Sequence[Look], title: str, ability: float | None = None) -> Chart:
    """The lines of `densities`."""
    import altair as alt

    lines = lines_by_option(
        alt.Chart(records(data)),
        drawn,
        x=alt.X("ability:Q", title="ability", scale=alt.Scale(nice=False)),
        y=alt.Y("density:Q", title="density of the sprite"),
        tooltip=["label:N", alt.Tooltip("mu:Q", format=".2f"), alt.Tooltip("nu:Q", format=".2f")],
    )
    layers = [lines] if ability is None else [lines, vertical(ability)]
    return alt.layer(*layers).properties(width=WIDTH, height=HEIGHT, title=alt.TitleParams(title))
