"""`fit` and what a `Fit` offers, for every model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from sprite.core.errors import InputError, SpriteError
from sprite.data.responses import Responses
from sprite.density.grid import grid_for
from sprite.engines.base import Engine, Problem, Progress
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.nrm import NRM
from sprite.models.registry import MODELS
from sprite.result.abilities import plausible_values
from sprite.result.assembly import assemble
from sprite.result.run import Run
from sprite.simulation import simulate
from tests.unit.test_fit_assembly import SIZES, drawn, small


@pytest.mark.parametrize("name", MODELS)
def test_abilities_follow_the_truth(name: str) -> None:
    responses, truth = simulate(name, 400, 15, 4, seed=5)
    found = fit(responses, name, EM(starts=1, draws=40))
    mean, sd, mode = found.ability_moments()
    assert np.corrcoef(mean, truth.abilities)[0, 1] > 0.75
    assert np.mean((mean - truth.abilities) ** 2) == pytest.approx(np.mean(sd**2), rel=0.25)
    assert np.corrcoef(mean, mode)[0, 1] > 0.97


@pytest.mark.parametrize("name", MODELS)
def test_same_seed_same_result(name: str) -> None:
    of = small(name)
    again = fit(of.responses, name, EM(starts=2, draws=50))
    assert np.array_equal(of.point, again.point)
    assert np.array_equal(of.x, again.x)
    assert of.log_likelihood == again.log_likelihood
    assert fit(of.responses, name, EM(starts=2, draws=50), seed=1).x[0, 0, 0] != of.x[0, 0, 0]


@pytest.mark.parametrize("name", MODELS)
def test_summary_names_things_as_the_user_did(name: str) -> None:
    of = small(name)
    table = of.summary()
    assert list(table.columns) == [
        *("question", "option", "step", "parameter", "estimate", "sd", "lower", "upper", "fixed"),
    ]
    assert set(table.question) == set(of.responses.questions)
    free = table[~table.fixed & (table.parameter != "rank")]
    assert (free.sd > 0).all()
    assert ((free.lower < free.estimate) & (free.estimate < free.upper)).all()
    assert (table[table.fixed].sd == 0).all()
    steps = table[table.step.notna() & (table.question == "Q4")].step
    assert list(steps) == {"gpcm": [1, 2, 3, 4], "ord": [2, 3, 4], "lord": [2, 3, 4]}.get(name, [])
    if name == "sprite":
        assert table.fixed.sum() == 2 * len(SIZES)
        assert (table[table.fixed & (table.parameter == "nu")].estimate == 1).all()


@pytest.mark.parametrize("name", MODELS)
def test_standard_errors_are_the_spread_of_the_draws(name: str) -> None:
    of = small(name)
    found = assemble(of.responses, of.model, drawn(of, n_draws=1000))
    small_sd = replace(of, covariance=of.covariance * 1e-4)  # where the delta method is exact
    narrow = assemble(of.responses, of.model, drawn(small_sd, n_draws=1000))
    for parameter, error in small_sd.standard_errors().items():
        spread = np.asarray(narrow.draws[parameter]).std(axis=(0, 1))
        np.testing.assert_allclose(error, spread, rtol=0.1, atol=1e-12)
    for parameter, error in of.standard_errors().items():
        np.testing.assert_allclose(found.standard_errors()[parameter], error, rtol=0.3, atol=1e-12)


def test_heavy_tails_are_summarised_by_medians() -> None:
    of = small("sprite")
    found = assemble(of.responses, of.model, drawn(of))
    table = found.summary()
    nu = table[table.parameter == "nu"]
    draws = np.asarray(found.draws["nu"]).reshape(-1, len(nu))
    np.testing.assert_allclose(nu.estimate, np.median(draws, axis=0))
    np.testing.assert_allclose(nu.lower, np.quantile(draws, 0.05, axis=0))
    assert {"rhat", "ess_bulk", "ess_tail", "mcse"} <= set(table.columns)
    assert table[table.fixed].rhat.isna().all()
    assert (table[~table.fixed].mcse > 0).all()


def test_refused_standard_errors_say_why() -> None:
    of = small("sprite")
    found = fit(of.responses, "sprite", EM(starts=1, standard_errors=False))
    with pytest.raises(SpriteError, match="not asked for"):
        found.standard_errors()
    with pytest.raises(SpriteError, match="not asked for"):
        found.to_arviz()
    assert found.summary().sd[~found.summary().fixed].isna().all()
    mean, sd, _ = found.ability_moments()
    z = np.stack([plausible_values(found, 400, s) for s in (0, 1)]).reshape(800, -1)
    np.testing.assert_allclose(z.mean(axis=0), mean, atol=5 * sd.max() / np.sqrt(800))
    np.testing.assert_allclose(z.std(axis=0), sd, rtol=0.15)


def test_plausible_values_have_the_moments_of_the_abilities() -> None:
    of = small("nrm")
    mean, sd, _ = of.ability_moments()
    z = plausible_values(of, 1000, 2)
    assert z.shape == (1000, of.responses.n_respondents)
    assert np.array_equal(z[:5], plausible_values(of, 1000, 2)[:5])
    # The 50 draws of the parameters are used again and again, so the mean over them is exact.
    np.testing.assert_allclose(z.mean(axis=0), mean, atol=5 * sd.max() / np.sqrt(1000))
    np.testing.assert_allclose(z.std(axis=0), sd, rtol=0.15)
    with pytest.raises(InputError, match="n >= 1"):
        plausible_values(of, 0, 0)


def test_the_likelihood_is_that_of_a_fine_grid() -> None:
    of = small("sprite")
    nodes = grid_for((0.0, 1.0), 2001)
    table = np.exp(of.model.log_table(of.values, nodes.nodes, of.responses.layout))
    each = [
        np.log(np.exp(nodes.log_weight) @ table[of.responses.row[a:b]].prod(axis=0))
        for a, b in zip(of.responses.start, of.responses.start[1:], strict=False)
    ]
    assert of.log_likelihood == pytest.approx(sum(each), abs=1e-6)


def test_a_fit_does_not_change() -> None:
    of = small("sprite")
    with pytest.raises(ValueError, match="read-only"):
        of.point[0] = 1.0
    with pytest.raises(AttributeError):
        of.seed = 3  # type: ignore[misc]


def test_it_shows_itself() -> None:
    of = small("sprite")
    text = repr(of)
    assert "Sprite(anchor='correct'" in text
    assert "em, seed 0" in text
    assert "120 respondents, 6 questions" in text
    assert "converged (gradient" in text
    assert len(text.splitlines()) == 7
    noted = replace(of, messages=("<b>bold</b>",))
    assert "&lt;b&gt;bold&lt;/b&gt;" in noted._repr_html_()
    assert "<b>" not in noted._repr_html_()


@dataclass(frozen=True)
class Sampler(Engine):
    """Stands for any engine that draws."""

    name: ClassVar[str] = "sampler"

    def run(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Run:
        raise AssertionError("must not be reached")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"responses": [[0, 1]]}, "sprite.read"),
        ({"model": "rasch"}, "no such model"),
        ({"engine": "magic"}, "no such engine"),
        ({"model": NRM(prior=None), "engine": Sampler()}, r"there need not be one.*use EM\(\)"),
        ({"seed": -1}, "whole number"),
        ({"seed": 1.5}, "whole number"),
        ({"seed": True}, "whole number"),
    ],
)
def test_what_does_not_go_together_is_refused(change: dict[str, object], words: str) -> None:
    arguments: dict[str, object] = {"responses": small("sprite").responses, "engine": "em"} | change
    with pytest.raises(InputError, match=words):
        fit(**arguments)  # type: ignore[arg-type]


def test_a_test_without_choices_is_refused() -> None:
    of = small("sprite").responses
    nobody = replace(of, respondents=of.respondents[:0], start=of.start[:1], row=of.row[:0])
    with pytest.raises(InputError, match="nothing to fit"):
        fit(nobody)
    one = Responses(of.respondents, ("Q1",), (("A",),), of.start * 0, of.row[:0], np.array([True]))
    with pytest.raises(InputError, match="no question has two options"):
        fit(one)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    fit(small("sprite").responses, "nrm", EM(starts=1), progress=lambda done, total, text: told.append((done, total)))
    assert told[-1][0] == told[-1][1]
