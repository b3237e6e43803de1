"""Item fit: quiet where the model is true, loud where it cannot be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sprite.analysis.fit_statistics import GROUPS, fit_statistics
from sprite.data.responses import from_codes
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.gpcm import GPCM
from sprite.simulation import simulate


@pytest.mark.parametrize("model", ["sprite", "nrm", "gpcm", "ord", "lord"])
def test_quiet_where_the_model_is_true(model):
    responses = simulate(model, 400, 8, 3, observed=0.9, seed=7).responses
    frame = fit_statistics(fit(responses, model, EM(starts=1, draws=40)))
    assert list(frame.question) == list(responses.questions)
    assert (frame.p_value > 0.02).all()
    np.testing.assert_allclose(frame.chi2.mean(), frame.chi2_expected.mean(), rtol=0.2)
    assert frame.worst_group.between(1, GROUPS).all()
    assert frame.message.str.startswith("no sign of misfit").all()


@pytest.fixture(scope="module")
def bent():
    """Eight good questions, and one whose option B is chosen in the middle: no ordered model in label order fits it."""
    rng = np.random.default_rng(8)
    z = rng.normal(size=800)
    level = np.stack([np.zeros((800, 8)), 2.0 * z[:, None] + np.linspace(-1, 1, 8)], axis=2)
    good = (rng.random((800, 8)) < np.exp(level[..., 1]) / np.exp(level).sum(axis=2)).astype(int)
    middle = np.where(np.abs(z) < 0.6, 2, np.where(z > 0, 1, 0))
    odd = np.where(rng.random(800) < 0.15, rng.integers(0, 3, 800), middle)
    options = [["A", "B"]] * 8 + [["A", "B", "C"]]
    return from_codes(np.column_stack([good, odd]), options, correct=np.array([False, True] * 8 + [False, True, False]))


def test_loud_where_the_model_cannot_be(bent):
    frame = fit_statistics(fit(bent, GPCM(order="label"), EM(starts=1, draws=40)))
    assert frame.p_value[8] == 0.0
    assert frame.chi2[8] > 2 * frame.chi2_expected[8]
    assert (frame.p_value[:8] > 0.02).all()
    assert "does not reproduce" in frame.message[8]
    assert f"option {frame.worst_option[8]!r}" in frame.message[8]
    better = fit_statistics(fit(bent, "nrm", EM(starts=1, draws=40)))  # finds the order by itself
    assert better.chi2[8] < 0.3 * frame.chi2[8]


def test_shares_are_those_of_the_group(bent):
    """The difference of observed and expected has a sign and a place."""
    frame = fit_statistics(fit(bent, GPCM(order="label"), EM(starts=1, draws=40)))
    row = frame.iloc[8]
    assert (row.worst_option, row.worst_group) == ("B", 6)  # the ablest choose B; in label order C stands above it
    assert row.observed == pytest.approx(0.85 + 0.15 / 3, abs=0.25)
    assert row.expected < row.observed - 0.1


def test_no_draws_no_key_and_an_unanswered_question():
    responses = from_codes([[0, 1, -1], [1, 0, -1], [1, 1, -1]] * 20, [["A", "B"]] * 3)
    frame = fit_statistics(fit(responses, "nrm", EM(starts=1, draws=0, standard_errors=False)))
    assert np.isnan(frame.p_value[2])
    assert frame.message[2] == "nobody answered it"
    assert frame.n.tolist() == [60, 60, 0]
    again = fit_statistics(fit(replace(responses, notes=("x",)), "nrm", EM(starts=1, draws=0, standard_errors=False)))
    assert again.equals(frame)
