"""Bad input: every message says where, what was found and what to do; nothing hangs and nothing leaks through."""

from __future__ import annotations

import gzip
import io
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sprite
from sprite.core import memory
from sprite.core.errors import InputError
from sprite.data import excel


def put(folder: Path, content: str | bytes, name: str = "answers.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(source: object, **given: object) -> InputError:
    with pytest.raises(InputError) as caught:
        sprite.read(source, **given)  # type: ignore[arg-type]
    assert caught.value.remedy
    assert "CSV parse error" not in str(caught.value)  # how the library below would put it
    return caught.value


def test_duplicate_respondent(tmp_path: Path) -> None:
    path = put(tmp_path, 'student,Q1\n"ann\nlee",A\nbob,B\n\n"ann\nlee",C\n')
    error = refused(path)
    assert (error.file, error.row, error.column, error.found) == (str(path), 6, "respondent", "ann\nlee")
    assert "the first on line 2" in str(error)
    assert "layout='long' (--layout long)" in error.remedy


@pytest.mark.parametrize(
    ("header", "role"),
    [("student,item", "response"), ("student,answer", "question"), ("item,answer", "respondent")],
)
def test_a_long_table_without_one_of_its_columns(tmp_path: Path, header: str, role: str) -> None:
    path = put(tmp_path, f"{header}\nx,p\nx,q\ny,p\n")
    for error in (refused(path), refused(path, layout="long")):
        assert error.file == str(path)
        assert f"The column of the {role}s is called" in error.remedy
        assert f"{role}= (--{role})" in error.remedy


def test_duplicate_question(tmp_path: Path) -> None:
    error = refused(put(tmp_path, "student,Q1,Q2,Q1\nann,A,B,C\n"))
    assert (error.row, error.column) == (1, "Q1")
    assert "numbers 2 and 4" in str(error)
    assert "no header line" in error.remedy
    assert refused(pd.DataFrame([["a", "b"]], columns=["Q1", "Q1"])).column == "Q1"


def test_a_spreadsheet_without_its_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(excel, "find_spec", lambda name: None)
    path = tmp_path / "answers.xlsx"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    assert "pip install python-calamine" in refused(path).remedy


@pytest.mark.parametrize("second", ["A", "B"], ids=["identical", "different"])
def test_two_answers_for_one_cell(tmp_path: Path, second: str) -> None:
    path = put(tmp_path, f"student,item,answer\nann,Q1,A\nbob,Q1,A\nann,Q2,A\nann,Q1,{second}\n")
    error = refused(path)
    assert (error.file, error.row, error.column, error.found) == (str(path), 5, "answer", second)
    assert "'ann' has a second answer to 'Q1'" in str(error)
    assert "'A', is on line 2" in str(error)


def test_an_empty_cell_is_no_second_answer(tmp_path: Path) -> None:
    path = put(tmp_path, "student,item,answer\nann,Q1,\nann,Q1,A\n")
    assert sprite.read(path).answers("ann") == {"Q1": "A"}


@pytest.mark.parametrize("cells", ["A", "A,B,C,D"], ids=["short", "long"])
def test_ragged_rows(tmp_path: Path, cells: str) -> None:
    path = put(tmp_path, f"student,Q1,Q2\nann,A,B\n\nbob,{cells}\ncyd,A,B\n")
    error = refused(path)
    assert (error.file, error.row) == (str(path), 4)
    assert f"{cells.count(',') + 2} cells and the header has 3" in str(error)
    assert "bob" in str(error.found)
    assert "commas" in error.remedy


def test_lines_above_the_header(tmp_path: Path) -> None:
    error = refused(put(tmp_path, "Midterm\n\nstudent,Q1\nann,A\n"))
    assert error.row == 3
    assert "taken to be on line 1" in error.remedy


def test_a_table_lying_on_its_side(tmp_path: Path) -> None:
    path = put(tmp_path, "question,ann,bob\nQ1,A,B\nQ2,C,C\n")
    error = refused(path)
    assert error.column == "question"
    assert "Exchange rows and columns" in error.remedy
    assert sprite.read(path, layout="wide").n_questions in (2, 3)


def test_open_quotation_mark(tmp_path: Path) -> None:
    error = refused(put(tmp_path, 'student,Q1\nann,A\nbob,"B\ncyd,C\n'))
    assert error.row == 3
    assert "never closed" in str(error)


def test_an_inch_mark_is_no_quotation(tmp_path: Path) -> None:
    assert sprite.read(put(tmp_path, 'student,Q1\nann,5"\nbob,6\n')).answers("ann") == {"Q1": '5"'}


def test_wrong_encoding(tmp_path: Path) -> None:
    path = put(tmp_path, "student,Q1\nann,A\nZoë,B\n".encode("latin-1"))
    error = refused(path, encoding="utf-8")
    assert (error.file, error.row) == (str(path), 3)
    assert "cp1252" in error.remedy
    assert refused(path, encoding="klingon").found == "klingon"
    assert refused(path, encoding="rot13").found == "rot13"
    without_mark = put(tmp_path, "student,Q1\nann,A\nbob,B\n".encode("utf-16-le"))
    assert "utf-16-le" in refused(without_mark).remedy
    assert sprite.read(without_mark, encoding="utf-16-le").n_respondents == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "empty"),
        ("\n\n  \n", "nothing but blank lines"),
        ("\n\n", "blank lines"),
        ("student,Q1,Q2\n", "nothing below it"),
        ("student,question,response\n", "nothing below it"),
        ("student\nann\nbob\n", "no questions"),
    ],
    ids=["empty", "blanks", "blank", "header", "long header", "one column"],
)
def test_nothing_to_read(tmp_path: Path, content: str, words: str) -> None:
    path = put(tmp_path, content)
    error = refused(path)
    assert error.file == str(path)
    assert words in str(error)


