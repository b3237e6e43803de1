"""`prior="learned"`: evidence against integrals, its slope against differences, truths recovered, fits that say so."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from sprite import compare
from sprite.core.errors import InputError
from sprite.data.responses import Responses, from_codes
from sprite.density.blocks import Blocks
from sprite.density.evidence import log_evidence
from sprite.density.information import observed_information, question_information
from sprite.engines.base import Problem, silent
from sprite.engines.em import EM, starts
from sprite.engines.gibbs import Gibbs
from sprite.engines.learning import Ascent, Learned, learn
from sprite.engines.search import climb, find_modes
from sprite.fitting import fit
from sprite.models.base import Model
from sprite.models.gpcm import GPCM
from sprite.models.intervals import IntervalModel
from sprite.models.lord import LORD
from sprite.models.nrm import NRM
from sprite.models.ord import ORD
from sprite.models.registry import model_of
from sprite.models.sprite import Sprite
from sprite.report.words import facts_of_fit
from sprite.result.fit import Fit
from sprite.result.run import Mode
from sprite.result.storage import load
from sprite.result.words import learned_prior
from sprite.simulation import simulate
from tests.cases import ENGINES, MODELS

TRUTHS: dict[str, Model] = {
    "sprite-correct": Sprite(nu_mu=0.5, alpha=3.0, beta=1.5, mu_z=0.5, nu_z=1.5),
    "sprite-scale": Sprite(anchor="scale", nu_mu=0.5, alpha=3.0, beta=1.5, mu_z=0.5, nu_z=1.5),
    "sprite-none": Sprite(anchor="none", nu_mu=0.5, alpha=3.0, beta=1.5, mu_z=0.5),
    "nrm": NRM(nu_slope=0.4, nu_intercept=1.5, mu_z=0.7),
    "gpcm": GPCM(sign="positive", nu_slope=0.3, nu_step=1.5, mu_z=0.7),
    "ord": ORD(nu_alpha=2.0, nu_gamma=1.5, mu_theta=0.7, nu_theta=0.5),
    "lord": LORD(nu_alpha=0.5, mu_theta=0.7, nu_theta=0.5),
}
"""Far enough from the defaults that staying there would fail."""
ALIKE = 0.55
"""Of a logarithm, or a mean: three standard errors or more of what some 30 to 90 entries tell of their variance."""


def as_default(model: Model) -> Model:
    """The model with the prior's defaults, to be learned, but the other settings as they are."""
    untouched = type(model)()
    changed = {name: getattr(untouched, name) for name in model.hyperparameters}
    return replace(model, prior="learned", **changed)  # type: ignore[type-var]


@cache
def answers(name: str) -> Responses:
    return simulate(TRUTHS[name], 400, 30, 4, kind="prior", seed=5).responses


@cache
def learned(name: str) -> Learned:
    return learn(Problem(answers(name), as_default(TRUTHS[name])), np.random.default_rng(0), silent)


def mode_of(responses: Responses, model: Model, n_nodes: int = 61) -> tuple[Problem, Mode]:
    problem = Problem(responses, model)
    posterior = problem.posterior(n_nodes)
    return problem, find_modes(posterior, starts(1, posterior), np.random.default_rng(0))[0]


@pytest.mark.parametrize("name", TRUTHS)
def test_recovers_what_the_answers_were_drawn_from(name: str) -> None:
    found, truth = learned(name).problem.model, TRUTHS[name]
    for field in truth.learnable:
        value, true = getattr(found, field), getattr(truth, field)
        # The mirror image of a test drawn from the prior is as likely, with the mean of ability on the other side.
        mirrored, mean = field == "mu_z", field.startswith("mu_")
        gap = abs(value) - abs(true) if mirrored else value - true if mean else np.log(value / true)
        print(f"{name} {field}: {true} -> {value}")
        assert abs(gap) < ALIKE, field


@pytest.mark.parametrize("name", TRUTHS)
def test_evidence_rises_and_ends_at_a_maximum(name: str) -> None:
    found = learned(name)
    assert found.evidence > found.given + 5.0
    model, posterior = found.problem.model, found.problem.posterior(61)
    assert found.problem.mode is not None
    best = climb(posterior, found.problem.mode.x, found.problem.mode.ranks, "", tolerance=1e-4, orders=False)
    top = log_evidence(posterior, best.x, best.ranks)[0]
    assert top == pytest.approx(found.evidence, abs=0.01)
    for field in model.learnable:
        for factor in (0.7, 1.4):
            other = replace(model, **{field: factor * getattr(model, field)})  # type: ignore[type-var]
            moved = posterior.under(other)
            at = climb(moved, best.x, best.ranks, "", tolerance=1e-4, orders=False)
            assert log_evidence(moved, at.x, at.ranks)[0] < top + 0.02, (field, factor)


