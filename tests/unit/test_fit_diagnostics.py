"""Diagnostics of draws: right numbers, right verdicts, words that name what is wrong."""

from __future__ import annotations

from dataclasses import replace

import arviz_stats
import numpy as np
import pytest
from arviz_stats.base import array_stats

from sprite.models.registry import MODELS
from sprite.result.assembly import assemble
from sprite.result.fit import Fit
from sprite.result.mixing import numbers
from tests.unit.test_fit_assembly import drawn, small


def sampled(name: str = "sprite", **changes: object) -> Fit:
    of = small(name)
    return assemble(of.responses, of.model, replace(drawn(of), **changes))


def test_numbers_are_those_of_arviz() -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(6, 4, 101)).cumsum(axis=-1) * 0.1 + rng.normal(size=(6, 4, 101))
    found = numbers(draws)
    np.testing.assert_allclose(found[0], array_stats.rhat(draws, method="rank"))
    np.testing.assert_allclose(found[1], array_stats.ess(draws, method="bulk"))
    np.testing.assert_allclose(found[2], array_stats.ess(draws, method="tail", prob=(0.05, 0.95)))
    np.testing.assert_allclose(found[3], array_stats.mcse(draws, method="mean"))


@pytest.mark.parametrize("name", MODELS)
def test_independent_draws_converge(name: str) -> None:
    of = small(name)
    found = assemble(of.responses, of.model, drawn(of, n_draws=1000)).diagnostics
    assert found.converged, found.messages
    assert found.messages == ()
    assert found.max_rhat < 1.01
    assert found.min_ess_bulk > 2000
    assert found.divergences == 0
    assert found.acceptance == pytest.approx(0.8)


def test_chains_apart_are_named() -> None:
    of = small("sprite")
    run = drawn(of)
    x = run.x.copy()
    entry = int(np.flatnonzero((of.packing.question == 3) & of.packing.exponentiated)[2])
    x[0, :, entry] += 8 * np.sqrt(of.covariance[entry, entry])
    found = assemble(of.responses, of.model, replace(run, x=x)).diagnostics
    assert not found.converged
    assert found.max_rhat > 1.1
    free = [label for k, label in enumerate("ABCDE") if not of.responses.correct[of.responses.first[3] + k]]
    assert f"log_nu of Q4[{free[2]}]" in found.messages[0]
    assert "more draws" in found.messages[0]


def test_slow_chains_say_how_many_more_draws() -> None:
    of = small("sprite")
    run = drawn(of, n_draws=100)
    found = assemble(of.responses, of.model, replace(run, x=np.repeat(run.x, 10, axis=1), stats={})).diagnostics
    assert not found.converged
    assert found.min_ess_bulk < 400
    assert any("times as many draws" in m for m in found.messages)


def test_divergences_and_interruption_are_said() -> None:
    divergent = np.zeros((4, 250))
    divergent[1, :3] = 1
    found = sampled(stats={"divergent": divergent}, interrupted=True).diagnostics
    assert found.divergences == 3
    assert found.interrupted
    assert not found.converged
    assert "3 of 1,000 steps diverged" in " ".join(found.messages)
    assert "interrupted" in " ".join(found.messages)


def test_what_the_engine_has_said_is_not_said_again() -> None:
    stats = {
        "divergent": np.ones((4, 250)),
        "acceptance_a": np.full((4, 250), 0.2),
        "acceptance_b": np.full((4, 250), 0.4),
    }
    found = sampled(stats=stats, interrupted=True, messages=("1,000 draws diverged, interrupted",)).diagnostics
    assert sum("diverge" in m for m in found.messages) == 1
    assert sum("interrupted" in m for m in found.messages) == 1
    assert found.acceptance == pytest.approx(0.3)


def test_frozen_chains_are_not_called_converged() -> None:
    of = small("sprite")
    run = drawn(of)
    same = assemble(of.responses, of.model, replace(run, x=np.broadcast_to(of.point, run.x.shape).copy()))
    assert not same.diagnostics.converged
    assert "never moved" in " ".join(same.diagnostics.messages)
    apart = np.broadcast_to(run.x[:, :1], run.x.shape).copy()
    each = assemble(of.responses, of.model, replace(run, x=apart)).diagnostics
    assert each.max_rhat > 100
    assert not each.converged


def test_one_chain_is_judged_by_its_halves() -> None:
    of = small("nrm")
    found = assemble(of.responses, of.model, drawn(of, n_draws=2000, n_chains=1)).diagnostics
    assert found.converged, found.messages


def test_an_estimate_has_a_gradient_and_no_rhat() -> None:
    found = small("sprite").diagnostics
    assert found.converged
    assert found.max_rhat is None
    assert found.min_ess_bulk is None
    assert found.gradient_norm < 2e-3
    assert found.n_modes >= 1


def test_a_second_mode_nearly_as_good_is_said() -> None:
    of = small("sprite")
    for below, words in ((1.5, "only 1.5 below"), (20.0, None)):
        other = replace(of.modes[0], log_posterior=of.modes[0].log_posterior - below)
        messages = " ".join(replace(of, modes=(of.modes[0], other)).diagnostics.messages)
        assert (words in messages) if words else ("Another mode" not in messages)


def test_a_grid_too_coarse_is_said() -> None:
    assert "too coarse" in " ".join(replace(small("nrm"), grid_error=0.5).diagnostics.messages)


@pytest.mark.parametrize("name", MODELS)
def test_the_table_has_every_free_parameter(name: str) -> None:
    found = sampled(name)
    table, summary = found.diagnostics_table(), found.summary()
    assert len(table) == (~summary.fixed).sum()
    assert set(table.columns) == {"question", "option", "step", "parameter", "rhat", "ess_bulk", "ess_tail", "mcse"}
    if name == "sprite":
        assert set(table.parameter) == {"mu", "log_nu"}
        assert table.rhat.max() == found.diagnostics.max_rhat


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("posterior", [False, True])
def test_arviz_takes_the_draws_as_they_are(name: str, posterior: bool) -> None:
    of = sampled(name) if posterior else small(name)
    tree = of.to_arviz()
    table = arviz_stats.summary(tree, round_to="none")
    assert np.isfinite(table["mean"]).all()
    if posterior:
        ours = of.diagnostics_table()
        wanted = ours[ours.parameter != "rank"].rhat.max()
        rhat = [float(value.max()) for name, value in arviz_stats.rhat(tree).data_vars.items() if name != "nu"]
        assert max(rhat) == pytest.approx(wanted)
        assert {"diverging", "acceptance_rate"} <= set(tree["sample_stats"].data_vars)
    assert len(tree["observed_data"]["option"]) == of.responses.n_answers
