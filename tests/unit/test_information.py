"""The information that not knowing the abilities takes away, against its definition respondent by respondent."""

from __future__ import annotations

import numpy as np
import pytest

from sprite.density import missing
from sprite.density.blocks import Blocks
from sprite.density.information import _row_scores
from sprite.density.missing import missing_information
from sprite.engines.base import Problem
from sprite.kernels.passes import expected_counts
from sprite.kernels.passes import posterior as ability_posterior
from sprite.kernels.threads import set_threads
from sprite.models.registry import model_of
from sprite.simulation import simulate


def by_definition(posterior, table, scores):
    """The posterior covariance of each respondent's score, one after the other."""
    responses, packing = posterior.responses, posterior.packing
    data = (responses.start, responses.row, table, posterior.grid.log_weight)
    total = np.zeros((packing.n_free, packing.n_free))
    for i in range(responses.n_respondents):
        weight = ability_posterior(*data, i, i + 1)[0]
        score = np.zeros((len(weight), packing.n_free))
        for r in responses.row[responses.start[i] : responses.start[i + 1]]:
            j = responses.question_of_row[r]
            columns = slice(packing.first[j], packing.first[j + 1])
            score[:, columns] = scores[r, : columns.stop - columns.start].T
        centred = score - weight @ score
        total += (centred * weight[:, None]).T @ centred
    return total


@pytest.mark.parametrize("room", [8_000_000, 2_000, 1])
@pytest.mark.parametrize("name", ["sprite", "gpcm", "lord"])
def test_missing_information_is_the_covariance_of_scores(name, room, monkeypatch):
    responses, truth = simulate(name, 40, 6, [2, 4, 3, 1, 5, 3], observed=0.7, seed=2)
    posterior = Problem(responses, model_of(name)).posterior(41)
    ranks = {p.name: truth.values[p.name] for p in posterior.packing.discrete}
    x = posterior.packing.pack(truth.values)
    table = posterior.table(x, ranks)
    scores = _row_scores(posterior, Blocks.of(posterior.packing), x, ranks)
    counts = expected_counts(responses.start, responses.row, table, posterior.grid.log_weight)[1]
    monkeypatch.setattr(missing, "_COUNTED", room)  # all pairs at once, some questions at a time, one at a time
    monkeypatch.setattr(missing, "_HELD", room)
    set_threads(2)
    try:
        found = missing_information(posterior, table, counts, scores)
    finally:
        set_threads(None)
    expected = by_definition(posterior, table, scores)
    np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())
