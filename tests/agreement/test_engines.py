"""The engines against each other, against enumeration, and EM and the grid against theory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

from sprite.data.responses import from_codes
from sprite.density.grid import grid_for
from sprite.density.information import observed_information
from sprite.density.posterior import Posterior
from sprite.engines.base import Problem, silent
from sprite.engines.em import EM
from sprite.engines.gibbs import Gibbs
from sprite.engines.metropolis import Metropolis
from sprite.engines.nuts import NUTS
from sprite.engines.search import find_modes
from sprite.fitting import fit
from sprite.models.lord import LORD
from sprite.models.nrm import NRM
from sprite.models.ord import ORD
from sprite.models.registry import model_of
from sprite.simulation import simulate

ALERT, FAIL = 4.0, 6.0
"""Monte Carlo standard errors apart: said aloud, and failed."""
MODELS = ["sprite", "nrm", "gpcm", "ord", "lord"]


def assert_near(gaps: dict[str, np.ndarray]) -> None:
    worst = {name: float(np.abs(gap).max()) for name, gap in gaps.items()}
    if max(worst.values()) > ALERT:
        print("ALERT: standard errors apart", worst)
    assert max(worst.values()) < FAIL, worst


def compare(one, other) -> dict[str, np.ndarray]:
    """Differences of means and deviations of every free parameter of two fits, in standard errors."""
    from arviz_stats.base import array_stats

    moments = []
    for found in (one, other):
        draws = np.moveaxis(found.x, -1, 0)
        of = [("mean", draws.mean(axis=(1, 2))), ("sd", draws.std(axis=(1, 2)))]
        moments.append({name: (value, array_stats.mcse(draws, method=name)) for name, value in of})
    return {
        name: (moments[0][name][0] - moments[1][name][0]) / np.hypot(moments[0][name][1], moments[1][name][1])
        for name in ("mean", "sd")
    }


@pytest.mark.parametrize("name", ["sprite", "nrm", "gpcm", "ord"])
def test_gibbs_and_nuts_agree(name: str) -> None:
    responses = simulate(name, 120, 6, 3, seed=5).responses
    one = fit(responses, name, Gibbs(chains=2, draws=800, warmup=200, starts=1), seed=1)
    other = fit(responses, name, NUTS(chains=2, draws=300, warmup=150, starts=1), seed=2)
    assert_near(compare(one, other))


def test_gibbs_and_metropolis_agree() -> None:
    responses = simulate("sprite", 60, 4, 3, seed=6).responses
    one = fit(responses, "sprite", Gibbs(chains=2, draws=800, warmup=200, starts=1), seed=1)
    other = fit(responses, "sprite", Metropolis(chains=2, warmup=2000, draws=8000, thin=10), seed=2)
    assert_near(compare(one, other))


def test_gibbs_finds_lords_orders_as_often_as_enumeration() -> None:
    """Two questions of three options: all 36 pairs of orders, bounds by quadrature, within the upright half."""
    model = LORD(nu_alpha=1.5, nu_gamma=1.2)
    codes = np.array([[1, 0], [0, 1], [2, 1], [1, 1], [1, 0], [0, 2], [2, 1]])
    correct = np.tile([False, True, False], 2)
    responses = from_codes(codes, [["A", "B", "C"]] * 2, correct=correct)
    lean = (responses.layout.count * responses.layout.score).reshape(2, 3)
    z = np.linspace(-5.0, 5.0, 31)
    weight = np.exp(-0.5 * z**2)
    orders = np.array(list(itertools.permutations(range(3))))
    alpha, x = (a.ravel() for a in np.meshgrid(np.linspace(-4.5, 4.5, 19), np.linspace(-5.0, 1.6, 23), indexing="ij"))
    prior = np.tile(np.exp(-0.5 * alpha**2 / 1.5 + x - 0.5 * np.exp(x) ** 2 / 1.2), 6)
    edges = np.stack([np.full_like(x, -np.inf), 0.0 * x, np.exp(x), np.full_like(x, np.inf)])
    by_rank = np.diff(ndtr(edges[:, :, None] - (z - alpha[:, None])), axis=0)
    p = np.concatenate([by_rank[order] for order in orders], axis=1)
    means = ((p * weight) @ z / (p @ weight)).T
    density = np.outer(prior, prior)
    for a, b in codes:
        density *= (p[a] * weight) @ p[b].T
    density[(means @ lean[0])[:, None] + means @ lean[1] < 0.0] = 0.0
    cells = density.reshape(6, len(x), 6, len(x)).sum(axis=(1, 3)) / density.sum()

    # Orders follow one another closely, so that only whole chains are independent enough to tell the error.
    run = Gibbs(chains=32, draws=1500, warmup=200, nodes=31).run(
        Problem(responses, model), np.random.default_rng(3), silent
    )
    rank = run.ranks["rank"].reshape(32, 1500, 2, 3)
    gaps = {}
    for j, truth in enumerate((cells.sum(axis=1), cells.sum(axis=0))):
        by_chain = (rank[:, :, j, None, :] == orders).all(axis=-1).mean(axis=1)
        error = np.maximum(by_chain.std(axis=0, ddof=1) / np.sqrt(len(by_chain)), 1e-4)
        assert error.max() < 0.03  # or the check would be blind
        gaps[f"question {j + 1}"] = (by_chain.mean(axis=0) - truth) / error
    assert cells.sum(axis=1).max() < 0.9  # or there would be nothing to get wrong
    assert_near(gaps)


# --- EM ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_em_ends_no_worse_than_it_began_and_at_a_mode(name: str) -> None:
    responses = simulate(name, 80, 5, 3, kind="prior", seed=8).responses
    posterior = Problem(responses, model_of(name)).posterior(61)
    for kind in ("keyed", "score", "random"):
        values = posterior.model.start(posterior.layout, kind, np.random.default_rng(1))
        ranks = {p.name: np.asarray(values[p.name], np.int64) for p in posterior.packing.discrete}
        begin = posterior.evaluate(posterior.packing.pack(values), ranks).value
        (mode,) = find_modes(posterior, [(kind, kind)], np.random.default_rng(1))
        assert mode.log_posterior >= begin
        assert mode.converged
        assert np.abs(posterior.evaluate(mode.x, mode.ranks).gradient).max() < 0.05
        # A mode: nothing near it is better.
        near = mode.x + 0.05 * np.random.default_rng(2).standard_normal((40, len(mode.x)))
        assert max(posterior.evaluate(x, mode.ranks).value for x in near) < mode.log_posterior


@pytest.mark.parametrize("name", MODELS)
def test_standard_errors_are_those_of_the_numerical_hessian(name: str) -> None:
    responses = simulate(name, 150, 4, 3, seed=9).responses
    found = fit(responses, name, EM(starts=2, draws=10))
    posterior = Posterior(responses, found.model, grid_for(found.model.ability, found.n_nodes))
    step = 1e-4
    hessian = np.array(
        [
            posterior.evaluate(found.point + step * e, found.point_ranks).gradient
            - posterior.evaluate(found.point - step * e, found.point_ranks).gradient
            for e in np.eye(len(found.point))
        ]
    ) / (2 * step)
    np.testing.assert_allclose(
        observed_information(posterior, found.point, found.point_ranks), -hessian, rtol=1e-4, atol=1e-4
    )
    np.testing.assert_allclose(found.covariance, np.linalg.inv(-hessian), rtol=1e-3, atol=1e-5)


def test_standard_errors_at_infinity_are_refused_with_the_reason() -> None:
    codes = np.random.default_rng(1).integers(0, 2, (60, 4))
    responses = from_codes(codes, [["A", "B", "C"]] * 4, correct=np.tile([True, False, False], 4))  # nobody chose C
    found = fit(responses, NRM(prior=None), EM(starts=1))
    assert found.covariance is None
    assert "infinity" in found.refusal or "not a mode" in found.refusal
    assert found.n_draws == 0


# --- the grid ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", [EM(starts=1, nodes=9), Gibbs(chains=1, draws=20, warmup=20, starts=1, nodes=9)])
def test_a_coarse_grid_is_refined(engine) -> None:
    responses = simulate("nrm", 60, 60, 3, seed=2).responses
    found = fit(responses, "nrm", engine)
    assert found.n_nodes >= 33
    assert found.grid_error <= 0.01
    exact = Posterior(responses, found.model, grid_for(found.model.ability, 1601)).log_likelihoods(found.point).sum()
    assert found.log_likelihood == pytest.approx(exact, abs=0.02)
    coarse = Posterior(responses, found.model, grid_for(found.model.ability, 9)).log_likelihoods(found.point).sum()
    assert abs(coarse - exact) > 1.0  # what the user would have been told


def test_quadrature_error_falls_as_theory_says() -> None:
    """P(correct) under ORD with two options is Phi(-alpha / sqrt(1 + nu)) in closed form."""
    model = ORD(nu_theta=1.5)
    responses = from_codes([[0]], [["A", "B"]])
    alpha = 0.7
    truth = log_ndtr(alpha / np.sqrt(1.0 + model.nu_theta))
    nodes = np.array([7, 9, 11, 13, 15])
    error = np.array(
        [
            abs(
                Posterior(responses, model, grid_for(model.ability, int(n))).log_likelihoods(np.array([alpha]))[0]
                - truth
            )
            for n in nodes
        ]
    )
    # An even grid on a bell of width s at spacing h: errors of order exp(-2 (pi s / h)^2), here with s near 1 or less.
    spacing = 12.0 / (nodes - 1)
    assert (np.diff(error) < 0).all()
    rate = np.diff(np.log(error)) / np.diff(1.0 / spacing**2)
    assert (rate < -5.0).all(), rate
    assert (rate > -2.0 * np.pi**2 - 3.0).all(), rate
    fine = Posterior(responses, model, grid_for(model.ability, 61)).log_likelihoods(np.array([alpha]))[0]
    assert fine == pytest.approx(truth, abs=1e-8)


def test_monte_carlo_error_falls_with_the_root_of_the_draws() -> None:
    """Nine times the draws bring the means of two chains to a third of the distance, give or take."""
    responses = simulate("gpcm", 60, 4, 3, seed=3).responses
    run = Gibbs(chains=16, draws=360, warmup=100, starts=1).run(
        Problem(responses, model_of("gpcm")), np.random.default_rng(1), silent
    )
    short, long = (run.x[:, :n].mean(axis=1).std(axis=0) for n in (40, 360))
    assert 1.5 < np.median(short / long) < 5.0
