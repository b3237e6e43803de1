"""What is written reads back the same, whatever people write into their labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sprite
from sprite.core.errors import InputError, SpriteWarning
from sprite.data.labels import MISSING, guard, sort_key, unguard, whole
from sprite.data.responses import Responses, Texts, from_codes
from sprite.data.writing import read_folder, save_folder

# Awkward on purpose, and often: quotes, separators, line breaks, formulas, guards, leading zeros, other scripts.
awkward = st.sampled_from(
    [
        '"',
        "'",
        "a,b",
        "a;b",
        "a\nb",
        "a\r\nb",
        "=1+1",
        "'=x",
        "''-y",
        "-1",
        "+",
        "@me",
        "01",
        "1",
        "1.5",
        "é",
        "名",
        "🙂",
        "|",
    ]
)
texts = st.one_of(awkward, st.text(min_size=1, max_size=6)).map(str.strip)
names = texts.filter(lambda text: text and "\0" not in text)
labels = names.filter(lambda text: text not in MISSING and whole(text) == text)
robust = settings(
    derandomize=True, deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def some_answers(draw: st.DrawFn) -> Responses:
    """A small test with arbitrary names, labels and gaps; every option chosen by somebody."""
    questions = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    options = [sorted(draw(st.lists(labels, min_size=1, max_size=4, unique=True)), key=sort_key) for _ in questions]
    n = draw(st.integers(4, 6))
    respondents = draw(st.lists(names, min_size=n, max_size=n, unique=True))
    codes = np.array([[draw(st.integers(-1, len(own) - 1)) for own in options] for _ in range(n)])
    for j, own in enumerate(options):
        codes[draw(st.permutations(range(n)))[: len(own)], j] = range(len(own))
    return from_codes(codes, options, questions=questions, respondents=respondents)


def same(a: Responses, b: Responses) -> None:
    assert a.respondents.tolist() == b.respondents.tolist()
    assert a.questions == b.questions
    assert a.options == b.options
    for name in ("start", "row", "correct", "rank"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)


@robust
@given(responses=some_answers())
@pytest.mark.parametrize("form", ["wide.csv", "long.csv", "wide.tsv", "long.parquet"])
def test_round_trip(tmp_path: Path, form: str, responses: Responses) -> None:
    layout = form.partition(".")[0]
    responses.write(tmp_path / form, layout)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpriteWarning)
        same(sprite.read(tmp_path / form, layout=layout), responses)  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == [form]


@robust
@given(text=st.one_of(awkward, st.text()))
def test_the_guard_can_be_taken_off_again(text: str) -> None:
    assert unguard(guard(text)) == text or (unguard(text) != text and guard(text) != text)
    if text[:1] in ("=", "@"):
        assert guard(text) == "'" + text


def test_numbers_are_not_guarded(tmp_path: Path) -> None:
    from_codes([[0, 0], [1, 1]], [["-1", "+2"], ["-x", "=y"]]).write(tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "respondent,Q1,Q2\nr1,-1,'-x\nr2,+2,'=y\n"


def full() -> Responses:
    return from_codes(
        [[0, 1], [-1, -1], [2, 0]],
        [["low", "mid", "high"], ["a", "b", "never"]],
        correct=np.array([False, True, True, True, False, False]),
        rank=np.array([0, 1, 2, 1, 0, 2], dtype=np.int32),
        texts=Texts({"Q1": "How, then?"}, {("Q1", "low"): "=low\nwords"}),
    )


def test_a_folder_keeps_everything(tmp_path: Path) -> None:
    save_folder(full(), tmp_path / "new" / "folder")
    found = sorted(path.name for path in (tmp_path / "new" / "folder").iterdir())
    assert found == ["key.csv", "options.csv", "order.csv", "responses.csv", "texts.csv"]
    again = read_folder(tmp_path / "new" / "folder")
    same(again, full())
    assert again.texts == full().texts
    assert again.key == {"Q1": ("mid", "high"), "Q2": ("a",)}


def test_a_folder_changes_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    save_folder(full(), tmp_path)
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}

    def runs_out_of_room() -> Iterator[tuple[str, ...]]:
        yield ("respondent", "ability")
        raise OSError(28, "No space left on device")

    other = from_codes([[1, 0]] * 3, full().options, correct=full().correct, rank=full().rank, texts=full().texts)
    with pytest.raises(InputError, match=r"abilities\.csv: the file cannot be written: No space left"):
        save_folder(other, tmp_path, {"abilities.csv": runs_out_of_room()})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


def test_a_folder_says_no_more_than_there_is(tmp_path: Path) -> None:
    plain = from_codes([[0], [1]], [["a", "b"]])
    save_folder(plain, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["responses.csv"]
    same(read_folder(tmp_path), plain)
    (tmp_path / "key.csv").write_text("question,correct\nQ9,a\n")
    with pytest.raises(InputError, match=r"key\.csv.*does not belong"):
        save_folder(plain, tmp_path)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("NA", "no answer"),
        ("", "is empty"),
        (" x", "blanks around"),
        ("1.0", "read back as '1'"),
        ("a\0b", "cannot be written"),
        ("\ud800", "cannot be written"),
    ],
)
@pytest.mark.parametrize("form", ["a.csv", "a.parquet"])
def test_labels_that_cannot_return_are_refused(tmp_path: Path, form: str, label: str, words: str) -> None:
    (tmp_path / form).write_text("precious")
    with pytest.raises(InputError, match=words) as caught:
        from_codes([[0], [1]], [[label, "2"]]).write(tmp_path / form)
    assert caught.value.column == "Q1"
    assert [path.name for path in tmp_path.iterdir()] == [form]
    assert (tmp_path / form).read_text() == "precious"


def test_other_refusals(tmp_path: Path) -> None:
    plain = from_codes([[0], [1]], [["a", "b"]])
    for path, layout in (("a.xls", None), ("a.csv", "tall"), ("a.parquet", "wide")):
        with pytest.raises(InputError):
            plain.write(tmp_path / path, layout)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="folder exists"):
        plain.write(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(InputError, match="nothing to write"):
        from_codes(np.zeros((0, 1), dtype=int), [["a"]]).write(tmp_path / "a.csv")
    with pytest.raises(InputError, match="no semicolon"):
        save_folder(from_codes([[0], [1]], [["a;b", "c"]], correct=np.array([True, True])), tmp_path)
    assert not list(tmp_path.iterdir())
