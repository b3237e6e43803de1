"""The commands as a user types them: simulate, fit, ask, compare, report, plot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import sprite
from sprite import cli
from sprite.cli.asking import _how_many
from sprite.cli.options import _cell

TABLES = (
    "summary",
    "abilities",
    "questions",
    "options",
    "option-order",
    "verdicts",
    "predict",
    "information",
    "plausible-values",
    "classical",
    "fit-statistics",
    "diagnose",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A simulated exam with a few missing answers, fitted by EM."""
    place = tmp_path_factory.mktemp("exam")
    assert run("simulate", "-n", "80", "-q", "8", "-m", "4", "--observed", "0.95", "-o", str(place), "--quiet") == 0
    answers = (str(place / "responses.csv"), "--key", str(place / "key.csv"))
    assert run("fit", *answers, "--engine", "em", "-o", str(place / "fit.nc"), "--quiet") == 0
    return place


def run(*words: str) -> int:
    before = sys.argv
    sys.argv = ["sprite", *words]
    try:
        cli.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    finally:
        sys.argv = before
    return 0


@pytest.mark.parametrize("command", TABLES)
def test_every_table_in_every_format(command, folder, tmp_path, capsys):
    fit = str(folder / "fit.nc")
    assert run(command, fit) == 0
    printed = capsys.readouterr().out
    rows = _json(command, fit, capsys)
    assert isinstance(rows, list)
    assert run(command, fit, "-o", str(tmp_path / "table.csv")) == 0
    assert not capsys.readouterr().out
    if rows:
        frame = pd.read_csv(tmp_path / "table.csv")
        assert list(frame.columns) == list(rows[0])
        assert len(frame) == len(rows)
        assert printed.split()[0] == frame.columns[0]


def _json(command, fit, capsys):
    assert run(command, fit, "--format", "json") == 0
    return json.loads(capsys.readouterr().out)


def test_the_commands_say_what_the_methods_say(folder, capsys):
    fit = sprite.load(folder / "fit.nc")
    rows = _json("abilities", str(folder / "fit.nc"), capsys)
    assert [row["respondent"] for row in rows] == list(fit.responses.respondents)
    assert rows[3]["ability"] == pytest.approx(fit.abilities()["ability"][3])


