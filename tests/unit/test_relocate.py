"""Relocation of rarely chosen options, and SPRITE's compiled HMC, against slower ways to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from sprite.density.blocks import Blocks, metric_of
from sprite.density.posterior import Posterior
from sprite.engines import part as parts
from sprite.engines.base import Problem
from sprite.engines.moves import Drawn, SpriteMoves, condition, hamiltonian
from sprite.engines.part import Part
from sprite.engines.relocate import relocate, survey
from sprite.engines.sweep import draw_abilities
from sprite.kernels.collapsed import choose, judge
from sprite.kernels.mixture import spread_around
from sprite.kernels.passes import posterior as ability_posterior
from sprite.kernels.standing import Standing, standing
from sprite.models.sprite import Sprite
from sprite.simulation import simulate


def posterior_of(n_respondents: int, n_questions: int, n_options: int, seed: int, model: Sprite) -> Posterior:
    return Problem(simulate("sprite", n_respondents, n_questions, n_options, seed=seed).responses, model).posterior(61)


def part_of(posterior: Posterior) -> Part:
    part = Part.of(posterior)
    assert part is not None
    return part


def standing_at(posterior: Posterior, part: Part, x: np.ndarray) -> Standing:
    return standing(part.answers, posterior.table(x), part.curves(x[part.entries]))


def curves_of(part: Part, rows: np.ndarray, candidates: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.take_along_axis(part.curves(candidates), np.maximum(rows, 0)[..., None], axis=-2))


def moved_question(part: Part, x: np.ndarray, candidate: np.ndarray, question: int) -> np.ndarray:
    """x with one question's entries as in the candidate."""
    own = part.packing.question == question
    out = x.copy()
    out[part.entries[own]] = candidate[own]
    return out


@pytest.mark.parametrize("anchor", ["correct", "scale", "none"])
def test_compiled_hmc_is_the_same_as_the_general_one(anchor: str) -> None:
    posterior = posterior_of(60, 5, 4, 2, Sprite(anchor=anchor, nu_mu=1.7, alpha=1.3, beta=0.8))  # type: ignore[arg-type]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, posterior.packing.n_free))
    drawn = Drawn.of(draw_abilities(posterior, posterior.table(x), rng))
    blocks = Blocks.of(posterior.packing)
    spread = rng.normal(size=(5, blocks.size, blocks.size))
    metric = metric_of(blocks, spread @ np.swapaxes(spread, 1, 2) + 4.0 * np.eye(blocks.size))

    class Replay:
        """The random numbers of both versions, whatever the order in which they are asked for."""

        def __init__(self) -> None:
            own = np.random.default_rng(5)
            self.numbers = {"normal": own.standard_normal(x.shape), "uniform": own.random((3, 5))}

        def standard_normal(self, shape: tuple[int, ...]) -> np.ndarray:
            return self.numbers["normal"]

        def random(self, shape: tuple[int, ...]) -> np.ndarray:
            return self.numbers["uniform"]

        def uniform(self, low: float, high: float, shape: tuple[int, ...]) -> np.ndarray:
            return np.linspace(low, high, 15).reshape(shape)

    state = condition(posterior, x, {}, drawn)
    expected = hamiltonian(posterior, state, metric, np.full(5, 0.3), 3, Replay())  # type: ignore[arg-type]
    moves = SpriteMoves(posterior, x, metric, np.full(5, 0.3), 3, Replay())  # type: ignore[arg-type]
    for chain in range(3):
        moves.move(chain, drawn.nodes[chain], drawn.counts[chain])
    np.testing.assert_allclose(moves.probability, expected, rtol=1e-8)
    np.testing.assert_allclose(moves.x, state.x, rtol=1e-9, atol=1e-12)
    assert (moves.x != x).any()


