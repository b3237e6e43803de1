"""Writing answers so that reading them gives the same again, all or nothing."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sprite.core.errors import InputError
from sprite.core.types import Ints
from sprite.data.key import split_labels
from sprite.data.labels import Rules, fractions, guard, settle, tidy
from sprite.data.responses import Responses

if TYPE_CHECKING:
    import pandas as pd

COMPANIONS = ("key.csv", "order.csv", "texts.csv", "options.csv")
_LONG = ("respondent", "question", "response")


def write(responses: Responses, path: str | os.PathLike[str], layout: str | None = None) -> None:
    """Write the answers: ``.csv`` and ``.tsv`` wide or long, ``.parquet`` long."""
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in (".csv", ".tsv", ".parquet"):
        raise InputError(
            "answers are written as .csv, .tsv or .parquet", file=str(target), remedy="Choose one of these endings"
        )
    layout = layout or ("long" if suffix == ".parquet" else "wide")
    if layout not in ("wide", "long") or (suffix == ".parquet" and layout == "wide"):
        raise InputError(
            f"there is no {layout} layout for {suffix}", remedy="Parquet is long; text is 'wide' or 'long'"
        )
    _refuse_unreadable(responses, target)
    if suffix == ".parquet":
        with replacing(target) as temporary:
            _write_parquet(responses, temporary)
        return
    rows = _wide_rows(responses) if layout == "wide" else _long_rows(responses)
    write_csv(target, rows, separator="\t" if suffix == ".tsv" else ",")


def save_folder(
    responses: Responses, folder: str | os.PathLike[str], more: Mapping[str, Iterable[Sequence[str]]] | None = None
) -> None:
    """Write responses.csv, and key.csv, order.csv, texts.csv and options.csv where there is something to say.

    `more` are further tables by the name of their file. All files appear, or none does.
    """
    target = Path(folder)
    tables = _companions(responses)
    stale = [name for name in COMPANIONS if name not in tables and (target / name).exists()]
    if stale:
        raise InputError(
            "the folder holds a file that does not belong to these answers",
            file=str(target / stale[0]),
            remedy="Remove it, or save to another folder",
        )
    make_folder(target)
    _refuse_unreadable(responses, target / "responses.csv")
    with ExitStack() as together:
        for name, rows in {"responses.csv": _wide_rows(responses), **tables, **(more or {})}.items():
            _write_rows(together.enter_context(replacing(target / name)), rows)


def read_folder(folder: str | os.PathLike[str]) -> Responses:
    """Read what `save_folder` wrote."""
    from sprite.data.reading import read

    target = Path(folder)
    given = {Path(name).stem: target / name for name in COMPANIONS if (target / name).exists()}
    return read(target / "responses.csv", layout="wide", **given)  # type: ignore[arg-type]


def write_csv(path: Path, rows: Iterable[Sequence[str]], separator: str = ",") -> None:
    """Write a table of text; cells that a spreadsheet would run as a formula get a quote in front."""
    with replacing(path) as temporary:
        _write_rows(temporary, rows, separator)


def _write_rows(path: Path, rows: Iterable[Sequence[str]], separator: str = ",") -> None:
    special = re.compile(f'["\r\n{re.escape(separator)}]')
    with path.open("w", encoding="utf-8", newline="") as stream:
        for cells in rows:
            stream.write(separator.join(_quoted(guard(cell), special) for cell in cells) + "\n")


def _quoted(cell: str, special: re.Pattern[str]) -> str:
    """A cell in quotation marks where it needs them; the csv module would leave a lone carriage return bare."""
    return '"' + cell.replace('"', '""') + '"' if special.search(cell) else cell


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place only if all went well.

    Whatever hinders it (a full disk, a folder that may not be written) becomes one message, and what was there stays.
    """
    if path.is_dir():
        raise InputError("this is a folder", file=str(path), remedy="Name a file to write to")
    name = None
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".part")
        os.close(handle)
        yield Path(name)
        with open(name, "rb") as written:
            os.fsync(written.fileno())  # or a failing power supply could leave the new name with nothing behind it
        # mkstemp makes files private; a result should be readable like any other file.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, path)
    except BaseException as error:
        if name is not None:
            Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(
                f"the file cannot be written: {error.strerror or error}",
                file=str(path),
                remedy="Check that the folder exists, that you may write there, and that there is room on the disk",
            ) from None
        raise


