"""`options`, and the curves below all analyses, against hand-worked and analytic cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import norm

from sprite.analysis.curves import curves, quantile, respondent_weights, statistics
from sprite.analysis.options import options, point_biserials, score_groups
from sprite.core.errors import InputError
from sprite.data.responses import Responses, Texts, from_codes
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.base import Model
from sprite.models.nrm import NRM
from sprite.models.ord import ORD
from sprite.models.registry import MODELS
from sprite.models.sprite import Sprite
from sprite.result.fit import Fit
from sprite.simulation import simulate


def fit_at(
    responses: Responses,
    model: Model,
    values: Mapping[str, ArrayLike],
    n_nodes: int = 61,
    draws: list[dict] | None = None,
) -> Fit:
    """A fit of these responses whose estimate (and draws) are given, not found."""
    base = fit(responses, model, EM(starts=1, standard_errors=False))
    packed = [base.packing.pack({n: np.asarray(v, float) for n, v in d.items()}) for d in (values, *(draws or []))]
    x = np.array(packed[1:]).reshape(1, len(packed) - 1, base.packing.n_free)
    return replace(base, point=packed[0], x=x, n_nodes=n_nodes)


def some(n: int, sizes: tuple[int, ...], keys: tuple[int, ...] | None = None, seed: int = 0) -> Responses:
    """Random answers to questions of these sizes."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, m, n) for m in sizes], axis=1)
    correct = None
    if keys is not None:
        correct = np.concatenate([np.arange(m) == k for m, k in zip(sizes, keys, strict=True)])
    return from_codes(codes, [[chr(65 + k) for k in range(m)] for m in sizes], correct=correct)


@cache
def awkward(name: str, keyed: bool = True) -> Fit:
    """Missing answers, a question with one option, an option nobody chose, for any model."""
    responses = simulate(name, 80, 6, (2, 5, 4, 1, 3, 4), observed=0.8, seed=4).responses
    never = int(np.flatnonzero(~responses.correct & (responses.question_of_row == 2))[0])
    responses = responses.without(responses.row == never)
    if not keyed:
        responses = replace(responses, correct=np.zeros_like(responses.correct))
    return fit(responses, name, EM(starts=1, draws=40))


@pytest.mark.parametrize("keyed", [True, False])
@pytest.mark.parametrize("name", MODELS)
def test_every_model_with_awkward_data(name: str, keyed: bool) -> None:
    of = awkward(name, keyed)
    table = options(of)
    assert len(table) == of.responses.layout.n_rows
    assert "text" not in table
    shares = table.groupby("question").share.sum()
    assert np.allclose(shares, 1.0)
    assert (table.n == 0).any()
    assert table.point_biserial.notna().any() == keyed
    assert (table.ability_lower <= table.ability_upper).all()
    assert (table.ability_upper - table.ability_lower)[table.question != "Q4"].min() > 0
    assert (table.bits >= 0).all()
    only = table[table.question == "Q4"].iloc[0]
    assert only.bits == pytest.approx(0.0, abs=1e-12)
    assert only.ability == pytest.approx(of.model.ability[0], abs=1e-9)
    assert only.ability_sd == pytest.approx(np.sqrt(of.model.ability[1]), rel=1e-6)
    assert not table.both_ends[table.question == "Q4"].any()
    mean = (curves(of).estimate.share * curves(of).estimate.mean)[table.question == "Q2"].sum()
    assert mean == pytest.approx(of.model.ability[0], abs=1e-8)  # tower rule: E E[z | k] = E z
    own = {"sprite": {"mu", "nu"}, "nrm": {"slope", "intercept"}, "gpcm": {"slope", "rank"}}
    assert own.get(name, {"alpha", "rank"}) <= set(table.columns)


def test_probit_choosers_have_the_analytic_mean_and_spread() -> None:
    """With P(upper | z) = Phi(z - a), ability of the choosers is skew normal."""
    a = 0.7
    of = fit_at(some(30, (2, 2)), ORD(order="label", nu_theta=1.0), {"alpha": [a, -a], "gamma": []})
    table = options(of)
    c = a / np.sqrt(2)
    mean = norm.pdf(c) / norm.sf(c) / np.sqrt(2)
    assert table.ability[1] == pytest.approx(mean, abs=1e-6)
    assert table.ability[0] == pytest.approx(-norm.pdf(c) / norm.cdf(c) / np.sqrt(2), abs=1e-6)
    assert table.ability_sd[1] == pytest.approx(np.sqrt(1 + c * mean / np.sqrt(2) - mean**2), abs=1e-6)
    assert curves(of).estimate.share[1] == pytest.approx(norm.sf(c), abs=1e-8)
    assert table.ability_lower.isna().all()  # no draws, no interval


def test_bits_of_options_are_divergences_by_brute_force() -> None:
    of = fit_at(some(30, (3,)), NRM(), {"slope": [1.2, -0.9, -0.3], "intercept": [0.4, 0.5, -0.9]})
    z = np.random.default_rng(0).normal(size=400_000)
    logit = np.outer([1.2, -0.9, -0.3], z) + np.array([0.4, 0.5, -0.9])[:, None]
    p = np.exp(logit) / np.exp(logit).sum(axis=0)
    for k in range(3):
        weight = p[k] / p[k].mean()  # p(z | k) / p(z)
        assert options(of).bits[k] == pytest.approx(p[k].mean() * np.mean(weight * np.log2(weight)), rel=0.02)


