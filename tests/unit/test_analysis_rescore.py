"""Rescoring: hand-worked marks and ranks, abilities without the dropped questions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sprite.analysis.rescore import rescore
from sprite.analysis.scores import score
from sprite.core.errors import InputError
from sprite.data.responses import from_codes
from sprite.engines.em import EM
from sprite.fitting import fit

CODES = [[0, 0, 0], [0, 0, 1], [0, 1, 2], [1, 1, -1], [2, 1, 0]]
OPTIONS = [["A", "B", "C"], ["A", "B"], ["A", "B", "C"]]
KEY = np.array([True, False, False, True, False, True, False, False])  # A, A, A


@pytest.fixture(scope="module")
def fitted():
    responses = from_codes(CODES, OPTIONS, correct=KEY, respondents=list("vwxyz"))
    return fit(responses, "sprite", EM(starts=1, draws=10))


def test_changed_key_by_hand(fitted):
    frame = rescore(fitted, key={"Q2": "B"})
    assert frame.respondent.tolist() == list("vwxyz")
    assert frame.marks_before.tolist() == [3, 2, 1, 0, 1]
    assert frame.marks_after.tolist() == [2, 1, 2, 1, 2]
    assert frame.rank_before.tolist() == [1, 2, 3, 5, 3]
    assert frame.rank_after.tolist() == [1, 4, 1, 4, 1]
    np.testing.assert_array_equal(frame.ability_after, frame.ability_before)  # the options chosen are the same
    np.testing.assert_allclose(frame.ability_before, fitted.ability_moments()[0], atol=1e-12)
    assert frame.changed.tolist() == [True, True, True, True, True]


def test_several_correct_options(fitted):
    assert rescore(fitted, key={"Q3": ["A", "C"]}).marks_after.tolist() == [3, 2, 2, 0, 1]
    assert rescore(fitted, key={"Q3": "A; C"}).marks_after.tolist() == [3, 2, 2, 0, 1]
    everyone = rescore(fitted, key={"Q1": ["A", "B", "C"]})
    assert everyone.marks_after.tolist() == [3, 2, 1, 1, 2]


def test_dropping_takes_the_answers_out_of_the_posterior(fitted):
    frame = rescore(fitted, drop=["Q1"])
    assert frame.marks_after.tolist() == [2, 1, 0, 0, 1]
    other = from_codes(np.array(CODES)[:, 1:], OPTIONS[1:], questions=["Q2", "Q3"], respondents=list("vwxyz"))
    np.testing.assert_allclose(frame.ability_after, score(fitted, other).ability, atol=1e-12)
    assert not np.allclose(frame.ability_after, frame.ability_before, atol=1e-3)
    assert rescore(fitted, drop="Q1").equals(frame)
    assert rescore(fitted, drop=["Q1", "Q2", "Q3"]).marks_after.tolist() == [0] * 5


def test_nothing_changes_when_nothing_is_asked(fitted):
    assert not rescore(fitted).changed.any()


def test_without_a_key(fitted):
    bare = fit(replace(fitted.responses, correct=np.zeros(8, dtype=bool)), "nrm", EM(starts=1, draws=5))
    frame = rescore(bare, drop=["Q1"])
    assert frame.marks_before.isna().all()
    assert frame.rank_after.isna().all()
    assert frame.changed.all()
    keyed = rescore(bare, key={"Q1": "A"})
    assert keyed.marks_before.isna().all()
    assert keyed.marks_after.tolist() == [1, 1, 1, 0, 0]
    assert keyed.rank_after.tolist() == [1, 1, 1, 4, 4]


def test_unknown_names_are_refused(fitted):
    with pytest.raises(InputError, match="no question called 'Q9'"):
        rescore(fitted, key={"Q9": "A"})
    with pytest.raises(InputError, match="no question called 'Q9'"):
        rescore(fitted, drop=["Q9"])
    with pytest.raises(InputError, match=r"question 'Q2' has no option 'C'\. Its options are A, B"):
        rescore(fitted, key={"Q2": "C"})
    with pytest.raises(InputError, match="names no correct option"):
        rescore(fitted, key={"Q2": []})
