"""`sprite check` as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from sprite import cli

ANSWERS = "respondent,Q1,Q2\n" + "".join(f"r{i},{'ABC'[i % 3]},{'xy'[i % 2]}\n" for i in range(40)) + "r40,a,9\n"


@pytest.fixture
def answers(tmp_path: Path) -> str:
    path = tmp_path / "answers.csv"
    path.write_text(ANSWERS)
    return str(path)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["sprite", *arguments])
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as caught:
        cli.main()
    return int(caught.value.code or 0)


def test_table(answers: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "check", answers, "--missing", "9") == 0
    out, err = capsys.readouterr()
    for words in ("separated by commas, UTF-8", "Layout wide", "41 respondents x 2 questions", "'A' and 'a'", "no key"):
        assert words in out
    assert not err
    assert run(monkeypatch, "check", answers, "--quiet") == 0
    quiet = capsys.readouterr().out
    assert "'A' and 'a'" in quiet
    assert "no key" not in quiet
    assert "respondents x" not in quiet


def test_csv_json_and_files(
    answers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "check", answers, "--format", "csv") == 0
    assert capsys.readouterr().out.startswith(
        "severity,kind,question,option,message,remedy\nwarning,label_collision,Q1,a,"
    )
    file = tmp_path / "check.json"
    assert run(monkeypatch, "check", answers, "--format", "json", "-o", str(file)) == 0
    assert not capsys.readouterr().out
    assert json.loads(file.read_text())["n_respondents"] == 41
    assert run(monkeypatch, "check", answers, "-o", str(tmp_path)) == 2


def test_everything_read_can_say(
    answers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in {
        "key.csv": "question,correct\nQ1,B\n",
        "texts.csv": "question,option,text\nQ1,,Why?\n",
        "order.csv": "question,order\nQ1,A<B<C<a\n",
    }.items():
        (tmp_path / name).write_text(text)
    given = [part for name in ("key", "texts", "order") for part in (f"--{name}", str(tmp_path / f"{name}.csv"))]
    more = [
        "--layout",
        "wide",
        "--omitted",
        "9",
        "--separator",
        ",",
        "--encoding",
        "utf-8",
        "--respondent",
        "respondent",
    ]
    assert run(monkeypatch, "check", answers, *given, *more, "--ignore", "Q2", "--options", "A;B;C;a") == 0
    assert "Key for 1 of 1 questions" in capsys.readouterr().out
    tabs = tmp_path / "tabs.csv"
    tabs.write_text(ANSWERS.replace(",", "\t"))
    assert run(monkeypatch, "check", str(tabs), "--separator", "tab") == 0


def test_bad_input_gives_one_message_and_code_2(
    answers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "check", str(tmp_path / "answer.csv")) == 2
    out, err = capsys.readouterr()
    assert not out
    assert err.count("\n") == 1
    assert err.startswith("sprite: ")
    assert "Did you mean 'answers.csv'?" in err
    assert run(monkeypatch, "check", answers, "--nonsense") == 2
    key = tmp_path / "key.csv"
    key.write_text("question,correct\nQ1,A\nQ2,x\n")
    capsys.readouterr()
    assert run(monkeypatch, "check", str(key), "--key", answers) == 2
    assert "the two files look swapped" in capsys.readouterr().err


def test_debug_shows_the_traceback(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["sprite", "check", str(tmp_path), "--debug"])
    with pytest.raises(ValueError, match="folder"):
        cli.main()


def test_interruption_takes_one_line(
    answers: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sprite.data.reading.read", interrupt)
    assert run(monkeypatch, "check", answers) == 130
    assert capsys.readouterr().err == "sprite: stopped; no output was written\n"


def test_importing_stays_light() -> None:
    heavy = ("numpy", "pandas", "pyarrow", "scipy", "numba")
    code = f"import sys, sprite, sprite.cli; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_version_and_names(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import sprite

    assert run(monkeypatch, "--version") == 0
    assert capsys.readouterr().out.strip() == f"sprite {sprite.__version__}"
    for name in sprite.__all__:
        assert getattr(sprite, name) is not None
    assert "read" in dir(sprite)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = sprite.nonsense
