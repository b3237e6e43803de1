"""Under draws from a model's own prior nothing predicts hidden answers better, on average, than its full posterior.

From beginning to end: a wrong prior, sampler or prediction would give the lead away to another model.
"""

from __future__ import annotations

import numpy as np
import pytest

from sprite.engines.gibbs import Gibbs
from sprite.experiments.puncture import Task, measure
from sprite.models.gpcm import GPCM
from sprite.models.lord import LORD
from sprite.models.nrm import NRM
from sprite.models.ord import ORD
from sprite.models.sprite import Sprite
from sprite.simulation import simulate

GIBBS = Gibbs(chains=1, draws=100, warmup=100, starts=2)
TESTS = 6
ALERT, FAIL = 4.0, 2.0
"""Standard errors by which the truth's model must lead the best of the others."""


@pytest.mark.parametrize(
    "truth", [Sprite(), NRM(), GPCM(order="label"), ORD(order="label"), LORD()], ids=lambda model: model.name
)
def test_the_truths_own_model_predicts_best(truth) -> None:
    rivals = [*(model for model in (Sprite(), NRM()) if model != truth), None]
    lead = np.empty((TESTS, len(rivals)))
    for seed in range(TESTS):
        data = simulate(truth, 60, 25, 4, kind="prior", seed=seed).responses
        own, *others = (measure(data, Task(model, GIBBS, 0.2, 0, seed))["log_loss"] for model in (truth, *rivals))
        lead[seed] = np.subtract(others, own)
    errors = float((lead.mean(axis=0) / (lead.std(axis=0, ddof=1) / np.sqrt(TESTS))).min())
    if errors < ALERT:
        print(f"ALERT: {truth.name} leads by {errors:.1f} standard errors", lead, sep="\n")
    assert errors > FAIL
