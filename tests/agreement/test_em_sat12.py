"""EM against numbers published elsewhere and reached before, on the SAT12 data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sprite.core.errors import SpriteError
from sprite.data.reading import read
from sprite.data.responses import Responses
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.base import Model
from sprite.models.gpcm import GPCM
from sprite.models.nrm import NRM
from sprite.models.sprite import Sprite

DATA = Path(__file__).parents[3] / "shared" / "data" / "sat12"


@pytest.fixture(scope="module")
def sat12() -> Responses:
    if not DATA.is_dir():
        pytest.skip("the SAT12 data are not beside the repository (../shared/data/sat12)")
    return read(DATA / "responses.csv", key=DATA / "key.csv")


@pytest.mark.parametrize(
    ("model", "least", "most"),
    [
        (NRM(prior=None), -18928.42, -18928.0),
        (GPCM(order="label", prior=None), -19672.38, -19672.28),  # R mirt 1.46.1 reports -19672.34
        (Sprite(), -19211.7, -19211.5),
    ],
    ids=["nrm", "gpcm", "sprite"],
)
def test_log_likelihood(sat12: Responses, model: Model, least: float, most: float) -> None:
    found = fit(sat12, model, EM(standard_errors=False))
    assert least <= round(found.log_likelihood, 2) <= most
    assert found.grid_error <= 0.01
    correct = np.add.reduceat(sat12.correct[sat12.row], sat12.start[:-1]) / np.diff(sat12.start)
    assert np.corrcoef(found.ability_moments()[0], correct)[0, 1] > 0.5


def test_errors_at_infinity_are_refused_with_the_reason(sat12: Responses) -> None:
    found = fit(sat12, NRM(prior=None), EM(starts=1))
    with pytest.raises(SpriteError, match=r"lies at infinity in \d+ question.*use a model with a prior"):
        found.standard_errors()
    assert any(message.startswith("No standard errors") for message in found.diagnostics.messages)
    assert (fit(sat12, NRM(), EM(starts=1)).standard_errors()["slope"] > 0).all()
