"""What the documentation shows is run: Python blocks and `sprite` commands, in a folder that holds an exam."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import sprite
from sprite.cli import app
from sprite.data.writing import save_folder

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.fixture
def exam(tmp_path, monkeypatch):
    """A folder with the files that the documentation speaks of."""
    made, _ = sprite.simulate("sprite", 60, 6, 4, seed=1)
    names = {f"Q{j + 1}": f"Q{j + 1:02d}" for j in range(6)}
    save_folder(made, tmp_path)
    for old, new in (("responses.csv", "exam.csv"), ("key.csv", "key.csv")):
        text = re.sub(r"\bQ(\d)\b", lambda found: names[f"Q{found[1]}"], (tmp_path / old).read_text())
        text = re.sub(r"^r(\d+),", lambda found: f"s{int(found[1]):03d},", text, flags=re.M)
        (tmp_path / new).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def blocks(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def commands(page: Path) -> list[str]:
    return re.findall(r"^(?: {4}|\$ )(sprite .*)$", page.read_text(encoding="utf-8"), flags=re.M)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: p.name)
def test_python_blocks_run(page, exam):
    names: dict[str, object] = {"sprite": sprite}
    if page.name != "README.md":  # later pages take up what the first steps left off with
        names["responses"] = sprite.read("exam.csv", key="key.csv")
        names["fit"] = sprite.fit(names["responses"], "sprite", "em")
    for block in blocks(page):
        exec(compile(block, page.name, "exec"), names)


@pytest.mark.parametrize("page", [p for p in PAGES if commands(p)], ids=lambda p: p.name)
def test_commands_run(page, exam):
    from typer.testing import CliRunner

    if page.name not in ("README.md", "start.md"):
        sprite.fit(sprite.read("exam.csv", key="key.csv"), "sprite", "em").save("fit.nc")
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
