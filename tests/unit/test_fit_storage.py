"""Saving and loading: equal to the bit, or refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import h5netcdf
import numpy as np
import pytest

from sprite.core.errors import InputError
from sprite.data.responses import Texts, names_array
from sprite.models.registry import MODELS
from sprite.models.sprite import Sprite
from sprite.result import contents, storage
from sprite.result.assembly import assemble
from sprite.result.fit import Fit
from sprite.result.storage import load
from tests.unit.test_fit_assembly import drawn, small


def same(a: object, b: object) -> bool:
    """Equal to the bit, arrays with their types."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        return a.dtype == b.dtype and a.shape == b.shape and a.tolist() == b.tolist()
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, float):
        return repr(a) == repr(b)
    return type(a) is type(b) and a == b


def assert_same(a: Fit, b: Fit) -> None:
    apart = {"responses", "modes"}
    for name in set(vars(Fit)["__dataclass_fields__"]) - apart:
        assert same(getattr(a, name), getattr(b, name)), name
    for name in vars(type(a.responses))["__dataclass_fields__"]:
        assert same(getattr(a.responses, name), getattr(b.responses, name)), name
    assert len(a.modes) == len(b.modes)
    for mode, other in zip(a.modes, b.modes, strict=True):
        assert all(same(value, getattr(other, name)) for name, value in vars(mode).items())


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("posterior", [False, True])
def test_round_trip(name: str, posterior: bool, tmp_path: Path) -> None:
    of = small(name)
    of = assemble(of.responses, of.model, drawn(of, n_draws=20)) if posterior else of
    of.save(tmp_path / "a.nc")
    again = load(tmp_path / "a.nc")
    assert_same(of, again)
    assert of.summary().equals(again.summary())
    assert repr(of) == repr(again)
    assert [p.name for p in tmp_path.iterdir()] == ["a.nc"]


def test_a_fit_that_does_not_say_its_reach_has_the_usual_one() -> None:
    header, arrays = contents.contents_of(small("nrm"))
    del header["reach"]
    assert_same(small("nrm"), contents.fit_from(header, arrays))


def test_any_text_survives(tmp_path: Path) -> None:
    of = small("sprite")
    strange = ["", "naïve ☃ 𝔘", "tab\tnew\nline", "nul\0inside", " blanks ", "e\u0301"]
    names = [f"{strange[k % len(strange)]}{k or ''}" for k in range(of.responses.n_respondents)]
    questions = ("Ä?", "q 2", *of.responses.questions[2:])
    texts = Texts({"Ä?": "", "q 2": "Wörter\0"}, {("Ä?", "A"): "αβγ", ("Ä?", "B"): ""})
    data = replace(of.responses, respondents=names_array(names), questions=questions, texts=texts, notes=("ñ", ""))
    odd = replace(of, responses=data, model=Sprite(nu_mu=0.1 + 0.2), messages=("ü",), grid_error=float("nan"))
    odd.save(tmp_path / "a.nc")
    assert_same(odd, load(tmp_path / "a.nc"))


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "a.csv"
    text.write_text("respondent,Q1\n1,A\n")
    with pytest.raises(InputError, match=r"a\.csv: this is not a fit saved by sprite"):
        load(text)
    with h5netcdf.File(tmp_path / "b.nc", "w") as file:
        file.dimensions["x"] = 3
        file.create_variable("v", ("x",), data=np.arange(3.0))
    with pytest.raises(InputError, match="not a fit saved by sprite"):
        load(tmp_path / "b.nc")
    with pytest.raises(InputError, match="no such file"):
        load(tmp_path / "c.nc")


@pytest.mark.parametrize(("version", "remedy"), [(7, "Update sprite"), (0, "Install the version that saved it")])
def test_other_formats_are_refused(version: int, remedy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.nc"
    with monkeypatch.context() as other:
        other.setattr(storage, "FORMAT_VERSION", version)
        small("nrm").save(path)
    with pytest.raises(InputError, match=rf"saved in format {version}.*reads format 1.*{remedy}"):
        load(path)


def test_unknown_models_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.nc"
    small("nrm").save(path)
    with monkeypatch.context() as other:
        other.setattr(contents, "MODELS", {})
        with pytest.raises(InputError, match="model that this version"):
            load(path)


def test_a_failed_save_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.nc"
    small("nrm").save(path)
    before = path.read_bytes()

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Path, "write_bytes", fails)
        with pytest.raises(InputError, match=r"No space left on device.*room on the disk"):
            small("sprite").save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["a.nc"]
    with pytest.raises(InputError, match="no such folder"):
        small("nrm").save(tmp_path / "nowhere" / "a.nc")
    with pytest.raises(InputError, match="this is a folder"):
        small("nrm").save(tmp_path)
