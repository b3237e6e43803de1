"""Slips of those who read their first file: each message says what happened, and its advice fits."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import sprite
from sprite.core.errors import InputError
from sprite.data.responses import from_codes
from sprite.data.writing import read_folder, save_folder

N = 30
EXAM = [["student", "Q.1", "Q.2", "Q.3"], *([f"s{i}", *(str((i + j) % 4 + 1) for j in range(3))] for i in range(N))]


def put(folder: Path, rows: list[list[str]], name: str = "answers.csv", separator: str = ",") -> Path:
    path = folder / name
    path.write_text("".join(separator.join(cells) + "\n" for cells in rows))
    return path


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    return put(tmp_path, EXAM)


def key_of(folder: Path, *pairs: tuple[str, str], header: tuple[str, ...] = ("question", "correct")) -> Path:
    return put(folder, [list(cells) for cells in (header, *pairs)], "key.csv")


def refused(source: object, key: object = None, **given: object) -> InputError:
    with pytest.raises(InputError) as caught:
        sprite.read(source, key, **given)  # type: ignore[arg-type]
    assert caught.value.remedy
    return caught.value


# --- columns of numbers ----------------------------------------------------------------------------------------------

AGES = [f"{11 + i % 15 / 2:.1f}" for i in range(N)]


def with_column(name: str, cells: list[str]) -> list[list[str]]:
    return [[*row, cell] for row, cell in zip(EXAM, [name, *cells], strict=True)]


@pytest.mark.parametrize("form", ["points", "commas", "frame"])
def test_a_column_of_ages_is_no_question(tmp_path: Path, form: str) -> None:
    rows = with_column("age", [age.replace(".", "," if form == "commas" else ".") for age in AGES])
    source: object = put(tmp_path, rows, separator=";" if form == "commas" else ",")
    if form == "frame":  # 12.0 is the label 12 there: only every second number has a fraction
        source = pd.DataFrame(rows[1:], columns=rows[0]).astype({"age": float})
    error = refused(source)
    assert error.column == "age"
    assert "15 different answers" in str(error)
    assert ("11,5 and 12,5" if form == "commas" else "11.5 and 12.5") in str(error)
    assert "ignore=['age'] (--ignore 'age')" in error.remedy
    assert sprite.read(source, ignore=["age"]).questions == ("Q.1", "Q.2", "Q.3")
    # What the error advises works.
    ages = sorted({age.replace(".", "," if form == "commas" else ".") for age in AGES})
    ages = [age.removesuffix(".0").removesuffix(",0") for age in ages]
    assert sprite.read(source, options={"age": ages}).options[3] == tuple(ages)


def test_all_columns_of_numbers_are_named_at_once(tmp_path: Path) -> None:
    rows = [[*row, cell] for row, cell in zip(with_column("age", AGES), ["height", *AGES], strict=True)]
    error = refused(put(tmp_path, rows))
    assert "the same holds for 'height'" in str(error)
    assert "--ignore 'age' --ignore 'height'" in error.remedy


@pytest.mark.parametrize(
    "cells",
    [["3.14", "2.72", "1.41"], [f"{i}.0" for i in range(15)], [*map(str, range(15)), "2.5"], ["1.2.3"] * 15],
    ids=["few", "whole", "one slip", "no numbers"],
)
def test_other_numbers_may_be_options(tmp_path: Path, cells: list[str]) -> None:
    rows = with_column("Q.4", [cells[i % len(cells)] for i in range(N)])
    assert len(sprite.read(put(tmp_path, rows)).options[3]) == len(set(cells))


def test_declared_numbers_survive_a_folder(tmp_path: Path) -> None:
    labels = [f"{i}.5" for i in range(12)]
    responses = from_codes([[i] for i in range(12)], [labels])
    save_folder(responses, tmp_path)
    assert read_folder(tmp_path).options == responses.options


def test_check_says_whether_name_or_content_is_odd(tmp_path: Path) -> None:
    rows = with_column("group", ["x", "y"] * (N // 2))
    (finding,) = sprite.check(sprite.read(put(tmp_path, rows))).of("not_a_question")
    assert "its name is that of something else" in finding.message
    rows = with_column("when", ["2024-05-01", "2024-05-02"] * (N // 2))
    (finding,) = sprite.check(sprite.read(put(tmp_path, rows))).of("not_a_question")
    assert "it holds dates or times, such as '2024-05-01'" in finding.message


# --- names in the key ------------------------------------------------------------------------------------------------


def test_a_question_with_its_own_line_is_not_suggested_for_another(answers: Path, tmp_path: Path) -> None:
    error = refused(answers, key_of(tmp_path, ("Q.1", "1"), ("Q.2", "1"), ("Q.3", "1"), ("Q.31", "1")))
    assert (error.row, error.found) == (5, "Q.31")
    assert "Did you mean" not in str(error)
    assert error.remedy == "Leave it out of the key, or, if the answers lack it by mistake, add it there"
    assert "Did you mean 'Q.3'?" in str(refused(answers, key_of(tmp_path, ("Q.1", "1"), ("Q.31", "1"))))


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("q.1", "q.2", "q.3"), "They differ only in upper and lower case: write 'Q.1' for 'q.1'"),
        (("q1", "Q-2", "Q 3"), "They differ only in case, blanks and signs: write 'Q.1' for 'q1'"),
        (("one", "two", "three"), "If 'Q.1', 'Q.2', 'Q.3' are meant, write them so; else leave them out of the key"),
    ],
    ids=["case", "signs", "words"],
)
def test_many_unknown_names_are_counted(answers: Path, tmp_path: Path, names: tuple[str, ...], words: str) -> None:
    error = refused(answers, key_of(tmp_path, *((name, "1") for name in names)))
    assert (error.row, error.found) == (2, names[0])
    assert "3 of 3 names in the key are unknown to the answers" in str(error)
    assert words in error.remedy


# --- labels ----------------------------------------------------------------------------------------------------------


def test_a_key_in_letters_for_answers_in_numbers(answers: Path, tmp_path: Path) -> None:
    error = refused(answers, key_of(tmp_path, ("Q.1", "A"), ("Q.2", "C;D"), ("Q.3", "B")))
    assert "different labels: the key A, B, C, D; the answers 1, 2, 3, 4" in str(error)
    assert "Translate one of the two" in error.remedy
    assert "options=" not in str(error)
    letters = pd.DataFrame({"id": list("uvw"), "Q1": list("ABC"), "Q2": list("BCA")})
    assert "the key 1, 2; the answers A, B, C" in str(refused(letters, [1, 2]))


def test_a_single_strange_key_is_a_slip(answers: Path) -> None:
    assert "declare it" in refused(answers, {"Q.1": "1", "Q.2": "2", "Q.3": "7"}).remedy


def test_declared_options_must_be_all(answers: Path) -> None:
    error = refused(answers, options={"Q.1": ["7"]})
    assert "must hold all options of the question (declared: 7)" in error.remedy
    assert "ignore" not in error.remedy
    assert "leave it out: ignore=['Q.1']" in refused(answers, options=["7"]).remedy


# --- files -----------------------------------------------------------------------------------------------------------


def test_an_empty_key_is_not_called_answers(answers: Path, tmp_path: Path) -> None:
    (tmp_path / "key.csv").touch()
    error = refused(answers, tmp_path / "key.csv")
    assert error.file == str(tmp_path / "key.csv")
    assert error.remedy.startswith("Export the file again")


@pytest.mark.parametrize("header", [("question", "correct"), ("item", "answer"), ("Q.1", "1")])
def test_swapped_files(answers: Path, tmp_path: Path, header: tuple[str, str]) -> None:
    key = key_of(tmp_path, *((f"Q.{j + 1}", "1") for j in range(header[0] == "Q.1", 3)), header=header)
    error = refused(key, answers)
    assert error.file == str(key)
    assert "look swapped" in str(error)
    assert sprite.read(answers, key).key == {f"Q.{j + 1}": ("1",) for j in range(3)}


def test_a_long_table_without_respondents_is_not_called_swapped(tmp_path: Path) -> None:
    table = put(tmp_path, [["item", "answer"], ["Q1", "A"], ["Q1", "B"]])
    key = key_of(tmp_path, ("Q1", "A", "easy"), header=("question", "correct", "comment"))  # type: ignore[arg-type]
    assert "no column names the respondents" in str(refused(table, key))


def test_short_lines_are_to_be_filled_up_and_long_ones_quoted(tmp_path: Path) -> None:
    short = refused(put(tmp_path, [*EXAM, ["t1", "1"]]))
    assert short.row == N + 2
    assert "empty cells, too, are separated (commas here)" in short.remedy
    assert "header" not in short.remedy
    assert "contain the separator (commas here)" in refused(put(tmp_path, [*EXAM, ["t1", *"12345"]])).remedy


@pytest.mark.parametrize("text", ["\n\n  \n", " \n\t\n", ",,\n,,\n"])
def test_blank_lines_are_no_header(tmp_path: Path, text: str) -> None:
    (tmp_path / "blank.csv").write_text(text)
    assert "nothing but blank lines" in str(refused(tmp_path / "blank.csv"))


def test_a_title_above_the_header_of_a_spreadsheet(tmp_path: Path) -> None:
    path = tmp_path / "title.xlsx"
    above = [["Science exam", "", "", ""], [""] * 4]
    pd.DataFrame([*above, *EXAM]).to_excel(path, index=False, header=False)
    error = refused(path)
    assert error.row == 3
    assert "the header, which was taken to be line 1: 'Science exam'" in str(error)
    assert "if that line is a title, remove what stands above the header" in error.remedy
    frame = pd.DataFrame([["a", "b"], ["c", "d"]], columns=["Q1", ""])
    assert "line" not in str(refused(frame))


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    """Answers in the first sheet, their key in the second."""
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame(EXAM[1:], columns=EXAM[0]).to_excel(book, sheet_name="Midterm", index=False)
        key = {"question": EXAM[0][1:], "correct": EXAM[1][1:]}
        pd.DataFrame(key).to_excel(book, sheet_name="Key", index=False)
    return path


def test_a_sheet_is_named_after_the_file(workbook: Path) -> None:
    data = sprite.read(f"{workbook}#midterm", f"{workbook}#Key")
    assert data.n_respondents == len(EXAM) - 1
    assert data.correct.sum() == len(EXAM[0]) - 1
    assert "sheet 'Midterm'" in data.notes[0]
    missing = refused(f"{workbook}#Keys")
    assert missing.found == "Keys"
    assert "Midterm, Key" in missing.remedy


def test_only_spreadsheets_have_sheets(tmp_path: Path) -> None:
    path = put(tmp_path, EXAM)
    assert "only of a spreadsheet" in str(refused(f"{path}#Key"))
    odd = path.rename(tmp_path / "exam#2.csv")
    assert sprite.read(odd).n_respondents == len(EXAM) - 1


def test_errors_name_the_sheet_where_there_are_several(workbook: Path) -> None:
    path = workbook
    assert str(refused(path, ignore="age")).startswith(f"{path}, sheet 'Midterm': ")
    assert "the first of 2 sheets with content" in sprite.read(path).notes[0]