@pytest.mark.parametrize(
    "content",
    [
        "a," * 1_000_000 + "\n1,2\n",
        "a,b\n" + "a," * 1_000_000 + "\n",
        "a," * 60_000 + "\n" + "1," * 60_000,
        "a" * 5_000_000,
        'a,b\n"' + "x" * 9_000_000 + "\n1,2\n",
        "a,b\n1," + "x" * 9_000_000 + "\n1,2\n",
    ],
    ids=["header", "row", "many columns", "no line end", "open quote", "huge cell"],
)
def test_monstrous_lines_fail_fast(tmp_path: Path, content: str) -> None:
    path = put(tmp_path, content)
    began = time.perf_counter()
    error = refused(path)
    assert time.perf_counter() - began < 5
    assert error.file == str(path)
    assert len(str(error)) < 500


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.csv", "id,Q1\na,A\n")
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG image"),
        (b"%PDF-1.7\n...", "PDF"),
        (b"\n<!doctype html><table>", "web page"),
        (b'[{"id": 1}]', "JSON"),
        (gzip.compress(b"id,Q1\na,A\n"), "gzip"),
        (b"id,Q1\na,A\nb\x00,B\n", "binary"),
        (b"id,Q1\n" + b"a,A\n" * 2000 + b"b\x00,B\n", "binary"),
        (bytes(range(256)) * 4, "binary"),
        (zipped(), "zip archive"),
        (b"PK\x03\x04 not really", "zip archive"),
        (b"\xd0\xcf\x11\xe0" + bytes(600), "neither a spreadsheet"),
        (b"PAR1 not really", "Parquet file is damaged"),
    ],
    ids=[
        "png",
        "pdf",
        "html",
        "json",
        "gzip",
        "nul",
        "late nul",
        "bytes",
        "zip",
        "broken zip",
        "broken xls",
        "broken parquet",
    ],
)
def test_binary_files(tmp_path: Path, content: bytes, words: str) -> None:
    path = put(tmp_path, content)
    error = refused(path)
    assert error.file == str(path)
    assert words in str(error)


def test_too_many_options(tmp_path: Path) -> None:
    wide = "".join(f"r{i},A,{i / 7:.4f}\n" for i in range(300))
    error = refused(put(tmp_path, "id,Q1,essay\n" + wide))
    assert error.column == "essay"
    assert "300 different answers" in str(error)
    assert "ignore=" in error.remedy
    long = "".join(f"r{i},essay,text {i}\n" for i in range(300))
    error = refused(put(tmp_path, "id,item,answer\n" + long))
    assert error.column == "essay"
    assert sprite.read(put(tmp_path, "id,Q1\n" + "".join(f"r{i},{i}\n" for i in range(255)))).n_respondents == 255