def test_compiled_hmc_refuses_a_step_into_nowhere() -> None:
    posterior = posterior_of(30, 3, 3, 1, Sprite())
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, posterior.packing.n_free))
    drawn = Drawn.of(draw_abilities(posterior, posterior.table(x), rng))
    blocks = Blocks.of(posterior.packing)
    metric = metric_of(blocks, np.tile(np.eye(blocks.size), (3, 1, 1)))
    moves = SpriteMoves(posterior, x, metric, np.full(3, 1e200), 3, rng)
    for chain in range(2):
        moves.move(chain, drawn.nodes[chain], drawn.counts[chain])
    np.testing.assert_array_equal(moves.x, x)
    np.testing.assert_array_equal(moves.probability, 0.0)


def test_candidates_are_judged_by_the_marginal_likelihood() -> None:
    posterior = posterior_of(80, 5, 4, 3, Sprite())
    part, rng = part_of(posterior), np.random.default_rng(0)
    x = rng.normal(size=posterior.packing.n_free)
    for changing in part.turns():
        rows = np.broadcast_to(changing, (4, len(changing)))
        at = 2.0 * rng.normal(size=(*rows.shape, 2))
        # One that a chooser's present posterior leaves no weight for, and one so narrow that hardly a digit is left.
        at[0], at[1] = [-8.0, -3.0], [0.5, -40.0]
        candidates = part.put(rows, at, np.tile(x[part.entries], (4, 1)))
        gain = np.zeros(rows.shape)
        judge(part.answers, standing_at(posterior, part, x), changing, curves_of(part, rows, candidates), gain)
        before = posterior.log_likelihoods(x).sum()
        for c, j in np.argwhere(rows >= 0):
            after = posterior.log_likelihoods(moved_question(part, x, candidates[c], j)).sum()
            expected = after - before
            assert gain[c, j] == pytest.approx(expected, abs=1e-7) or (gain[c, j] == -np.inf and expected < -600.0)


@pytest.mark.parametrize("log_nu", [0.0, -16.0])
def test_a_choice_brings_posteriors_and_table_up_to_date(log_nu: float) -> None:
    """Also where one of the options moved is so narrow that it must not be taken out of a sum."""
    posterior = posterior_of(60, 4, 4, 5, Sprite())
    part, rng = part_of(posterior), np.random.default_rng(0)
    x = rng.normal(size=posterior.packing.n_free)
    changing = part.turns()[0]
    x[part.entries[part.own[changing[changing >= 0][0]]]] = [posterior.grid.nodes[33], log_nu]
    stand = standing_at(posterior, part, x)
    rows = changing[None]
    candidate = part.put(rows, rng.normal(size=(*rows.shape, 2)), x[None, part.entries].copy())
    ratio = np.array([np.full(len(changing), -1e300), np.zeros(len(changing))])  # the candidate, in any case
    choice = np.zeros(len(changing), dtype=np.int64)
    uniform = rng.random(len(changing))
    choose(part.answers, stand, changing, curves_of(part, rows, candidate), ratio, uniform, choice)
    np.testing.assert_array_equal(choice, changing >= 0)
    after = x.copy()
    after[part.entries] = candidate[0]
    expected = standing_at(posterior, part, after)
    np.testing.assert_allclose(stand.table, expected.table, atol=1e-12)
    np.testing.assert_allclose(stand.level, expected.level, atol=1e-9)
    np.testing.assert_allclose(stand.weight, expected.weight, atol=1e-9)
    np.testing.assert_array_equal(stand.support, expected.support)
    responses, grid = posterior.responses, posterior.grid
    table, people = posterior.table(after), responses.n_respondents
    weight = ability_posterior(responses.start, responses.row, table, grid.log_weight, 0, people)
    np.testing.assert_allclose(stand.weight, weight, atol=1e-12)