def test_orders_that_are_held_would_overstate_the_spread_of_bounds() -> None:
    """Why LORD leaves nu_gamma alone: with few respondents the best orders put options nobody chose far out."""

    class Greedy(LORD):
        learnable = IntervalModel.learnable

    responses = simulate(LORD(), 20, 20, 8, seed=1).responses
    found = learn(Problem(responses, Greedy(prior="learned")), np.random.default_rng(0), silent).problem.model
    drawn = fit(responses, LORD(), Gibbs(chains=1, draws=100, warmup=100, starts=1)).draws["gamma"]
    print(f"nu_gamma learned {found.nu_gamma:.1f}, by draws of bounds and orders {np.mean(drawn**2):.1f}")
    assert found.nu_gamma > 5.0 * np.mean(drawn**2)
    assert "nu_gamma" not in LORD().learnable


def test_the_engine_begins_from_the_mode_that_was_learned_with() -> None:
    """Alone, a search under a mean of ability other than 0 may end in what was the mirror image, far below."""
    problem = learned("sprite-none").problem
    engine, rng = EM(starts=1, standard_errors=False), np.random.default_rng(0)
    best = engine.run(problem, rng, silent).mode
    alone = engine.run(replace(problem, mode=None), rng, silent).mode
    assert best is not None
    assert alone is not None
    assert best.start == "learned"
    assert best.log_posterior > alone.log_posterior + 100.0


@pytest.mark.parametrize("name", ["sprite-correct", "nrm", "ord"])
def test_slope_of_the_evidence_against_differences(name: str) -> None:
    """The mode's own movement counts for a third of some of these slopes."""
    problem, mode = mode_of(answers(name), as_default(TRUTHS[name]))
    ascent = Ascent(problem.posterior(61), mode, silent)
    here = np.full(len(ascent.ranges), 0.3)
    slope = ascent.downhill(here)[1]
    step = 0.05
    for k, along in enumerate(step * np.eye(len(here))):
        difference = (ascent.downhill(here + along)[0] - ascent.downhill(here - along)[0]) / (2 * step)
        assert slope[k] == pytest.approx(difference, rel=0.02, abs=0.02)


def test_evidence_is_the_integral_over_the_parameters() -> None:
    """One question with three options, two parameters: by brute force on a fine square."""
    model = ORD(nu_alpha=0.3, nu_gamma=2.0)
    responses = simulate(model, 100, 1, 3, seed=3).responses
    problem, mode = mode_of(responses, model)
    posterior = problem.posterior(61)
    value, metric = log_evidence(posterior, mode.x, mode.ranks)
    side = np.linspace(-6.0, 6.0, 41)
    square = np.array(
        [posterior.evaluate(mode.x + metric.unwhiten(np.array([u, v]))).value for u in side for v in side]
    )
    cell = (side[1] - side[0]) ** 2 * float(np.prod(np.diagonal(metric.inverse[0])))
    exact = square.max() + np.log(np.exp(square - square.max()).sum() * cell)
    assert value == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("name", ["sprite-scale", "gpcm-empirical", "lord"])
def test_blocks_of_the_information(name: str) -> None:
    responses = simulate(MODELS[name], 60, 5, (2, 3, 5, 4, 3), observed=0.9, seed=1).responses
    problem, mode = mode_of(responses, MODELS[name])
    posterior = problem.posterior(41)
    whole = observed_information(posterior, mode.x, mode.ranks)
    parts = question_information(posterior, mode.x, mode.ranks)
    first, size = posterior.packing.first, Blocks.of(posterior.packing).size
    for j, part in enumerate(parts):
        here = slice(first[j], first[j + 1])
        padded = np.eye(size)
        padded[: here.stop - here.start, : here.stop - here.start] = whole[here, here]
        np.testing.assert_allclose(part, padded, atol=1e-6 * np.abs(whole).max())


