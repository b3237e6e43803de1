"""Draw the pictures of `docs/models.md`: one question of the bundled example as each model sees it.

Run `python scripts/make_pictures.py`; it writes docs/img/model-*.svg, always the same, in half a minute. The question
is Q33: its key is D and its most tempting distractor E, so that the order of the labels is not that of the options.
"""

from __future__ import annotations

from pathlib import Path

import altair as alt

import sprite
from sprite.plots import plot_option_curves, save_chart

FOLDER = Path(__file__).parents[1] / "docs" / "img"
QUESTION = "Q33"
SEEN = {
    "sprite": ("SPRITE", sprite.Sprite()),
    "nrm": ("NRM", sprite.NRM()),
    "gpcm": ("GPCM, options in label order", sprite.GPCM()),
    "gpcm-empirical": ("GPCM, options ordered by the scores of their choosers", sprite.GPCM(order="empirical")),
    "ord": ("ORD, options in label order", sprite.ORD()),
    "lord": ("LORD", sprite.LORD()),
}


def main() -> None:
    """Fit every model to the example and draw the same question of each fit."""
    responses = sprite.example()
    for name, (title, model) in SEEN.items():
        fit = sprite.fit(responses, model, sprite.EM())
        chart = plot_option_curves(fit, QUESTION).properties(width=380, height=230, title=alt.TitleParams(title))
        save_chart(chart, FOLDER / f"model-{name}.svg")
        print(FOLDER / f"model-{name}.svg")


if __name__ == "__main__":
    main()
