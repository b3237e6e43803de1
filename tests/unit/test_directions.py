"""Global directions, against all eigenvectors of the covariance."""

from __future__ import annotations

import numpy as np
import pytest

from sprite.density.blocks import Blocks, curvature, metric_of
from sprite.engines.base import Problem
from sprite.engines.directions import WIDER, global_directions
from sprite.engines.em import laplace, starts
from sprite.engines.search import find_modes
from sprite.kernels.passes import expected_counts
from sprite.models.registry import MODELS, model_of
from sprite.simulation import simulate


@pytest.mark.parametrize("name", MODELS)
def test_they_are_the_widest_ones(name: str) -> None:
    responses, _ = simulate(name, 150, 15, 4, seed=3)
    posterior = Problem(responses, model_of(name)).posterior(61)
    mode = find_modes(posterior, starts(1), np.random.default_rng(0))[0]
    table = posterior.table(mode.x, mode.ranks)
    counts = expected_counts(responses.start, responses.row, table, posterior.grid.log_weight)[1]
    blocks = Blocks.of(posterior.packing)
    metric = metric_of(blocks, curvature(posterior, blocks, mode.x, counts, mode.ranks), least=0.3)
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
