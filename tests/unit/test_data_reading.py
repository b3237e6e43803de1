"""Reading good tables: sources, layouts, labels, missing codes, declared options."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sprite
from sprite.core.errors import SpriteWarning
from sprite.data.labels import OMITTED

WIDE = "respondent,Q1,Q2\nann,A,1\nbob,B,\ncyd,A,2\n"
LONG = "student,item,answer\nann,Q1,A\nann,Q2,1\nbob,Q1,B\nbob,Q2,\ncyd,Q1,A\ncyd,Q2,2\n"


def put(folder: Path, text: str | bytes, name: str = "answers.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def table(responses: sprite.Responses) -> dict[str, dict[str, str]]:
    return {str(name): responses.answers(str(name)) for name in responses.respondents}


EXPECTED = {"ann": {"Q1": "A", "Q2": "1"}, "bob": {"Q1": "B"}, "cyd": {"Q1": "A", "Q2": "2"}}


@pytest.mark.parametrize("text", [WIDE, LONG], ids=["wide", "long"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_text_dialects(tmp_path: Path, text: str, separator: str, encoding: str, end: str) -> None:
    path = put(tmp_path, text.replace(",", separator).replace("\n", end).encode(encoding))
    assert table(sprite.read(path)) == EXPECTED


def test_both_layouts_give_the_same_object(tmp_path: Path) -> None:
    wide, long = sprite.read(put(tmp_path, WIDE)), sprite.read(put(tmp_path, LONG, "long.csv"))
    assert wide.questions == long.questions == ("Q1", "Q2")
    assert wide.options == long.options == (("A", "B"), ("1", "2"))
    np.testing.assert_array_equal(wide.row, long.row)
    np.testing.assert_array_equal(wide.start, long.start)
    assert wide.row.dtype == np.int32
    assert wide.respondents.dtype == np.dtypes.StringDType()


def test_order_of_rows_in_a_long_table_does_not_matter(tmp_path: Path) -> None:
    head, *body = LONG.splitlines()
    shuffled = "\n".join([head, *(body[i] for i in (3, 5, 0, 4, 1, 2))])
    assert table(sprite.read(put(tmp_path, shuffled))) == EXPECTED


def test_latin_letters_without_utf8(tmp_path: Path) -> None:
    responses = sprite.read(put(tmp_path, "student;Frage\nJürgen;größer\nZoë;kleiner\n".encode("cp1252")))
    assert responses.respondents.tolist() == ["Jürgen", "Zoë"]
    assert responses.options == (("größer", "kleiner"),)
    assert "Windows-1252" in responses.notes[0]
    # 0x81 is no letter in Windows-1252, so only Latin-1 is left.
    assert "Latin-1" in sprite.read(put(tmp_path, b"student,Q1\nx\x81,\xe9\ny,b\n")).notes[0]


def test_quoted_cells_with_separators_and_line_breaks(tmp_path: Path) -> None:
    text = 'respondent,"Q,1","Q\n2"\n"a, b","x ""y""","p\nq"\nc,z,r\n'
    responses = sprite.read(put(tmp_path, text))
    assert responses.questions == ("Q,1", "Q\n2")
    assert responses.answers("a, b") == {"Q,1": 'x "y"', "Q\n2": "p\nq"}


def test_a_line_that_names_the_separator_and_separators_at_the_end(tmp_path: Path) -> None:
    assert table(sprite.read(put(tmp_path, "sep=;\r\n" + WIDE.replace(",", ";")))) == EXPECTED
    head, *body = WIDE.splitlines()
    assert table(sprite.read(put(tmp_path, "\n".join([head, *(line + "," for line in body)])))) == EXPECTED


def test_sources_in_memory() -> None:
    columns = {"respondent": ["ann", "bob", "cyd"], "Q1": ["A", "B", "A"], "Q2": [1, None, 2]}
    sources = (
        pd.DataFrame(columns),
        pl.DataFrame(columns),
        pl.LazyFrame(columns),
        pa.table(columns),
        pd.DataFrame(columns).set_index("respondent"),
        pd.DataFrame(columns).astype({"Q1": "category", "Q2": "Int64"}),
    )
    for source in sources:
        assert table(sprite.read(source)) == EXPECTED, type(source)


def test_long_frame_with_numbers_for_names() -> None:
    frame = pd.DataFrame({"user_id": [7, 7, 8], "item_id": [1, 2, 1], "time": [3, 4, 5], "response": [0, 1, 1]})
    responses = sprite.read(frame)
    assert table(responses) == {"7": {"1": "0", "2": "1"}, "8": {"1": "1"}}


