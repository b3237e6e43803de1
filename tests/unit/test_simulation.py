"""The simulator: shapes, determinism, and answers that follow the model they were drawn from."""

from __future__ import annotations

import numpy as np
import pytest

from sprite import InputError, simulate
from sprite.models.registry import MODELS
from sprite.models.sprite import Sprite

each_model = pytest.mark.parametrize("name", MODELS)


@each_model
@pytest.mark.parametrize("kind", ["exam", "prior"])
def test_every_model_makes_a_test_of_the_asked_shape(name, kind):
    responses, truth = simulate(name, 50, 7, [2, 3, 4, 5, 6, 15, 1], kind=kind, observed=0.8, seed=3)
    assert (responses.n_respondents, responses.n_questions) == (50, 7)
    assert [len(labels) for labels in responses.options] == [2, 3, 4, 5, 6, 15, 1]
    assert responses.correct.sum() == 7
    assert len(truth.abilities) == 50
    assert 0.6 < responses.n_answers / 350 < 0.95
    assert {p.name for p in truth.model.parameters(responses.layout)} == set(truth.values)
    again = simulate(name, 50, 7, [2, 3, 4, 5, 6, 15, 1], kind=kind, observed=0.8, seed=3)
    assert np.array_equal(again.responses.row, responses.row)
    other = simulate(name, 50, 7, [2, 3, 4, 5, 6, 15, 1], kind=kind, observed=0.8, seed=4)
    assert not np.array_equal(other.responses.row, responses.row)


@each_model
def test_answers_follow_the_model(name):
    """Counts of each option against the sum of its probabilities at the true abilities."""
    responses, truth = simulate(name, 4000, 6, 4, seed=5)
    expected = np.exp(truth.model.log_table(truth.values, truth.abilities, responses.layout))
    spread = np.sqrt((expected * (1 - expected)).sum(axis=1))
    z = (responses.layout.count - expected.sum(axis=1)) / np.maximum(spread, 1e-9)
    if np.abs(z).max() > 3.0:
        print(f"ALERT {name}: a count is {np.abs(z).max():.1f} standard errors off")
    assert np.abs(z).max() < 4.5


@each_model
def test_exams_have_the_key_on_top(name):
    """The choosers of the key are abler than those of any distractor, which the prior hardly ever gives."""
    responses, truth = simulate(name, 3000, 20, 4, seed=6)
    who = truth.abilities[responses.respondent_of_answer]
    mean = np.bincount(responses.row, who, minlength=80) / np.maximum(responses.layout.count, 1)
    by_question = np.where(responses.layout.count > 20, mean, -9.0).reshape(20, 4)
    assert (by_question.argmax(axis=1) == responses.layout.reference - responses.first[:-1]).mean() > 0.9


def test_the_truth_honours_the_anchor():
    responses, truth = simulate(Sprite(), 10, 5, 4, kind="prior", seed=1)
    at = responses.layout.reference
    assert (truth.values["mu"][at] == 0.0).all()
    assert (truth.values["nu"][at] == 1.0).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_respondents": 0}, "at least one respondent"),
        ({"n_options": 300}, "1 to 255 options"),
        ({"n_options": [3, 4]}, "one number or 30"),
        ({"observed": 0.0}, "share above 0"),
        ({"kind": "quiz"}, "exam"),
        ({"model": "rasch"}, "Choose one of sprite"),
    ],
)
def test_impossible_wishes_are_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        simulate(**arguments)
