"""Whether the chains agree: traces and ranks of the worst parameters, R-hat and effective draws of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from sprite.core.errors import SpriteError
from sprite.core.types import Floats
from sprite.plots.drawing import WIDTH, Chart, records, styled
from sprite.plots.palette import COLOURS, INK, KEY_COLOUR
from sprite.result.diagnostics import MAX_RHAT, MIN_ESS
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

_TRACE = 400  # draws of a chain that a trace shows
_BINS = 20


def worst_parameters(fit: Fit, n: int = 3) -> dict[str, Floats]:
    """The draws, (chain, draw), of the parameters with the largest R-hat, by name; variances as logarithms."""
    if not fit.mixing:
        raise SpriteError(
            "there are no chains to draw: this fit is an estimate. Fit with Gibbs(), NUTS() or Metropolis() for chains"
        )
    ranked = sorted(
        (
            (float(m.rhat[k]), f"{m.name} of {words}", m, k)
            for m in fit.mixing
            for k, words in enumerate(m.entries.words())
            if np.isfinite(m.rhat[k])
        ),
        key=lambda entry: (-entry[0], entry[1]),
    )
    out: dict[str, Floats] = {}
    for rhat, name, m, k in ranked[:n]:
        draws = np.asarray(fit.draws[m.entries.name], float)[..., k]
        out[f"{name} (R-hat {rhat:.3f})"] = np.log(draws) if m.entries.on_log_scale else draws
    return out


def chains_data(fit: Fit, n: int = 3) -> pd.DataFrame:
    """parameter, chain, draw, value, rank: the draws of the worst `n` parameters; `rank` is over all chains."""
    import pandas as pd

    parts = []
    for name, draws in worst_parameters(fit, n).items():
        chain, draw = np.indices(draws.shape)
        parts.append(
            pd.DataFrame(
                {
                    "parameter": name,
                    "chain": chain.ravel() + 1,
                    "draw": draw.ravel() + 1,
                    "value": draws.ravel(),
                    "rank": rankdata(draws.ravel()),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def rank_histogram_data(fit: Fit, n: int = 3) -> pd.DataFrame:
    """parameter, chain, bin, count: chains that agree have about equal counts in all bins."""
    frame = chains_data(fit, n)
    top = frame.groupby("parameter")["rank"].transform("count")
    frame["bin"] = np.minimum(((frame["rank"] - 0.5) / top * _BINS).astype(int), _BINS - 1) + 1
    counted = frame.groupby(["parameter", "chain", "bin"], sort=False).size().rename("count")
    return counted.reset_index().sort_values(["parameter", "chain", "bin"], ignore_index=True)


def plot_chains(fit: Fit) -> Chart:
    """A trace and a rank histogram for each of the worst parameters, below them R-hat over effective draws of all."""
    import altair as alt

    draws, ranks = chains_data(fit), rank_histogram_data(fit)
    step = max(1, fit.n_draws // _TRACE)
    colours = [KEY_COLOUR, *COLOURS]
    colour = alt.Color(
        "chain:N", scale=alt.Scale(domain=list(range(1, fit.n_chains + 1)), range=colours[: fit.n_chains])
    )
    rows = []
    for name in draws["parameter"].unique():
        shown = draws[(draws["parameter"] == name) & (draws["draw"] % step == 0)]
        trace = alt.Chart(records(shown)).mark_line(strokeWidth=0.8, opacity=0.8)
        trace = trace.encode(
            x=alt.X("draw:Q", scale=alt.Scale(nice=False)),
            y=alt.Y("value:Q", scale=alt.Scale(zero=False)),
            color=colour,
        )
        counts = alt.Chart(records(ranks[ranks["parameter"] == name])).mark_line(interpolate="step", strokeWidth=1.5)
        counts = counts.encode(
            x=alt.X("bin:Q", title="rank, in 20 bins"), y=alt.Y("count:Q", title="draws"), color=colour
        )
        rows.append(
            alt.hconcat(trace.properties(width=WIDTH, height=110, title=name), counts.properties(width=220, height=110))
        )
    return styled(alt.vconcat(*rows, _overview(fit)))


def _overview(fit: Fit) -> Chart:
    import altair as alt
    import pandas as pd

    table = fit.diagnostics_table().replace([np.inf, -np.inf], np.nan).dropna(subset=["rhat", "ess_bulk"])
    table = table.assign(name=table["parameter"] + " of " + table["question"] + "[" + table["option"].fillna("") + "]")
    points = (
        alt.Chart(records(table[["name", "rhat", "ess_bulk"]]))
        .mark_point(filled=True, size=18, opacity=0.6, color=KEY_COLOUR)
        .encode(
            x=alt.X("ess_bulk:Q", title="effective draws (bulk)", scale=alt.Scale(type="log")),
            y=alt.Y("rhat:Q", title="R-hat", scale=alt.Scale(zero=False)),
            tooltip=["name:N", alt.Tooltip("rhat:Q", format=".4f"), alt.Tooltip("ess_bulk:Q", format=".0f")],
        )
    )
    limits = alt.Chart(records(pd.DataFrame({"rhat": [MAX_RHAT], "ess_bulk": [MIN_ESS]})))
    lines = [
        limits.mark_rule(color=INK, strokeDash=[4, 3]).encode(y="rhat:Q"),
        limits.mark_rule(color=INK, strokeDash=[4, 3]).encode(x="ess_bulk:Q"),
    ]
    return alt.layer(*lines, points).properties(
        width=WIDTH, height=200, title="All parameters: below and right of the dashed lines is good"
    )
