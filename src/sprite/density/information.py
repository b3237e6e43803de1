"""The observed information of the collapsed posterior, by Louis's identity.

Information = curvature given the expected counts (block diagonal) minus the sum over respondents of the posterior
covariance of their score (`missing`).
"""

from __future__ import annotations

import numpy as np

from sprite.core.types import Floats
from sprite.density.blocks import STEP, Blocks, curvature
from sprite.density.missing import missing_information
from sprite.density.posterior import Posterior, Ranks
from sprite.kernels.passes import expected_counts
from sprite.kernels.passes import posterior as ability_posterior
from sprite.kernels.scores import squared_scores

_PEOPLE = 50_000  # respondents whose ability posteriors are held at a time


def observed_information(posterior: Posterior, x: Floats, ranks: Ranks | None = None) -> Floats:
    """Minus the Hessian of the log posterior in x, (n_free, n_free)."""
    responses, packing, grid = posterior.responses, posterior.packing, posterior.grid
    blocks = Blocks.of(packing)
    table = posterior.table(x, ranks)
    data = (responses.start, responses.row, table, grid.log_weight)
    counts = expected_counts(*data)[1]
    own = curvature(posterior, blocks, x, counts, ranks)
    same = packing.question[:, None] == packing.question
    information = np.where(same, own[packing.question[:, None], blocks.place[:, None], blocks.place], 0.0)

    information -= missing_information(posterior, table, counts, _row_scores(posterior, blocks, x, ranks))
    return 0.5 * (information + information.T)


def question_information(posterior: Posterior, x: Floats, ranks: Ranks | None = None) -> Floats:
    """The blocks of each question on the diagonal of `observed_information`, (Q, D, D), padded with an identity.

    What one question's parameters share with another's is left out, and with it all that makes the whole expensive.
    """
    responses, layout = posterior.responses, posterior.layout
    blocks = Blocks.of(posterior.packing)
    table = posterior.table(x, ranks)
    data = (responses.start, responses.row, table, posterior.grid.log_weight)
    counts = expected_counts(*data)[1]
    scores = _row_scores(posterior, blocks, x, ranks)
    missing = np.swapaxes(scores, 1, 2) @ (counts[:, :, None] * scores)
    for begin in range(0, responses.n_respondents, _PEOPLE):
        end = min(begin + _PEOPLE, responses.n_respondents)
        weight = ability_posterior(*data, begin, end)
        missing -= squared_scores(responses.start[begin : end + 1], responses.row, weight, scores)
    information = curvature(posterior, blocks, x, counts, ranks)
    np.subtract.at(information, layout.question, missing)
    size = np.diff(blocks.first)
    padding = np.arange(blocks.size) >= size[:, None]
    information[padding[:, :, None] & np.eye(blocks.size, dtype=bool)] = 1.0
    return information


def _row_scores(posterior: Posterior, blocks: Blocks, x: Floats, ranks: Ranks | None) -> Floats:
    """Derivative of each row's log probability at each node in its question's entries of x: (rows, nodes, D)."""
    shift = STEP * (blocks.place == np.arange(blocks.size)[:, None])
    out = np.empty((posterior.layout.n_rows, posterior.grid.n_nodes, blocks.size))
    for p, step in enumerate(shift):
        out[:, :, p] = (posterior.table(x + step, ranks) - posterior.table(x - step, ranks)) / (2 * STEP)
    return out
