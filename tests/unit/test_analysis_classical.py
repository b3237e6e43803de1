"""The classical table against hand-worked numbers and against the textbook formulas on dense arrays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sprite.analysis.classical import classical, score_groups
from sprite.core.errors import InputError
from sprite.data.responses import from_codes
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.simulation import simulate


def of_codes(codes, n_options=2, correct=None):
    size = np.shape(codes)[1]
    key = np.tile([True] + [False] * (n_options - 1), size) if correct is None else correct
    responses = from_codes(codes, [list("ABCDE"[:n_options])] * size, correct=key)
    return fit(responses, "nrm", EM(starts=1, draws=0, standard_errors=False))


def test_by_hand():
    """Marks 111, 110, 100, 000: scores 3, 2, 1, 0.

    Variances (n - 1): scores 5/3; questions 1/4, 1/3, 1/4. alpha = 3/2 (1 - (5/6) / (5/3)) = 3/4.
    Question 1: rest scores 2, 1, 0, 0 of those right three times and wrong once: covariance sum 0.75, sums of squares
    0.75 and 2.75: r = sqrt(0.75 / 2.75). Question 2: rest 2, 1, 1, 0, right right wrong wrong: r = 1 / sqrt(1 * 2).
    Without question 2: scores 2, 1, 1, 0 of variance 2/3: alpha = 2 (1 - (1/2) / (2/3)) = 1/2.
    Without question 1: scores 2, 1, 0, 0 of variance 11/12: alpha = 2 (1 - (7/12) / (11/12)) = 8/11.
    """
    frame = classical(of_codes([[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]), groups=2)
    assert frame.attrs["alpha"] == pytest.approx(0.75)
    assert frame.attrs["n"] == 4
    assert frame.attrs["mean_score"] == pytest.approx(1.5)
    assert frame.attrs["sd_score"] == pytest.approx(np.sqrt(5 / 3))
    np.testing.assert_allclose(frame.p_correct, [0.75, 0.5, 0.25])
    np.testing.assert_allclose(frame.item_rest, [np.sqrt(3 / 11), np.sqrt(0.5), np.sqrt(3 / 11)])
    np.testing.assert_allclose(frame.alpha_if_dropped, [8 / 11, 0.5, 8 / 11])
    np.testing.assert_allclose(frame.p_group_1, [0.5, 0.0, 0.0])
    np.testing.assert_allclose(frame.p_group_2, [1.0, 1.0, 0.5])
    np.testing.assert_allclose(frame.discrimination, [0.5, 1.0, 0.5])


def test_against_dense_formulas_with_missing_answers():
    responses = simulate("sprite", 120, 9, 4, observed=0.8, seed=6).responses
    frame = classical(fit(responses, "nrm", EM(starts=1, draws=0, standard_errors=False)))
    marks = np.full((120, 9), np.nan)
    of = responses.question_of_row[responses.row]
    marks[responses.respondent_of_answer, of] = responses.correct[responses.row]
    zeroed = np.nan_to_num(marks)
    total = zeroed.sum(axis=1)
    for j in range(9):
        seen = ~np.isnan(marks[:, j])
        rest = total - zeroed[:, j]
        assert frame.n[j] == seen.sum()
        assert frame.p_correct[j] == pytest.approx(marks[seen, j].mean())
        assert frame.item_rest[j] == pytest.approx(np.corrcoef(marks[seen, j], rest[seen])[0, 1])
        others = np.delete(zeroed, j, axis=1)
        alpha = 8 / 7 * (1 - others.var(axis=0, ddof=1).sum() / rest.var(ddof=1))
        assert frame.alpha_if_dropped[j] == pytest.approx(alpha)
    assert frame.attrs["alpha"] == pytest.approx(9 / 8 * (1 - zeroed.var(axis=0, ddof=1).sum() / total.var(ddof=1)))
    assert (frame.discrimination > 0).all()


def test_score_groups_keep_ties_together():
    assert score_groups(np.array([3.0, 1.0, 2.0]), 3).tolist() == [2, 0, 1]
    assert score_groups(np.array([1.0, 1.0, 1.0, 5.0]), 2).tolist() == [0, 0, 0, 1]
    assert score_groups(np.zeros(0), 3).tolist() == []


def test_questions_without_key_stand_aside():
    codes = [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]
    correct = np.array([True, False, True, False, False, False])
    frame = classical(of_codes(codes, correct=correct))
    assert frame.n.tolist() == [4, 4, 4]
    assert frame.loc[2, ["p_correct", "item_rest", "alpha_if_dropped", "discrimination"]].isna().all()
    assert frame.attrs["mean_score"] == pytest.approx(1.25)
    bare = of_codes(codes)
    bare = fit(replace(bare.responses, correct=np.zeros(6, dtype=bool)), "gpcm", EM(starts=1, draws=0))
    without = classical(bare)
    assert np.isnan(without.attrs["alpha"])
    assert without.p_correct.isna().all()


def test_what_does_not_vary_has_no_correlation():
    frame = classical(of_codes([[0, 0], [0, 1], [0, 0], [0, 1]]))
    assert np.isnan(frame.item_rest[0])
    with pytest.raises(InputError, match="from 2 to 100"):
        classical(of_codes([[0, 0], [0, 1]]), groups=1)
