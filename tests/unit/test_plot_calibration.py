"""The picture of calibration shows what is uniform inside its band, and what is not outside."""

from __future__ import annotations

import numpy as np
import pandas as pd

from sprite.plots.calibration import calibration_data, plot_calibration


def counted(ranks: np.ndarray, pair: str) -> pd.DataFrame:
    frame = pd.DataFrame({"quantity": "mu first", "rank": ranks, "draws": 63})
    return frame.groupby(["quantity", "rank", "draws"]).size().reset_index(name="count").assign(pair=pair)


def test_only_what_is_not_uniform_leaves_the_band():
    rng = np.random.default_rng(0)
    fair, skewed = rng.integers(0, 64, 500), rng.binomial(63, 0.6, 500)
    data = calibration_data(pd.concat([counted(fair, "fair"), counted(skewed, "skewed")]))
    outside = (data["difference"] < data["low"]) | (data["difference"] > data["high"])
    share = outside.groupby(data["pair"]).mean()
    assert share["fair, 500 tests"] < 0.1
    assert share["skewed, 500 tests"] > 0.5
    fair_line = data[data["pair"] == "fair, 500 tests"]
    assert np.allclose(fair_line["difference"], [(fair < k).mean() - k / 64 for k in range(1, 64)])


def test_it_is_drawn():
    chart = plot_calibration(counted(np.arange(64).repeat(2), "sprite-gibbs")).to_dict()
    assert "sprite-gibbs, 128 tests" in str(chart)
