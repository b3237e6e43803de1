"""The grid that checks itself, against another method, where abilities are sharp and where they are far out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from sprite.data.responses import from_codes
from sprite.density.grid import REACH, grid_for
from sprite.density.posterior import Posterior
from sprite.density.refinement import TOLERANCE, checked, refined
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.nrm import NRM
from sprite.models.sprite import Sprite
from sprite.simulation import simulate

QUESTIONS = 30


def at(slope: float, place: float) -> tuple[Posterior, np.ndarray, float]:
    """Questions all alike, whose options cross at `place`, all answered by the upper one; and the exact likelihood."""
    responses = from_codes(np.ones((1, QUESTIONS), dtype=int), [["a", "b"]] * QUESTIONS)
    posterior = Posterior(responses, NRM(), grid_for(NRM().ability, 61))
    slopes, intercepts = np.array([-slope, slope]) / 2, np.array([slope, -slope]) * place / 2
    x = posterior.packing.pack({"slope": np.tile(slopes, QUESTIONS), "intercept": np.tile(intercepts, QUESTIONS)})

    def density(z: float) -> float:
        return float(np.exp(-0.5 * z * z - QUESTIONS * np.logaddexp(0.0, -slope * (z - place))) / np.sqrt(2 * np.pi))

    exact = np.log(quad(density, -40.0, 40.0, points=[0.0, place], epsabs=0.0, limit=500)[0])
    return posterior, x, float(exact)


@pytest.mark.parametrize(("slope", "place", "reach"), [(1.0, 0.0, REACH), (30.0, 1.0, REACH), (3.0, 9.0, 2 * REACH)])
def test_the_likelihood_is_right_once_the_grid_is_good_enough(slope: float, place: float, reach: float) -> None:
    posterior, x, exact = at(slope, place)
    better, error = checked(posterior, [(x, {})])
    assert error <= TOLERANCE
    assert better.grid.reach == reach
    assert float(better.log_likelihoods(x).sum()) == pytest.approx(exact, abs=2 * TOLERANCE)


def test_a_grid_that_ends_too_early_is_told_from_one_that_is_too_coarse() -> None:
    for slope, place, wide in ((30.0, 1.0, False), (3.0, 9.0, True)):
        posterior, x, _ = at(slope, place)
        error, other = refined(posterior, [(x, {})])
        assert error > TOLERANCE
        assert (other.grid.reach > posterior.grid.reach) == wide
        assert np.isin(posterior.grid.nodes.round(9), other.grid.nodes.round(9)).all()


def test_far_more_questions_than_respondents() -> None:
    """The mode then puts abilities outside the usual grid, and the covariance would be a matrix of many millions."""
    responses, _ = simulate("sprite", 12, 1600, 3, seed=1)
    found = fit(responses, Sprite(), EM(starts=1))
    assert found.diagnostics.converged
    assert found.grid_error <= TOLERANCE
    assert found.reach > REACH
    assert np.abs(found.ability_moments()[0]).max() < found.reach - 1
    assert "6,400 parameters are too many" in found.refusal


def test_a_mode_that_puts_abilities_far_out_says_so() -> None:
    """Twenty respondents to eighty questions of eight options; two hundred to twenty of four."""
    engine = EM(starts=1, standard_errors=False)
    few, many = (simulate(Sprite(), *sizes, seed=1).responses for sizes in ((20, 80, 8), (200, 20, 4)))
    assert "times as far out" in fit(few, Sprite(), engine).diagnostics.messages[0]
    assert not any("far out" in message for message in fit(many, Sprite(), engine).diagnostics.messages)
