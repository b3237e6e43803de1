"""Comparison: scores by hand, what is hidden stays hidden, results that do not depend on how they were computed."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from sprite.analysis.loo import Pointwise, in_words, loo, pointwise
from sprite.core.errors import InputError, SpriteWarning
from sprite.data.responses import from_codes
from sprite.density.grid import grid_for
from sprite.engines.em import EM
from sprite.engines.gibbs import Gibbs
from sprite.experiments import puncture
from sprite.experiments.compare import compare, corrected_error, doubts, labels_of
from sprite.experiments.puncture import Task, calibration_error, measure, pattern, scores_of
from sprite.experiments.store import Store, fingerprint
from sprite.fitting import fit
from sprite.kernels.threads import get_threads
from sprite.models.gpcm import GPCM
from sprite.models.nrm import NRM
from sprite.models.sprite import Sprite
from sprite.simulation import simulate

QUICK = EM(starts=1, draws=5)


@pytest.fixture(scope="module")
def responses():
    return simulate("sprite", 120, 6, 3, observed=0.9, seed=9).responses


def test_scores_by_hand():
    """Two cells of two and three options; the answers had probability 0.8 and 0.2, the second was not the mode."""
    first, probability = np.array([0, 2, 5]), np.array([0.8, 0.2, 0.5, 0.3, 0.2])
    found = scores_of(first, probability, np.array([0, 4]))
    assert found.error == 0.5
    assert found.log_loss == pytest.approx(-(np.log(0.8) + np.log(0.2)) / 2)  # natural logarithm
    assert found.brier == pytest.approx((0.04 + 0.04 + 0.25 + 0.09 + 0.64) / 2)
    assert scores_of(first, probability, np.array([0, 2])).error == 0.0


def test_calibration_by_hand():
    probability = np.repeat(np.linspace(0.05, 0.95, 10), 20)
    perfect = np.concatenate([np.arange(20) < round(20 * p) for p in np.linspace(0.05, 0.95, 10)]).astype(float)
    assert calibration_error(probability, perfect) == pytest.approx(0.0, abs=1e-12)
    assert calibration_error(np.full(40, 0.3), np.ones(40)) == pytest.approx(0.7)
    # Bins of opposite error do not cancel.
    assert calibration_error(np.repeat([0.2, 0.8], 50), np.repeat([0.0, 1.0], 50)) == pytest.approx(0.2)


def test_baseline_by_hand():
    """Nine answers A and one B, two options: of what remains every option counts once more than it was chosen."""
    responses = from_codes([[0]] * 9 + [[1]], [["A", "B"]])
    found = measure(responses, Task(None, QUICK, 0.1, 0, 0))
    hidden = responses.row[pattern(responses, 0.1, 0, 0)][0]
    left = np.array([9.0, 1.0]) - (np.arange(2) == hidden)
    assert found["log_loss"] == pytest.approx(-np.log((left[hidden] + 1) / (left.sum() + 2)))
    assert (found["n_test"], found["n_train"]) == (1, 9)


def test_pattern_hides_the_share_and_depends_on_seed_and_repeat(responses):
    hidden = pattern(responses, 0.2, 1, 0)
    assert len(hidden) == len(np.unique(hidden)) == round(0.2 * responses.n_answers)
    np.testing.assert_array_equal(hidden, pattern(responses, 0.2, 1, 0))
    assert not np.array_equal(hidden, pattern(responses, 0.2, 1, 1))
    assert not np.array_equal(hidden, pattern(responses, 0.2, 2, 0))
    for share in (0.0, 1.0, -0.1, float("nan"), 1e-9):
        with pytest.raises((InputError, ValueError)):
            pattern(responses, share, 0, 0)


def test_fits_see_only_what_remains(responses, monkeypatch):
    """Option sets are kept; counts, scores, and with them empirical orders, are of the remaining answers."""
    seen = []
    monkeypatch.setattr(puncture, "fit", lambda rest, *args: seen.append(rest) or fit(rest, *args))
    first = measure(responses, Task(GPCM(order="empirical"), QUICK, 0.3, 0, 0))
    (rest,) = seen
    hidden = pattern(responses, 0.3, 0, 0)
    assert rest.options == responses.options
    assert rest.n_answers == responses.n_answers - len(hidden)
    np.testing.assert_array_equal(rest.layout.count, np.bincount(np.delete(responses.row, hidden), minlength=18))
    assert not np.allclose(rest.layout.score, responses.layout.score)
    # Had the hidden answers been others, the fit would be the same.
    other = responses.row.copy()
    question = responses.question_of_row[other[hidden]]
    other[hidden] = (responses.first[question] + (other[hidden] - responses.first[question] + 1) % 3).astype(np.int32)
    measure(replace(responses, row=other), Task(GPCM(order="empirical"), QUICK, 0.3, 0, 0))
    np.testing.assert_array_equal(seen[1].row, rest.row)
    np.testing.assert_array_equal(seen[1].layout.score, rest.layout.score)
    assert first["log_loss"] > 0


def test_one_row_a_model_and_the_baseline_last(responses):
    told = []
    frame = compare(
        responses, ["sprite", "nrm", "gpcm", "ord", "lord"], QUICK, repeats=2, progress=lambda *now: told.append(now)
    )
    assert frame.model.tolist() == ["sprite", "nrm", "gpcm", "ord", "lord", "baseline"]
    assert (frame.log_loss.iloc[:2] < frame.log_loss.iloc[5]).all()  # models of the options beat shares alone
    assert frame.diff_log_loss[0] == 0.0
    np.testing.assert_allclose(frame.diff_log_loss, frame.log_loss - frame.log_loss[0])
    np.testing.assert_allclose(frame.diff_error, frame.error - frame.error[0])
    assert told[-1][:2] == (12, 12)
    alone = compare(responses, "nrm", QUICK, repeats=2)  # the same cells, whatever else is compared
    assert alone.log_loss[0] == frame.log_loss[1]
    assert alone.log_loss[1] == frame.log_loss[5]


def test_standard_errors_are_corrected_for_overlap():
    difference = np.array([[0.0, 0.1], [0.0, 0.3], [0.0, 0.2], [0.0, 0.6]])
    expected = np.sqrt(np.var([0.1, 0.3, 0.2, 0.6], ddof=1) * (1 / 4 + 0.25))
    np.testing.assert_allclose(corrected_error(difference, 0.25), [0.0, expected])
    assert np.isnan(corrected_error(difference[:1], 0.25)).all()


def numbers(frame):
    return frame.drop(columns="seconds")


def test_same_numbers_whatever_the_jobs(responses):
    threads = get_threads()
    one = compare(responses, ["sprite", "nrm"], QUICK, repeats=2, seed=3)
    two = compare(responses, ["sprite", "nrm"], QUICK, repeats=2, seed=3, jobs=2)
    pd.testing.assert_frame_equal(numbers(one), numbers(two), rtol=1e-12, atol=1e-12)
    assert get_threads() == threads
    assert not numbers(one).equals(numbers(compare(responses, ["sprite", "nrm"], QUICK, repeats=2, seed=4)))


def test_resumes_after_an_interruption(responses, tmp_path, monkeypatch):
    calls = []

    def counted(data, task, stop=None):
        calls.append(task)
        if len(calls) == stop:
            raise KeyboardInterrupt
        return measure(data, task)

    monkeypatch.setattr(puncture, "measure", lambda data, task: counted(data, task, stop=3))
    with pytest.raises(KeyboardInterrupt):
        compare(responses, "nrm", QUICK, repeats=2, store=tmp_path / "kept")
    assert len(list((tmp_path / "kept").iterdir())) == 2
    calls.clear()
    monkeypatch.setattr(puncture, "measure", counted)
    resumed = compare(responses, "nrm", QUICK, repeats=2, store=tmp_path / "kept")
    assert len(calls) == 2  # of four
    calls.clear()
    again = compare(responses, "nrm", QUICK, repeats=2, store=tmp_path / "kept")
    assert not calls
    assert again.equals(resumed)
    assert numbers(again).equals(numbers(compare(responses, "nrm", QUICK, repeats=2)))


def test_a_fit_cut_short_is_not_kept(responses, tmp_path, monkeypatch):
    monkeypatch.setattr(puncture, "fit", lambda *args: replace(fit(*args), interrupted=True))
    with pytest.raises(KeyboardInterrupt):
        compare(responses, "nrm", QUICK, repeats=1, store=tmp_path)
    assert not list(tmp_path.iterdir())


def test_store_never_gives_back_what_is_stale(responses, tmp_path):
    store = Store.at(tmp_path)
    settings = {"data": fingerprint(responses), **Task(NRM(), QUICK, 0.2, 0, 0).settings}
    store.put(settings, {"error": 0.5})
    assert store.get(settings) == {"error": 0.5}
    changed = [
        Task(NRM(nu_slope=2.0), QUICK, 0.2, 0, 0),
        Task(NRM(), EM(starts=2, draws=5), 0.2, 0, 0),
        Task(NRM(), QUICK, 0.3, 0, 0),
        Task(NRM(), QUICK, 0.2, 1, 0),
        Task(NRM(), QUICK, 0.2, 0, 1),
        Task(None, QUICK, 0.2, 0, 0),
    ]
    assert all(store.get({"data": settings["data"], **task.settings}) is None for task in changed)
    for other in (
        responses.without([0]),
        replace(responses, correct=~responses.correct),
        replace(responses, rank=np.zeros(18, dtype=np.int32)),
        replace(responses, options=(("X", "Y", "Z"), *responses.options[1:])),
    ):
        assert fingerprint(other) != settings["data"]
    assert fingerprint(replace(responses, notes=("read",))) == settings["data"]
    (file,) = tmp_path.iterdir()
    content = json.loads(file.read_text())
    content["settings"]["format"] = -1
    for damaged in (json.dumps(content), "{", "[]", '{"settings": 1}'):
        file.write_text(damaged)
        assert store.get(settings) is None
    with pytest.raises(InputError, match="store cannot be made"):
        Store.at(file / "below")


def test_names_are_unique_and_tell_the_settings():
    models = [Sprite(), Sprite(anchor="scale"), NRM(prior=None), GPCM(order="label", nu_step=2.0)]
    assert labels_of(models) == [
        "sprite",
        "sprite (anchor=scale)",
        "nrm (prior=None)",
        "gpcm (order=label, nu_step=2.0)",
    ]
    with pytest.raises(InputError, match="given twice: nrm"):
        labels_of([NRM(), NRM()])
    with pytest.raises(InputError, match="no model"):
        labels_of([])


def test_modes_of_few_respondents_are_doubted():
    few = simulate("nrm", 8, 10, 3, seed=1).responses
    with pytest.warns(SpriteWarning, match=r"fewer respondents \(8\) than questions \(10\)"):
        compare(few, ["nrm"], EM(starts=1, standard_errors=False), repeats=1)
    assert doubts(few, Gibbs()) == ""
    assert doubts(simulate("nrm", 10, 10, 3, seed=1).responses, EM()) == ""


def test_impossible_requests_are_refused(responses):
    with pytest.raises(InputError, match=r"sprite\.read"):
        compare([[1]])
    with pytest.raises(InputError, match="method must be"):
        compare(responses, "nrm", method="bic")
    with pytest.raises(InputError, match="repeats >= 1"):
        compare(responses, "nrm", repeats=0)
    with pytest.raises(InputError, match="share of the answers to hide"):
        compare(responses, "nrm", puncture=1.5)


# --- leaving respondents out -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sampled(responses):
    empty = from_codes([[-1] * 6], responses.options)
    with_nobody = replace(
        responses,
        respondents=np.concatenate([responses.respondents, empty.respondents]),
        start=np.append(responses.start, responses.start[-1]),
    )
    return fit(with_nobody, "nrm", Gibbs(chains=2, draws=150, warmup=60, starts=1))


def test_loo_against_the_plain_importance_estimate(sampled):
    """1 / mean(1 / likelihood) over draws, without smoothing; the likelihood by plain NumPy from the tables."""
    found = pointwise(sampled)
    assert found.n_draws == 300
    grid = grid_for(sampled.model.ability, sampled.n_nodes)
    rows = sampled.responses
    each = np.empty((300, 120))
    for d, x in enumerate(sampled.x.reshape(300, -1)):
        table = sampled.table(x)
        level = [table[rows.row[rows.start[i] : rows.start[i + 1]]].sum(axis=0) for i in range(120)]
        each[d] = logsumexp(np.array(level) + grid.log_weight, axis=1)
    plain = np.log(300) - logsumexp(-each, axis=0)
    np.testing.assert_allclose(found.elpd[:120], plain, atol=0.05)
    assert found.elpd[120] == 0.0  # who answered nothing is predicted for certain
    full = logsumexp(each, axis=0) - np.log(300)
    np.testing.assert_allclose(found.p_loo[:120].sum(), (full - found.elpd[:120]).sum(), rtol=1e-6)
    frame = loo(sampled)
    assert frame.elpd[0] == pytest.approx(plain.sum(), abs=1.0)
    assert frame.se[0] == pytest.approx(np.sqrt(121) * np.append(plain, 0.0).std(ddof=1), rel=0.01)
    assert 5 < frame.p_loo[0] < 2 * sampled.n_parameters


def test_compare_by_loo_has_the_better_model_ahead(responses):
    engine = Gibbs(chains=2, draws=60, warmup=40, starts=1)
    frame = compare(responses, ["ord", "nrm"], engine, method="loo")
    assert frame.model.tolist() == ["ord", "nrm"]
    assert frame.diff_elpd[0] == 0.0
    assert frame.diff_elpd[1] == pytest.approx(frame.elpd[1] - frame.elpd[0])
    assert frame.diff_elpd[1] > 2 * frame.diff_elpd_se[1] > 0  # options in label order tell little
    assert frame.message.str.contains("Pareto k").all()


def test_pareto_k_in_words():
    good = Pointwise(np.zeros(3), np.zeros(3), np.array([0.1, -np.inf, 0.5]), 1000)
    assert good.k_bad == 0
    assert "can be relied on" in in_words(good)
    bad = replace(good, k=np.array([0.1, 0.9, np.nan]))
    assert bad.k_bad == 2
    assert "2 of 3 respondents" in in_words(bad)
    assert replace(good, n_draws=100).limit == pytest.approx(0.5)
    assert replace(good, n_draws=10**6).limit == 0.7


def test_loo_of_an_em_fit_is_refused_with_the_reason(responses):
    with pytest.raises(InputError, match=r"normal approximation.*Gibbs\(\)"):
        loo(fit(responses, "nrm", QUICK))
    with pytest.raises(InputError, match="normal approximation"):
        compare(responses, "nrm", QUICK, method="loo")
