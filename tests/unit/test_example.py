"""The bundled example is what its script makes, and says that it is simulated."""

from __future__ import annotations

import filecmp
import importlib.util
from pathlib import Path

import pytest

import sprite

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_example.py"


def test_shape_texts_and_faults():
    responses = sprite.example()
    assert (responses.n_respondents, responses.n_questions, responses.n_answers) == (99, 34, 99 * 34)
    assert all(labels == tuple("ABCDE") for labels in responses.options)
    assert len(responses.texts.questions) == 34
    assert len(responses.texts.options) == 170
    assert responses.key["Q17"] == ("B",)
    dead = responses.first[responses.questions.index("Q11")] + 4
    assert responses.layout.count[dead] == 0
    assert "simulated" in (sprite.example.__doc__ or "")


def test_the_script_makes_these_files(tmp_path, monkeypatch):
    if not SCRIPT.exists():
        pytest.skip("needs the repository: the script is not installed with the package")
    spec = importlib.util.spec_from_file_location("make_example", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    bundled = module.FOLDER
    (tmp_path / "answers.csv").write_bytes((bundled / "answers.csv").read_bytes())
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    module.main()
    for name in ("responses.csv", "key.csv"):
        assert filecmp.cmp(tmp_path / name, bundled / name, shallow=False)
