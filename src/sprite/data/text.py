"""Text tables: encoding, separator, header and rows, with the exact line of anything that is wrong."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv

from sprite.core.errors import InputError
from sprite.core.memory import refuse_beyond_memory
from sprite.data.columns import TEXT, Column, from_arrow

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
MAX_COLUMNS = 50_000
_SEPARATOR = r"[ !#-~\t]"  # what may be one: nothing that ends a line, quotes, or is beyond ASCII
_HEAD = 1 << 20
_BLOCK = 4 << 20  # larger than the default, so that there are fewer dictionaries to unite
_SAMPLE_ROWS = 50
_BOMS = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class TextTable:
    """A text table whose header has been read."""

    path: Path
    names: tuple[str, ...]
    separator: str
    encoding: str
    skip: int
    """Rows before the data, the header included."""
    quoted: bool
    about: str

    def fetch(self, columns: Sequence[int]) -> list[Column]:
        """Read the columns; the whole file is checked for its shape on the way."""
        places = [str(c) for c in range(len(self.names))]
        wanted = [str(c) for c in columns]
        try:
            table = arrow_csv.read_csv(
                self.path,
                arrow_csv.ReadOptions(
                    column_names=places,
                    skip_rows_after_names=self.skip,
                    encoding=self.encoding,
                    block_size=_BLOCK,
                ),
                # Allowing line breaks inside cells costs time, so only where there is a quotation mark at all.
                arrow_csv.ParseOptions(delimiter=self.separator, newlines_in_values=self.quoted),
                arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(wanted, TEXT),
                    include_columns=wanted,
                    null_values=[],
                    strings_can_be_null=False,
                    check_utf8=False,  # the scan has done it
                ),
            )
        except pa.ArrowException:
            self._find_fault()
            raise InputError(
                "the file cannot be read as a text table",
                file=str(self.path),
                remedy="Check the quotation marks, or save it again as CSV from a spreadsheet",
            ) from None
        out = []
        for name in wanted:
            out.append(from_arrow(table.column(name), guarded=True))
            table = table.drop_columns([name])  # its memory is needed for the next one
        return out

    def line(self, row: int) -> int:
        """The line on which a data row begins; found by reading again, as only errors ask."""
        line = self.skip
        with suppress(csv.Error):  # a monstrous cell above: the line before it must do
            for i, (line, _) in enumerate(self._body()):  # noqa: B007
                if i == row:
                    break
        return line

    def _body(self) -> Iterator[tuple[int, list[str]]]:
        """Line and cells of each data row, blank lines left out as the fast reader does."""
        with self.path.open(encoding=_python_name(self.encoding), newline="") as stream:
            reader = csv.reader(stream, delimiter=self.separator)
            before = 0
            for i, cells in enumerate(reader):
                if cells and i >= self.skip:
                    yield before + 1, cells
                before = reader.line_num

    def _find_fault(self) -> None:
        """Say which line is wrong, if one is."""
        width = len(self.names)
        try:
            for line, cells in self._body():
                if len(cells) != width:
                    raise InputError(
                        f"this line has {len(cells):,} cells and the header has {width:,}",
                        file=str(self.path),
                        row=line,
                        found=self.separator.join(cells[:20]),
                        remedy=self._evened(short=len(cells) < width),
                    )
        except csv.Error:
            return

    def _evened(self, *, short: bool) -> str:
        """What to do about a line with too few or too many cells."""
        separator = SEPARATORS.get(self.separator, self.separator)
        if short:
            return (
                f"Fill it up: empty cells, too, are separated ({separator} here). A cell that contains a line break "
                "needs quotation marks around it"
            )
        return (
            f"Put quotation marks around cells that contain the separator ({separator} here), name the separator, "
            f"or remove lines above the header, which was taken to be on line {self.skip}"
        )

    def refuse_open_quote(self) -> None:
        """Refuse a file in which a quotation mark opens a cell that never closes: it would swallow the rest."""
        start = 0
        with self.path.open(encoding=_python_name(self.encoding), newline="") as stream:
            reader = csv.reader(stream, delimiter=self.separator, strict=True)
            try:
                for _ in reader:
                    start = reader.line_num
            except csv.Error as error:
                if "unexpected end" in str(error) or "field larger" in str(error):
                    raise InputError(
                        "a quotation mark opens here and is never closed",
                        file=str(self.path),
                        row=start + 1,
                        remedy="Close it, or write a mark inside a cell twice",
                    ) from None


def open_text(path: Path, separator: str | None, encoding: str | None) -> TextTable:
    """Find out encoding and separator, and read the header."""
    file = str(path)
    if separator is not None and not re.fullmatch(_SEPARATOR, separator):
        raise InputError(
            "a separator is one character, and no quotation mark",
            found=separator,
            remedy="Use ',', ';', '|' or a tab",
        )
    refuse_beyond_memory(path.stat().st_size, "the file", file)
    encoding, quotes, how = _encoding(path, encoding)
    lines = _head(path, encoding)
    told = re.fullmatch(f"sep=({_SEPARATOR})", lines[0].strip("\r\n"), re.IGNORECASE) if lines else None
    if separator is None:
        separator = told[1] if told else _sniff(lines)
    rows = _parse(lines, separator)
    # Spreadsheets may write a first line that names the separator.
    skip = next((i for i, cells in enumerate(rows) if cells and not (told and i == 0)), None)
    blanks = f'"{separator}'
    if skip is None or not any(line.strip().strip(blanks).strip() for line in lines[bool(told) :]):
        raise InputError("the file holds nothing but blank lines", file=file, remedy="Export the file again")
    names = rows[skip]
    if len(names) > MAX_COLUMNS:
        raise InputError(
            f"the header has {len(names):,} columns, more than the {MAX_COLUMNS:,} that are allowed",
            file=file,
            row=skip + 1,
            remedy="Write large tests as a long table: respondent, question, response",
        )
    body = [cells for cells in rows[skip + 1 : skip + 1 + _SAMPLE_ROWS] if cells]
    if body and len(names) > 1 and all(len(cells) == len(names) + 1 for cells in body):
        # A separator at the end of every line, or R's write.table, whose column of row names has no header cell.
        names = ["", *names] if any(cells[-1] for cells in body) else [*names, ""]
    named = SEPARATORS.get(separator, repr(separator))
    alone = len(names) == 1
    shape = "one column (name the separator if there should be more)" if alone else f"separated by {named}"
    about = f"text, {shape}, {how}"
    table = TextTable(path, tuple(names), separator, encoding, skip + 1, quotes > 0, about)
    if quotes % 2:
        table.refuse_open_quote()
    return table


def _python_name(encoding: str) -> str:
    return "utf-8-sig" if encoding == "utf-8" else encoding


def _encoding(path: Path, wanted: str | None) -> tuple[str, int, str]:
    """The encoding, the number of quotation marks, and how the encoding was found; the whole file is scanned."""
    file = str(path)
    with path.open("rb") as stream:
        head = stream.read(4096)
    marked = next((name for bom, name in _BOMS.items() if head.startswith(bom)), None)
    if wanted is not None:
        try:
            "a".encode(wanted)  # refuses codecs that are not encodings of text, too
            name = codecs.lookup(wanted).name.replace("utf-8-sig", "utf-8")
        except (LookupError, ValueError):
            raise InputError(
                "there is no such encoding", found=wanted, remedy="Try utf-8, cp1252, latin-1 or utf-16"
            ) from None
        return name, _scan(path, name, lambda error, line: _undecodable(file, name, error, line)), name.upper()
    if marked is None and b"\0" in head:
        wide = next((n for n, k in (("utf-16-le", 1), ("utf-16-be", 0)) if _zeros(head, k)), None)
        remedy = "Save the table as CSV, Parquet or Excel"
        if wide:
            remedy = f"It looks like UTF-16 without its mark: try encoding={wide!r}"
        raise InputError("this is a binary file, not a text table", file=file, remedy=remedy)
    if marked is not None and marked != "utf-8":
        quotes = _scan(path, marked, lambda error, line: _undecodable(file, marked, error, line))
        return marked, quotes, marked.upper()
    for name, how in (
        ("utf-8", "UTF-8"),
        ("cp1252", "Windows-1252, as it is not UTF-8 (name the encoding if letters look wrong)"),
    ):
        try:
            return name, _scan(path, name, None), how
        except UnicodeDecodeError:
            continue
    return "latin-1", _scan(path, "latin-1", None), "Latin-1, as it is not UTF-8"


def _zeros(head: bytes, offset: int) -> bool:
    """Whether nearly every second byte is zero and the others are not, as in UTF-16 text."""
    return head[offset::2].count(0) > 0.7 * len(head) / 2 and head[1 - offset :: 2].count(0) == 0


def _undecodable(file: str, encoding: str, error: UnicodeError, line: int) -> InputError:
    return InputError(
        f"the file is not written in {encoding}",
        file=file,
        row=line,
        found=error.object[error.start : error.start + 4] if isinstance(error, UnicodeDecodeError) else None,
        remedy="Leave the encoding out, or try utf-8, cp1252, latin-1 or utf-16",
    )


def _scan(path: Path, encoding: str, explain: Callable[[UnicodeError, int], InputError] | None) -> int:
    """Decode all of the file in pieces; the number of quotation marks."""
    decoder = codecs.getincrementaldecoder(encoding)()
    quotes, lines = 0, 1
    with path.open("rb") as stream:
        while True:
            piece = stream.read(_HEAD)
            try:
                decoded = decoder.decode(piece, final=not piece)
            except UnicodeError as error:  # of some encodings it does not say where
                if explain is None:
                    raise
                before = error.object[: error.start].count(b"\n") if isinstance(error, UnicodeDecodeError) else 0
                raise explain(error, lines + before) from None
            if "\0" in decoded:
                raise InputError(
                    "this is a binary file, not a text table",
                    file=str(path),
                    row=lines + decoded[: decoded.index("\0")].count("\n"),
                    remedy="Save the table as CSV, Parquet or Excel",
                )
            quotes += decoded.count('"')
            lines += decoded.count("\n")
            if not piece:
                return quotes


def _head(path: Path, encoding: str) -> list[str]:
    """The first lines of the file, all of them whole."""
    with path.open(encoding=_python_name(encoding), newline="") as stream:
        head = stream.read(_HEAD)
        ended = not stream.read(1)
    lines = list(io.StringIO(head, newline=""))
    if not ended and len(lines) < 2:
        raise InputError(
            f"the first line is longer than {_HEAD:,} characters",
            file=str(path),
            row=1,
            remedy="Check that this is a table with one line a respondent; write large tests as a long table",
        )
    return lines if ended else lines[:-1]


def _parse(lines: Sequence[str], separator: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for cells in csv.reader(lines, delimiter=separator):
            rows.append(cells)
            if len(rows) > 2 * _SAMPLE_ROWS:
                break
    except csv.Error:
        pass  # an enormous cell: the full read says where
    return rows


def _sniff(lines: Sequence[str]) -> str:
    """The separator under which the first rows agree best on the number of cells."""

    def fit(separator: str) -> tuple[bool, int, int]:
        rows = [cells for cells in _parse(lines, separator) if cells]
        if not rows or len(rows[0]) < 2:
            return False, 0, 0
        width = len(rows[0])
        agree = sum(len(cells) in (width, width + 1) for cells in rows)
        return agree == len(rows), agree, width

    return max(SEPARATORS, key=fit)
