"""The key in all its forms, and what is said when it does not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sprite
from sprite.core.errors import InputError, SpriteWarning

ANSWERS = "respondent,Q1,Q2,Q3\nann,A,1,x\nbob,B,2,y\ncyd,C,1,x\n"


def put(folder: Path, text: str, name: str = "key.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return put(tmp_path, ANSWERS, "answers.csv")


EXPECTED = {"Q1": ("A", "C"), "Q2": ("1",), "Q3": ("x",)}


@pytest.mark.parametrize(
    "text",
    [
        "question,correct\nQ1,A;C\nQ2,1\nQ3,x\n",
        "item;key\nQ3;x\nQ2;1.0\nQ1;A;C\n".replace("A;C", '"A; C"'),
        "Q1,A;C\nQ2,1\nQ3,x\n",
        "Q1,Q2,Q3\nA;C,1,x\n",
        "respondent,Q1,Q2,Q3\nKEY,A;C,1,x\n",
        "correct,comment,question\nA;C,easy,Q1\n1,,Q2\nx,hard,Q3\n",
    ],
    ids=["two columns", "other names", "no header", "one row", "one named row", "three columns"],
)
def test_files(answers: Path, tmp_path: Path, text: str) -> None:
    assert sprite.read(answers, put(tmp_path, text)).key == EXPECTED


@pytest.mark.parametrize(
    "key",
    [
        {"Q1": ["A", "C"], "Q2": 1, "Q3": "x"},
        {"Q1": "A;C", "Q2": "1", "Q3": ("x",)},
        ["A;C", 1.0, "x"],
        pd.Series({"Q3": "x", "Q1": "A;C", "Q2": 1}),
        pd.DataFrame({"question": ["Q1", "Q2", "Q3"], "correct": ["A;C", 1, "x"]}),
    ],
    ids=["lists", "text", "sequence", "series", "frame"],
)
def test_objects(answers: Path, key: object) -> None:
    assert sprite.read(answers, key).key == EXPECTED


def test_a_string_of_letters_for_an_array() -> None:
    array = np.array([list("ABC"), list("BBA")])
    assert sprite.read(array, "ABA").key == {"Q1": ("A",), "Q2": ("B",), "Q3": ("A",)}


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_a_row_of_the_data(tmp_path: Path, layout: str) -> None:
    frame = pd.read_csv(put(tmp_path, ANSWERS), dtype=str)
    frame.loc[len(frame)] = ["KEY", "A;C", "1.0", "x"]
    if layout == "long":
        frame = frame.melt("respondent", var_name="question", value_name="response")
    responses = sprite.read(frame, "@KEY")
    assert responses.key == EXPECTED
    assert responses.respondents.tolist() == ["ann", "bob", "cyd"]
    assert responses.options == (("A", "B", "C"), ("1", "2"), ("x", "y"))
    with pytest.raises(InputError, match="no such respondent"):
        sprite.read(frame, "@KEI")


def test_an_option_that_is_written_with_a_semicolon(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "Q1": ["A;C", "A"]})
    assert sprite.read(frame, {"Q1": "A;C"}).key == {"Q1": ("A;C",)}


def test_questions_without_a_key_are_noted(answers: Path) -> None:
    responses = sprite.read(answers, {"Q1": "A", "Q2": ""})
    assert responses.key == {"Q1": ("A",)}
    assert "No key for 2 of 3 questions: 'Q2', 'Q3'." in responses.notes


def test_a_correct_option_that_nobody_chose_is_added_if_it_is_one_elsewhere(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "Q1": ["A", "C"], "Q2": ["B", "A"]})
    with pytest.warns(SpriteWarning, match=r"Nobody chose the correct option of 'Q1: B'"):
        responses = sprite.read(frame, {"Q1": "B", "Q2": "A"})
    assert responses.options == (("A", "B", "C"), ("A", "B"))
    assert responses.key == {"Q1": ("B",), "Q2": ("A",)}
    assert responses.answers("b") == {"Q1": "C", "Q2": "A"}


def test_an_order_and_a_key_that_add_options_together() -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "Q1": ["A", "C"], "Q2": ["B", "A"]})
    responses = sprite.read(frame, {"Q1": "B"}, order={"Q1": "C<B<A"})
    assert responses.rank is not None
    assert responses.options[0] == ("A", "B", "C")
    assert responses.rank.tolist() == [2, 1, 0, 0, 1]


# --- errors ----------------------------------------------------------------------------------------------------------


def refused(answers: object, key: object, **given: object) -> str:
    with pytest.raises(InputError) as caught:
        sprite.read(answers, key, **given)  # type: ignore[arg-type]
    return str(caught.value)


def test_unknown_question(answers: Path, tmp_path: Path) -> None:
    path = put(tmp_path, "question,correct\nQ1,A\nq2,1\n")
    said = refused(answers, path)
    assert f"{path}, line 3" in said
    assert "found 'q2'" in said
    assert "Did you mean 'Q2'?" in said
    assert "If 'Q1', 'Q2', 'Q3' are meant" in refused(answers, {"zzzzzz": "A"})


def test_unknown_option(answers: Path, tmp_path: Path) -> None:
    path = put(tmp_path, "question,correct\nQ1,a\n")
    said = refused(answers, path)
    assert f"{path}, line 2" in said
    assert "'Q1'" in said
    assert "found 'a'" in said
    assert "Did you mean 'A'?" in said
    said = refused(answers, {"Q1": "E"})
    assert "The answers show A, B, C" in said
    assert "options={'Q1': ['A', 'B', 'C', 'E']}" in said
    # The remedy works.
    assert sprite.read(answers, {"Q1": "E"}, options={"Q1": ["A", "B", "C", "E"]}).key == {"Q1": ("E",)}
    assert "The declared options are A, B, C" in refused(answers, {"Q1": "x"}, options={"Q1": ["A", "B", "C"]})


def test_question_twice(answers: Path, tmp_path: Path) -> None:
    path = put(tmp_path, "question,correct\nQ1,A\nQ1,B\n")
    said = refused(answers, path)
    assert "line 3" in said
    assert "names this question twice" in said
    assert "A;C" in said


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (["A"], "1 entries and there are 3 questions"),
        (5, "cannot be read as a key"),
        ("nowhere.csv", "no such file"),
    ],
)
def test_not_a_key(answers: Path, key: object, words: str) -> None:
    assert words in refused(answers, key)


def test_tables_that_are_no_key(answers: Path, tmp_path: Path) -> None:
    assert "two columns" in refused(answers, put(tmp_path, "a,b,c\n1,2,3\n4,5,6\n"))
    assert "nothing below its header" in refused(answers, put(tmp_path, "question,correct\n"))
    assert "no column of names" in refused(np.array([["A"], ["B"]]), "@KEY")


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({"Q1": "A<B"}, "leaves out an option (found 'C')"),
        ({"Q1": "A<B<C<A"}, "names an option twice (found 'A')"),
        ({"Q7": "A<B"}, "names a question that the answers do not have"),
        (7, "cannot be read as an order"),
    ],
)
def test_bad_orders(answers: Path, order: object, words: str) -> None:
    assert words in refused(answers, None, order=order)


def test_bad_order_files(answers: Path, tmp_path: Path) -> None:
    said = refused(answers, None, order=put(tmp_path, "question,option,rank\nQ1,A,first\n"))
    assert "line 2, column 'rank': a rank is a number (found 'first')" in said
    assert "A<B<C" in refused(answers, None, order=put(tmp_path, "a,b,c,d\n1,2,3,4\n"))
    said = refused(answers, None, order={"Q1": "A<B<C<D"}, options={"Q1": ["A", "B", "C"]})
    assert "not declared (found 'D')" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"Q9": ["A"]}, "names a question that the answers do not have"),
        ({"Q1": ["A", "A"]}, "declared twice (found 'A')"),
        ({"Q1": ["A", ""]}, "declared option is empty"),
        (["A", "B", "C"], "not among the declared options"),
        (range(300), "more than 255 options"),
        (5, "cannot be read as options"),
    ],
)
def test_bad_options(answers: Path, options: object, words: str) -> None:
    assert words in refused(answers, None, options=options)


def test_bad_texts(answers: Path, tmp_path: Path) -> None:
    assert "question, option, text" in refused(answers, None, texts=3)
    assert "question, option and text" in refused(answers, None, texts=put(tmp_path, "question,option\nQ1,A\n"))
    assert "do not have" in refused(answers, None, texts={"zz": "never"})
