"""Broken files of answers, keys, texts, orders and options: a valid result or one clear message, and nothing else."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sprite
from sprite.core.errors import InputError, SpriteWarning
from sprite.data.check import check
from sprite.data.responses import Responses
from tests.hostile.mutations import ENCODINGS, fuzzed, mutated, seeds

WIDE = "student,Q1,Q2,Q3\n" + "".join(
    f"s{i},{'ABCD'[i % 4]},{i % 3 + 1},{('', 'yes', 'no', 'yes', 'no')[i % 5]}\n" for i in range(20)
)
LONG = "student,question,response\n" + "".join(
    f"s{i},Q{j + 1},{('ABCD', '123', ('yes', 'no'))[j][i % (4 - j)]}\n" for i in range(12) for j in range(3)
)
COMPANIONS = {
    "key": ("question,correct\nQ1,A\nQ2,2;3\nQ3,yes\n", "Q1,Q2,Q3\nA,2,yes\n"),
    "texts": ('question,option,text\nQ1,,How "many"?\nQ1,A,"one, two"\nQ2,1,x\n',),
    "order": ("question,order\nQ1,A<B<C<D\nQ2,1<2<3\n", "question,option,rank\nQ3,no,1\nQ3,yes,2\n"),
    "options": ("question,option\nQ1,A\nQ1,B\nQ1,C\nQ1,D\nQ1,E\n",),
}


def valid_or_refused(source: object, **given: object) -> Responses | None:
    """Read and look over; what comes out is consistent, and what is refused is refused in one readable line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpriteWarning)
            found = sprite.read(source, **given)  # type: ignore[arg-type]
    except InputError as error:
        message = str(error)
        assert message
        assert len(message) < 1100
        assert message.isprintable()
        return None
    assert found.start[0] == 0
    assert found.start[-1] == found.n_answers
    assert (np.diff(found.start) >= 0).all()
    assert len(found.correct) == found.first[-1]
    assert len(set(found.questions)) == found.n_questions
    if found.n_answers:
        assert found.row.min() >= 0
        assert found.row.max() < found.first[-1]
        question, who = found.question_of_row[found.row], found.respondent_of_answer
        assert ((np.diff(question) > 0) | (np.diff(who) > 0)).all()  # one answer a cell, in the questions' order
    assert np.isfinite(found.layout.score).all()
    assert str(check(found))
    return found


@fuzzed(150)
@given(seed=seeds, layout=st.sampled_from(("auto", "auto", "wide", "long")))
@pytest.mark.parametrize("sound", [WIDE, LONG], ids=["wide", "long"])
def test_broken_answers(sound: str, seed: int, layout: str, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes(mutated(sound.encode(), seed))
    valid_or_refused(path, layout=layout)


@fuzzed(80)
@given(seed=seeds)
@pytest.mark.parametrize(
    ("what", "sound"), [(what, sound) for what, forms in COMPANIONS.items() for sound in forms], ids=range(6)
)
def test_broken_companions(what: str, sound: str, seed: int, tmp_path: Path) -> None:
    answers, path = tmp_path / "answers.csv", tmp_path / f"{what}.csv"
    answers.write_text(WIDE)
    path.write_bytes(mutated(sound.encode(), seed))
    valid_or_refused(answers, **{what: path})


@fuzzed(60)
@given(
    seed=seeds,
    encoding=st.sampled_from((*ENCODINGS, "ascii", "punycode", "idna", "unicode_escape", "hz", "rot13", "none", "")),
    separator=st.sampled_from((None, ";", " ", "x", '"', "\n", "\0", "é", "", ",,")),
)
def test_whatever_the_user_says_of_the_file(seed: int, encoding: str, separator: str | None, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_bytes(mutated(WIDE.encode(), seed) if seed % 2 else WIDE.encode())
    valid_or_refused(path, encoding=encoding, separator=separator)


def frame() -> pd.DataFrame:
    return pd.read_csv(io.StringIO(WIDE))


def parquet(**given: object) -> bytes:
    stream = io.BytesIO()
    frame().to_parquet(stream, index=False, **given)  # type: ignore[call-overload]
    return stream.getvalue()


def excel() -> bytes:
    stream = io.BytesIO()
    frame().to_excel(stream, index=False)
    return stream.getvalue()


PARQUET = {
    "snappy": parquet(),
    "plain": parquet(compression=None, use_dictionary=False),
    "zstd": parquet(compression="zstd"),
}
EXCEL = excel()


@fuzzed(100)
@given(seed=seeds)
@pytest.mark.parametrize("form", PARQUET)
def test_broken_parquet(form: str, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "answers.parquet"
    path.write_bytes(mutated(PARQUET[form], seed))
    valid_or_refused(path)


@fuzzed(40)
@given(seed=seeds)
def test_broken_excel(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "answers.xlsx"
    path.write_bytes(mutated(EXCEL, seed))
    valid_or_refused(path)


def test_the_sound_files_are_sound(tmp_path: Path) -> None:
    """Else the tests above would see nothing but refusals."""
    for name, content in (
        ("wide.csv", WIDE.encode()),
        ("long.csv", LONG.encode()),
        ("a.parquet", parquet()),
        ("a.xlsx", EXCEL),
    ):
        (tmp_path / name).write_bytes(content)
        assert valid_or_refused(tmp_path / name) is not None
    for what, forms in COMPANIONS.items():
        for content in forms:
            (tmp_path / "companion.csv").write_text(content)
            assert valid_or_refused(tmp_path / "wide.csv", **{what: tmp_path / "companion.csv"}) is not None


@pytest.mark.parametrize("what", ["answers", *COMPANIONS])
def test_folders_and_empty_files_in_place_of_files(what: str, tmp_path: Path) -> None:
    answers, empty = tmp_path / "answers.csv", tmp_path / "empty.csv"
    answers.write_text(WIDE)
    empty.touch()
    for wrong in (tmp_path, empty, tmp_path / "nothing.csv"):
        with pytest.raises(InputError, match=r"folder|empty|no such file"):
            sprite.read(*([wrong] if what == "answers" else [answers]), **({} if what == "answers" else {what: wrong}))
