"""Charts of the repeated experiments: what is drawn is what the tables say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sprite.analysis.curves import populated
from sprite.engines.em import EM
from sprite.experiments.compare import compare
from sprite.experiments.reproduce.information import sprites_of
from sprite.fitting import fit
from sprite.plots.extremes import plot_extremes
from sprite.plots.order_agreement import order_agreement_data, plot_order_agreement
from sprite.plots.recovery import PANELS, plot_recovery, recovery_data
from sprite.plots.reproduction import figures
from sprite.plots.saving import save_chart
from sprite.plots.sprites import sprites_data
from sprite.plots.standings import plot_standings, standings_data
from sprite.simulation import simulate

QUICKLY = EM(starts=1, draws=5)


@pytest.fixture(scope="module")
def responses():
    return simulate("sprite", 80, 5, 3, seed=2).responses


@pytest.fixture(scope="module")
def standings(responses):
    """Two tests of a hostile name; the second has another contestant."""
    first, second = (compare(responses, ["sprite", other], QUICKLY, repeats=2) for other in ("nrm", "lord"))
    return pd.concat([first.assign(test="a.b[c]|<x>"), second.assign(test="other")]).assign(engine="em")


def values(spec, part):
    """The data of a part of a chart; Altair keeps all of them in one place."""
    return spec["datasets"][part["data"]["name"]]


def recovery():
    lines = [(n, s, k) for n in (25, 50) for s in ("gibbs", "joint") for k in range(4)]
    frame = pd.DataFrame(lines, columns=["size", "sampler", "replication"])
    for m, name in enumerate(PANELS):
        frame[name] = (m + 1.0) / (1 + frame["replication"])
    return frame


def test_recovery_has_every_replication_of_every_measure():
    frame = recovery()
    data = recovery_data(frame)
    assert len(data) == len(frame) * len(PANELS)
    own = data[(data["measure"] == "E_nu") & (data["replication"] == 1)]
    assert own["error"].tolist() == [1.5] * 4
    spec = plot_recovery(frame).to_dict()
    assert "the paper's sampler, joint acceptance" in str(spec)
    assert "half-sweeps" not in str(spec["vconcat"][0]["hconcat"][0]["layer"][1]["encoding"]["color"]["scale"])


def test_standings_leave_out_whom_they_are_compared_to(standings):
    data = standings_data(standings, "em")
    assert set(data["model"]) == {"NRM", "LORD", "answer shares"}
    line = data[(data["test"] == "other") & (data["model"] == "LORD")].iloc[0]
    known = standings[(standings["test"] == "other") & (standings["model"] == "lord")].iloc[0]
    assert line["difference"] == known["diff_log_loss"]
    assert line["upper"] - line["difference"] == pytest.approx(2 * known["diff_log_loss_se"])


def test_a_contestant_has_one_colour_in_all_standings(standings):
    def colours(frame):
        scale = plot_standings(frame, "em").to_dict()["layer"][2]["encoding"]["color"]["scale"]
        return dict(zip(scale["domain"], scale["range"], strict=True))

    both = colours(standings)
    assert list(both) == ["NRM", "LORD", "answer shares"]
    learned = standings[standings["test"] == "other"].assign(model=lambda frame: frame["model"] + "-learned")
    assert colours(learned)["LORD"] == both["LORD"]


def test_agreement_counts_questions():
    lines = [("t", "lord", "em", tau) for tau in (1.0, 1.0, 0.333, None)]
    frame = pd.DataFrame(lines, columns=["test", "model", "engine", "tau"])
    data = order_agreement_data(frame)
    assert dict(zip(data["tau"], data["questions"], strict=True)) == {1.0: 2, 0.33: 1}
    assert data["row"].unique().tolist() == ["t: LORD by em"]
    spec = plot_order_agreement(frame).to_dict()
    means = values(spec, spec["layer"][1])
    assert means[0]["tau"] == pytest.approx((1.0 + 1.0 + 0.33) / 3, abs=1e-4)


def extremes(found):
    low, high = populated(found)
    parts = [
        pd.DataFrame(sprites_of(found, question)).assign(bits=bits, low=low, high=high, test="exam")
        for question, bits in (("Q1", 0.42), ("Q3", 0.08))
    ]
    return pd.concat(parts, ignore_index=True)


def test_extremes_draw_the_sprites_of_the_fit(responses):
    found = fit(responses, "sprite", QUICKLY)
    spec = plot_extremes(extremes(found)).to_dict()
    left, right = spec["hconcat"]
    assert left["title"]["text"] == "Q1: 0.42 bits"
    drawn = pd.DataFrame(values(spec, right))
    known = sprites_data(found, "Q3")
    assert drawn["label"].tolist() == known["label"].tolist()
    np.testing.assert_allclose(drawn["density"], known["density"], rtol=1e-4, atol=1e-6)


def test_every_figure_can_be_saved(standings, responses, tmp_path):
    tables = {
        "synthetic": recovery(),
        "table1_real": standings,
        "order_agreement": pd.DataFrame([("t", "lord", "em", 1.0)], columns=["test", "model", "engine", "tau"]),
        "information_extremes": extremes(fit(responses, "sprite", QUICKLY)),
    }
    names = []
    for name, chart in figures(tables):
        save_chart(chart, tmp_path / f"{name}.svg")
        names.append(name)
    assert names == ["synthetic", "table1_real_em", "order_agreement", "information_exam"]
    assert all((tmp_path / f"{name}.svg").read_text().startswith("<svg") for name in names)
