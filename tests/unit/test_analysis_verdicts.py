"""`verdicts`: each kind where it is planted, and nothing where it is not."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import pearson3

from sprite.analysis.curves import curves, respondent_weights
from sprite.analysis.test_faults import normal_score, person_fit, residual_correlations, unusual_respondents
from sprite.analysis.verdicts import KINDS, question_verdicts, verdicts
from sprite.core.errors import InputError
from sprite.data.bundled import example
from sprite.data.reading import read
from sprite.data.responses import Responses, from_codes
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.nrm import NRM
from sprite.models.registry import MODELS
from sprite.models.sprite import Sprite
from sprite.result.fit import Fit
from sprite.simulation import simulate
from tests.unit.test_analysis_options import awkward, fit_at, some

DATA = Path(__file__).parents[2].parent / "shared" / "data"


@cache
def _exam() -> Fit:
    return fit(simulate("nrm", 300, 20, 4, seed=6).responses, "nrm", EM(starts=1, draws=100))


def test_the_bundled_example_has_its_planted_faults() -> None:
    table = verdicts(fit(example(), Sprite(), EM()))
    keys = table[table.verdict == "key_suspect"]
    assert keys[["question", "option"]].to_numpy().tolist() == [["Q17", "A"]]
    assert keys.message.iloc[0].startswith(
        "Key of Q17 is probably wrong: those who chose A are abler than those who chose the key B"
    )
    assert table[table.verdict == "second_correct"][["question", "option"]].to_numpy().tolist() == [["Q25", "C"]]
    dead = table[table.verdict == "dead_distractor"]
    assert ("Q11", "E") in set(zip(dead.question, dead.option, strict=True))
    order = [KINDS.index(kind) for kind in table.verdict]
    assert order == sorted(order)
    assert (table.probability >= 0.9).all()
    assert list(table.columns) == ["question", "option", "verdict", "probability", "message", "respondent"]


@pytest.mark.skipif(not DATA.exists(), reason="the shared data are not here")
@pytest.mark.parametrize(("name", "wrong"), [("sat12", ["Item.32"]), ("irtoys_unscored", []), ("iqitems", [])])
def test_real_tests(name: str, wrong: list[str]) -> None:
    data = read(DATA / name / "responses.csv", key=DATA / name / "key.csv")
    table = verdicts(fit(data, Sprite(), EM()))
    assert table[table.verdict == "key_suspect"].question.tolist() == wrong


def test_abilities_that_nobody_has_do_not_decide() -> None:
    """All respondents are able and prefer the key; only below them would the key's choosers be the weaker ones."""
    n = 300
    codes = np.zeros((n, 9), int)
    codes[:, 0] = np.arange(n) % 2
    data = from_codes(codes, [list("AB")] * 9, correct=np.array([1, 0] * 9, bool))
    # Answering Q2 to Q9 right takes an ability of about 1 or more.
    # The key of Q1 is wide: it wins the lower tail in the model, and the upper one, where the respondents are.
    values = {"mu": [-0.4, 0.5] + [2.5, -0.5] * 8, "nu": [3.0, 0.6] + [1.0, 1.0] * 8}
    of = fit_at(data, Sprite(anchor="none"), values)
    assert curves(of).estimate.mean[1] > curves(of).estimate.mean[0]
    assert respondent_weights(of) @ of.grid.nodes > 0.8
    assert not any(kind == "key_suspect" for kind, *_ in _kinds(of))


def test_a_moved_key_is_found_and_silences_the_rest() -> None:
    data = _exam().responses
    rows = np.arange(*data.first[4:6])
    (key,) = rows[data.correct[rows]]
    distractors = np.setdiff1d(rows, [key])
    correct = data.correct.copy()
    correct[key], correct[distractors[np.argmax(data.count[distractors])]] = False, True
    before, after = (verdicts(fit(d, "nrm", EM(starts=1, draws=100))) for d in (data, replace(data, correct=correct)))
    assert not (before.verdict == "key_suspect").any()
    found = after[after.question == "Q5"]
    assert found.verdict.tolist() == ["key_suspect"]
    assert found.option.tolist() == [data.options[4][key - data.first[4]]]
    assert after.verdict[0] == "key_suspect"


def _kinds(of: Fit, level: float = 0.9) -> list[tuple[str, int, int | None]]:
    return [(v.kind, v.question, v.row) for v in question_verdicts(of, level)]


