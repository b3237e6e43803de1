"""Broken files through the commands: exit code 0 with whole output, or 2 with one line and no output at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sprite
from tests.hostile.limited import run
from tests.hostile.mutations import fuzzed, mutated, seeds
from tests.hostile.test_reading import LONG, WIDE


def whole_or_refused(words: tuple[str, ...], output: Path) -> bool:
    """Run a command; whether it succeeded."""
    output.unlink(missing_ok=True)
    before = set(output.parent.iterdir())
    code, said = run((*words, "-o", str(output)))
    if code == 0:
        assert output.stat().st_size > 0
        return True
    assert code == 2
    assert said.startswith("sprite: ")
    assert said.count("\n") == 1
    assert "Traceback" not in said
    assert set(output.parent.iterdir()) == before
    return False


@fuzzed(40)
@given(seed=seeds, sound=st.sampled_from((WIDE, LONG)))
def test_check_and_fit(seed: int, sound: str, tmp_path: Path) -> None:
    path, output = tmp_path / "answers.csv", tmp_path / "fit.nc"
    path.write_bytes(mutated(sound.encode(), seed))
    readable = whole_or_refused(("check", str(path)), tmp_path / "findings.csv")
    fitted = whole_or_refused(("fit", str(path), "--engine", "em", "--quiet"), output)
    assert readable or not fitted
    if fitted:
        sprite.load(output)


@pytest.fixture(scope="module")
def sound_fit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fit")
    (folder / "answers.csv").write_text(WIDE)
    words = ("fit", str(folder / "answers.csv"), "--engine", "em", "--quiet", "-o", str(folder / "fit.nc"))
    assert run(words) == (0, "")
    return folder / "fit.nc"


@fuzzed(40)
@given(seed=seeds, command=st.sampled_from(("abilities", "verdicts", "diagnose")))
def test_asking_a_broken_fit(seed: int, command: str, sound_fit: Path, tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    path.write_bytes(mutated(sound_fit.read_bytes(), seed))
    if path.read_bytes() != sound_fit.read_bytes():
        assert not whole_or_refused((command, str(path)), tmp_path / "table.csv")


@fuzzed(25)
@given(seed=seeds)
def test_scoring_broken_answers(seed: int, sound_fit: Path, tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    path.write_bytes(mutated(WIDE.encode(), seed))
    whole_or_refused(("score", str(sound_fit), str(path), "--plug-in"), tmp_path / "scores.csv")