def test_relocation_leaves_the_posterior_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one question with two options, one anchored, the posterior is a density of two numbers on a lattice."""
    monkeypatch.setattr(parts, "RARE", 1000)
    posterior = posterior_of(25, 1, 2, 4, Sprite())
    part = part_of(posterior)
    mu, log_nu = (g.ravel() for g in np.meshgrid(np.linspace(-5, 5, 101), np.linspace(-4, 9, 131), indexing="ij"))
    lattice = np.empty((len(mu), 2))
    lattice[:, posterior.packing.exponentiated] = log_nu[:, None]
    lattice[:, ~posterior.packing.exponentiated] = mu[:, None]
    likelihood = [posterior.log_likelihoods(x).sum() for x in lattice]
    prior = posterior.log_prior(lattice, posterior.packing.unpack(lattice))[0][:, 0]
    density = np.exp(likelihood + prior - np.max(likelihood + prior))
    density /= density.sum()

    rng = np.random.default_rng(3)
    chains = 300
    found = survey(posterior, part, lattice[[np.argmax(density)]], rng)
    begin = lattice[rng.choice(len(lattice), chains, p=density)]
    x, table = begin, posterior.table(begin)
    for _ in range(12):
        x, table = relocate(found, x, table, rng)
    np.testing.assert_allclose(table, posterior.table(x), atol=1e-14)
    assert (x != begin).all(axis=1).mean() > 0.8  # it moves
    for statistic in (
        lambda x: x[:, 0],
        lambda x: x[:, 1],
        lambda x: x[:, 0] * x[:, 1],
        lambda x: (x[:, 1] > 2.0) * 1.0,
    ):
        truth = density @ statistic(lattice)
        scale = np.sqrt(density @ (statistic(lattice) - truth) ** 2 / chains)
        error = (statistic(x).mean() - truth) / scale
        if abs(error) > 3:
            print(f"ALERT: {error:.1f} standard errors")
        assert abs(error) < 4.5


def test_a_faint_option_has_its_share_of_the_answers_at_every_ability() -> None:
    posterior = posterior_of(2000, 3, 4, 6, Sprite())
    layout, rng = posterior.layout, np.random.default_rng(0)
    rare = int(np.argmin(layout.count))
    faint = Sprite().faint(layout, rng)
    x = posterior.packing.pack(Sprite().sample(layout, "exam", rng))
    own = posterior.packing.rows == rare
    x[own] = posterior.packing.pack(faint)[own]
    share = np.exp(posterior.table(x)[rare])
    middle = np.abs(posterior.grid.nodes) < 1.0
    assert share[middle].max() < 3.0 * share[middle].min()
    expected = float(share @ np.exp(posterior.grid.log_weight)) * layout.count.sum() / layout.n_questions
    assert 0.2 < expected / (layout.count[rare] + 2.0) < 5.0


def test_where_a_survey_looked_faint_options_and_visits_are_remembered() -> None:
    posterior = posterior_of(150, 4, 4, 3, Sprite())
    part, rng = part_of(posterior), np.random.default_rng(1)
    x = posterior.packing.pack(Sprite().sample(posterior.layout, "exam", rng))
    found = survey(posterior, part, x[None], rng)
    flat = found.places[part.rare][:, :, 1].max(axis=1)
    total = np.add.reduceat(part.layout.count, part.layout.first[:-1])[part.layout.question][part.rare]
    assert np.all(flat > np.log(total / (part.layout.count[part.rare] + 2.0)))
    visits = np.tile(x, (40, 1))
    visits[::2, part.entries] += 3.0
    found.remember(visits, rng)
    row = int(part.rare[0])
    here = x[part.entries][part.own[row]]
    assert np.isclose(found.places[row], here).all(axis=1).any()
    assert np.isclose(found.places[row], here + 3.0).all(axis=1).any()
    waverers = found.of_waverers(posterior, visits)
    assert waverers is not None
    assert len(waverers.part.rare) == len(part.rare)
    assert found.of_waverers(posterior, np.tile(x, (40, 1))) is None


def test_the_spread_around_a_place_is_that_of_its_nearest_ones() -> None:
    places = np.random.default_rng(0).standard_normal((3, 40, 2))
    found = spread_around(places, 6)
    for own, spread in zip(places, found, strict=True):
        near = np.argsort(((own[:, None] - own) ** 2).sum(axis=-1), axis=1)[:, :6]
        np.testing.assert_allclose(spread, own[near].std(axis=1))