def test_kinds_by_construction() -> None:
    """Option B of Q1 equals the key; in Q2 it is better than the key; Q3 tells nothing."""
    data = some(300, (3, 3, 3), (0, 0, 0))
    of = fit_at(data, NRM(), {"slope": [0.7, 0.7, -1.4, 0.0, 1.0, -1.0, 0, 0, 0], "intercept": np.zeros(9)})
    assert _kinds(of) == [("key_suspect", 1, 4), ("second_correct", 0, 1), ("uninformative", 2, None)]
    mirrored = fit_at(data, NRM(), {"slope": [1.5, -0.5, -1.0] * 3, "intercept": np.zeros(9)})
    assert _kinds(mirrored) == []


def test_attracts_able_is_above_the_respondents_average_but_below_the_key() -> None:
    data = some(300, (3, 2, 2), (0, 0, 0))
    values = {"slope": [1.2, 0.0, -1.2, 1, -1, 1, -1], "intercept": [-1.0, 0.5, 0.5, 0, 0, 0, 0]}
    assert _kinds(fit_at(data, NRM(), values)) == [("attracts_able", 0, 1)]
    # The same question among respondents who are all able: its choosers are below average now.
    codes = np.zeros((300, 7), int)
    codes[:, 0] = np.arange(300) % 3
    able = from_codes(codes, [list("ABC")] + [list("AB")] * 6, correct=np.array([1, 0, 0] + [1, 0] * 6, bool))
    values = {"slope": values["slope"][:3] + [1, -1] * 6, "intercept": values["intercept"][:3] + [0, 0] * 6}
    assert not any(kind == "attracts_able" for kind, *_ in _kinds(fit_at(able, NRM(), values)))


def test_both_ends() -> None:
    of = fit_at(some(300, (2, 2), (0, 0)), Sprite(anchor="none"), {"mu": [0, 0.3, 0, -1], "nu": [0.3, 6, 1, 1]})
    assert _kinds(of) == [("both_ends", 0, 1)]


@pytest.mark.parametrize(("n", "dead"), [(0, True), (1, True), (5, False), (20, False)])
def test_dead_distractors_go_by_their_counts(n: int, dead: bool) -> None:
    codes = np.zeros((100, 2), int)
    codes[:40, 0], codes[40 : 40 + n, 0], codes[:50, 1] = 1, 2, 1
    data = from_codes(codes, [list("ABC"), list("AB")], correct=np.array([1, 0, 0, 1, 0], bool))
    of = fit_at(data, NRM(), {"slope": [1, 0, -1, 1, -1], "intercept": np.zeros(5)})
    assert (("dead_distractor", 0, 2) in _kinds(of)) == dead
    if dead:
        table = verdicts(of)
        said = "Nobody chose option C of Q1" if n == 0 else f"Option C of Q1 is hardly ever chosen ({n} times)"
        said = said.replace("1 times", "once")
        assert said in table[table.option == "C"].message.iloc[0]


def test_probability_is_the_share_of_draws() -> None:
    good, bad = ({"slope": [s, -s, 1, -1], "intercept": np.zeros(4)} for s in (1.0, -1.0))
    of = fit_at(some(300, (2, 2), (0, 0)), NRM(), good, draws=[good] * 4 + [bad] * 16)
    (found,) = question_verdicts(of, 0.75)
    assert (found.kind, found.probability) == ("key_suspect", 0.8)
    assert question_verdicts(of, 0.9) == []
    with pytest.raises(InputError, match="level must be"):
        verdicts(of, level=1.5)


def test_a_copied_question_is_locally_dependent() -> None:
    data = _exam().responses
    codes = (data.row.reshape(300, 20) - data.first[:-1]).copy()
    codes[:, 7] = np.where(np.random.default_rng(0).random(300) < 0.8, codes[:, 3], codes[:, 7])
    correct = data.correct.copy()
    correct[data.first[7] : data.first[8]] = correct[data.first[3] : data.first[4]]
    copied = fit(from_codes(codes, data.options, correct=correct), "nrm", EM(starts=1, draws=100))
    table = verdicts(copied)
    pairs = table[table.verdict == "local_dependence"]
    assert pairs.question.tolist() == ["Q4 / Q8"]
    assert "go together" in pairs.message.iloc[0]
    assert not (verdicts(_exam()).verdict == "local_dependence").any()