def test_mixed_objects_and_booleans() -> None:
    frame = pd.DataFrame({"name": ["a", "b"], "Q1": [1.0, "x"], "Q2": [True, False]}, dtype=object)
    assert sprite.read(frame).options == (("1", "x"), ("False", "True"))
    assert sprite.read(pl.DataFrame({"name": ["a", "b"], "Q2": [True, False]})).options == (("False", "True"),)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, 2], [3, 9]]),
        np.array([[1.0, 2.0], [3.0, np.nan]]),
        np.array([["1", "2"], ["3", ""]]),
        np.array([[1, 2], [3, None]], dtype=object),
        np.ma.array([[1, 2], [3, 4]], mask=[[False, False], [False, True]]),
    ],
    ids=["int", "float", "text", "object", "masked"],
)
def test_arrays(array: np.ndarray) -> None:
    responses = sprite.read(array, missing_codes=9)
    assert table(responses) == {"1": {"Q1": "1", "Q2": "2"}, "2": {"Q1": "3"}}


def test_long_array() -> None:
    array = np.array([["a", "q", "x"], ["b", "q", "y"]])
    assert table(sprite.read(array, layout="long")) == {"a": {"q": "x"}, "b": {"q": "y"}}


def test_parquet_and_excel(tmp_path: Path) -> None:
    frame = pd.DataFrame({"respondent": ["ann", "bob", "cyd"], "Q1": ["A", "B", "A"], "Q2": [1, None, 2]})
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_excel(tmp_path / "a.xlsx", index=False, startrow=2)
    assert table(sprite.read(tmp_path / "a.parquet")) == EXPECTED
    assert table(sprite.read(tmp_path / "a.xlsx")) == EXPECTED
    # What a file is called does not matter; what it holds does.
    (tmp_path / "a.parquet").rename(tmp_path / "really_parquet.csv")
    (tmp_path / "a.xlsx").rename(tmp_path / "really_excel.csv")
    assert table(sprite.read(tmp_path / "really_parquet.csv")) == EXPECTED
    assert table(sprite.read(tmp_path / "really_excel.csv")) == EXPECTED
    assert table(sprite.read(put(tmp_path, WIDE, "really_text.xlsx"))) == EXPECTED


# --- layout ------------------------------------------------------------------------------------------------------


def test_names_of_rows_as_r_writes_them(tmp_path: Path) -> None:
    for text in ('"","Q1","Q2"\n"1","A","B"\n"2","B","A"\n', '"Q1" "Q2"\n"1" "A" "B"\n"2" "B" "A"\n'.replace(" ", ";")):
        responses = sprite.read(put(tmp_path, text))
        assert responses.questions == ("Q1", "Q2")
        assert responses.respondents.tolist() == ["1", "2"]


def test_respondents_are_numbered_when_there_are_no_names(tmp_path: Path) -> None:
    responses = sprite.read(put(tmp_path, "Q1,Q2\nA,B\nB,B\nC,A\n"))
    assert "No column names the respondents: they are numbered from 1." in responses.notes
    assert responses.questions == ("Q1", "Q2")
    assert responses.respondents.tolist() == ["1", "2", "3"]


def test_a_first_column_of_names_under_any_heading(tmp_path: Path) -> None:
    responses = sprite.read(put(tmp_path, "who,Q1,Q2\nx7,A,B\nx8,B,B\n"))
    assert responses.respondents.tolist() == ["x7", "x8"]


def test_long_by_shape_and_by_force(tmp_path: Path) -> None:
    by_shape = "a,b,c\nann,one,A\nann,two,B\nbob,one,B\nbob,two,A\n"
    assert sprite.read(put(tmp_path, by_shape)).questions == ("one", "two")
    forced = "a,b,c\n1,1,1\n2,1,2\n"
    assert sprite.read(put(tmp_path, forced), layout="long").questions == ("1",)
    assert sprite.read(put(tmp_path, forced), layout="wide").questions == ("a", "b", "c")
    named = "x,y,z,t\nann,A,one,5\nbob,B,one,6\n"
    responses = sprite.read(put(tmp_path, named), respondent="x", question="z", response="y")
    assert table(responses) == {"ann": {"one": "A"}, "bob": {"one": "B"}}


