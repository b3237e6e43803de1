"""What the documentation shows is run: Python blocks and `sprite` commands, in a folder that holds an exam."""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import sprite
from sprite.cli import app
from sprite.data.writing import save_folder
from tests.cases import python_blocks as blocks

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The files that the documentation speaks of, and a fit of them."""
    folder = tmp_path_factory.mktemp("exam")
    simulated, _ = sprite.simulate("sprite", 60, 6, 4, seed=1)
    save_folder(simulated, folder)
    for old, new in (("responses.csv", "exam.csv"), ("key.csv", "key.csv")):
        text = re.sub(r"\bQ(\d)\b", lambda found: f"Q{found[1]:0>2}", (folder / old).read_text())
        text = re.sub(r"^r(\d+),", lambda found: f"s{found[1]:0>3},", text, flags=re.M)
        (folder / new).write_text(text)
    sprite.fit(sprite.read(folder / "exam.csv", key=folder / "key.csv"), "sprite", "em").save(folder / "fit.nc")
    return folder


@pytest.fixture
def exam(made, tmp_path, monkeypatch):
    """A folder of one's own with the exam and the key."""
    for name in ("exam.csv", "key.csv"):
        shutil.copy(made / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def short_chains(monkeypatch):
    """Pages show the lengths that a user would take. Whether chains mix is tested elsewhere; here they are short."""
    lengths = {
        (sprite.Gibbs, "run"): {"chains": 2, "draws": 40, "warmup": 30, "starts": 1},
        (sprite.Metropolis, "sample"): {"chains": 1, "draws": 100, "warmup": 100},
    }
    for (engine, method), length in lengths.items():
        whole = getattr(engine, method)

        def short(self, *args, whole=whole, length=length):
            return whole(replace(self, **length), *args)

        monkeypatch.setattr(engine, method, short)


def commands(page: Path) -> list[str]:
    return re.findall(r"^(?: {4}|\$ )(sprite .*)$", page.read_text(encoding="utf-8"), flags=re.M)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_python_blocks_run(page, made, exam):
    names: dict[str, object] = {"sprite": sprite}
    if page.name != "README.md":  # later pages take up what the first steps left off with
        names["fit"] = sprite.load(made / "fit.nc")
        names["responses"] = names["fit"].responses
    for block in blocks(page):
        exec(compile(block, page.name, "exec", dont_inherit=True), names)


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda p: p.name)
def test_commands_run(page, made, exam):
    from typer.testing import CliRunner

    if page.name not in ("README.md", "start.md"):
        shutil.copy(made / "fit.nc", exam)
    for line in commands(page):
        for command in line.split("&&"):
            words = shlex.split(command, comments=True)[1:]
            done = CliRunner().invoke(app, words)
            assert done.exit_code == 0, f"{command}: {done.output} {done.exception!r}"


def test_every_page_is_in_the_contents():
    contents = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name in contents, f"{page.name} is not in mkdocs.yml"


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