def test_residual_correlations_by_brute_force_with_missing_answers() -> None:
    of = awkward("nrm")
    data = of.responses
    questions, q3, together = residual_correlations(of)
    codes = np.full((data.n_respondents, data.n_questions), -1)
    codes[data.respondent_of_answer, data.question_of_row[data.row]] = data.row
    eap = _plug_in(of)
    p = np.exp(of.model.log_table(of.values, eap, data.layout))
    right = np.add.reduceat(p * data.correct[:, None], data.first[:-1], axis=0).T
    residual = np.where(codes >= 0, data.correct[codes] - right, np.nan)
    both = np.isfinite(residual[:, 1]) & np.isfinite(residual[:, 4])
    assert q3[1, 4] == pytest.approx(np.corrcoef(residual[both, 1], residual[both, 4])[0, 1])
    assert together[1, 4] == both.sum()
    assert np.isnan(q3[3]).all()  # one option: always right, as expected
    assert questions.tolist() == [0, 1, 2, 3, 4, 5]


def _plug_in(of: Fit) -> np.ndarray:
    """EAPs at the estimate, by summing over the grid."""
    data, grid, table = of.responses, of.grid, of.table()
    level = np.tile(grid.log_weight, (data.n_respondents, 1))
    np.add.at(level, data.respondent_of_answer, table[data.row])
    weight = np.exp(level - level.max(axis=1, keepdims=True))
    return np.asarray(weight @ grid.nodes / weight.sum(axis=1))


@pytest.mark.parametrize("skewness", [-1.0, -0.5, 0.0, 0.3])
def test_skewed_scores_become_normal_ones_and_keep_their_order(skewness: float) -> None:
    z = np.linspace(-25.0, 2.0, 400)
    score = normal_score(z, np.full_like(z, skewness))
    assert (np.diff(score) >= 0.0).all()
    expected = np.linspace(-4.0, 2.0, 17)
    quantiles = pearson3(skewness).ppf(ndtr(expected))
    np.testing.assert_allclose(normal_score(quantiles, np.full(17, skewness)), expected, atol=0.1)


def test_person_fit_is_standard_normal_without_misfit() -> None:
    data = simulate("nrm", 2000, 25, 4, seed=9).responses
    score = person_fit(fit(data, "nrm", EM(starts=1, standard_errors=False)))
    assert score.mean() == pytest.approx(0.0, abs=0.1)
    assert score.std() == pytest.approx(1.0, abs=0.1)
    assert np.mean(score < -1.645) == pytest.approx(0.05, abs=0.015)


def test_a_respondent_who_answers_against_ability_is_unusual() -> None:
    data = _exam().responses
    codes = (data.row.reshape(300, 20) - data.first[:-1]).copy()
    share = data.count[data.correct] / 300
    easy = np.argsort(-share)
    key = np.flatnonzero(data.correct) - data.first[:-1]
    rarest = [int(np.argmin(data.count[a:b])) for a, b in zip(data.first[:-1], data.first[1:], strict=True)]
    codes[17] = np.where(np.isin(np.arange(20), easy[:10]), rarest, key)
    of = fit(
        from_codes(codes, data.options, correct=data.correct, respondents=[f"<S{i}>" for i in range(300)]),
        "nrm",
        EM(starts=1, draws=50),
    )
    assert unusual_respondents(of)[0].respondent == 17
    keyless = replace(of, responses=replace(of.responses, correct=np.zeros_like(of.responses.correct)))
    assert not re.search("right|wrong", " ".join(verdicts(keyless).message))
    table = verdicts(of)
    found = table[table.verdict == "unusual_respondent"]
    assert found.respondent.iloc[0] == "<S17>"
    assert "<S17>" in found.message.iloc[0]
    assert found.question.iloc[0] == ""
    assert found.probability.iloc[0] > 0.999


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_every_model_with_awkward_data(name: str, keyed: bool) -> None:
    table = verdicts(awkward(name, keyed))
    assert set(table.verdict) <= set(KINDS)
    assert not (table.question == "Q4").any()  # one option: nothing to say
    if not keyed:
        assert not table.verdict.isin(["key_suspect", "second_correct", "attracts_able", "local_dependence"]).any()


def test_nothing_is_said_of_those_who_answered_little() -> None:
    data: Responses = _exam().responses
    few = data.without((data.respondent_of_answer == 0) & (data.question_of_row[data.row] > 2))
    nobody = few.without(few.respondent_of_answer == 1)
    score = person_fit(fit(nobody, "nrm", EM(starts=1, standard_errors=False)))
    assert np.isnan(score[:2]).all()
    assert np.isfinite(score[2:]).all()
