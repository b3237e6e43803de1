"""Contestants on many tests: differences in log loss to the first, test by test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sprite.experiments.compare import BASELINE
from sprite.experiments.reproduce.contest import ENGINES
from sprite.plots.comparison import comparison_data
from sprite.plots.drawing import Chart, in_order, records, styled
from sprite.plots.palette import COLOURS, INK

if TYPE_CHECKING:
    import pandas as pd

_WIDTH, _STEP = 420, 11
_NAMES = {
    "sprite": "SPRITE",
    "nrm": "NRM",
    "ord": "ORD",
    "lord": "LORD",
    "gpcm": "GPCM",
    "gpcm-empirical": "GPCM, empirical order",
    BASELINE: "answer shares",
}
"""Contestants as the page calls them, in an order that gives each the same colour in every figure."""


def standings_data(frame: pd.DataFrame, engine: str) -> pd.DataFrame:
    """test, model, score, difference, lower, upper (two standard errors), of one engine; the reference is left out.

    Models go by the names of `_NAMES`, with or without a learned prior.
    """
    import pandas as pd

    parts = []
    for test, group in frame[frame["engine"] == engine].groupby("test", sort=False):
        own = comparison_data(group).assign(test=test)
        parts.append(own[own["model"] != group["model"].iloc[0]])
    if not parts:
        return pd.DataFrame()
    everyone: pd.DataFrame = pd.concat(parts, ignore_index=True)
    everyone["model"] = everyone["model"].map(_name)
    return everyone


def _name(model: str) -> str:
    plain = model.removesuffix("-learned")
    return _NAMES.get(plain, plain)


def plot_standings(frame: pd.DataFrame, engine: str, title: str = "Log loss of hidden answers") -> Chart:
    """A row a test, a point a contestant; right of the line it predicts worse than the reference."""
    import altair as alt
    import pandas as pd

    data = standings_data(frame, engine)
    reference = _name(str(frame["model"].iloc[0]))
    colours = {
        name: COLOURS[k % len(COLOURS)] for k, name in enumerate(dict.fromkeys([*_NAMES.values(), *data["model"]]))
    }
    models = [name for name in colours if name in set(data["model"])]
    tests = list(dict.fromkeys(data["test"]))
    colour = alt.Color(
        "model:N",
        title=None,
        scale=alt.Scale(domain=models, range=[colours[name] for name in models]),
    )
    y = alt.Y("test:N", title=None, scale=in_order(tests), axis=alt.Axis(labelLimit=240, grid=True, tickBand="extent"))
    offset = alt.YOffset("model:N", scale=alt.Scale(domain=models))
    base = alt.Chart(records(data)).encode(y=y, yOffset=offset, color=colour)
    zero = alt.Chart(records(pd.DataFrame({"difference": [0.0]})))
    layers = [
        zero.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="difference:Q"),
        base.mark_rule(strokeWidth=1.5).encode(x="lower:Q", x2="upper:Q"),
        base.mark_point(filled=True, size=36, opacity=1).encode(
            x=alt.X("difference:Q", title=f"log loss less that of {reference} (right: worse)"),
            shape=alt.Shape("model:N", title=None, scale=alt.Scale(domain=models)),
            tooltip=["test:N", "model:N", alt.Tooltip("difference:Q", format="+.4f")],
        ),
    ]
    height = _STEP * (len(models) + 1) * len(tests)
    named = alt.TitleParams(title, subtitle=f"{ENGINES.get(engine, engine)}; lines: two standard errors")
    return styled(alt.layer(*layers).properties(width=_WIDTH, height=height, title=named))
