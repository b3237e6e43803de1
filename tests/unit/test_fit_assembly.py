"""Assembling a fit from draws: alignment, point, orientation. `drawn` makes a posterior run for other tests too."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from sprite.data.responses import from_codes
from sprite.density.packing import Packing
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.registry import MODELS
from sprite.models.sprite import Sprite
from sprite.result.assembly import assemble
from sprite.result.fit import Fit
from sprite.result.orientation import reflection
from sprite.result.run import Run
from sprite.simulation import simulate
from tests.cases import MODELS as CASES
from tests.cases import ragged_layout

SIZES = [4, 3, 2, 5, 4, 1]
SYMMETRIC = ("sprite", "nrm", "gpcm")


@lru_cache(maxsize=16)
def small(name: str, n: int = 120) -> Fit:
    """An EM fit of a small ragged test with missing answers."""
    responses = simulate(name, n, len(SIZES), SIZES, observed=0.9, seed=3).responses
    return fit(responses, name, EM(starts=2, draws=50))


def drawn(of: Fit, n_draws: int = 250, n_chains: int = 4, seed: int = 1) -> Run:
    """Draws of the Laplace approximation around the mode, as if a sampler had made them."""
    rng = np.random.default_rng(seed)
    x = rng.multivariate_normal(of.point, of.covariance, size=(n_chains, n_draws), method="cholesky")
    ranks = {k: np.broadcast_to(v, (n_chains, n_draws, len(v))) for k, v in of.point_ranks.items()}
    stats = {"acceptance": np.full((n_chains, n_draws), 0.8), "divergent": np.zeros((n_chains, n_draws))}
    return Run(x=x, ranks=ranks, stats=stats, n_nodes=of.n_nodes, grid_error=of.grid_error)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_reflected_draws_are_brought_back(name: str) -> None:
    of = small(name)
    run = drawn(of)
    signs = reflection(of.model, of.responses.layout, of.packing)
    flip = np.random.default_rng(2).random((4, 250, 1)) < 0.5
    mixed = replace(run, x=np.where(flip, run.x * signs, run.x))
    straight, aligned = (assemble(of.responses, of.model, r) for r in (run, mixed))
    assert np.array_equal(straight.x, aligned.x)
    assert straight.summary().equals(aligned.summary())
    assert straight.orientation == "Estimated ability correlates positively with the share of correct answers."


@pytest.mark.parametrize("name", SYMMETRIC)
def test_a_reversed_estimate_is_turned_with_all_that_belongs_to_it(name: str) -> None:
    of = small(name)
    signs = reflection(of.model, of.responses.layout, of.packing)
    mode = of.modes[0]
    run = Run(of.x * signs, kind="laplace", mode=replace(mode, x=mode.x * signs), n_nodes=of.n_nodes)
    run = replace(run, covariance=of.covariance * np.outer(signs, signs))
    turned = assemble(of.responses, of.model, run)
    for a, b in ((turned.x, of.x), (turned.point, of.point), (turned.covariance, of.covariance)):
        assert np.array_equal(a, b)
    assert np.array_equal(turned.modes[0].x, mode.x)


@pytest.mark.parametrize("name", CASES)
def test_a_reflection_is_a_change_of_signs(name: str) -> None:
    model, layout = CASES[name], ragged_layout()
    packing = Packing(model, layout)
    signs = reflection(model, layout, packing)
    x = np.random.default_rng(0).normal(size=(3, packing.n_free))
    values = packing.unpack(x, {p.name: layout.position for p in packing.discrete if p.fixed is None})
    reflected = model.reflect(values, layout)
    assert (signs is None) == (reflected is None)
    if signs is not None:
        np.testing.assert_allclose(packing.pack(reflected), signs * x, atol=1e-12)


def test_a_reversed_key_of_an_ordered_model_is_said() -> None:
    responses = simulate("ord", 200, 6, 4, seed=4).responses
    wrong = replace(responses, correct=responses.layout.rank == 0)
    found = fit(wrong, "ord", EM(starts=1))
    assert found.orientation.startswith("Ability rises with the order of the options")
    assert any("runs against the share of correct answers" in m for m in found.messages)
    assert not any("runs against" in m for m in fit(responses, "ord", EM(starts=1)).messages)


def test_a_mean_ability_other_than_0_fixes_the_direction() -> None:
    of = small("sprite")
    found = fit(of.responses, Sprite(anchor="none", mu_z=0.5), EM(starts=1, standard_errors=False))
    assert "mean of ability is not 0" in found.orientation


def test_without_a_key_the_scores_of_the_options_decide() -> None:
    of = small("sprite")
    keyless = replace(of.responses, correct=np.zeros_like(of.responses.correct))
    found = fit(keyless, "nrm", EM(starts=1, standard_errors=False))
    assert "no key" in found.orientation
    score = [
        keyless.layout.score[keyless.row[a:b]].mean() for a, b in zip(keyless.start, keyless.start[1:], strict=False)
    ]
    assert np.corrcoef(score, found.ability_moments()[0])[0, 1] > 0


HARD = {
    "one respondent": (np.array([[0, 1, 2]]), True, "leaves the direction open"),
    "one respondent, no key": (np.array([[0, 1, 2]]), False, ""),
    "one question, no key": (np.arange(30)[:, None] % 3, False, "Later options stand at higher ability"),
    "constant": (np.zeros((20, 3), int), True, "Correct options stand at higher ability than the others"),
    "nobody answered": (np.full((5, 3), -1), True, "left as estimated"),
    "an empty respondent": (np.where(np.arange(12)[:, None] == 3, -1, np.arange(36).reshape(12, 3) % 3), True, ""),
}


@pytest.mark.parametrize("case", HARD)
@pytest.mark.parametrize("name", MODELS)
def test_thin_data_give_a_fit_with_a_rule(name: str, case: str) -> None:
    codes, keyed, rule = HARD[case]
    correct = np.tile([True, False, False], codes.shape[1]) if keyed else None
    responses = from_codes(codes, [list("ABC")] * codes.shape[1], correct=correct)
    found = fit(responses, name, EM(starts=1, draws=20))
    mean, sd, mode = found.ability_moments()
    assert np.isfinite([mean, sd, mode]).all()
    assert found.diagnostics.converged
    assert np.isfinite(found.log_likelihood)
    if name in SYMMETRIC[:2]:
        assert rule in found.orientation
    if case == "an empty respondent":
        assert mean[3] == pytest.approx(0.0, abs=1e-6)
        assert sd[3] == pytest.approx(1.0, abs=1e-6)


def test_the_point_of_free_orders_is_the_most_frequent_one() -> None:
    of = small("lord")
    run = drawn(of)
    rank = np.array(run.ranks["rank"])
    rank[:, :50, :4] = rank[:, :50, [1, 0, 2, 3]]
    moved = run.x.copy()
    own = of.packing.question == 0
    moved[:, :50, own] += 100.0
    found = assemble(of.responses, of.model, replace(run, x=moved, ranks={"rank": rank}))
    assert np.array_equal(found.point_ranks["rank"], of.point_ranks["rank"])
    np.testing.assert_allclose(found.point[own], run.x[:, 50:, own].mean(axis=(0, 1)))
    summary = found.summary()
    estimate = summary[summary.parameter == "rank"].estimate
    assert np.array_equal(estimate, of.point_ranks["rank"])


def test_a_run_without_a_grid_gets_a_fine_one() -> None:
    of = small("sprite")
    found = assemble(of.responses, of.model, replace(drawn(of), n_nodes=0))
    assert found.n_nodes >= 61
    assert found.grid_error <= 0.01


def test_a_run_interrupted_before_the_first_draw_still_has_its_mode() -> None:
    of = small("sprite")
    run = Run(np.empty((4, 0, of.n_parameters)), mode=of.modes[0], interrupted=True, n_nodes=of.n_nodes)
    found = assemble(of.responses, of.model, run)
    assert np.array_equal(found.point, of.point)
    assert not found.diagnostics.converged
    assert "too few" in " ".join(found.diagnostics.messages)
    assert len(found.summary()) == len(of.summary())
    assert "NOT converged" in repr(found)