def test_intervals_are_quantiles_over_draws() -> None:
    draws = [{"slope": [s, -s], "intercept": [0.0, 0.0]} for s in np.linspace(0.1, 2.0, 101)]
    of = fit_at(some(30, (2,)), NRM(), draws[50], draws=draws)
    each = [
        statistics(np.log(_logistic(2 * d["slope"][0], of)), *_grid(of), of.responses.layout).mean[0] for d in draws
    ]
    table = options(of)
    assert table.ability_lower[0] == pytest.approx(np.quantile(each, 0.05))
    assert table.ability_upper[0] == pytest.approx(np.quantile(each, 0.95))
    assert table.ability[0] == pytest.approx(each[50])
    assert options(replace(of, kind="posterior")).ability[0] == pytest.approx(np.mean(each))


def _grid(of: Fit) -> tuple[np.ndarray, np.ndarray]:
    grid = of.grid
    return grid.nodes, np.exp(grid.log_weight)


def _logistic(slope: float, of: Fit) -> np.ndarray:
    up = 1 / (1 + np.exp(-slope * of.grid.nodes))
    return np.stack([up, 1 - up])


def test_point_biserial_is_the_correlation_with_the_rest() -> None:
    data = simulate("nrm", 60, 5, (3, 4, 2, 3, 3), observed=0.7, seed=8).responses
    by_row, by_key = point_biserials(data)
    codes = np.full((60, 5), -1)
    codes[data.respondent_of_answer, data.question_of_row[data.row]] = data.row
    right = np.where(codes >= 0, data.correct[codes], np.nan)
    for j in range(5):
        others = np.delete(right, j, axis=1)
        known = (codes[:, j] >= 0) & np.isfinite(others).any(axis=1)
        rest = np.nanmean(others[known], axis=1)
        assert by_key[j] == pytest.approx(np.corrcoef(right[known, j], rest)[0, 1])
        for row in range(data.first[j], data.first[j + 1]):
            assert by_row[row] == pytest.approx(np.corrcoef(codes[known, j] == row, rest)[0, 1])


def test_point_biserial_by_hand() -> None:
    # Three people, keys A: rest scores of Q1 are 1, 1, 0 and its answers A, A, B.
    data = from_codes([[0, 0, 0], [0, 0, 0], [1, 1, 1]], [["A", "B"]] * 3, correct=np.array([1, 0] * 3, bool))
    assert np.allclose(point_biserials(data)[0], [1, -1, 1, -1, 1, -1])
    same = from_codes([[0, 0], [1, 0]], [["A", "B"]] * 2, correct=np.array([1, 0] * 2, bool))
    assert np.isnan(point_biserials(same)[0][:2]).all()  # the rest score does not vary


def test_score_groups_and_their_shares_by_hand() -> None:
    # Shares correct 0, 1/2, 1/2, 1, 1, 1: ties stay together.
    codes = [[1, 1], [0, 1], [1, 0], [0, 0], [0, 0], [0, 0]]
    data = from_codes(codes, [["A", "B"]] * 2, correct=np.array([1, 0] * 2, bool))
    of = fit_at(data, NRM(), {"slope": [1, -1, 1, -1], "intercept": [0, 0, 0, 0]})
    assert score_groups(of, 3).tolist() == [0, 1, 1, 2, 2, 2]
    table = options(of)
    assert table.share_low[:2].tolist() == [0, 1]
    assert table.share_mid[:2].tolist() == [0.5, 0.5]
    assert table.share_high[:2].tolist() == [1, 0]
    assert {"share_g1", "share_g2"} <= set(options(of, groups=2).columns)
    for groups in (1, 101, 2.0, True):
        with pytest.raises(InputError, match="from 2 to 100"):
            options(of, groups=groups)


def test_a_wide_sprite_is_chosen_at_both_ends() -> None:
    data = some(40, (2, 3), (0, 0))
    values = {"mu": [0, 0, 0, -0.5, 0.5], "nu": [1, 9, 1, 1, 1]}
    of = fit_at(data, Sprite(), values)
    assert options(of).both_ends.tolist() == [False, True, False, False, False]


def test_texts_are_shown_where_given() -> None:
    data = replace(some(20, (2, 2), (0, 0)), texts=Texts(options={("Q1", "B"): "nine"}))
    of = fit_at(data, NRM(), {"slope": [1, -1, 1, -1], "intercept": [0, 0, 0, 0]})
    assert options(of).text.tolist() == ["", "nine", "", ""]
    assert options(of).correct.tolist() == [True, False, True, False]


def test_respondents_weights_are_their_mean_posterior() -> None:
    easy = from_codes(np.zeros((50, 8), int), [["A", "B"]] * 8, correct=np.array([1, 0] * 8, bool))
    of = fit_at(easy, NRM(), {"slope": [1, -1] * 8, "intercept": [0, 0] * 8})
    weight, nodes = respondent_weights(of), of.grid.nodes
    assert weight.sum() == pytest.approx(1.0)
    expected = np.exp(8 * of.table()[0] + of.grid.log_weight)
    assert np.allclose(weight, expected / expected.sum())
    assert weight @ nodes > 1.0
    assert quantile(nodes, np.exp(of.grid.log_weight), 0.9) == pytest.approx(norm.ppf(0.9), abs=0.005)
