"""Settings, messages, imputation, odd data and interruption of the paper's sampler."""

from __future__ import annotations

import numpy as np
import pytest

from sprite.core.errors import InputError
from sprite.data.responses import from_codes
from sprite.engines.base import Problem, silent
from sprite.engines.metropolis import Metropolis
from sprite.models.gpcm import GPCM
from sprite.models.lord import LORD
from sprite.models.nrm import NRM
from sprite.models.ord import ORD
from sprite.models.sprite import Sprite
from sprite.simulation import simulate

SHORT = Metropolis(chains=2, warmup=30, draws=20, thin=2)
LETTERS = ["A", "B", "C", "D"]


def run(engine, responses, model, seed=0, progress=silent):
    return engine.run(Problem(responses, model), np.random.default_rng(seed), progress)


@pytest.mark.parametrize("shape", [1.0, 0.5, -2.0, np.nan])
def test_a_proposal_that_does_not_exist_is_refused_with_the_reason(shape):
    with pytest.raises(InputError, match=r"above 1.*no positive scale.*Sprite\(alpha"):
        Metropolis(shape_nu=shape)


@pytest.mark.parametrize(
    "settings",
    [{"chains": 0}, {"thin": 0}, {"draws": 5}, {"step_z": 0.0}, {"step": -1.0}, {"ratio": "other"}, {"start": "map"}],
)
def test_impossible_settings_are_refused(settings):
    with pytest.raises(InputError, match="Metropolis"):
        Metropolis(**settings)


def test_settings_that_do_not_concern_the_model_are_refused():
    responses = simulate(Sprite(), 5, 3, 3, seed=1).responses
    with pytest.raises(InputError, match=r"step=.*Sprite.*SPRITE takes step_mu"):
        run(Metropolis(step=1.0), responses, Sprite())
    with pytest.raises(InputError, match=r"shape_nu.*NRM"):
        run(Metropolis(shape_nu=2.0), responses, NRM())
    with pytest.raises(InputError, match=r"prior=None.*EM"):
        run(Metropolis(), responses, NRM(prior=None))


