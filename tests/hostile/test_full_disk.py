"""A full disk, and folders that may not be written: one message, exit code 2, and what was there stays whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.hostile.limited import run

ROOT = Path(__file__).parents[2]
PRECIOUS = "what was here before, of some length\n" * 20
FEW = 200
"""Bytes that fit on the disk: fewer than any output has."""

COMMANDS = {
    "fit": ("fit", "{exam}/responses.csv", "--engine", "em", "--quiet", "-o", "{out}/fit.nc"),
    "report": ("report", "{exam}/fit.nc", "--quiet", "-o", "{out}/report.html"),
    "plot as page": ("plot", "{exam}/fit.nc", "--kind", "information", "--quiet", "-o", "{out}/chart.html"),
    "plot as picture": ("plot", "{exam}/fit.nc", "--kind", "information", "--quiet", "-o", "{out}/chart.svg"),
    "simulate": ("simulate", "-n", "200", "-q", "10", "--quiet", "-o", "{out}"),
    "table as CSV": ("abilities", "{exam}/fit.nc", "-o", "{out}/abilities.csv"),
    "table as JSON": ("questions", "{exam}/fit.nc", "-o", "{out}/questions.json"),
    "check": ("check", "{exam}/responses.csv", "-o", "{out}/check.csv"),
    "compare": (
        *("compare", "{exam}/responses.csv", "--models", "nrm", "--repeats", "1"),
        *("-o", "{out}/compare.csv", "--store", "{out}/store"),
    ),
}


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("exam")
    assert run(("simulate", "-n", "40", "-q", "5", "-m", "3", "--quiet", "-o", str(place))) == (0, "")
    answers = str(place / "responses.csv")
    assert run(("fit", answers, "--engine", "em", "--quiet", "-o", str(place / "fit.nc")))[0] == 0
    # What is compiled for the first time is kept on the disk, too: not what is looked at here.
    assert run(("compare", answers, "--models", "nrm", "--repeats", "1", "-o", str(place / "compare.csv")))[0] == 0
    return place


def filled(folder: Path) -> Path:
    """A folder with a result of every command."""
    for words in COMMANDS.values():
        for word in words:
            if "." in Path(word).name and word.startswith("{out}"):
                (folder / Path(word).name).write_text(PRECIOUS)
    (folder / "responses.csv").write_text(PRECIOUS)
    (folder / "store").mkdir()
    return folder


def spelled(words: tuple[str, ...], exam: Path, out: Path) -> list[str]:
    return [word.format(exam=exam, out=out) for word in words]


def unharmed(folder: Path) -> bool:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return len(files) == 9 and all(path.read_text() == PRECIOUS for path in files)


@pytest.fixture(scope="module")
def on_full_disk(exam: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, tuple[int, str]], Path]:
    out = filled(tmp_path_factory.mktemp("full"))
    commands = {name: spelled(words, exam, out) for name, words in COMMANDS.items()}
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.limited", str(FEW), json.dumps(commands)],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), out


@pytest.mark.parametrize("name", COMMANDS)
def test_full_disk(name: str, on_full_disk: tuple[dict[str, tuple[int, str]], Path]) -> None:
    outcomes, out = on_full_disk
    code, said = outcomes[name]
    assert code == 2
    assert said.startswith("sprite: ")
    assert said.count("\n") == 1
    assert "cannot be written: File too large" in said  # what the limit is called that stands for a full disk
    assert unharmed(out)


@contextmanager
def nobody() -> Iterator[None]:
    """The superuser may write everywhere, so is somebody else for a while."""
    if os.geteuid():
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="needs a system with such users")
@pytest.mark.parametrize("name", COMMANDS)
def test_read_only_folder(name: str, exam: Path, tmp_path: Path) -> None:
    warm, out = tmp_path / "warm", tmp_path / "out"
    for folder in (warm, out):
        folder.mkdir()
        filled(folder)
    words = COMMANDS[name]
    if name == "simulate":
        (warm / "key.csv").unlink(missing_ok=True)
    assert run(spelled(words, exam, warm))[0] == 0  # the same command does work, and everything it needs is loaded
    for path in (*tmp_path.parents, *exam.parents):
        if path.owner() == tmp_path.owner() and path.is_relative_to("/tmp"):
            path.chmod(0o755)
    exam.chmod(0o755)
    tmp_path.chmod(0o755)
    (out / "store").chmod(0o555)
    out.chmod(0o555)
    with nobody():
        code, said = run(spelled(words, exam, out))
    assert code == 2
    assert said.count("\n") == 1
    assert "may not be written" in said or "Permission denied" in said
    assert unharmed(out)


@pytest.mark.parametrize("name", ["simulate", "demo", "compare"])
def test_a_file_where_a_folder_should_be(name: str, exam: Path, tmp_path: Path) -> None:
    words = spelled(COMMANDS.get(name, ("demo", "-o", "{out}")), exam, tmp_path)
    taken = tmp_path / "taken"
    taken.write_text(PRECIOUS)
    code, said = run([*words[:-1], str(taken)])
    assert code == 2
    assert "cannot be made: File exists" in said
    assert taken.read_text() == PRECIOUS


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", [("abilities", "{exam}/fit.nc"), ("check", "{exam}/responses.csv")])
def test_printing_to_a_full_disk(command: tuple[str, ...], exam: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "sprite", *spelled(command, exam, exam)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr == "sprite: cannot read or write: No space left on device. Check the disk and your permissions\n"
