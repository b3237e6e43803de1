"""The paper's overview figure for one question: sprites, scheme, curves, and probabilities at one ability."""

from __future__ import annotations

from sprite.models.sprite import Sprite
from sprite.plots.drawing import Chart, apart, styled
from sprite.plots.option_curves import curves_panel
from sprite.plots.option_probabilities import middle_ability, probabilities_panel
from sprite.plots.scheme import scheme_panel
from sprite.plots.sprites import sprites_panel
from sprite.result.fit import Fit


def plot_overview(fit: Fit, question: str, ability: float | None = None) -> Chart:
    """The four panels at one ability, the vertical line; other models than SPRITE have no sprites to show."""
    import altair as alt

    at = middle_ability(fit) if ability is None else ability
    curves = curves_panel(fit, question, at)
    first = sprites_panel(fit, question, at) if isinstance(fit.model, Sprite) else None
    top = alt.hconcat(*(panel for panel in (first, scheme_panel(fit, question, at)) if panel is not None))
    below = alt.hconcat(curves, probabilities_panel(fit, question, at))
    return styled(apart(alt.vconcat(apart(top), apart(below))))
