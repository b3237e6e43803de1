"""Every engine with every model on tests that are hardly tests: finite results, or a refusal that says why."""

from __future__ import annotations

import numpy as np
import pytest

from sprite.core.errors import SpriteError
from sprite.data.connections import parts
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.registry import MODELS
from tests.awkward import AWKWARD, MANY
from tests.cases import ENGINES


@pytest.mark.parametrize("kind", AWKWARD)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("engine", ENGINES)
def test_survives(engine: str, model: str, kind: str) -> None:
    if kind == MANY and engine != "em":
        pytest.skip("minutes: python -m benchmarks.stress does it")
    responses = AWKWARD[kind](12, 1 if kind == MANY else 3)
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
    assert any("share no respondent" in message for message in found.messages) == (len(parts(responses)) > 1)
    if kind == "an empty respondent":
        centre, variance = found.model.ability
        np.testing.assert_allclose([mean[6], sd[6]], [centre, np.sqrt(variance)], atol=0.01)


def test_ctrl_c_inside_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """As CPython reports an interruption that it notices only when the compiled function has returned."""

    def returns_with_an_exception_set(*_: object) -> None:
        raise SystemError("<function> returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(EM, "run", returns_with_an_exception_set)
    with pytest.raises(KeyboardInterrupt):
        fit(AWKWARD["one question"](12, 3), "nrm", "em")
