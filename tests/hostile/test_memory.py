"""Files of a few kilobytes that ask for gigabytes or terabytes: refused within the memory that there is."""

from __future__ import annotations

import io
import resource
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from sprite.data.sheet_process import BROKEN, EMPTY

MEMORY = 3 << 30
FRAME = pd.DataFrame({"student": [f"s{i}" for i in range(77)], "Q1": ["ABCD"[i % 4] for i in range(77)]})


def parquet_of_a_trillion_rows() -> bytes:
    """A sound file whose description claims 10^12 rows wherever it says 77."""
    stream = io.BytesIO()
    FRAME.to_parquet(stream, index=False)
    data = stream.getvalue()
    (size,) = struct.unpack("<I", data[-8:-4])
    body, described = data[: -8 - size], data[-8 - size : -8]
    assert _count(77) in described
    described = described.replace(_count(77), _count(10**12))
    return body + described + struct.pack("<I", len(described)) + b"PAR1"


def _count(n: int) -> bytes:
    """A 64-bit field in Thrift's compact protocol."""
    n, out = 2 * n, b"\x16"
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def sheet(change: Callable[[bytes], bytes]) -> bytes:
    """An Excel file whose sheet has been tampered with."""
    before, after = io.BytesIO(), io.BytesIO()
    FRAME.to_excel(before, index=False)
    with zipfile.ZipFile(before) as archive, zipfile.ZipFile(after, "w", zipfile.ZIP_DEFLATED) as made:
        for name in archive.namelist():
            content = archive.read(name)
            made.writestr(name, change(content) if name.endswith("sheet1.xml") else content)
    return after.getvalue()


def cell_in_the_farthest_corner() -> bytes:
    far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    return sheet(lambda content: content.replace(b"</sheetData>", far))


def archive_bomb() -> bytes:
    """Text of 300 MB that packs to 300 kB."""
    return sheet(lambda content: content.replace(b"<sheetData>", b"<!--" + b" " * 300_000_000 + b"--><sheetData>"))


def limited(memory: int, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "make", "words"),
    [
        ("claims.parquet", parquet_of_a_trillion_rows, "1,000,000,000,000 rows"),
        ("corner.xlsx", cell_in_the_farthest_corner, "much larger than it looks"),
    ],
)
def test_refused_within_limits(name: str, make: Callable[[], bytes], words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(make())
    assert path.stat().st_size < 10_000
    done = limited(MEMORY, "-m", "sprite", "check", str(path))
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_process_that_unpacks_keeps_to_its_limit(tmp_path: Path) -> None:
    """With less memory than it grants itself, so that the test need not fill gigabytes."""
    path = tmp_path / "bomb.xlsx"
    path.write_bytes(archive_bomb())
    assert path.stat().st_size < 1_000_000
    script = f"from sprite.data.sheet_process import main; main({str(path)!r})"
    assert limited(MEMORY, "-c", script).returncode == 0
    assert limited(200 << 20, "-c", script).returncode not in (0, EMPTY, BROKEN)
