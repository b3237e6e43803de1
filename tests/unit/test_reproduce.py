"""The repeated experiments: what they measure, by hand; and that nothing is lost or computed twice."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sprite.core.errors import InputError
from sprite.data.writing import save_folder
from sprite.engines.em import EM
from sprite.experiments.compare import compare
from sprite.experiments.puncture import Task
from sprite.experiments.reproduce import order, published, short_form, synthetic, table1
from sprite.experiments.reproduce.budget import Budget, in_words
from sprite.experiments.reproduce.contest import Contest, contests, model_called, standings
from sprite.experiments.reproduce.material import SimulatedTest, real_tests, simulated_tests, stand_ins
from sprite.experiments.reproduce.outputs import markdown
from sprite.experiments.reproduce.page import MISSING, filled
from sprite.experiments.reproduce.parts import Choice, chosen
from sprite.experiments.reproduce.published import PaperTest
from sprite.experiments.reproduce.settings import FULL, QUICK
from sprite.experiments.reproduce.study import Study
from sprite.fitting import fit
from sprite.models.gpcm import GPCM
from sprite.models.ord import ORD
from sprite.models.sprite import Sprite
from sprite.simulation import simulate

ROOT = Path(__file__).parents[2]
PAPER = ROOT.parent / "shared" / "paper" / "sprite.tex"
QUICKLY = EM(starts=1, draws=5)


# --- synthetic data ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made():
    return simulate(Sprite(), 40, 30, 5, kind="prior", seed=3)


def truth_as_draws(made):
    packing = synthetic.Direction.of(made).packing
    return packing.pack(made.truth.values)[None, None], made.truth.abilities, packing


def test_the_truth_has_no_error_either_way_up(made):
    """Draws that are the truth, or its mirror image, are turned by the rule that turns the truth."""
    x, z, _ = truth_as_draws(made)
    direction = synthetic.Direction.of(made)
    for sign in (1.0, -1.0):
        mirrored = x if sign > 0 else direction.signs * x
        turned = direction.upside_down(mirrored)
        found = synthetic.errors(made, direction.turn(mirrored, turned), np.where(turned[0, 0], -sign * z, sign * z))
        assert [found[name] for name in synthetic.MEASURES] == pytest.approx([0.0] * 4, abs=1e-20)


def test_errors_by_hand_leave_out_what_is_anchored(made):
    x, z, packing = truth_as_draws(made)
    direction = synthetic.Direction.of(made)
    turned = bool(direction.upside_down(x)[0, 0])
    upright = direction.turn(x, np.array([[turned]]))
    values = packing.unpack(upright[0, 0])
    free = np.isnan(packing.continuous[1].fixed)
    assert free.sum() == 30 * 4  # one sprite of each question is held
    row = int(np.flatnonzero(free)[7])
    worse = {name: np.array(value) for name, value in values.items()}
    worse["mu"][row] += 2.0
    worse["nu"][row] *= np.e
    found = synthetic.errors(made, packing.pack(worse)[None, None], (-z if turned else z) + 0.5)
    assert found["E_Z"] == pytest.approx(0.25 * 40 / np.sum(z**2))
    assert found["E_mu"] == pytest.approx(4.0 / np.sum(values["mu"][free] ** 2))
    nu = values["nu"]
    assert found["E_nu"] == pytest.approx(((np.e - 1) * nu[row]) ** 2 / np.sum(nu[free] ** 2))
    assert found["E_log_nu"] == pytest.approx(1.0 / np.sum(np.log(nu[free]) ** 2))
    assert found["nu_largest"] == pytest.approx(np.max(nu[free] ** 2) / np.sum(nu[free] ** 2))
    assert found["nu_worst"] == pytest.approx(1.0)


def test_posterior_means_are_averaged_over_draws_and_chains(made):
    """Of nu itself for E_nu, of its logarithm for the other: that is where the heavy tail comes in."""
    x, z, _ = truth_as_draws(made)
    direction = synthetic.Direction.of(made)
    upright = direction.turn(x, direction.upside_down(x))
    spread = np.concatenate([upright - 0.3, upright + 0.3], axis=1)  # (mu, log nu) 0.3 to either side
    found = synthetic.errors(made, spread, np.where(direction.upside_down(x)[0, 0], -z, z))
    assert found["E_mu"] == pytest.approx(0.0, abs=1e-20)
    assert found["E_log_nu"] == pytest.approx(0.0, abs=1e-20)
    assert found["E_nu"] == pytest.approx((np.cosh(0.3) - 1.0) ** 2)


def test_the_papers_sampler_is_run_as_far_as_practical():
    parts = synthetic.parts(FULL)
    samplers = {(part.size, part.sampler) for part in parts}
    assert {size for size, sampler in samplers if sampler == "gibbs"} == {25, 50, 100, 150, 200}
    assert {size for size, sampler in samplers if sampler != "gibbs"} == {25, 50, 100}
    assert all(sum(p.kind == kind for p in parts) == 20 for kind in {p.kind for p in parts})
    engines = {part.sampler: part.engine for part in parts}
    assert engines["joint"].joint
    assert not engines["half-sweeps"].joint
    assert (engines["joint"].warmup, engines["joint"].draws, engines["joint"].chains) == (90_000, 10_000, 1)


@pytest.mark.parametrize("sampler", ["half-sweeps", "gibbs"])
def test_one_recovery(sampler):
    """The abilities are found, roughly, whichever side the chain began on."""
    engine = {"gibbs": QUICK.gibbs, "half-sweeps": replace(QUICK.metropolis, warmup=1500, draws=600)}[sampler]
    unit = synthetic.Recovery(24, sampler, engine, 3)
    result = unit.compute()
    json.dumps(result)
    assert result["E_Z"] < 0.8  # upside down it would be well above 1
    assert {"max_rhat", "seconds", "E_log_nu", "nu_worst"} <= set(result)


# --- what the paper printed ----------------------------------------------------------------------------------------


@pytest.mark.skipif(not PAPER.exists(), reason="the paper's source is not beside the repository (../shared/paper)")
def test_published_numbers_are_the_papers():
    source = PAPER.read_text(encoding="utf-8")
    printed = re.findall(r"^([A-Z][\w ]+?)\s*& *\\textbf\{(.+)$", source, flags=re.M)
    assert len(printed) == len(published.TESTS)
    for (_, line), test in zip(printed, published.TESTS, strict=True):
        pairs = re.findall(r"(\d\.\d\d) \((\d\.\d\d)\)", line)
        assert [(float(error), float(sd)) for error, sd in pairs] == list(test.error.values())
    described = re.findall(r"& *(\d+) \$\\times\$ (\d+) *& *(\d+) *& *(Yes|No) *& *\$(\d+)\$\\%", source)
    shapes = [(t.questions, t.respondents, t.options, t.ordered, round(100 * t.observed)) for t in published.TESTS]
    assert [(int(q), int(n), int(m), known == "Yes", int(seen)) for q, n, m, known, seen in described] == shapes
    assert f"MI}} = {published.MOST_BITS}" in source
    assert f"MI}}= {published.LEAST_BITS}" in source


# --- tests and contests --------------------------------------------------------------------------------------------


def test_real_tests_and_whether_their_order_is_known(tmp_path):
    exam = simulate("sprite", 20, 4, 3, seed=1).responses
    save_folder(exam, tmp_path / "exam")
    save_folder(simulate(ORD(), 20, 4, 3, seed=2).responses, tmp_path / "ranked")
    save_folder(replace(exam, correct=np.zeros_like(exam.correct)), tmp_path / "scale")
    (tmp_path / "scale" / "SOURCE.md").write_text("# scale\n\n- kind: ordinal\n")
    (tmp_path / "README.md").write_text("not a test")
    found = {test.name: test for test in real_tests(tmp_path)}
    assert {name: test.ordered for name, test in found.items()} == {"exam": False, "ranked": True, "scale": True}
    assert found["exam"].responses.key
    np.testing.assert_array_equal(found["scale"].responses.rank, found["scale"].responses.layout.position)
    assert found["exam"].at(3) is found["exam"]
    with pytest.raises(InputError, match="no tests here"):
        real_tests(tmp_path / "exam")


def test_simulated_tests_have_the_papers_shapes_and_their_truths_order():
    tests = simulated_tests(published.TESTS)
    assert [test.name for test in tests[:5]] == [
        "algebra test, sprite", "algebra test, ord", "algebra test, nrm", "algebra test, gpcm",
        "computer engineering, sprite",
    ]  # fmt: skip
    data = tests[0].at(1).responses
    assert (data.n_questions, data.n_respondents, set(data.layout.n_options)) == (34, 99, {5})
    assert not np.array_equal(data.row, tests[0].at(2).responses.row)
    probability = next(test for test in tests if test.name == "probability, lord").responses
    assert probability.n_answers / (86 * 49) == pytest.approx(0.67, abs=0.03)
    assert probability.rank is None  # not known, though the truth has an order
    np.testing.assert_array_equal(tests[3].responses.rank, tests[3].responses.layout.position)  # drawn in label order


def test_draws_from_priors_are_tests_of_their_own():
    exam, drawn = simulated_tests(published.TESTS)[0], simulated_tests(published.TESTS, "prior")[0]
    assert (exam.name, drawn.name) == ("algebra test, sprite", "algebra test, sprite prior")
    assert "kind" not in exam.identity  # results that were stored before there were priors stay valid
    assert drawn.identity == {**exam.identity, "kind": "prior"}
    known = simulate(Sprite(), 99, 34, 5, kind="prior", seed=2).responses
    np.testing.assert_array_equal(drawn.at(2).responses.row, known.row)
    assert drawn.at(2).responses.rank is not None  # the expert knows these, too


def test_who_takes_part():
    fields = {
        test.ordered: [p.contestant for p in table1.parts([], replace(QUICK, shapes=(test.shape,))) if p.repeat == 1]
        for test in simulated_tests(QUICK.shapes)
    }
    assert fields[True] == [*table1.ORDERED, "baseline"] * 4
    assert fields[False] == [*table1.UNORDERED, "baseline"] * 4
    assert model_called("gpcm-empirical") == GPCM(order="empirical")
    (exam, scale) = stand_ins()
    real = {(p.contestant, p.engine_name) for p in table1.parts([exam], QUICK) if p.test_name == exam.name}
    learned = ["sprite-learned", "lord-learned", "nrm-learned", "gpcm-learned"]
    both = {(name, engine) for name in table1.UNORDERED for engine in ("em", "gibbs")}
    assert real == {*both, *((name, "em") for name in learned), ("baseline", "")}
    assert all(model_called(name).prior == "learned" for name in learned)
    with pytest.raises(InputError, match="no such model"):
        contests([scale], lambda _: ("nobody",), QUICK)


def test_full_study_has_the_patterns_it_promises():
    everything = [p for p in table1.parts([], FULL) if isinstance(p, Contest)]
    assert {p.engine_name for p in everything if p.contestant == "gpcm-empirical"} == {"em"}  # not the paper's
    parts = [p for p in everything if p.contestant == "sprite"]
    numbers = pd.DataFrame([(p.test_name, p.engine_name, p.repeat) for p in parts]).groupby([0, 1]).size()
    assert numbers["algebra test, sprite", "em"] == numbers["algebra test, sprite", "gibbs"] == 50
    assert numbers["university exam, nrm", "em"] == 50
    assert 0 < numbers["university exam, nrm", "gibbs"] < 50  # 94,020 cells
    assert {p.task.share for p in parts} == {0.2}
    assert numbers["probability, lord prior", "em"] == numbers["probability, lord prior", "gibbs"] == FULL.few
    learned = [p for p in everything if p.contestant == "sprite-learned"]
    assert {(p.engine_name, p.of.kind) for p in learned} == {("gibbs", "exam")}
    assert {sum(p.test_name == name for p in learned) for name in {p.test_name for p in learned}} == {FULL.few}


def test_contests_are_what_compare_does(tmp_path):
    """The same store serves both; only patterns that all have been through count."""
    data = simulate("sprite", 60, 6, 3, seed=4).responses
    save_folder(data, tmp_path / "exam")
    (test,) = real_tests(tmp_path)
    settings = replace(QUICK, em=QUICKLY, patterns=3, large=1, patterns_of_large=0)
    parts = contests([test], lambda _: ("sprite", "nrm"), settings)
    found = [(part, part.compute()) for part in parts]
    frame = standings(found, table1.UNORDERED)
    expected = compare(test.responses, ["sprite", "nrm"], QUICKLY, repeats=3)
    pd.testing.assert_frame_equal(
        frame.drop(columns=["test", "engine", "seconds"]), expected.drop(columns="seconds"), rtol=1e-12
    )
    fewer = [(p, r) for p, r in found if not (p.contestant == "nrm" and p.repeat == 1)]
    assert set(standings(fewer, table1.UNORDERED)["repeats"]) == {2}
    without = [(p, r) for p, r in found if p.contestant != "nrm"]
    assert standings(without, table1.UNORDERED)["model"].tolist() == ["sprite", "baseline"]
    assert not len(standings([(p, r) for p, r in found if p.contestant != "sprite"], table1.UNORDERED))


def test_errors_of_differences_on_fresh_tests_are_plain_ones():
    test = SimulatedTest(PaperTest("small", 5, 30, 3, False, 1.0), Sprite())
    result = {"error": 0.5, "brier": 0.5, "calibration": 0.1, "seconds": 1.0, "n_test": 30.0, "n_train": 120.0}
    found = []
    for repeat, difference in enumerate((0.1, 0.3, 0.2, 0.6)):
        for name, loss in (("sprite", 1.0), ("nrm", 1.0 + difference), ("baseline", 2.0)):
            model = None if name == "baseline" else model_called(name)
            part = Contest(test.at(repeat), Task(model, QUICKLY, 0.2, 0, repeat), name)
            found.append((part, {**result, "log_loss": loss}))
    frame = standings(found, table1.UNORDERED)
    assert frame["diff_log_loss_se"][1] == pytest.approx(np.std([0.1, 0.3, 0.2, 0.6], ddof=1) / 2)


# --- order and information -----------------------------------------------------------------------------------------


def test_learned_order_of_a_clear_scale_agrees_with_the_given_one():
    data = simulate(ORD(order="label"), 800, 8, 3, seed=5).responses
    scale = replace(data, correct=np.zeros_like(data.correct), rank=data.layout.position.astype(np.int32))
    found = order.agreement(fit(scale, "nrm", QUICKLY))
    assert np.mean(found["tau"]) > 0.9
    assert found["pairs"] == 8 * 3
    assert found["agree"] >= 0.9 * found["settled"] > 0
    backwards = replace(scale, rank=(2 - scale.layout.position).astype(np.int32))
    other = order.agreement(fit(backwards, "nrm", QUICKLY))
    assert other["turned"] != found["turned"]  # which end is up cannot be learned
    assert np.mean(other["tau"]) > 0.9
    assert other["agree"] == found["agree"]


def test_short_form_keeps_its_promise_under_the_true_model():
    """Abilities move by as much as the variance loses, and the best questions predict better than the worst."""
    test = SimulatedTest(PaperTest("exam", 24, 900, 4, False, 1.0), Sprite(), fresh=False)
    found = short_form.ShortForm(test, EM(starts=1, standard_errors=False), 0, 1 / 3, 3).compute()
    assert (found["kept"], found["questions"]) == (8, 24)
    assert found["loss_all"] < found["loss_form"] < found["loss_least"] < found["loss_none"]
    assert found["loss_form"] < found["loss_random"]
    assert found["sd_found"] == pytest.approx(found["sd_promised"], rel=0.05)
    assert found["move_found"] == pytest.approx(found["move_promised"], rel=0.12)  # 300 respondents: 4 % a deviation


# --- budget, choice, page ------------------------------------------------------------------------------------------


def test_time_left_goes_by_what_was_learned():
    parts = [p for p in synthetic.parts(replace(FULL, sizes=(25, 50), replications=2)) if p.sampler == "gibbs"]
    small, large = parts[:2], parts[2:]
    budget = Budget(parts, jobs=2)
    first = budget.left
    assert first == pytest.approx(sum(p.expected for p in parts) / 2)
    budget.done(small[0], 10 * small[0].expected)  # ten times as slow as guessed
    assert budget.left == pytest.approx(10 * (small[1].expected + 2 * large[0].expected) / 2)
    budget.done(large[0], 7.0)
    assert budget.left == pytest.approx((10 * small[1].expected + 7.0) / 2)
    budget.done(small[1], None)  # failed: nothing learned, nothing left
    budget.done(large[1], 9.0)
    assert budget.left == 0.0
    assert [in_words(s) for s in (12, 100, 7000, 11_100)] == ["12 s", "2 min", "117 min", "3 h 05 min"]


def test_choice_of_units():
    parts = synthetic.parts(replace(FULL, sizes=(25, 50), replications=3))
    of_nrm = chosen(table1.parts(stand_ins(), QUICK), Choice(models=("nrm",), engines=("em",)))
    assert {p.contestant for p in of_nrm} == {"nrm", "baseline"}
    some = chosen(parts, Choice(repeats=2, engines=("metropolis",), tests=("25",)))
    assert {(p.size, p.sampler) for p in some} == {(25, "half-sweeps"), (25, "joint")}
    assert [p.repeat for p in some] == [0, 0, 1, 1]  # a study that is stopped has whole patterns


def test_page_keeps_its_prose(tmp_path):
    (tmp_path / "one.md").write_text(markdown(["a", "b"], [["x|y", "2"]]))
    tables = ["<!-- table: one -->\nold\n<!-- end -->", "<!-- table: two -->\n<!-- end -->"]
    page = f"# Title\n\nBefore.\n\n{tables[0]}\n\nBetween.\n\n{tables[1]}\n"
    text = filled(page, tmp_path)
    assert "| x\\|y | 2 |" in text
    assert "old" not in text
    assert MISSING.strip() in text
    assert [line for line in text.splitlines() if line in ("# Title", "Before.", "Between.")] == [
        "# Title",
        "Before.",
        "Between.",
    ]
    assert filled(text, tmp_path) == text
    with pytest.raises(InputError, match="no `<!-- end -->`"):
        filled("<!-- table: one -->\n", tmp_path)


def test_what_cannot_be_done_is_refused(tmp_path):
    study = Study.at(tmp_path, None, False, 1, Choice())
    for name in ("table1", "order", "information"):
        with pytest.raises(InputError, match="--data FOLDER"):
            study.parts(name)
    with pytest.raises(InputError, match="nothing to do"):
        Study.at(tmp_path, None, True, 1, Choice(tests=("no such",))).run("order", lambda *told: None)
    exam = simulate("sprite", 20, 4, 3, seed=1).responses
    save_folder(exam, tmp_path / "data" / "exam")
    with pytest.raises(InputError, match="known order"):
        Study.at(tmp_path, tmp_path / "data", True, 1, Choice()).parts("order")
