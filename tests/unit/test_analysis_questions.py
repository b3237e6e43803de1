"""`questions`: mutual information against analytic cases and brute force."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sprite.analysis.options import options
from sprite.analysis.questions import questions
from sprite.models.nrm import NRM
from sprite.models.registry import MODELS
from sprite.models.sprite import Sprite
from tests.unit.test_analysis_options import awkward, fit_at, some


def test_coinciding_sprites_tell_nothing() -> None:
    of = fit_at(some(30, (4, 2), (0, 0)), Sprite(), {"mu": np.zeros(6), "nu": np.ones(6)})
    table = questions(of)
    assert np.allclose(table.bits, 0.0, atol=1e-12)
    assert np.allclose(table.bits_right_wrong, 0.0, atol=1e-12)


def test_the_sign_of_ability_is_one_bit() -> None:
    values = {"slope": [3000, -3000], "intercept": [0, 0]}
    of = fit_at(some(30, (2,), (0,)), NRM(), values, n_nodes=4801)
    table = questions(of)
    assert table.bits[0] == pytest.approx(1.0, abs=2e-3)  # at the node 0 itself nothing is known
    assert table.bits_right_wrong[0] == pytest.approx(table.bits[0])
    assert table.bits_lost[0] == pytest.approx(0.0, abs=1e-12)


def test_mutual_information_by_simulation() -> None:
    mu, nu = np.array([0.0, -1.0, 0.8, -2.0]), np.array([1.0, 0.5, 2.0, 1.5])
    of = fit_at(some(30, (4,), (0,)), Sprite(), {"mu": mu, "nu": nu})
    rng = np.random.default_rng(1)
    z = rng.normal(size=400_000)
    p = np.exp(-0.5 * (z - mu[:, None]) ** 2 / nu[:, None]) / np.sqrt(nu)[:, None]
    p /= p.sum(axis=0)
    y = (np.cumsum(p, axis=0) < rng.random(len(z))).sum(axis=0)
    table = questions(of)
    told = np.log2(p[y, np.arange(len(z))] / p.mean(axis=1)[y])
    assert table.bits[0] == pytest.approx(told.mean(), abs=4 * told.std() / np.sqrt(len(z)))
    right = np.where(y == 0, p[0] / p[0].mean(), (1 - p[0]) / (1 - p[0].mean()))
    told = np.log2(right)
    assert table.bits_right_wrong[0] == pytest.approx(told.mean(), abs=4 * told.std() / np.sqrt(len(z)))
    assert table.bits_lost[0] == pytest.approx(table.bits[0] - table.bits_right_wrong[0])


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_every_model(name: str, keyed: bool) -> None:
    of = awkward(name, keyed)
    table = questions(of)
    assert np.allclose(options(of).groupby("question").bits.sum().loc[table.question], table.bits)
    assert (table.n == np.add.reduceat(of.responses.count, of.responses.first[:-1])).all()
    assert (table.bits_lower <= table.bits_upper).all()
    if keyed:
        assert (table.bits_lost > -1e-12).all()  # data processing: right or wrong never tells more than the option
        right = [of.responses.count[(of.responses.question_of_row == j) & of.responses.correct].sum() for j in range(6)]
        assert np.allclose(table.p_correct, right / table.n)
    else:
        for column in ("p_correct", "point_biserial", "bits_right_wrong", "bits_lost"):
            assert table[column].isna().all()


def test_a_question_nobody_answered() -> None:
    data = some(30, (3, 2), (0, 0))
    data = data.without(data.question_of_row[data.row] == 1)
    of = fit_at(data, NRM(), {"slope": [1, 0, -1, 1, -1], "intercept": np.zeros(5)})
    table = questions(of)
    assert table.n.tolist() == [30, 0]
    assert np.isnan(table.p_correct[1])
    assert np.isnan(table.point_biserial).all()
    assert table.bits[1] > 0


def test_top_verdict_is_shown() -> None:
    data = some(200, (2, 2), (0, 0))
    of = fit_at(data, NRM(), {"slope": [0.01, -0.01, 1, -1], "intercept": np.zeros(4)})
    assert questions(of).verdict.tolist() == ["uninformative", ""]
    wrong = fit_at(replace(data, correct=~data.correct), NRM(), {"slope": [1, -1, -1, 1], "intercept": np.zeros(4)})
    assert questions(wrong).verdict.tolist() == ["key_suspect", ""]
