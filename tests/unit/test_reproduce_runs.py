"""Whole runs of `sprite reproduce --quick`: everything is written, and a killed run goes on as if nothing had been."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sprite.core.errors import InputError
from sprite.experiments.reproduce.page import filled
from sprite.experiments.reproduce.parts import Choice
from sprite.experiments.reproduce.study import EXPERIMENTS, Study

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
COMMAND = [sys.executable, "-c", "import sys; sys.argv[0] = 'sprite'; from sprite.cli import main; main()", "reproduce"]
WRITTEN = {
    "synthetic": {"synthetic.csv", "synthetic.md", "synthetic.svg"},
    "table1": {"table2.csv", "table1_real.csv", "table1_simulated.md", "table1_paper.md", "table1_simulated_gibbs.svg"}
    | {"table1_learned.md", "table1_all_learned.md", "table1_simulated_learned.csv", "table1_simulated_all_learned.md"}
    | {"table1_prior.md", "table1_prior_gibbs.svg"},
    "order": {"order_loss.csv", "order_agreement.md", "order_loss_em.svg", "order_agreement.svg"},
    "information": {"information.csv", "short_form.md", "information_exam_simulated.svg"},
}


def unit_files(store: Path) -> dict[str, tuple[int, bytes]]:
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (store / "units").glob("*.json")}


def started(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, *words], start_new_session=True, stdout=subprocess.DEVNULL)


@pytest.fixture(scope="module")
def everything(tmp_path_factory) -> Path:
    """All four experiments in two processes."""
    store = tmp_path_factory.mktemp("everything")
    assert started("all", "--quick", "--store", str(store), "--jobs", "2").wait(600) == 0
    return store


def test_all_of_it_is_written(everything):
    there = {path.name for path in everything.iterdir()}
    for name, files in WRITTEN.items():
        assert files <= there, f"{name}: {files - there} missing"
    made = json.loads((everything / "made.json").read_text())
    assert set(made) == set(EXPERIMENTS)
    for name, line in made.items():
        assert line["command"] == f"sprite reproduce {name} --quick --store {everything}"
        assert line["done"] == line["units"] > 0
        assert {"sprite", "numpy", "numba", "python"} <= set(line["versions"])
    for path in everything.glob("*.csv"):
        assert len(pd.read_csv(path)), f"{path.name} is empty"
    simulated = pd.read_csv(everything / "table1_simulated.csv")
    assert set(simulated["engine"]) == {"em", "gibbs"}
    assert {"sprite", "ord", "lord", "nrm", "gpcm", "gpcm-empirical", "baseline"} == set(simulated["model"])
    assert simulated["test"].nunique() == 8  # two shapes, each under four truths
    assert pd.read_csv(everything / "table1_prior.csv")["test"].nunique() == 8
    learned = pd.read_csv(everything / "table1_simulated_all_learned.csv")
    assert set(learned["engine"]) == {"gibbs"}
    assert learned["test"].nunique() == 8


@pytest.mark.parametrize(
    ("name", "choice", "measure"),
    [
        ("table1", Choice(engines=("em",)), "log_loss"),
        ("synthetic", Choice(engines=("gibbs",), tests=("8",)), "E_log_nu"),
    ],
)
def test_what_is_stored_comes_out_again(everything, name, choice, measure):
    found = Study.at(everything, None, True, 1, choice).check(name, 2, lambda *told: None).frame
    assert found["unit"].nunique() == 2
    assert measure in set(found["measure"])
    np.testing.assert_allclose(found["now"], found["stored"], rtol=1e-6, atol=1e-9)


def test_a_check_needs_something_stored(everything):
    with pytest.raises(InputError, match="nothing to check"):
        Study.at(everything, None, True, 1, Choice(tests=("none",))).check("table1", 1, lambda *told: None)


def test_learned_orders_share_their_contests_with_the_table(everything):
    """Of the order's units only those of LORD and the agreements were new."""
    table = pd.read_csv(everything / "table1_real.csv").set_index(["test", "engine", "model"])
    order = pd.read_csv(everything / "order_loss.csv").set_index(["test", "engine", "model"])
    for model in ("ord", "sprite", "baseline"):
        at = ("scale (simulated)", "em", model)
        assert table.loc[at, "log_loss"] == order.loc[at, "log_loss"]
        assert table.loc[at, "seconds"] == order.loc[at, "seconds"]