def make_folder(path: Path) -> None:
    """Make a folder with those above it, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"the folder cannot be made: {error.strerror}",
            file=str(path),
            remedy="Name a folder that can be made, and that is no file",
        ) from None


def long_frame(responses: Responses) -> pd.DataFrame:
    """One row an answer, as a pandas table of categories."""
    import pandas as pd

    def categories(codes: Any, names: Sequence[str]) -> Any:
        return pd.Categorical.from_codes(codes, pd.Index(list(names), dtype=str))

    questions = responses.question_of_row[responses.row]
    labels = _labels(responses)
    distinct = sorted(set(labels))
    place = {label: i for i, label in enumerate(distinct)}
    code = np.array([place[label] for label in labels], dtype=np.int32)
    frame = pd.DataFrame(
        {
            "respondent": categories(responses.respondent_of_answer, responses.respondents.tolist()),
            "question": categories(questions, responses.questions),
            "response": categories(code[responses.row], distinct),
        }
    )
    if responses.correct.any():
        frame["correct"] = responses.correct[responses.row]
    return frame


# --- rows ----------------------------------------------------------------------------------------------------------


def _labels(responses: Responses) -> list[str]:
    """The label of every row."""
    return [label for labels in responses.options for label in labels]


def _wide_rows(responses: Responses) -> Iterator[Sequence[str]]:
    labels = _labels(responses)
    question = responses.question_of_row
    yield ("respondent", *responses.questions)
    for i, name in enumerate(responses.respondents):
        cells = [""] * responses.n_questions
        chosen = responses.row[responses.start[i] : responses.start[i + 1]]
        for j, r in zip(question[chosen].tolist(), chosen.tolist(), strict=True):
            cells[j] = labels[r]
        yield (str(name), *cells)


def _long_cells(responses: Responses) -> tuple[Ints, Ints, Ints]:
    """Respondent, question and row (-1 for none) of every line of a long table.

    The first respondent has a line for every question, so that the questions keep their order; a respondent without
    answers has one empty line, so as not to vanish.
    """
    who = responses.respondent_of_answer
    question = responses.question_of_row[responses.row].astype(np.int64)
    row = responses.row.astype(np.int64)
    silent = np.flatnonzero(np.diff(responses.start)[1:] == 0) + 1
    unanswered = np.setdiff1d(np.arange(responses.n_questions), question[: int(responses.start[1])])
    who = np.concatenate([np.zeros_like(unanswered), who, silent])
    question = np.concatenate([unanswered, question, np.zeros_like(silent)])
    row = np.concatenate([np.full(len(unanswered), -1), row, np.full(len(silent), -1)])
    order = np.lexsort((question, who))
    return who[order], question[order], row[order]


def _long_rows(responses: Responses) -> Iterator[Sequence[str]]:
    labels = [*_labels(responses), ""]
    names = responses.respondents.tolist()
    yield _LONG
    for i, j, r in zip(*(array.tolist() for array in _long_cells(responses)), strict=True):
        yield names[i], responses.questions[j], labels[r]


def _write_parquet(responses: Responses, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    who, question, row = _long_cells(responses)
    chosen: Any = np.where(row < 0, 0, row)
    texts = (responses.respondents.tolist(), list(responses.questions), _labels(responses))
    indices = (pa.array(who), pa.array(question), pa.array(chosen, mask=row < 0))
    columns = [
        pa.DictionaryArray.from_arrays(index.cast(pa.int32()), pa.array(text, pa.string()))
        for index, text in zip(indices, texts, strict=True)
    ]
    pq.write_table(pa.table(dict(zip(_LONG, columns, strict=True))), path)


# --- companions ------------------------------------------------------------------------------------------------------


def _companions(responses: Responses) -> dict[str, list[tuple[str, ...]]]:
    """The tables that go with the answers, by file name."""
    tables: dict[str, list[tuple[str, ...]]] = {}
    if responses.key:
        tables["key.csv"] = [("question", "correct"), *_key_rows(responses)]
    if responses.rank is not None:
        pairs = [
            (q, label) for q, labels in zip(responses.questions, responses.options, strict=True) for label in labels
        ]
        ranks = [str(rank) for rank in responses.rank.tolist()]
        rows = [(q, label, rank) for (q, label), rank in zip(pairs, ranks, strict=True)]
        tables["order.csv"] = [("question", "option", "rank"), *rows]
    texts = responses.texts
    if texts.questions or texts.options:
        wording = [(q, "", text) for q, text in texts.questions.items()]
        wording += [(q, label, text) for (q, label), text in texts.options.items()]
        tables["texts.csv"] = [("question", "option", "text"), *wording]
    # Numbers with fractions are read as options only where they are declared.
    if any(_settled(chosen) != list(labels) or fractions(chosen) for _, labels, chosen in _questions(responses)):
        listed = [(q, label) for q, labels, _ in _questions(responses) for label in labels]
        tables["options.csv"] = [("question", "option"), *listed]
    return tables


def _key_rows(responses: Responses) -> Iterator[tuple[str, str]]:
    options = dict(zip(responses.questions, responses.options, strict=True))
    for question, labels in responses.key.items():
        cell = ";".join(labels)
        if split_labels([cell], options[question]) != list(labels):
            raise InputError(
                f"the key of question {question!r} cannot be written: {cell!r} would be read differently",
                found=list(labels),
                remedy="Rename the options so that they hold no semicolon",
            )
        yield question, cell


def _questions(responses: Responses) -> Iterator[tuple[str, tuple[str, ...], list[str]]]:
    """Name, options, and those of them that somebody chose."""
    count = responses.count
    for j, (question, labels) in enumerate(zip(responses.questions, responses.options, strict=True)):
        own = count[responses.first[j] : responses.first[j + 1]]
        yield question, labels, [label for label, n in zip(labels, own, strict=True) if n]


def _settled(chosen: Sequence[str]) -> list[str]:
    """The options that reading would find in the data alone."""
    return settle(chosen, Rules(), None)[0]


# --- what cannot be read back --------------------------------------------------------------------------------------


def _refuse_unreadable(responses: Responses, path: Path) -> None:
    """Refuse names and labels that reading would change or take for missing, before anything is written."""
    if not responses.n_respondents or not responses.n_questions:
        raise InputError("there is nothing to write", file=str(path), remedy="Give respondents and questions")
    for name in responses.respondents.tolist():
        _refuse_text(name, "name of a respondent", path, None)
    for question, _, chosen in _questions(responses):
        _refuse_text(question, "name of a question", path, None)
        final, place = settle(chosen, Rules(), None)
        for label, i in zip(chosen, place, strict=True):
            _refuse_text(label, "label", path, question)
            if Rules().is_missing(label) or final[i] != label:
                becomes = "no answer" if Rules().is_missing(label) else repr(final[i])
                raise InputError(
                    f"this label would be read back as {becomes}",
                    file=str(path),
                    column=question,
                    found=label,
                    remedy="Rename the option",
                )


def _refuse_text(text: str, what: str, path: Path, column: str | None) -> None:
    if text == tidy(text) != "" and "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text):
        return
    problem = "is empty" if not text.strip() else "has blanks around it" if text != tidy(text) else "cannot be written"
    raise InputError(f"the {what} {problem}", file=str(path), column=column, found=text, remedy="Rename it")
