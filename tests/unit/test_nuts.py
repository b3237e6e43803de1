"""NUTS on small tests: against importance sampling, for its refusals, and for what an interruption leaves."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy.stats import multivariate_t

from sprite.core.errors import InputError, SpriteError
from sprite.engines import nuts
from sprite.engines.base import Problem, silent
from sprite.engines.nuts import NUTS, assign
from sprite.models.registry import model_of
from sprite.simulation import simulate

SMALL = NUTS(chains=2, draws=250, warmup=120, starts=2)


def problem_of(name: str, n_respondents: int = 300) -> Problem:
    return Problem(simulate(name, n_respondents, 3, 3, seed=4).responses, model_of(name))


TAILS = (0.1, 0.9)


def importance_sampling(
    problem: Problem, x: np.ndarray, seed: int = 5
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Posterior mean, sd and tail quantiles of x by weights on a heavy-tailed proposal, and their effective size."""
    posterior = problem.posterior(61)
    centre, shape = x.mean(axis=(0, 1)), np.cov(x.reshape(-1, x.shape[-1]).T)
    proposal = multivariate_t(centre, 1.3 * shape, df=6, seed=seed)
    tried = proposal.rvs(6000)
    ranks = posterior.packing.fixed_ranks
    prior = posterior.log_prior(tried, posterior.packing.unpack(tried, ranks))[0].sum(axis=-1)
    log_weight = np.array([posterior.log_likelihoods(at, ranks).sum() for at in tried]) + prior - proposal.logpdf(tried)
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    mean = weight @ tried
    order = np.argsort(tried, axis=0)
    below = np.cumsum(weight[order], axis=0)
    tails = np.array([[tried[order[np.searchsorted(below[:, k], p), k], k] for k in range(len(mean))] for p in TAILS])
    return mean, np.sqrt(weight @ (tried - mean) ** 2), tails, 1 / float(weight @ weight)


@pytest.mark.parametrize("name", ["sprite", "nrm", "gpcm", "ord"])
def test_agrees_with_importance_sampling(name: str) -> None:
    from arviz_stats.base import array_stats

    problem = problem_of(name)
    run = SMALL.run(problem, np.random.default_rng(1), silent)
    assert run.x.shape == (2, 250, problem.posterior(61).packing.n_free)
    assert run.kind == "posterior"
    assert run.grid_error < 0.01
    assert not run.interrupted
    for stat in ("divergent", "acceptance", "n_steps", "log_posterior", "energy"):
        assert run.stats[stat].shape == (2, 250)
    assert run.stats["divergent"].mean() < 0.02
    posterior = problem.posterior(run.n_nodes)
    assert run.stats["log_posterior"][1, -1] == pytest.approx(posterior.evaluate(run.x[1, -1]).value)
    mean, sd, tails, size = importance_sampling(problem, run.x)
    assert size > 200, "the proposal does not cover the posterior: the comparison would say nothing"
    draws = np.moveaxis(run.x, -1, 0)
    ess = array_stats.ess(draws, method="mean")
    error = sd * np.sqrt(1 / ess + 1 / size)
    assert np.abs((draws.mean(axis=(1, 2)) - mean) / error).max() < 4.5
    # Log variances have heavy tails: shares beyond a quantile say more of the width than a deviation.
    for p, quantile in zip(TAILS, tails, strict=True):
        beyond = (draws < quantile[:, None, None]).astype(float)
        error = np.sqrt(p * (1 - p) * (1 / array_stats.ess(beyond, method="mean") + 1 / size))
        assert np.abs((beyond.mean(axis=(1, 2)) - p) / error).max() < 4.5


def test_same_seed_same_draws() -> None:
    problem, engine = problem_of("nrm", 60), NUTS(chains=2, draws=30, warmup=30, starts=1)
    one, two = (engine.run(problem, np.random.default_rng(7), silent) for _ in range(2))
    np.testing.assert_array_equal(one.x, two.x)
    assert not np.array_equal(one.x[0], one.x[1])


def test_progress_reaches_the_end() -> None:
    told: list[tuple[int, int]] = []
    NUTS(chains=1, draws=20, warmup=20, starts=1).run(
        problem_of("gpcm", 40), np.random.default_rng(0), lambda done, total, text: told.append((done, total))
    )
    assert told[0] == (0, 40)
    assert told[-1] == (40, 40)
    assert told == sorted(told)


def test_interruption_keeps_what_was_drawn() -> None:
    def stop(done: int, total: int, text: str) -> None:
        if done > 100:
            raise KeyboardInterrupt

    engine = NUTS(chains=1, draws=5000, warmup=30, starts=1)
    run = engine.run(problem_of("nrm", 40), np.random.default_rng(0), stop)
    assert run.interrupted
    assert 0 < run.x.shape[1] < 5000
    assert run.stats["divergent"].shape == run.x.shape[:2]
    assert "interrupted" in run.messages[0]


def test_interruption_in_warm_up_leaves_nothing() -> None:
    def stop(done: int, total: int, text: str) -> None:
        if text == "sampling":
            raise KeyboardInterrupt

    engine = NUTS(chains=2, draws=50, warmup=5000, starts=1)
    run = engine.run(problem_of("nrm", 40), np.random.default_rng(0), stop)
    assert run.interrupted
    assert run.x.shape[1] == 0


def test_lord_is_refused_with_gibbs_named() -> None:
    with pytest.raises(InputError, match=r"LORD.*Gibbs\(\)"):
        NUTS().run(problem_of("lord", 40), np.random.default_rng(0), silent)


def test_missing_nutpie_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nutpie", None)
    with pytest.raises(SpriteError, match=r"pip install nutpie"):
        NUTS().run(problem_of("nrm", 40), np.random.default_rng(0), silent)


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(InputError, match="chains"):
        NUTS(chains=0)
    with pytest.raises(InputError, match="target_accept"):
        NUTS(target_accept=1.0)


def test_every_mode_that_matters_gets_a_chain() -> None:
    assert assign(np.array([0.97, 0.03]), 4).tolist() == [0, 0, 0, 1]
    assert assign(np.array([0.999, 0.001]), 4).tolist() == [0, 0, 0, 0]
    assert assign(np.array([0.2, 0.5, 0.3]), 2).tolist() == [1, 2]
    assert assign(np.array([1.0]), 3).tolist() == [0, 0, 0]


def test_evidence_shares_of_one_mode() -> None:
    problem = problem_of("nrm", 40)
    posterior = problem.posterior(61)
    modes = nuts.find_modes(posterior, [("keyed", "keyed")], np.random.default_rng(0))
    assert nuts.evidence_shares(posterior, modes).tolist() == [1.0]
