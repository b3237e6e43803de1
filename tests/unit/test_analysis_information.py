"""`information`: Fisher information against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from sprite.analysis.information import information
from sprite.core.errors import InputError
from sprite.models.nrm import NRM
from sprite.models.ord import ORD
from sprite.models.registry import MODELS
from tests.unit.test_analysis_options import awkward, fit_at, some

AT = [-1.5, 0.0, 0.7, 2.0]


def test_logistic_information_is_slope_squared_times_p_q() -> None:
    values = {"slope": [0.8, -0.8, 0.3, -0.3], "intercept": [0.2, -0.2, 0, 0]}
    of = fit_at(some(30, (2, 2)), NRM(), values)
    table = information(of, AT)
    z = np.array(AT)
    first, second = 1 / (1 + np.exp(-1.6 * z - 0.4)), 1 / (1 + np.exp(-0.6 * z))
    assert np.allclose(table[table.question == "Q1"].fisher, 1.6**2 * first * (1 - first), rtol=1e-6)
    test = table[table.question == "test"]
    total = 1.6**2 * first * (1 - first) + 0.6**2 * second * (1 - second)
    assert np.allclose(test.fisher, total, rtol=1e-6)
    assert np.allclose(test.reliability, total / (total + 1))
    assert table[table.question != "test"].reliability.isna().all()
    assert table.lower.isna().all()


def test_probit_information_and_reliability_on_another_scale() -> None:
    of = fit_at(some(30, (2, 2)), ORD(order="label", nu_theta=4.0), {"alpha": [0.5, 0.5], "gamma": []})
    table = information(of, AT)
    z = np.array(AT) - 0.5
    expected = norm.pdf(z) ** 2 / (norm.cdf(z) * norm.sf(z))
    assert np.allclose(table[table.question == "Q2"].fisher, expected, rtol=1e-5)
    test = table[table.question == "test"]
    assert np.allclose(test.reliability, 2 * expected / (2 * expected + 0.25), rtol=1e-5)


def test_three_options_by_definition() -> None:
    """Of a softmax of straight lines it is the variance of the slopes."""
    slope = np.array([1.1, -0.4, -0.7])
    of = fit_at(some(30, (3,)), NRM(), {"slope": slope, "intercept": [0.3, 0.1, -0.4]})
    logit = np.outer(AT, slope) + np.array([0.3, 0.1, -0.4])
    p = np.exp(logit) / np.exp(logit).sum(axis=1, keepdims=True)
    table = information(of, AT)
    assert np.allclose(table.fisher[:4], p @ slope**2 - (p @ slope) ** 2, rtol=1e-6)


@pytest.mark.parametrize("name", MODELS)
def test_every_model(name: str) -> None:
    of = awkward(name)
    table = information(of)
    assert len(table) == 7 * 61
    assert (table.fisher >= 0).all()
    assert np.isfinite(table.fisher).all()
    assert (table.lower <= table.upper).all()
    assert np.allclose(table[table.question == "Q4"].fisher, 0.0, atol=1e-12)  # one option tells nothing
    parts = table[table.question != "test"].groupby("ability").fisher.sum()
    assert np.allclose(parts, table[table.question == "test"].fisher)
    sd = of.ability_moments()[1]
    assert table.attrs["marginal_reliability"] == pytest.approx(1 - np.mean(sd**2) / of.model.ability[1])


def test_abilities_must_be_numbers() -> None:
    with pytest.raises(InputError, match="finite"):
        information(awkward("nrm"), [0.0, np.nan])
