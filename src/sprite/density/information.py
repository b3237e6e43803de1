"""The observed information of the collapsed posterior, by Louis's identity.

Information = curvature given the expected counts (block diagonal) minus the sum over respondents of the posterior
covariance of their score. The second part is one matrix product over respondents and the nodes that matter to them.
"""

from __future__ import annotations

import numpy as np

from sprite.core.types import Floats
from sprite.density.blocks import STEP, Blocks, curvature
from sprite.density.posterior import Posterior, Ranks
from sprite.kernels.passes import expected_counts, moments
from sprite.kernels.passes import posterior as ability_posterior
from sprite.kernels.scores import squared_scores

_CHUNK = 4_000_000  # score entries held at a time: 32 MB
_PEOPLE = 50_000  # respondents whose ability posteriors are held at a time
_NEGLIGIBLE = 1e-10


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

    scores = _row_scores(posterior, blocks, x, ranks)
    # Neighbours in ability share their window of nodes, so respondents are taken in that order.
    order = np.argsort(moments(*data, grid.nodes)[1], kind="stable")
    answered = np.diff(responses.start)
    order = order[answered[order] > 0]
    size = max(1, _CHUNK // max(1, packing.n_free * grid.n_nodes))
    for begin in range(0, len(order), size):
        people = order[begin : begin + size]
        weight = np.concatenate([ability_posterior(*data, int(i), int(i) + 1, threads=1) for i in people])
        window = np.flatnonzero(weight.max(axis=0) > _NEGLIGIBLE)
        low, high = int(window[0]), int(window[-1]) + 1
        weight = weight[:, low:high]
        score = np.zeros((len(people), high - low, packing.n_free))
        answers = np.concatenate([responses.row[responses.start[i] : responses.start[i + 1]] for i in people])
        who = np.repeat(np.arange(len(people)), answered[people])
        for j in np.unique(responses.question_of_row[answers]):
            mine = responses.question_of_row[answers] == j
            columns = slice(packing.first[j], packing.first[j + 1])
            width = columns.stop - columns.start
            score[who[mine], :, columns] = scores[answers[mine], low:high, :width]
        mean = np.einsum("ik,ikp->ip", weight, score)
        centred = ((score - mean[:, None]) * np.sqrt(weight)[:, :, None]).reshape(-1, packing.n_free)
        information -= centred.T @ centred
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
