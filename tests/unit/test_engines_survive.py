"""Every engine with every model on tests that are hardly tests: finite results, or a refusal that says why."""

from __future__ import annotations

import numpy as np
import pytest

from sprite.core.errors import SpriteError
from sprite.data.responses import from_codes
from sprite.fitting import fit
from sprite.models.registry import MODELS
from tests.cases import ENGINES

OPTIONS, KEY = ("A", "B", "C"), 1


def codes_of(kind: str) -> np.ndarray:
    """Option positions (respondents, questions), -1 where missing; option 1 is correct."""
    codes = np.random.default_rng(3).integers(0, 3, (12, 3))
    if kind == "all answer alike":
        codes[:] = [0, 1, 2]
    elif kind == "an option chosen once":
        codes[:, 1] = 1
        codes[4, 1] = 2
    elif kind == "90 % missing":
        codes = np.random.default_rng(3).integers(0, 3, (30, 4))
        codes[np.random.default_rng(4).random(codes.shape) < 0.9] = -1
    elif kind == "two respondents":
        codes = codes[:2]
    elif kind == "one question":
        codes = codes[:, :1]
    elif kind == "one respondent":
        codes = codes[:1]
    elif kind == "an empty respondent":
        codes[5] = -1
    elif kind == "perfect scores":
        codes[:] = KEY
    return codes


KINDS = (
    "all answer alike",
    "an option chosen once",
    "90 % missing",
    "two respondents",
    "one question",
    "one respondent",
    "an empty respondent",
    "perfect scores",
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", ENGINES)
def test_survives(engine: str, model: str, kind: str) -> None:
    codes = codes_of(kind)
    n_questions = codes.shape[1]
    responses = from_codes(codes, [OPTIONS] * n_questions, correct=np.tile(np.arange(3) == KEY, n_questions))
    if (engine, model) == ("nuts", "lord"):
        with pytest.raises(SpriteError, match=r"Gibbs\(\)"):
            fit(responses, model, ENGINES[engine])
        return
    found = fit(responses, model, ENGINES[engine], seed=1)
    assert np.isfinite(found.x).all()
    assert np.isfinite(found.point).all()
    assert np.isfinite(found.log_likelihood)
    for values in found.values.values():
        assert np.isfinite(values).all()
    mean, sd, _ = found.ability_moments()
    assert np.isfinite(mean).all()
    assert (sd > 0).all()
    assert found.orientation
    assert len(found.summary()) > 0
    if found.x.shape[1]:
        assert found.n_draws == found.x.shape[1] > 0
    else:  # an estimate without standard errors says why
        assert found.refusal
    if kind == "an empty respondent":
        centre, variance = found.model.ability
        np.testing.assert_allclose([mean[5], sd[5]], [centre, np.sqrt(variance)], atol=0.01)