@pytest.mark.parametrize(
    ("model", "same", "halved"),
    [
        (NRM(nu_slope=0.8), NRM(nu_slope=0.2, nu_z=4.0), {"slope": 2.0}),
        (GPCM(nu_slope=0.8), GPCM(nu_slope=0.2, nu_z=4.0), {"slope": 2.0}),
        (Sprite(anchor="none"), Sprite(anchor="none", nu_mu=4.0, beta=4.0, nu_z=4.0), {"mu": 0.5, "nu": 0.25}),
    ],
    ids=["nrm", "gpcm", "sprite"],
)
def test_what_is_not_learned_cannot_be_told(model: Model, same: Model, halved: dict[str, float]) -> None:
    """A variance of ability that slopes or sprites make up for leaves the evidence as it is."""
    responses = simulate(model, 100, 6, 3, seed=2).responses
    problem, mode = mode_of(responses, model)
    one, other = problem.posterior(61), Problem(responses, same).posterior(61)
    values = one.packing.unpack(mode.x, mode.ranks)
    twice = {name: np.asarray(value) / halved.get(name, 1.0) for name, value in values.items()}
    level = []
    for posterior, x in ((one, mode.x), (other, other.packing.pack(twice))):
        best = climb(posterior, x, mode.ranks, "", tolerance=1e-5)
        level.append(log_evidence(posterior, best.x, best.ranks)[0])
    assert level[0] == pytest.approx(level[1], abs=1e-3)
    assert "nu_z" not in model.learnable


def test_what_runs_away_stops_at_its_range_and_is_named() -> None:
    """Everyone answers by chance, with equal chances: no slopes, no intercepts, and no end to how small they are."""
    codes = np.random.default_rng(1).integers(0, 3, (300, 10))
    responses = from_codes(codes, [("A", "B", "C")] * 10, correct=np.tile([True, False, False], 10))
    found = fit(responses, NRM(prior="learned", nu_slope=0.01, nu_intercept=0.01), EM(starts=1))
    low = found.model.learnable["nu_intercept"][0]
    assert found.learned["nu_intercept"] == low
    assert any(m.startswith("Learning took nu_intercept to the end of its range (0.001)") for m in found.messages)
    assert all("nu_slope" not in m or found.learned["nu_slope"] == low for m in found.messages)


@pytest.fixture(scope="module")
def exam() -> Responses:
    return simulate("nrm", 100, 8, 3, seed=4).responses


@pytest.fixture(scope="module")
def nominal(exam: Responses) -> Fit:
    return fit(exam, "nrm-learned", EM(starts=1), seed=1)


def test_a_fit_says_what_was_learned_and_keeps_it(exam: Responses, tmp_path: Path) -> None:
    found = fit(exam, Sprite(prior="learned"), EM(starts=1), seed=3)
    assert found.model.prior == "learned"
    assert list(found.learned) == ["nu_mu", "alpha", "beta", "mu_z", "nu_z"]
    assert fit(exam, Sprite(), EM(starts=1, standard_errors=False)).learned == {}
    assert f"learned from the answers: nu_mu {found.learned['nu_mu']:.4g}, alpha" in repr(found)
    assert found.summary().attrs["learned"] == found.learned
    assert ("Prior, learned from the answers", learned_prior(found)) in facts_of_fit(found)
    found.save(tmp_path / "fit.nc")
    again = load(tmp_path / "fit.nc")
    assert again.learned == found.learned
    nobody = exam.without(np.flatnonzero(exam.respondent_of_answer == 0))
    alone = again.score(nobody).iloc[0]
    assert alone["ability"] == pytest.approx(found.learned["mu_z"], abs=0.01)
    assert alone["sd"] == pytest.approx(np.sqrt(found.learned["nu_z"]), rel=0.01)
    drawn = simulate(again.model, 4000, 2, 2, seed=1).truth.abilities
    assert drawn.mean() == pytest.approx(found.learned["mu_z"], abs=4 * np.sqrt(found.learned["nu_z"] / 4000))


def test_ability_stays_upright_with_a_mean_of_its_own(exam: Responses, nominal: Fit) -> None:
    right = np.bincount(exam.respondent_of_answer, exam.correct[exam.row])
    assert np.corrcoef(nominal.ability_moments()[0], right)[0, 1] > 0.8
    assert nominal.learned["mu_z"] != 0.0


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_draws_with_the_learned_values(engine: str, exam: Responses, nominal: Fit) -> None:
    found = fit(exam, "nrm-learned", ENGINES[engine], seed=1)
    assert found.learned == nominal.learned
    mean, variance = found.model.ability
    assert abs(found.ability_moments()[0].mean() - mean) < 0.3 * np.sqrt(variance)


def test_names_and_comparison(exam: Responses) -> None:
    assert model_of("Sprite-learned") == Sprite(prior="learned")
    with pytest.raises(InputError, match="no such model"):
        model_of("rasch-learned")
    table = compare(exam, ["ord", "ord-learned"], EM(starts=1), repeats=1)
    assert list(table["model"]) == ["ord", "ord (prior=learned)", "baseline"]
    assert table["diff_log_loss"][1] != 0.0
