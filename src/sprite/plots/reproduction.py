"""The figures of the repeated experiments, by the names of their files, from the tables behind them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sprite.plots.drawing import Chart
from sprite.plots.extremes import plot_extremes
from sprite.plots.order_agreement import plot_order_agreement
from sprite.plots.recovery import plot_recovery
from sprite.plots.standings import plot_standings

if TYPE_CHECKING:
    import pandas as pd

_STANDINGS = {
    "table1_real": "Log loss of hidden answers, tests given",
    "table1_simulated": "Log loss of hidden answers, by shape and truth",
    "table1_simulated_all_learned": "Log loss of hidden answers with learned priors, by shape and truth",
    "table1_prior": "Log loss of hidden answers, by shape and prior",
    "order_loss": "Log loss with given and with learned orders",
}


def figures(tables: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, Chart]]:
    """What can be drawn of these tables."""
    if "synthetic" in tables:
        yield "synthetic", plot_recovery(tables["synthetic"])
    for name, title in _STANDINGS.items():
        if name in tables:
            for engine in dict.fromkeys(tables[name]["engine"]):
                yield f"{name}_{engine}", plot_standings(tables[name], engine, title)
    if "order_agreement" in tables:
        yield "order_agreement", plot_order_agreement(tables["order_agreement"])
    if "information_extremes" in tables:
        for test, own in tables["information_extremes"].groupby("test", sort=False):
            safe = re.sub(r"\W+", "_", str(test)).strip("_")
            yield f"information_{safe}", plot_extremes(own)