def test_files_that_cannot_be_opened(tmp_path: Path) -> None:
    put(tmp_path, "id,Q1\na,A\n", "answers.csv")
    error = refused(tmp_path / "answer.csv")
    assert error.file == str(tmp_path / "answer.csv")
    assert "Did you mean 'answers.csv'?" in error.remedy
    assert "no folder" in refused(tmp_path / "there" / "a.csv").remedy
    assert "folder, not a file" in str(refused(tmp_path))
    put(tmp_path, "id,Q1\na,A\n", "responses.csv")
    assert "responses.csv" in refused(tmp_path).remedy
    assert refused("bad\0name.csv").remedy
    assert refused("x" * 5000).remedy


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = put(tmp_path, "id,Q1\na,A\n")
    path.chmod(0)
    assert "may not be read" in str(refused(path))


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_undeclared_answers(tmp_path: Path, layout: str) -> None:
    text = "id,Q1\na,A\nb,B\nc,E\n" if layout == "wide" else "id,item,answer\na,Q1,A\nb,Q1,B\nc,Q1,E\n"
    path = put(tmp_path, text)
    error = refused(path, options={"Q1": ["A", "B"]})
    assert (error.file, error.row, error.found) == (str(path), 4, "E")
    assert "Q1" in str(error)
    assert "declared: A, B" in error.remedy


def test_names_that_are_missing(tmp_path: Path) -> None:
    error = refused(put(tmp_path, "id,Q1\na,A\n,B\n"))
    assert (error.row, "no name" in str(error)) == (3, True)
    error = refused(put(tmp_path, "id,item,answer\na,Q1,A\nb,,B\n"))
    assert (error.row, error.column, "names no question" in str(error)) == (3, "item", True)
    error = refused(put(tmp_path, "id,Q1,\na,A,\nb,A,7\n"))
    assert (error.row, error.found, "column 3" in str(error)) == (3, "7", True)


def test_arguments_that_make_no_sense(tmp_path: Path) -> None:
    path = put(tmp_path, "id,Q1,Q2\na,A,B\nb,B,A\n")
    assert refused(path, layout="tall").found == "tall"
    assert "'nobody'" in str(refused(path, respondent="nobody"))
    assert "'Q9'" in str(refused(path, ignore=["Q9"]))
    assert "one character" in str(refused(path, separator=";;"))
    assert refused(path, missing_codes="9", omitted="9").found == "9"
    assert refused({"a": 1}).found == "dict"
    assert "two dimensions" in str(refused(np.zeros(3)))
    lists = refused(pl.DataFrame({"id": ["a"], "Q1": [["x"]]}))
    assert lists.column == "Q1"
    assert "list" in str(lists)


@pytest.mark.parametrize("table", [pd.DataFrame, np.array], ids=["pandas", "numpy"])
def test_half_a_character(table: Callable[..., object]) -> None:
    error = refused(table([["a", "\ud800"], ["b", "x"]], dtype=object))
    assert "half a character" in str(error)
    assert str(error).isprintable()


def test_names_of_columns_need_not_be_text() -> None:
    assert sprite.read(pd.DataFrame({1: ["A", "B"], 2: ["B", "A"]})).questions == ("1", "2")
    pairs = pd.DataFrame([["A", "B"]] * 2, columns=pd.MultiIndex.from_tuples([("part", 1), ("part", 2)]))
    assert sprite.read(pairs).n_questions == 2


@pytest.mark.parametrize(
    "array",
    [
        pa.array([b"\xff", b"b"]),
        pa.array([b"\xff", b"b"], pa.large_binary()),
        pa.array([(1, 2, 3), (1, 2, 3)], pa.month_day_nano_interval()),
        pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"\xff" * 16, b"b" * 16], pa.binary(16))),
        pa.StringArray.from_buffers(
            2, pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(b"\xff\xfe")
        ),
    ],
    ids=["bytes", "large", "interval", "uuid", "not UTF-8"],
)
def test_columns_that_are_no_labels(array: pa.Array) -> None:
    error = refused(pa.table({"id": ["x", "y"], "Q1": array}))
    assert error.column == "Q1"
    assert "not labels" in str(error)


@pytest.mark.parametrize("sign", ["é", '"', "\x85"])
def test_a_line_that_names_an_impossible_separator(tmp_path: Path, sign: str) -> None:
    assert sprite.read(put(tmp_path, f"sep={sign}\na\nb\n")).questions == (f"sep={sign}".strip(),)


def test_pipes_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
    assert "pipe" in str(refused(tmp_path / "pipe"))


def test_files_that_claim_more_than_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "memory", lambda: 1000)
    assert "there are 0 MB" in str(refused(put(tmp_path, "id,Q1\n" + "a,A\n" * 300)))


def test_long_columns_that_cannot_be_told(tmp_path: Path) -> None:
    error = refused(put(tmp_path, "a,b,c,d\n1,2,3,4\n"), layout="long")
    assert "respondent=, question= and response=" in error.remedy


def test_rows_of_tables_are_called_rows() -> None:
    error = refused(pd.DataFrame({"id": ["a", "a"], "Q1": ["x", "y"]}))
    assert str(error).startswith("row 2, column 'respondent': this respondent has two rows, the first on row 1")