def test_blank_rows_and_columns_are_left_out(tmp_path: Path) -> None:
    responses = sprite.read(put(tmp_path, "respondent,Q1,Q2,,\nann,A,B,,\nbob,B,B,,\n,,,,\n\n,,,,\n"))
    assert responses.n_respondents == 2
    assert any("2 blank rows" in note for note in responses.notes)
    long = sprite.read(put(tmp_path, "respondent,question,response\na,q,x\n,,\nb,q,y\n"), omitted="")
    assert long.n_respondents == 2


def test_columns_can_be_ignored(tmp_path: Path) -> None:
    text = "Timestamp,Email,Q1\n" + "".join(f"2024-01-01 10:{i:03d},p{i}@x.org,{'AB'[i % 2]}\n" for i in range(300))
    responses = sprite.read(put(tmp_path, text), ignore="Timestamp")
    assert responses.questions == ("Q1",)
    assert responses.respondents[0] == "p0@x.org"


# --- labels ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_numbers_lose_their_point_only_where_all_are_numbers(tmp_path: Path, layout: str) -> None:
    frame = pd.DataFrame({"respondent": list("abcd"), "n": ["1.0", "2", "10.0", "01"], "m": ["1.0", "x", "2.5", "1"]})
    if layout == "long":
        frame = frame.melt("respondent", var_name="question", value_name="response")
    responses = sprite.read(frame)
    assert responses.options == (("01", "1", "2", "10"), ("1", "1.0", "2.5", "x"))


def test_decimal_commas_between_semicolons(tmp_path: Path) -> None:
    responses = sprite.read(put(tmp_path, "id;Q1\na;1,0\nb;2,0\nc;\n"))
    assert responses.options == (("1", "2"),)
    assert sprite.read(put(tmp_path, 'id,Q1\na,"1,0"\nb,"2,0"\n')).options == (("1,0", "2,0"),)


def test_blanks_go_and_case_stays(tmp_path: Path) -> None:
    with pytest.warns(SpriteWarning, match=r"Q1: 'A' and 'a'"):
        responses = sprite.read(put(tmp_path, "id, Q1 \na, A\n b ,A \nc,a\n"))
    assert responses.questions == ("Q1",)
    assert responses.options == (("A", "a"),)
    assert any("'A' and 'a'" in note for note in responses.notes)


def test_labels_sort_as_numbers_then_as_text(tmp_path: Path) -> None:
    cells = ["10", "9", "-1", "b", "A", "2", "2.5"]
    responses = sprite.read(put(tmp_path, "id,Q1\n" + "".join(f"r{i},{cell}\n" for i, cell in enumerate(cells))))
    assert responses.options == (("-1", "2", "2.5", "9", "10", "A", "b"),)


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_missing_and_omitted_codes(layout: str) -> None:
    cells = ["A", "NA", "N/A", "NaN", "null", None, "", "9", "9.0", "-"]
    frame = pd.DataFrame({"respondent": [f"r{i}" for i in range(len(cells))], "Q1": cells, "Q2": "x"})
    if layout == "long":
        frame = frame.melt("respondent", var_name="question", value_name="response")
    assert sprite.read(frame, missing_codes=["9", "-"]).options[0] == ("A",)
    assert sprite.read(frame, missing_codes="-").options[0] == ("9", "9.0", "A")
    kept = sprite.read(frame, missing_codes=["9"], omitted=["-", "NA"])
    assert kept.options[0] == ("A", "-", "NA")
    empty = sprite.read(frame, missing_codes=["9", "-"], omitted="")
    assert empty.options == (("A", OMITTED), ("x",))
    assert empty.answers("r5")["Q1"] == empty.answers("r6")["Q1"] == OMITTED


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_declared_options_stay_in_their_order(tmp_path: Path, layout: str) -> None:
    path = put(tmp_path, WIDE if layout == "wide" else LONG)
    responses = sprite.read(path, options={"Q1": ["C", "B", "A"], "Q2": [1, 2, 3]})
    assert responses.options == (("C", "B", "A"), ("1", "2", "3"))
    assert table(responses) == EXPECTED
    assert responses.layout.count.tolist() == [0, 1, 2, 1, 1, 0]
    for form in (["A", "B", "1", "2", "Z"], "A;B;1;2;Z"):
        assert sprite.read(path, options=form).options == (("A", "B", "1", "2", "Z"),) * 2
    file = put(tmp_path, "question,option\nQ2,2\nQ2,1\n", "options.csv")
    assert sprite.read(path, options=file).options == (("A", "B"), ("2", "1"))