def test_fit_prints_five_lines_that_matter(folder, capsys, tmp_path):
    words = ("fit", str(folder / "responses.csv"), "--key", str(folder / "key.csv"), "--model", "nrm")
    assert run(*words, "--engine", "em", "--set", "nu_slope=2", "-o", str(tmp_path / "nrm.nc")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert "80 respondents" in lines[0]
    assert "NRM by em" in lines[1]
    model = sprite.load(tmp_path / "nrm.nc").model
    assert model == sprite.NRM(nu_slope=2.0)


def test_sampling_settings_reach_the_engine(folder, tmp_path):
    words = ("fit", str(folder / "responses.csv"), "--key", str(folder / "key.csv"), "--anchor", "scale")
    steps = ("--chains", "2", "--draws", "6", "--warmup", "4", "--seed", "3", "--quiet")
    assert run(*words, *steps, "-o", str(tmp_path / "s.nc")) == 0
    fit = sprite.load(tmp_path / "s.nc")
    assert (fit.n_chains, fit.n_draws, fit.seed, fit.engine) == (2, 6, 3, "gibbs")
    assert fit.model == sprite.Sprite(anchor="scale")


def test_score_rescore_short_form_and_compare(folder, capsys):
    fit, answers = str(folder / "fit.nc"), str(folder / "responses.csv")
    for words in (
        ("score", fit, answers, "--plug-in"),
        ("rescore", fit, "--key", "Q1=A;B", "--drop", "Q2"),
        ("short-form", fit, "-n", "3"),
        ("compare", answers, "--key", str(folder / "key.csv"), "--models", "nrm,gpcm", "--repeats", "2"),
    ):
        assert run(*words, "--format", "json") == 0
        rows = json.loads(capsys.readouterr().out)
        assert len(rows) >= 2
    assert [row["model"] for row in rows] == ["nrm", "gpcm", "baseline"]


def test_score_leaves_out_what_is_no_question(folder, tmp_path, capsys):
    header, *lines = (folder / "responses.csv").read_text().splitlines()
    (tmp_path / "new.csv").write_text("\n".join([f"{header},Total,Q1x", *(f"{line},3,9" for line in lines)]))
    words = ("score", str(folder / "fit.nc"), str(tmp_path / "new.csv"), "--format", "json")
    assert run(*words) == 2
    assert "(--ignore)" in capsys.readouterr().err
    assert run(*words, "--ignore", "Total", "--ignore", "Q1x") == 0
    assert len(json.loads(capsys.readouterr().out)) == len(lines)
    (tmp_path / "new.csv").write_text(f"{header}\nnew{',?' * header.count(',')}\n")
    assert run(*words, "--missing", "?") == 0


def test_fit_says_what_is_probably_misread(folder, tmp_path, capsys):
    key = (folder / "key.csv").read_text().splitlines()
    (tmp_path / "key.csv").write_text("\n".join(key[:-1]))
    words = ("fit", str(folder / "responses.csv"), "--key", str(tmp_path / "key.csv"), "--engine", "em")
    assert run(*words, "-o", str(tmp_path / "fit.nc"), "--quiet") == 0
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("Warning: 1 of 8 questions has no key: 'Q8'. ")
    assert len(err.splitlines()) == 1


def test_small_negative_numbers_are_printed_as_nothing():
    assert [_cell(value) for value in (-1e-9, -0.0, -0.25, 0.0)] == ["0", "0", "-0.25", "0"]


def test_a_learned_prior_by_option_and_by_name(folder, tmp_path, capsys):
    answers = (str(folder / "responses.csv"), "--key", str(folder / "key.csv"))
    learned = ("--model", "ord", "--engine", "em", "--prior", "learned")
    assert run("fit", *answers, *learned, "-o", str(tmp_path / "fit.nc")) == 0
    said = capsys.readouterr().out
    fit = sprite.load(tmp_path / "fit.nc")
    assert list(fit.learned) == ["nu_alpha", "nu_gamma", "mu_theta", "nu_theta"]
    assert f"prior learned (nu_alpha {fit.learned['nu_alpha']:.4g}, " in said
    assert run("compare", *answers, "--models", "ord,ord-learned", "--repeats", "1", "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in rows] == ["ord", "ord (prior=learned)", "baseline"]


def test_report_and_plot(folder, tmp_path):
    fit = str(folder / "fit.nc")
    assert run("report", fit, "-o", str(tmp_path / "r.html"), "--title", "My <test>", "--quiet") == 0
    assert "My &lt;test&gt;" in (tmp_path / "r.html").read_text()
    assert run("plot", fit, "--question", "Q3", "--kind", "curves", "-o", str(tmp_path / "q3.svg"), "--quiet") == 0
    assert (tmp_path / "q3.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("abilities", "nothing.nc"), "no such file"),
        (("fit", "{answers}", "--engine", "em", "--chains", "2"), "no --chains"),
        (("fit", "{answers}", "--set", "nu=1"), "no such setting"),
        (("fit", "{answers}", "--set", "nu_mu=two"), "not a number"),
        (("fit", "{answers}", "--model", "nrm", "--anchor", "scale"), "belongs to the sprite model"),
        (("fit", "{answers}", "--prior", "none"), "without a prior"),
        (("fit", "{answers}", "-o", "no/such/folder/fit.nc"), "no such folder"),
        (("rescore", "{fit}", "--key", "Q1"), "QUESTION=OPTION"),
        (("rescore", "{fit}"), "nothing to change"),
        (("fit", "{answers}", "-o", "{answers}"), "ends in .nc"),
        (("report", "{fit}", "-o", "{fit}"), "ends in .htm or .html"),
        (("questions", "{fit}", "-o", "{fit}"), "ends in .csv or .json or .txt"),
        (("report", "{answers}"), "sprite fit ANSWERS"),
        (("report", "{fit}", "-o", "no/such/folder/report.html"), "no such folder"),
        (("plot", "{fit}", "-o", "no/such/folder/chart.svg"), "no such folder"),
        (("plot", "{fit}", "--kind", "curves"), "question='Q1' (--question)"),
        (("rescore", "{fit}", "--drop", "Q99"), "'Q99'. The questions are 'Q1', 'Q2'"),
        (("plot", "{fit}", "--kind", "pie"), "curves"),
        (("compare", "{answers}", "--models", "rasch"), "Choose one of"),
    ],
)
def test_bad_input_gives_one_message_and_no_traceback(words, message, folder, capsys):
    places = {"answers": str(folder / "responses.csv"), "fit": str(folder / "fit.nc")}
    assert run(*(word.format(**places) for word in words)) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert "Traceback" not in out + err
    assert len(err.strip().splitlines()) == 1


def test_cells_that_a_spreadsheet_would_run_are_guarded(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("respondent,'=Q1,Q2\n" + "".join(f"r{i},'=A{i % 2},B{i % 3}\n" for i in range(30)))
    assert run("fit", str(tmp_path / "a.csv"), "--engine", "em", "-o", str(tmp_path / "a.nc"), "--quiet") == 0
    assert run("options", str(tmp_path / "a.nc"), "--format", "csv") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("'=Q1,'=A0,")


def test_names_may_be_written_as_the_classes_are(folder, tmp_path, capsys):
    words = ("fit", str(folder / "responses.csv"), "--engine", "EM", "--model", "NRM", "-o", str(tmp_path / "fit.nc"))
    assert run(*words) == 0
    assert "No key was given" in capsys.readouterr().out


def test_verdicts_close_with_what_there_is_of_each_kind(folder, capsys):
    assert run("verdicts", str(folder / "fit.nc"), "--level", "0.51") == 0
    kinds = list(dict.fromkeys(sprite.load(folder / "fit.nc").verdicts(0.51)["verdict"]))
    closing = capsys.readouterr().out.splitlines()[-len(kinds) :]
    assert [line.split(":")[0] for line in closing] == kinds
    assert kinds


def test_the_closing_lines_name_questions_and_respondents():
    rows = [("Q1", "key_suspect", "")] + [("", "unusual_respondent", f"r{k}") for k in range(8)]
    found = pd.DataFrame(rows, columns=["question", "verdict", "respondent"])
    assert _how_many(found) == ["key_suspect: Q1", "unusual_respondent: r0, r1, r2, r3, r4, r5 and 2 more"]


def test_the_help_lists_every_chart(capsys):
    from sprite.plots.kinds import KINDS

    assert run("plot", "--help") == 0
    words = set(capsys.readouterr().out.replace(",", " ").replace(".", " ").split())
    assert set(KINDS) <= words


def test_ctrl_c_says_so(folder, monkeypatch, capsys):
    def interrupted(*args, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("sprite.result.storage.load", interrupted)
    assert run("questions", str(folder / "fit.nc")) == 130
    assert capsys.readouterr().err == "sprite: stopped; no output was written\n"


def test_every_model_and_engine_can_be_named():
    from sprite.cli.fitting import EngineName, ModelName
    from sprite.engines.registry import ENGINES
    from sprite.models.registry import MODELS

    assert set(ModelName) == set(MODELS)
    assert set(EngineName) == set(ENGINES)


def test_codes_that_a_terminal_would_obey_are_shown_and_not_sent(tmp_path, capsys):
    wild = "\x1b[2J\x1b]0;title\x07"
    (tmp_path / "a.csv").write_text("id,Q1,Q2\n" + "".join(f"r{i},{wild}{i % 2},B{i % 3}\n" for i in range(30)))
    (tmp_path / "key.csv").write_text(f"question,correct\nQ1,{wild}\n")
    fit = str(tmp_path / "a.nc")
    assert run("check", str(tmp_path / "a.csv")) == 0
    assert run("fit", str(tmp_path / "a.csv"), "--engine", "em", "-o", fit) == 0
    assert run("options", fit) == 0
    assert run("check", str(tmp_path / "a.csv"), "--key", str(tmp_path / "key.csv")) == 2
    out, err = capsys.readouterr()
    assert r"\x1b[2J" in out
    assert "\x1b" not in out + err


def test_a_second_file_is_told_its_option(capsys):
    assert run("fit", "responses.csv", "key.csv") == 2
    assert "--key FILE" in capsys.readouterr().err
    assert run("report", "fit.nc", "key.csv") == 2
    assert "--key" not in capsys.readouterr().err


def test_ctrl_c_while_a_library_is_imported():
    """Some turn the interruption into an error of their own."""
    script = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, *others):
        if name == "typer":
            try:
                os.kill(os.getpid(), signal.SIGINT)
            except KeyboardInterrupt:
                raise AttributeError("partially initialised module")

sys.meta_path.insert(0, Interrupting())
from sprite.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "sprite: stopped\n")
