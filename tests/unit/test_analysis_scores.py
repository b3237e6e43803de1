"""Abilities against brute force on a fine grid, and scoring of people who were not in the fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sprite.analysis.scores import abilities, marks, plausible_values, score
from sprite.core.errors import InputError
from sprite.data.responses import Responses, from_codes, names_array
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.result.fit import Fit
from sprite.simulation import simulate

MODELS = ["sprite", "nrm", "gpcm", "ord", "lord"]
FINE = np.linspace(-8.0, 8.0, 16_001)


@pytest.fixture(scope="module")
def simulated():
    return simulate("sprite", 150, 8, [4, 3, 5, 2, 4, 4, 3, 4], observed=0.85, seed=3)


@pytest.fixture(scope="module")
def fitted(simulated) -> Fit:
    return fit(simulated.responses, "sprite", EM(starts=1, draws=30))


def by_brute_force(fitted: Fit, i: int) -> tuple[float, ...]:
    """Mean, mode, sd and quantiles of one respondent, from the table of probabilities on 16,001 points."""
    mean, variance = fitted.model.ability
    nodes = mean + np.sqrt(variance) * FINE
    table = fitted.model.log_table(fitted.values, nodes, fitted.responses.layout)
    responses = fitted.responses
    rows = responses.row[responses.start[i] : responses.start[i + 1]]
    level = table[rows].sum(axis=0) - 0.5 * FINE**2
    density = np.exp(level - level.max())
    density /= density.sum()
    centre = density @ nodes
    total = np.cumsum(density) - 0.5 * density
    return (
        centre,
        nodes[level.argmax()],
        np.sqrt(density @ (nodes - centre) ** 2),
        np.interp(0.05, total, nodes),
        np.interp(0.95, total, nodes),
    )


@pytest.mark.parametrize("model", MODELS)
def test_plug_in_against_brute_force(simulated, model):
    fitted = fit(simulated.responses, model, EM(starts=1, draws=0, standard_errors=False))
    frame = abilities(fitted)
    for i in (0, 1, 2, 77, 149):
        found = frame.loc[i, ["ability", "map", "sd", "lower", "upper"]].to_numpy(float)
        # The mode is that of a parabola through nodes 0.2 apart, and the widest of the tolerances.
        assert (np.abs(found - by_brute_force(fitted, i)) < [1e-4, 1e-2, 1e-4, 3e-3, 3e-3]).all()


def test_averaged_abilities_are_the_mixture_over_draws(fitted):
    frame = abilities(fitted)
    mean, sd, mode = fitted.ability_moments()
    np.testing.assert_allclose(frame.ability, mean, atol=1e-12)
    np.testing.assert_allclose(frame.sd, sd, atol=1e-7)
    np.testing.assert_allclose(frame["map"], mode, atol=1e-9)
    plug_in = score(fitted, fitted.responses, plug_in=True)
    assert frame.sd.mean() > plug_in.sd.mean()  # the uncertainty of the parameters is added
    assert (frame.lower < frame.ability).all()
    assert (frame.ability < frame.upper).all()


def test_interval_holds_the_truth_nine_times_in_ten():
    responses, truth = simulate("nrm", 800, 10, 4, observed=0.9, seed=3)
    frame = abilities(fit(responses, "nrm", EM(starts=1, draws=30)))
    inside = np.mean((frame.lower < truth.abilities) & (truth.abilities < frame.upper))
    if abs(inside - 0.9) > 0.02:
        print(f"ALERT 90 % intervals hold {inside:.1%}")
    assert 0.86 < inside < 0.94
    assert np.corrcoef(frame.ability, truth.abilities)[0, 1] > 0.6


def test_counts_of_answers_and_of_correct_ones():
    correct = np.array([True, True, False, True, False])  # the first question has two correct options
    responses = from_codes([[0, 0], [1, 1], [2, -1], [-1, -1]] * 10, [list("ABC"), list("XY")], correct=correct)
    frame = abilities(fit(responses, "nrm", EM(starts=1, draws=5)))
    assert frame.n_answered.tolist()[:4] == [2, 2, 1, 0]
    assert frame.n_correct.tolist()[:4] == [2, 1, 0, 0]
    nobody = frame.iloc[3]  # who answered nothing has the prior
    np.testing.assert_allclose(
        [nobody.ability, nobody.sd, nobody.lower, nobody.upper], [0, 1, -1.645, 1.645], atol=1e-3
    )
    without = abilities(fit(replace(responses, correct=np.zeros(5, dtype=bool)), "nrm", EM(starts=1, draws=5)))
    assert without.n_correct.isna().all()
    assert list(without.columns) == list(frame.columns)


def test_marks_with_respondents_who_answered_nothing():
    start = np.array([0, 0, 2, 2, 3, 3])
    assert marks(start, np.array([True, True, False])).tolist() == [0, 2, 0, 0, 0]
    assert marks(np.array([0]), np.zeros(0, dtype=bool)).tolist() == []


def test_plausible_values_scatter_like_the_posterior(fitted):
    frame = plausible_values(fitted, 400, seed=1)
    assert list(frame.columns) == ["respondent", "draw", "ability"]
    assert frame.draw.min() == 1
    assert frame.draw.max() == 400
    by_person = frame.groupby("respondent", sort=False).ability
    expected = abilities(fitted)
    error = (by_person.mean().to_numpy() - expected.ability) / (expected.sd / np.sqrt(400))
    assert np.abs(error).max() < 4.5
    np.testing.assert_allclose(by_person.std().to_numpy().mean(), expected.sd.mean(), rtol=0.03)
    assert plausible_values(fitted, 2, seed=1).equals(plausible_values(fitted, 2, seed=1))
    assert not plausible_values(fitted, 2, seed=1).equals(plausible_values(fitted, 2, seed=2))
    with pytest.raises(InputError, match="n >= 1"):
        plausible_values(fitted, 0)


def rearranged(responses: Responses, seed: int) -> Responses:
    """The same answers with questions and options in another order."""
    rng = np.random.default_rng(seed)
    codes = np.full((responses.n_respondents, responses.n_questions), -1)
    question = responses.question_of_row[responses.row]
    codes[responses.respondent_of_answer, question] = responses.row - responses.first[question]
    options, columns = [], []
    order = rng.permutation(responses.n_questions)
    for j in order:
        shuffled = rng.permutation(len(responses.options[j]))
        options.append([responses.options[j][k] for k in shuffled])
        position = np.argsort(shuffled)
        columns.append(np.where(codes[:, j] < 0, -1, position[codes[:, j]]))
    return from_codes(
        np.column_stack(columns),
        options,
        questions=[responses.questions[j] for j in order],
        respondents=responses.respondents.tolist(),
    )


@pytest.mark.parametrize("plug_in", [False, True])
def test_score_matches_questions_and_options_by_name(fitted, plug_in):
    expected = score(fitted, fitted.responses, plug_in=plug_in)
    found = score(fitted, rearranged(fitted.responses, 5), plug_in=plug_in)
    assert found.respondent.equals(expected.respondent)
    np.testing.assert_allclose(found.iloc[:, 1:6].to_numpy(float), expected.iloc[:, 1:6].to_numpy(float), atol=1e-9)
    assert found.n_correct.equals(expected.n_correct)
    if not plug_in:
        np.testing.assert_allclose(expected.ability, abilities(fitted).ability, atol=1e-12)


def test_score_takes_part_of_the_test(fitted):
    part = from_codes([[0, -1], [2, 1]], [["A", "B", "C"], ["A", "B"]], questions=["Q2", "Q4"], respondents=["x", "y"])
    frame = score(fitted, part)
    assert frame.respondent.tolist() == ["x", "y"]
    assert frame.n_answered.tolist() == [1, 2]
    assert frame.sd.between(0.3, 1.1).all()


def test_score_refuses_what_the_fit_does_not_know(fitted):
    with pytest.raises(InputError, match=r"no question called 'Q99'.*fit\.responses\.questions"):
        score(fitted, from_codes([[0]], [["A", "B"]], questions=["Q99"]))
    with pytest.raises(InputError, match=r"'Q4' of the fit has no option 'C'.*Its options are A, B"):
        score(fitted, from_codes([[2]], [["A", "B", "C"]], questions=["Q4"]))
    unchosen = from_codes([[1]], [["A", "B", "C"]], questions=["Q4"])  # declared but nobody's answer: no harm
    assert len(score(fitted, unchosen)) == 1
    with pytest.raises(InputError, match=r"sprite\.read"):
        score(fitted, [["A"]])


def test_names_that_need_care(fitted):
    odd = replace(fitted.responses, respondents=names_array([f"é {i}" for i in range(150)]))
    assert score(fitted, odd, plug_in=True).respondent[3] == "é 3"