def test_silent_respondents_and_thin_questions_are_kept_and_noted(tmp_path: Path) -> None:
    responses = sprite.read(put(tmp_path, "id,Q1,Q2,Q3\na,A,,B\nb,,,\nc,A,,C\n"))
    assert responses.n_respondents == 3
    assert responses.options == (("A",), (), ("B", "C"))
    said = " ".join(responses.notes)
    assert "1 respondent answered nothing: 'b'" in said
    assert "'Q2' has no answers" in said
    assert "'Q1' has only one option" in said
    assert responses.layout.reference.tolist()[1] == -1


def test_texts(tmp_path: Path) -> None:
    file = put(tmp_path, "question,option,text\nQ1,,What?\nQ1,A,This\nQ9,,Gone\n", "texts.csv")
    responses = sprite.read(put(tmp_path, WIDE), texts=file)
    assert responses.texts.questions == {"Q1": "What?"}
    assert responses.texts.options == {("Q1", "A"): "This"}
    assert any("'Q9'" in note for note in responses.notes)
    mapped = sprite.read(put(tmp_path, WIDE), texts={"Q1": "What?", ("Q1", "A"): "This"})
    assert mapped.texts == responses.texts


def test_order(tmp_path: Path) -> None:
    path = put(tmp_path, "id,Q1,Q2\na,low,x\nb,high,y\nc,mid,x\n")
    forms = (
        {"Q1": ["low", "mid", "high"]},
        {"Q1": "low<mid<high"},
        put(tmp_path, "question,order\nQ1,low<mid<high\n", "order.csv"),
        put(tmp_path, "question,order\nQ1,low;mid;high\n", "order2.csv"),
        put(tmp_path, "question,option,rank\nQ1,high,3\nQ1,low,1\nQ1,mid,2\n", "order3.csv"),
    )
    for form in forms:
        responses = sprite.read(path, order=form)
        assert responses.options[0] == ("high", "low", "mid")
        assert responses.rank is not None
        assert responses.rank.tolist() == [2, 0, 1, 0, 1]
        assert responses.rank.dtype == np.int32
    wider = sprite.read(path, order={"Q1": "none<low<mid<high<top"})
    assert wider.options[0] == ("high", "low", "mid", "none", "top")
    assert wider.answers("a") == {"Q1": "low", "Q2": "x"}
    assert sprite.read(path).rank is None


def test_frame_out() -> None:
    frame = sprite.read(pd.DataFrame({"id": ["a", "b"], "Q1": ["x", None], "Q2": ["y", "z"]}), {"Q1": "x"}).to_frame()
    assert frame.astype(object).values.tolist() == [
        ["a", "Q1", "x", True],
        ["a", "Q2", "y", False],
        ["b", "Q2", "z", False],
    ]


# --- real tests ----------------------------------------------------------------------------------------------------

DATA = Path(__file__).parents[2].parent / "shared" / "data"
SIZES = {
    "sat12": (600, 32, 19131, {5}),
    "iqitems": (1525, 16, 23257, {6, 8}),
    "hci": (669, 20, 13380, {3, 4, 5}),
    "psych101": (379, 100, 37873, {3, 4}),
    "tam_mc": (143, 30, 3973, {4}),
    "irtoys_unscored": (472, 18, 8104, {4}),
    "czmatura2019": (15702, 18, 276043, {2, 5, 6}),
    "medical_admission": (2392, 100, 237943, set(range(7, 16))),
    "medical_graded": (2392, 100, 239200, {3, 4, 5}),
    "timss2007_g8_rus": (4472, 220, 135843, {3, 4, 5}),
    "enem2016_mt": (9885, 45, 442616, {5}),
    "conspiracist2016": (2449, 15, 36629, {5}),
    "science_likert": (392, 4, 1568, {4}),
}


@pytest.mark.parametrize("name", SIZES)
def test_real_tests_have_the_sizes_their_readme_says(name: str) -> None:
    if not (DATA / name / "responses.csv").exists():
        pytest.skip("the shared data are not here")
    key = DATA / name / "key.csv"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpriteWarning)
        responses = sprite.read(DATA / name / "responses.csv", key if key.exists() else None)
    respondents, questions, answers, options = SIZES[name]
    assert (responses.n_respondents, responses.n_questions, responses.n_answers) == (respondents, questions, answers)
    assert set(map(len, responses.options)) == options
    assert len(responses.key) == (questions if key.exists() else 0)


def test_the_stray_letter_of_hci_is_pointed_out() -> None:
    if not (DATA / "hci" / "responses.csv").exists():
        pytest.skip("the shared data are not here")
    with pytest.warns(SpriteWarning, match=r"A5: 'C' and 'c'"):
        sprite.read(DATA / "hci" / "responses.csv")
