"""Global directions, against all eigenvectors of the covariance."""

from __future__ import annotations

import numpy as np
import pytest

from sprite.density.blocks import metric_at
from sprite.engines.base import Problem
from sprite.engines.directions import WIDER, global_directions
from sprite.engines.em import laplace, starts
from sprite.engines.search import find_modes
from sprite.models.registry import MODELS, model_of
from sprite.simulation import simulate


@pytest.mark.parametrize("name", MODELS)
def test_they_are_the_widest_ones(name: str) -> None:
    responses, _ = simulate(name, 150, 15, 4, seed=3)
    posterior = Problem(responses, model_of(name)).posterior(61)
    mode = find_modes(posterior, starts(1, posterior), np.random.default_rng(0))[0]
    metric = metric_at(posterior, mode.x, mode.ranks, least=0.3)
    found = metric.whiten(global_directions(posterior, mode, metric))
    covariance, _ = laplace(posterior, mode)
    assert covariance is not None
    variance, vector = np.linalg.eigh(metric.whiten(metric.whiten(covariance).T))
    wide = np.flatnonzero(variance > WIDER)[-3:]
    assert len(found) == len(wide) > 0
    for direction in found:
        length = float(np.linalg.norm(direction))
        best = np.abs(vector[:, wide].T @ direction / length).max()
        assert best > 0.98
        assert length**2 == pytest.approx(variance[wide][np.abs(vector[:, wide].T @ direction).argmax()], rel=0.05)