def test_a_second_run_computes_nothing(everything):
    before = unit_files(everything)
    study = Study.at(everything, None, True, 1, Choice())
    for name in EXPERIMENTS:
        units, there, left = study.plan(name)
        assert (units, left) == (there, 0.0)
    tables, failures = study.run("order", lambda *told: None)
    assert not failures
    assert unit_files(everything) == before
    assert tables["order_loss"].frame["repeats"].max() == 2


def test_the_archives_alone_are_enough_to_go_on_from(everything, tmp_path):
    for name in EXPERIMENTS:
        copied = tmp_path / f"units_{name}.csv"
        copied.write_bytes((everything / copied.name).read_bytes())
    study = Study.at(tmp_path, None, True, 1, Choice())
    for name in EXPERIMENTS:
        units, there, left = study.plan(name)
        assert (units, left) == (there, 0.0)
    study.run("order", lambda *told: None)
    assert not unit_files(tmp_path)
    for name in ("order_loss.csv", "order_agreement.csv", "units_order.csv"):
        assert (tmp_path / name).read_bytes() == (everything / name).read_bytes()
    copied.write_text(copied.read_text()[:-50])
    with pytest.raises(InputError, match="damaged"):
        study.plan(name="information")


def test_a_killed_run_goes_on(everything, tmp_path):
    """SIGKILL amid the work, then the same command: finished units stay as they are, the tables come out the same."""
    words = ("table1", "--quick", "--test", "scale (simulated)", "--jobs", "2", "--store", str(tmp_path))
    process = started(*words)
    until = time.monotonic() + 120
    while len(unit_files(tmp_path)) < 3 and time.monotonic() < until:
        time.sleep(0.02)
    process.kill()
    process.wait()
    time.sleep(0.5)  # a worker that was about to finish cannot store anything any more
    kept = unit_files(tmp_path)
    study = Study.at(tmp_path, None, True, 2, Choice(tests=("scale (simulated)",)))
    units, there, _ = study.plan("table1")
    assert 3 <= there == len(kept) < units
    assert started(*words).wait(300) == 0
    after = unit_files(tmp_path)
    assert len(after) == units
    assert {name: after[name] for name in kept} == kept
    resumed, uninterrupted = (pd.read_csv(store / "table1_real.csv") for store in (tmp_path, everything))
    uninterrupted = uninterrupted[uninterrupted["test"] == "scale (simulated)"].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        resumed.drop(columns="seconds"), uninterrupted.drop(columns="seconds"), rtol=1e-5, atol=1e-9
    )


def test_a_later_choice_leaves_earlier_results_in_the_tables(everything):
    study = Study.at(everything, None, True, 1, Choice(repeats=1, engines=("em",), tests=("exam (simulated)",)))
    tables, _ = study.run("table1", lambda *told: None)
    assert set(tables["table1_real"].frame["engine"]) == {"em", "gibbs"}
    assert tables["table1_real"].frame["test"].nunique() == 2


def test_quick_on_a_real_test(tmp_path):
    if not (DATA / "science_likert").exists():
        pytest.skip("the shared data are not here")
    process = started(
        "order", "--quick", "--data", str(DATA), "--test", "science_likert", "--engine", "em", "--store", str(tmp_path)
    )
    assert process.wait(300) == 0
    agreement = pd.read_csv(tmp_path / "order_agreement.csv")
    assert set(agreement["test"]) == {"science_likert"}
    assert agreement.groupby("model")["tau"].mean()["lord"] > 0.5


def test_the_page_shows_the_stored_tables():
    """`docs/results.md` holds what is in `docs/results`; run sprite.experiments.reproduce.page where it does not."""
    page = ROOT / "docs" / "results.md"
    text = page.read_text(encoding="utf-8")
    assert filled(text, ROOT / "docs" / "results") == text
    assert os.path.getsize(page) < 100_000
