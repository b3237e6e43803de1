"""The sampler against brute-force integration on a test of two questions, where every moment can be computed."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import logsumexp, ndtr

from sprite.data.responses import from_codes
from sprite.engines.base import Problem
from sprite.engines.metropolis import Metropolis
from sprite.engines.metropolis_chain import Chain, Steps, Target
from sprite.models.lord import LORD
from sprite.models.sprite import Sprite

# Nothing here is symmetric, so that no error of sign can hide.
MODEL = Sprite(nu_mu=1.5, alpha=3.0, beta=2.0, mu_z=0.4, nu_z=1.3)
CODES = np.array([[1, 1], [0, 1], [1, -1], [0, 0]])
STEPS = Steps(z=2.0, mu=1.0, shape_nu=3.0, other=None, joint=False, exact=True)
ALERT, FAIL = 3.0, 4.5
"""Standard errors away from the truth: said aloud, and failed."""
NAMES = ("mean mu", "mean log nu", "var mu", "var log nu", "mean z", "mean z^2")


@dataclass(frozen=True)
class Exact:
    """Moments of x (mu and log nu of each question's free option) and of z, in the order of NAMES."""

    moments: tuple[np.ndarray, ...]


def integrated(model: Sprite = MODEL) -> Exact:
    """Sums over a grid of (mu, log nu) for each question and of z for each respondent."""
    mu, log_nu = np.meshgrid(np.linspace(-6.0, 6.0, 41), np.linspace(-2.5, 5.0, 41), indexing="ij")
    mu, log_nu = mu.ravel(), log_nu.ravel()
    prior = -0.5 * mu**2 / model.nu_mu - model.alpha * log_nu - model.beta * np.exp(-log_nu)
    z = model.mu_z + np.sqrt(model.nu_z) * np.linspace(-6.0, 6.0, 61)
    weight = -0.5 * (z - model.mu_z) ** 2 / model.nu_z
    free = -0.5 * log_nu[:, None] - 0.5 * (z - mu[:, None]) ** 2 * np.exp(-log_nu)[:, None]
    anchored = np.broadcast_to(-0.5 * z**2, free.shape)
    total = np.logaddexp(free, anchored)
    # Question 1's option B and question 2's option A carry the anchor.
    p = [[np.exp(free - total), np.exp(anchored - total)], [np.exp(anchored - total), np.exp(free - total)]]

    def of_answers(codes: np.ndarray, power: int) -> np.ndarray:
        first, second = (1.0 if k < 0 else p[j][k] for j, k in enumerate(codes))
        ones = np.ones_like(free)
        return (first * ones * np.exp(weight) * z**power) @ (second * ones).T

    level = [of_answers(codes, 0) for codes in CODES]
    log_density = sum(np.log(part) for part in level) + prior[:, None] + prior[None, :]
    density = np.exp(log_density - logsumexp(log_density))
    margins = density.sum(axis=1), density.sum(axis=0)
    mean = np.array([[m @ mu, m @ log_nu] for m in margins])
    square = np.array([[m @ mu**2, m @ log_nu**2] for m in margins])
    variance = square - mean**2
    of_z = [
        np.array([np.sum(density * of_answers(c, k) / part) for c, part in zip(CODES, level, strict=True)])
        for k in (1, 2)
    ]
    return Exact((mean[:, 0], mean[:, 1], variance[:, 0], variance[:, 1], of_z[0], of_z[1]))


@pytest.fixture(scope="module")
def exact() -> Exact:
    return integrated()


def side_by_side(copies: int):
    """The same small test many times over in one table: copies share neither respondents nor questions."""
    table = np.full((4 * copies, 2 * copies), -1)
    for c in range(copies):
        table[4 * c : 4 * c + 4, 2 * c : 2 * c + 2] = CODES
    return from_codes(table, [["A", "B"]] * 2 * copies, correct=np.tile([False, True, True, False], copies))


def walk(steps, n, chains=1, copies=1, imputes=False, kind=Chain):
    """x and z of every iteration after a short warm-up, (chain and copy, iteration, entries)."""
    target = Target(side_by_side(copies), MODEL, imputes)
    xs, zs = np.empty((2, chains, n, copies, 4))
    for c, rng in enumerate(np.random.default_rng(11).spawn(chains)):
        chain = kind(target, steps, rng.normal(0.0, 0.5, 4 * copies), {}, rng.normal(0.0, 1.0, 4 * copies), rng)
        for t in range(-100, n):
            chain.iterate(0.0, 0.0)
            if t >= 0:
                xs[c, t], zs[c, t] = chain.x.reshape(copies, 4), chain.z.reshape(copies, 4)
    return tuple(np.moveaxis(d, 2, 1).reshape(chains * copies, n, 4) for d in (xs, zs))


def standard_error(draws: np.ndarray) -> np.ndarray:
    """Of the mean over chains and iterations, by the means of 8 batches a chain."""
    batches = draws.reshape(draws.shape[0] * 8, -1, *draws.shape[2:]).mean(axis=1)
    return batches.std(axis=0, ddof=1) / np.sqrt(len(batches))


def distances(xs: np.ndarray, zs: np.ndarray | None, exact: Exact) -> dict[str, np.ndarray]:
    """How many standard errors each moment is from the truth."""
    mu, log_nu = xs[..., [0, 2]], xs[..., [1, 3]]
    draws = [mu, log_nu, (mu - exact.moments[0]) ** 2, (log_nu - exact.moments[1]) ** 2]
    draws += [] if zs is None else [zs, zs**2]
    return {
        name: (d.mean(axis=(0, 1)) - truth) / standard_error(d)
        for name, d, truth in zip(NAMES, draws, exact.moments, strict=False)
    }


def assert_exact(found: dict[str, np.ndarray]) -> None:
    worst = max(float(np.abs(d).max()) for d in found.values())
    if worst > ALERT:
        print(f"alert: {worst:.1f} standard errors from the truth", found)
    assert worst < FAIL, found


def test_x_holds_each_questions_mu_then_log_nu():
    target = Target(side_by_side(1), MODEL, True)
    values = target.packing.unpack(np.array([0.1, 0.2, 0.3, 0.4]))
    np.testing.assert_allclose(values["mu"], [0.1, 0.0, 0.0, 0.3])
    np.testing.assert_allclose(np.log(values["nu"]), [0.2, 0.0, 0.0, 0.4])


def test_half_sweeps_sample_the_posterior(exact):
    assert_exact(distances(*walk(STEPS, 3000, copies=25), exact))


def test_half_sweeps_with_imputed_answers_sample_the_same_posterior(exact):
    assert_exact(distances(*walk(STEPS, 2400, chains=4, imputes=True), exact))


def test_one_joint_decision_samples_the_same_posterior(exact):
    joint = replace(STEPS, z=0.5, mu=0.3, shape_nu=6.0, joint=True)
    assert_exact(distances(*walk(joint, 3200, chains=4, imputes=True), exact))


def test_adapted_steps_sample_the_posterior(exact):
    engine = Metropolis(chains=2, warmup=400, draws=1600, thin=1, impute=False)
    sample = engine.sample(Problem(side_by_side(25), MODEL), np.random.default_rng(3))
    xs = np.moveaxis(sample.x.reshape(2, 1600, 25, 4), 2, 1).reshape(50, 1600, 4)
    assert_exact(distances(xs, None, exact))
    assert 0.2 < sample.stats["acceptance_questions"].mean() < 0.45
    assert 0.3 < sample.stats["acceptance_abilities"].mean() < 0.6
    mean, square = sample.z_mean.reshape(50, 4), (sample.z_sd**2 + sample.z_mean**2).reshape(50, 4)
    np.testing.assert_allclose(mean.mean(axis=0), exact.moments[4], atol=0.05)
    np.testing.assert_allclose(square.mean(axis=0), exact.moments[5], atol=0.1)


class WithoutHastings(Chain):
    """What the sampler would be if it took the proposal of nu for symmetric."""

    def _propose_x(self):
        x, hastings = super()._propose_x()
        return x, 0.0 * hastings


def test_the_check_fails_without_the_hastings_term(exact):
    found = distances(*walk(STEPS, 1600, copies=25, kind=WithoutHastings), exact)
    assert max(np.abs(d).max() for d in found.values()) > 2 * FAIL


def test_the_printed_ratio_is_not_the_posterior(exact):
    xs, zs = walk(replace(STEPS, exact=False), 400, copies=25)
    # With no prior nothing holds the abilities in place.
    assert (zs**2).mean() > 3 * exact.moments[5].mean()
    assert np.abs(xs[..., 1::2].mean(axis=(0, 1)) - exact.moments[1]).max() > 0.5


def test_learned_orders_are_sampled_within_one_direction():
    """LORD, questions of 3 and 2 options: orders and bounds in the half where higher scorers' options stand higher."""
    model = LORD(nu_alpha=1.5, nu_gamma=1.2)
    codes = np.array([[1, 0], [0, 1], [2, 1]])
    correct = np.array([False, True, False, True, False])
    responses = from_codes(codes, [["A", "B", "C"], ["A", "B"]], correct=correct)
    z = np.linspace(-5.0, 5.0, 61)
    weight = np.exp(-0.5 * z**2)
    lean = responses.layout.count * responses.layout.score

    def question(size: int, rows: slice):
        """For every order, alpha and log gamma: P(option | z), prior, what it adds to the lean, and these three."""
        bounds = np.linspace(-6.0, 2.0, 41) if size == 3 else np.zeros(1)
        alpha, x = (a.ravel() for a in np.meshgrid(np.linspace(-5.0, 5.0, 41), bounds, indexing="ij"))
        prior = np.exp(-0.5 * alpha**2 / 1.5 + (x - 0.5 * np.exp(x) ** 2 / 1.2 if size == 3 else 0.0))
        edges = [np.full_like(x, -np.inf), 0.0 * x, np.exp(x), np.full_like(x, np.inf)]
        edges = np.stack(edges if size == 3 else [edges[0], edges[1], edges[3]])
        by_rank = np.diff(ndtr(edges[:, :, None] - (z - alpha[:, None])), axis=0)
        orders = np.array(list(itertools.permutations(range(size))))
        p = np.concatenate([by_rank[order] for order in orders], axis=1)
        add = ((p * weight) @ z / (p @ weight)).T @ lean[rows]
        n = len(orders)
        return p, np.tile(prior, n), add, np.repeat(np.arange(n), len(x)), np.tile(alpha, n), np.tile(x, n)

    first, second = question(3, slice(0, 3)), question(2, slice(3, 5))
    density = np.outer(first[1], second[1])
    for a, b in codes:
        density *= (first[0][a] * weight) @ second[0][b].T
    whole = density / density.sum()
    density = np.where(first[2][:, None] + second[2] >= 0.0, density, 0.0)
    density /= density.sum()
    assert np.abs(density.sum(axis=0) - whole.sum(axis=0)).sum() > 0.2  # the restriction is felt

    sample = Metropolis(chains=4, warmup=400, draws=2400, thin=1).sample(
        Problem(responses, model), np.random.default_rng(5)
    )
    orders = np.array(list(itertools.permutations(range(3))))
    drawn = (sample.ranks["rank"][:, :, None, :3] == orders).all(axis=-1).astype(float)
    exact = np.bincount(first[3], density.sum(axis=1))
    truth = np.array([density.sum(axis=1) @ first[4], density.sum(axis=1) @ first[5], density.sum(axis=0) @ second[4]])
    assert_exact(
        {
            "order": (drawn.mean(axis=(0, 1)) - exact) / standard_error(drawn),
            "alpha, log gamma, alpha": (sample.x.mean(axis=(0, 1)) - truth) / standard_error(sample.x),
        }
    )
