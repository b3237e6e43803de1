"""What `check` finds in answers with known faults, and that it is quiet about good ones."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sprite
from sprite.core.errors import SpriteWarning
from sprite.data.check import Check
from sprite.data.key_findings import item_rest_correlations

N, Q = 200, 12


def exam(seed: int = 0) -> pd.DataFrame:
    """Able respondents tend to choose A, which is always right."""
    rng = np.random.default_rng(seed)
    right = rng.normal(size=(N, 1)) + rng.logistic(size=(N, Q)) > 0
    cells = np.where(right, "A", rng.choice(list("BCD"), size=(N, Q)))
    frame = pd.DataFrame(cells, columns=[f"Q{j + 1}" for j in range(Q)])
    frame.insert(0, "respondent", [f"r{i}" for i in range(N)])
    return frame


KEY = {f"Q{j + 1}": "A" for j in range(Q)}


def look(frame: pd.DataFrame, key: object = KEY, **given: object) -> Check:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpriteWarning)
        return sprite.check(sprite.read(frame, key, **given))  # type: ignore[arg-type]


def only(check: Check, kind: str) -> str:
    (finding,) = check.of(kind)
    assert finding.remedy
    return finding.message


def test_a_good_test_has_no_findings() -> None:
    check = look(exam())
    assert [finding for finding in check.findings if finding.kind != "perfect_row"] == []
    assert check.options == {4: Q}
    assert (check.n_respondents, check.n_questions, check.n_keyed, check.observed) == (N, Q, Q, 1.0)
    assert "200 respondents x 12 questions; 2,400 answers, 0.0% missing." in str(check)


def test_keys_that_the_answers_do_not_support() -> None:
    frame = exam()
    frame["Q2"] = frame["Q2"].replace({"D": "C"})
    check = look(frame, {**KEY, "Q1": "B", "Q2": "D"})
    assert "did worse elsewhere" in only(check, "key_negative")
    assert check.of("key_negative")[0].question == "Q1"
    assert only(check, "key_unchosen") == "Nobody chose the key 'D' of 'Q2'."
    del frame["Q2"]
    frame["Q3"] = np.where(
        np.arange(N) % 10 < 2, "A", np.where(np.arange(N) % 10 < 7, "B", frame["Q3"].replace("A", "C"))
    )
    kinds = {finding.kind for finding in look(frame, {q: a for q, a in KEY.items() if q != "Q2"}).findings}
    assert kinds & {"key_not_most_chosen", "key_negative", "key_least_chosen"}


def test_item_rest_correlations_agree_with_numpy() -> None:
    frame = exam()
    right = (frame.drop(columns="respondent") == "A").to_numpy()
    rest = (right.sum(axis=1, keepdims=True) - right) / (Q - 1)
    expected = [np.corrcoef(right[:, j], rest[:, j])[0, 1] for j in range(Q)]
    np.testing.assert_allclose(item_rest_correlations(sprite.read(frame, KEY)), expected, atol=1e-12)


def test_missing_keys() -> None:
    assert "no key" in only(look(exam(), None), "no_key")
    assert "1 of 12 questions has no key: 'Q12'" in only(
        look(exam(), {q: a for q, a in KEY.items() if q != "Q12"}), "unkeyed_questions"
    )


def test_labels_that_look_wrong() -> None:
    frame = exam()
    frame.loc[3, "Q4"] = "a"
    frame.loc[5, "Q5"] = "F"
    frame.loc[[1, 2], [f"Q{j}" for j in range(1, 9)]] = "."
    frame = frame.rename(columns={"Q7": "q 8"})
    check = look(frame, {q: a for q, a in KEY.items() if q != "Q7"})
    assert "'A' and 'a'" in only(check, "label_collision")
    assert "'F'" in only(check, "lone_label")
    assert "'.'" in only(check, "missing_code")
    assert "'Q8'" in only(check, "question_collision")


def test_a_number_that_stands_apart_is_perhaps_a_code() -> None:
    frame = exam().replace(dict(zip("ABCD", "1234", strict=True)))
    frame.iloc[:5, 1:] = "9"
    check = look(frame, dict.fromkeys(KEY, "1"))
    assert "'9'" in only(check, "missing_code")
    assert not look(frame, dict.fromkeys(KEY, "1"), missing_codes=9).of("missing_code")


def test_columns_that_are_no_questions() -> None:
    frame = exam()
    frame["Total"] = np.arange(N) % 13
    frame["when"] = [f"2024-05-{i % 28 + 1:02d}" for i in range(N)]
    frame["comment on Q1"] = [f"words {i}" for i in range(N)]
    frame["same"] = "yes"
    frame["void"] = ""
    check = look(frame)
    assert {finding.question for finding in check.of("not_a_question")} == {"Total", "when", "comment on Q1"}
    assert "'same' chose 'yes'" in only(check, "constant_question")
    assert "'void'" in only(check, "empty_question")


@pytest.mark.parametrize("key", [KEY, None], ids=["key", "no key"])
def test_numbers_with_fractions_are_no_question(key: object) -> None:
    frame = exam()
    frame["Zeit"] = [f"{i % 25},5" for i in range(N)]
    frame["Q13"] = [("3,14", "2,72", "1,41")[i % 3] for i in range(N)]
    assert "'Zeit'" in only(look(frame, key), "not_a_question")


def test_many_options_without_a_key_are_no_question_in_a_test_with_one() -> None:
    frame = exam()
    frame["Punkte"] = [str(i % 30) for i in range(N)]
    check = look(frame)
    assert "'Punkte'" in only(check, "not_a_question")
    assert only(check, "unkeyed_questions") == "1 of 13 questions has no key: 'Punkte'."
    assert not look(frame, {**KEY, "Punkte": "7"}).of("not_a_question")


def test_a_long_table_of_something_else_than_options() -> None:
    long = exam().melt("respondent", var_name="question", value_name="seconds")
    long["seconds"] = [f"{i % 200}.5" for i in range(len(long))]
    check = look(long, None)
    assert only(check, "not_options").startswith("The answers do not look like options: 12 of 12 questions")
    assert not check.of("not_a_question")


def test_missing_patterns() -> None:
    frame = exam()
    frame.iloc[:40, 8:] = ""
    frame.iloc[50, 1:] = ""
    check = look(frame)
    assert only(check, "not_reached").startswith("40 respondents stopped")
    assert "1 of 200 respondents answered nothing" in only(check, "empty_respondents")


def test_parts_that_share_nothing() -> None:
    frame = exam()
    frame.iloc[:100, 1:7] = ""
    frame.iloc[100:, 7:] = ""
    assert "2 parts" in only(look(frame), "disconnected")
    frame.iloc[0, 1] = "A"
    assert not look(frame).of("disconnected")


def test_rows_that_are_no_respondents() -> None:
    frame = exam()
    frame.iloc[7, 1:] = frame.iloc[6, 1:] = list("BCDBCDBCDBCD")
    frame.loc[N] = ["KEY", *"A" * Q]
    check = look(frame)
    assert "'r6', 'r7'" in only(check, "same_answers")
    assert "'KEY'" in only(check, "key_row")
    assert "'KEY'" in only(check, "perfect_row")
    assert not look(frame, "@KEY").of("key_row")


def test_few_respondents_and_empty_tests() -> None:
    assert "Only 5 respondents" in only(look(exam().head(5)), "few_respondents")
    nothing = pd.DataFrame({"respondent": ["a", "b"], "Q1": ["", ""]})
    assert look(nothing, None).of("empty_question")


def test_results_as_table_and_values() -> None:
    check = look(exam(), None)
    assert list(check.to_frame().columns) == ["severity", "kind", "question", "option", "message", "remedy"]
    assert check.to_dict()["findings"][0]["kind"] == "no_key"
    assert "[info] There is no key." in str(check)


DATA = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.mark.parametrize(
    ("name", "kind", "question"),
    [("hci", "label_collision", "A5"), ("sat12", "key_not_most_chosen", "Item.32"), ("tam_mc", "not_reached", None)],
)
def test_known_oddities_of_real_tests(name: str, kind: str, question: str | None) -> None:
    if not (DATA / name / "responses.csv").exists():
        pytest.skip("the shared data are not here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpriteWarning)
        check = sprite.check(sprite.read(DATA / name / "responses.csv", DATA / name / "key.csv"))
    assert question in {finding.question for finding in check.of(kind)}
