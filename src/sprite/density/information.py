"""The observed information of the collapsed posterior, by Louis's identity.

Information = curvature given the expected counts (block diagonal) minus the sum over respondents of the posterior
covariance of their score (`missing`).
"""

from __future__ import annotations

import numpy as np

from sprite.core.types import Floats
from sprite.density.blocks import STEP, Blocks, curvature
from sprite.density.missing import mean_scores, missing_information
from sprite.density.posterior import Posterior, Ranks
from sprite.kernels.passes import expected_counts


def observed_information(posterior: Posterior, x: Floats, ranks: Ranks | None = None) -> Floats:
    """Minus the Hessian of the log posterior in x, (n_free, n_free)."""
    responses, packing, grid = posterior.responses, posterior.packing, posterior.grid
    blocks = Blocks.of(packing)
    table = posterior.table(x, ranks)
    counts = expected_counts(responses.start, responses.row, table, grid.log_weight)[1]
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
    counts = expected_counts(responses.start, responses.row, table, posterior.grid.log_weight)[1]
    scores = _row_scores(posterior, blocks, x, ranks)
    information = curvature(posterior, blocks, x, counts, ranks)
    np.subtract.at(information, layout.question, (counts[:, None] * scores) @ np.swapaxes(scores, 1, 2))
    for mean in mean_scores(posterior, table, scores):
        own = blocks.spread(mean)
        information += np.einsum("iqa,iqb->qab", own, own, optimize=True)
    size = np.diff(blocks.first)
    padding = np.arange(blocks.size) >= size[:, None]
    information[padding[:, :, None] & np.eye(blocks.size, dtype=bool)] = 1.0
    return information


def _row_scores(posterior: Posterior, blocks: Blocks, x: Floats, ranks: Ranks | None) -> Floats:
    """Derivative of each row's log probability in its question's entries of x at each node: (rows, D, nodes)."""
    shift = STEP * (blocks.place == np.arange(blocks.size)[:, None])
    out = np.empty((posterior.layout.n_rows, blocks.size, posterior.grid.n_nodes))
    for p, step in enumerate(shift):
        out[:, p] = (posterior.table(x + step, ranks) - posterior.table(x - step, ranks)) / (2 * STEP)
    return out
