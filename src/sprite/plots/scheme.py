"""The likelihood model of a question drawn as a scheme: from ability through the options to the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sprite.core.readable import number
from sprite.models.base import Model
from sprite.plots.drawing import HEIGHT, WIDTH, Chart, records, styled
from sprite.plots.option_probabilities import option_probabilities_data
from sprite.plots.palette import INK, MUTED, looks, question_index
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

_HOW = {
    "sprite": "each divided by their sum",
    "nrm": "each divided by their sum",
    "gpcm": "each divided by their sum",
    "ord": "ability plus noise falls into one bin",
    "lord": "ability plus noise falls into one bin",
}
_LONGEST = 13  # signs of a label that leave room for its formula; `option` has all of it


def scheme_data(fit: Fit, question: str, ability: float | None = None) -> pd.DataFrame:
    """One row a box or arrow of the scheme.

    part
        `ability`, `option`, `rule`, `answer` for boxes, `arrow` for arrows.
    x, y, x2, y2
        The place of a box, or where an arrow begins and ends (0 to 4 across, one unit an option down).
    text
        What stands in it.
    option, correct, probability
        For boxes of options: the label, whether it is correct, and its probability at that ability.
    """
    import pandas as pd

    j = question_index(fit, question)
    shares = option_probabilities_data(fit, question, ability)
    n, at = len(shares), float(shares["ability"].iloc[0])
    middle = (n - 1) / 2
    lines: list[dict[str, object]] = [{"part": "ability", "x": 0.0, "y": middle, "text": f"Z = {number(at)}"}]
    for k, (label, share) in enumerate(zip(shares["label"], shares["probability"], strict=True)):
        short = label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1]}…"
        text = f"{short}: {_formula(fit.model, fit, j, k)}"
        option = {"option": shares["option"][k], "correct": bool(shares["correct"][k]), "probability": float(share)}
        lines.append({"part": "option", "x": 1.1, "y": float(k), "text": text, **option})
        lines.append({"part": "answer", "x": 4.0, "y": float(k), "text": f"{share:.0%}", **option})
        lines.append({"part": "arrow", "x": 0.3, "y": middle, "x2": 0.5, "y2": float(k), **option})
        lines.append({"part": "arrow", "x": 1.72, "y": float(k), "x2": 2.0, "y2": middle, **option})
        lines.append({"part": "arrow", "x": 3.2, "y": middle, "x2": 3.8, "y2": float(k), **option})
    lines.append({"part": "rule", "x": 2.6, "y": middle, "text": _HOW.get(fit.model.name, "normalised")})
    columns = ["part", "x", "y", "x2", "y2", "text", "option", "correct", "probability"]
    return pd.DataFrame(lines, columns=columns)


def _formula(model: Model, fit: Fit, j: int, k: int) -> str:
    """The option's own term of the likelihood, with its estimates."""
    row = int(fit.responses.first[j]) + k
    if model.name == "sprite":
        mu, nu = (float(np.asarray(fit.values[name])[row]) for name in ("mu", "nu"))
        return f"N(Z | {number(mu)}, {number(nu)})"
    if model.name == "nrm":
        slope, intercept = (float(np.asarray(fit.values[name])[row]) for name in ("slope", "intercept"))
        return f"exp({number(slope)} Z {number(intercept, sign=True)})"
    if "rank" in fit.values:
        return f"bin {int(np.asarray(fit.values['rank'])[row]) + 1}"
    return "f(Z)"


def plot_scheme(fit: Fit, question: str, ability: float | None = None) -> Chart:
    """Boxes and arrows; the thickness of an arrow to an answer is its probability at that ability."""
    return styled(scheme_panel(fit, question, ability))


def scheme_panel(fit: Fit, question: str, ability: float | None = None) -> Chart:
    """The same, to be put beside others."""
    import altair as alt

    drawn = looks(fit, question_index(fit, question))
    frame = scheme_data(fit, question, ability)
    x = alt.X("x:Q", scale=alt.Scale(domain=[-0.3, 4.3], nice=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[len(drawn) - 0.4, -0.6], nice=False), axis=None)
    colour = alt.Color(
        "option:N",
        scale=alt.Scale(domain=[look.option for look in drawn], range=[look.colour for look in drawn]),
        legend=None,
    )
    arrows = frame[frame["part"] == "arrow"]
    layers: list[Chart] = [
        alt.Chart(records(arrows[arrows["x"] < 3]))
        .mark_rule(color=MUTED, strokeWidth=0.8)
        .encode(x, y, x2="x2:Q", y2="y2:Q"),
        alt.Chart(records(arrows[arrows["x"] > 3]))
        .mark_rule()
        .encode(
            x,
            y,
            x2="x2:Q",
            y2="y2:Q",
            color=colour,
            strokeWidth=alt.StrokeWidth("probability:Q", scale=alt.Scale(domain=[0, 1], range=[0.5, 12]), legend=None),
        ),
    ]
    for part, size in (("ability", 12), ("option", 11), ("rule", 10), ("answer", 12)):
        own = frame[frame["part"] == part]
        right = own["correct"].eq(True)
        for boxes, weight in ((own[~right], "normal"), (own[right], "bold")):
            look: Any = {"fontSize": size, "color": INK, "limit": 190, "fontWeight": weight}
            text = alt.Chart(records(boxes)).mark_text(**look)
            layers.append(text.encode(x, y, text="text:N"))
    title = alt.TitleParams(f"How {question} is answered", subtitle="from ability Z through the options to the answer")
    return alt.layer(*layers).properties(width=WIDTH + 160, height=max(HEIGHT // 2, 34 * len(drawn)), title=title)