@pytest.mark.parametrize(
    "model", [Sprite(), Sprite(anchor="none"), NRM(), GPCM(), GPCM(sign="positive"), ORD(), LORD()]
)
@pytest.mark.parametrize("settings", [{}, {"joint": True}, {"start": "prior", "impute": False}, {"ratio": "paper"}])
def test_every_model_runs_and_repeats_itself(model, settings):
    responses = simulate(model, 12, 4, [2, 3, 4, 3], observed=0.8, seed=2).responses
    engine = Metropolis(chains=2, warmup=12, draws=12, thin=4, **settings)
    first, again = (run(engine, responses, model, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.x, again.x)
    packing = Problem(responses, model).posterior(11).packing
    assert first.x.shape == (2, 3, packing.n_free)
    assert np.isfinite(first.x).all()
    assert all(value.shape == (2, 3) and np.isfinite(value).all() for value in first.stats.values())
    assert first.n_nodes >= 61
    assert (first.mode is None) == ("start" in settings)
    assert set(first.ranks) == ({"rank"} if isinstance(model, LORD) else set())
    for rank in first.ranks.values():
        layout = responses.layout
        assert rank.shape == (2, 3, layout.n_rows)
        order = np.sort(rank + layout.first[layout.question], axis=-1)
        np.testing.assert_array_equal(order[0, 0], np.arange(layout.n_rows))


def test_imputed_answers_are_counted_and_match_the_mean_probability():
    responses = simulate(Sprite(), 20, 5, [2, 3, 4, 5, 3], observed=0.7, seed=4).responses
    engine = Metropolis(chains=2, warmup=200, draws=2000, thin=10)
    imputed = engine.sample(Problem(responses, Sprite()), np.random.default_rng(1)).imputed
    assert len(imputed.respondent) == 20 * 5 - responses.n_answers
    np.testing.assert_array_equal(np.diff(imputed.first), responses.layout.n_options[imputed.question])
    for total in (imputed.share, imputed.probability):
        np.testing.assert_allclose(np.add.reduceat(total, imputed.first[:-1]), 1.0)
    # Given the probabilities, the 4000 draws of a cell are independent.
    error = np.sqrt(imputed.probability * (1 - imputed.probability) / 4000)
    assert np.abs((imputed.share - imputed.probability) / error).max() < 4.5
    seen = set(zip(imputed.respondent.tolist(), imputed.question.tolist(), strict=True))
    asked = set(
        zip(responses.respondent_of_answer.tolist(), responses.layout.question[responses.row].tolist(), strict=True)
    )
    assert not seen & asked
    without = Metropolis(chains=1, warmup=0, draws=1, thin=1, impute=False)
    assert not len(without.sample(Problem(responses, Sprite()), np.random.default_rng(1)).imputed.respondent)


ODD = {
    "an empty respondent": [[0, 1, 2], [-1, -1, -1], [1, 1, 0], [2, 0, 0]],
    "one question": [[0], [1], [2], [1]],
    "one respondent": [[0, 1, 2]],
    "all alike": [[1, 1, 1]] * 5,
    "nine in ten missing": np.where(np.random.default_rng(0).random((10, 6)) < 0.1, 1, -1),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("model", [Sprite(), NRM(), LORD()])
def test_odd_data_survive(name, model):
    codes = np.array(ODD[name])
    correct = np.tile([False, True, False, False], codes.shape[1])
    result = run(SHORT, from_codes(codes, [LETTERS] * codes.shape[1], correct=correct), model)
    assert result.x.shape[:2] == (2, 10)
    assert np.isfinite(result.x).all()


def test_a_question_with_one_option_has_nothing_to_move():
    codes = np.array([[0, 0], [0, 1], [0, 1]])
    responses = from_codes(codes, [["A"], ["A", "B"]], correct=np.array([True, True, False]))
    assert run(SHORT, responses, Sprite()).x.shape == (2, 10, 2)


def test_interruption_returns_what_has_been_drawn():
    responses = simulate(Sprite(), 10, 3, 3, seed=5).responses
    engine = Metropolis(chains=2, warmup=100, draws=2000, thin=10)

    def stop(done, total, text):
        if done >= 600:
            raise KeyboardInterrupt

    result = run(engine, responses, Sprite(), progress=stop)
    assert result.interrupted
    assert result.x.shape == (2, 50, 12)
    assert np.isfinite(result.x).all()
    np.testing.assert_array_equal(result.x, run(engine, responses, Sprite()).x[:, :50])

    def stop_early(done, total, text):
        if done > 0:
            raise KeyboardInterrupt

    early = run(Metropolis(chains=2, warmup=1000, draws=100), responses, Sprite(), progress=stop_early)
    assert early.interrupted
    assert early.x.shape == (2, 0, 12)
    assert "warm-up" in early.messages[0]


def test_messages_name_the_step_to_change():
    responses = simulate(Sprite(), 40, 10, 4, seed=6).responses
    few = {"chains": 1, "warmup": 20, "draws": 60, "thin": 2}
    wide = run(Metropolis(step_z=400.0, step_mu=30.0, shape_nu=1.1, **few), responses, Sprite()).messages
    assert "of abilities" in wide[0]
    assert "lower step_z" in wide[0]
    assert "lower step_mu" in wide[1]
    assert "raise shape_nu" in wide[1]
    narrow = run(Metropolis(step_z=1e-6, step_mu=1e-6, shape_nu=1e7, **few), responses, Sprite()).messages
    assert "raise step_z" in narrow[0]
    assert "raise step_mu" in narrow[1]
    assert "lower shape_nu" in narrow[1]
    joint = run(Metropolis(step_z=1.0, step_mu=1.0, shape_nu=2.0, joint=True, **few), responses, Sprite()).messages
    assert len(joint) == 1
    assert "joint=False" in joint[0]
    paper = run(Metropolis(ratio="paper", **few), responses, Sprite()).messages
    assert "not posterior draws" in paper[0]


def test_half_sweeps_move_where_the_joint_decision_freezes():
    responses = simulate(Sprite(), 60, 20, 4, seed=7).responses
    literal = {"chains": 1, "warmup": 50, "draws": 100, "thin": 1, "step_z": 0.3, "step_mu": 0.1, "shape_nu": 10.0}
    sweeps = run(Metropolis(**literal), responses, Sprite())
    frozen = run(Metropolis(joint=True, **literal), responses, Sprite())
    assert sweeps.stats["acceptance_abilities"].mean() > 0.3
    assert sweeps.stats["acceptance_questions"].mean() > 0.1
    assert frozen.stats["acceptance_questions"].mean() < 0.01
