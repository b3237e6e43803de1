"""Fit files that are cut short, changed or forged: refused or read right, never misread."""

from __future__ import annotations

import hashlib
import io
import re
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given

from sprite.core.errors import InputError
from sprite.data.responses import names_array
from sprite.models.sprite import Sprite
from sprite.result import storage
from sprite.result.storage import load
from tests.hostile.mutations import fuzzed, mutated, seeds
from tests.unit.test_fit_assembly import small
from tests.unit.test_fit_storage import assert_same

MARK = re.compile(rb"sprite-sha256:[0-9a-f]{64}")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "a.nc"
    small("nrm").save(path)
    return path


@pytest.fixture
def whole(sound: Path) -> bytes:
    return sound.read_bytes()


def sealed_again(data: bytes) -> bytes:
    """With a checksum that fits, as somebody with bad intentions could make it."""
    found = MARK.search(data)
    if found is None:
        return data
    blank = data[: found.start()] + b"sprite-sha256:" + b"0" * 64 + data[found.end() :]
    return blank[: found.end() - 64] + hashlib.sha256(blank).hexdigest().encode() + blank[found.end() :]


def test_every_cut_is_refused(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    for size in (*range(200), *range(200, len(whole), 149), len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"damaged or incomplete|not a fit"):
            load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(InputError, match="damaged"):
        load(path)


def test_every_changed_byte_is_refused(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.nc"
    at_mark = MARK.search(whole)
    assert at_mark is not None
    for at in (*range(0, len(whole), 101), *range(at_mark.start(), at_mark.end())):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(InputError, match=r"damaged or incomplete|not a fit"):
            load(path)


@fuzzed(150)
@given(seed=seeds)
def test_forged_files_are_refused_or_consistent(sound: Path, seed: int, tmp_path: Path) -> None:
    """The checksum fits, so that what lies behind it is put to the test."""
    path = tmp_path / "a.nc"
    path.write_bytes(sealed_again(mutated(sound.read_bytes(), seed)))
    try:
        found = load(path)
    except InputError:
        return
    assert np.isfinite(found.ability_moments()).all()
    assert len(found.summary()) > 0


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("row", -1, "answers and options"),
        ("row", 2**30, "answers and options"),
        ("start", 10**6, "respondents and answers"),
        ("respondent_ends", 10**12, "cut wrongly"),
        ("x", np.nan, "draws that are no numbers"),
        ("point", np.inf, "draws that are no numbers"),
    ],
)
def test_parts_that_do_not_belong_together(whole: bytes, name: str, value: float, words: str, tmp_path: Path) -> None:
    """Compiled loops would read beyond their arrays."""
    stream = io.BytesIO(whole)
    with h5py.File(stream, "r+") as file:
        file[name][..., -1] = value
    (tmp_path / "a.nc").write_bytes(sealed_again(stream.getvalue()))
    with pytest.raises(InputError, match=words):
        load(tmp_path / "a.nc")


def test_claims_beyond_memory_are_refused(whole: bytes, tmp_path: Path) -> None:
    """A few bytes can describe an array of 8 TB."""
    stream = io.BytesIO(whole)
    with h5py.File(stream, "r+") as file:
        del file["point"]
        huge = file.create_dataset("point", (10**12,), dtype="f8", chunks=(2**20,))
        huge.make_scale("point_0")
    (tmp_path / "a.nc").write_bytes(sealed_again(stream.getvalue()))
    with pytest.raises(InputError, match=r"8\.0 TB of memory"):
        load(tmp_path / "a.nc")


def test_a_name_that_looks_like_a_checksum(tmp_path: Path) -> None:
    fit = small("sprite")
    unsummed = storage._UNSUMMED.decode()
    names = names_array([f"{unsummed if k % 2 else unsummed.replace('0', 'a')}{k}" for k in range(24)])
    assert fit.responses.n_respondents >= 24
    names = names_array([*names.tolist(), *(f"r{k}" for k in range(24, fit.responses.n_respondents))])
    odd = replace(fit, responses=replace(fit.responses, respondents=names), model=Sprite())
    odd.save(tmp_path / "a.nc")
    assert_same(odd, load(tmp_path / "a.nc"))
