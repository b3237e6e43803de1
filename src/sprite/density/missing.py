"""What not knowing the abilities takes from the information: the second part of Louis's identity."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sprite.core.layout import Layout
from sprite.core.types import Floats, Ints
from sprite.density.packing import Packing
from sprite.density.posterior import Posterior
from sprite.kernels.pairs import TILE, add_pair_counts, expected_scores
from sprite.kernels.passes import posterior as ability_posterior

_HELD = 4_000_000  # numbers held at a time for a block of respondents: 32 MB
_COUNTED = 8_000_000  # pair counts held at a time: 64 MB


def missing_information(posterior: Posterior, table: Floats, counts: Floats, scores: Floats) -> Floats:
    """The sum over respondents of the posterior covariance of their score, (n_free, n_free).

    A covariance is a second moment less a squared mean. The second moments of all respondents together need only how
    many of them, at each node, chose each pair of options: one addition a pair and node, whatever the number of
    parameters. The squared means are one matrix product. `scores` is each row's derivative in its question's entries
    of x at each node, (rows, D, nodes); `counts` are the expected counts.
    """
    packing, layout = posterior.packing, posterior.layout
    out = np.zeros((packing.n_free, packing.n_free))
    for mean in mean_scores(posterior, table, scores):
        out -= mean.T @ mean
    for first, last in _groups(layout):
        for low in range(0, posterior.grid.n_nodes, TILE * _tiles(layout, posterior.grid.n_nodes)):
            pairs = _pair_counts(posterior, table, layout.first[first], layout.first[last], low)
            for j in range(first, last):
                own = slice(layout.first[j] - layout.first[first], layout.first[j + 1] - layout.first[first])
                mine = slice(packing.first[j], packing.first[j + 1])
                block = _moments(pairs[:, own], scores[:, :, low:], j, layout, packing)
                out[mine] += block
                out[:, mine] += block.T
    for j in range(layout.n_questions):
        own, mine = slice(layout.first[j], layout.first[j + 1]), slice(packing.first[j], packing.first[j + 1])
        score = scores[own, : mine.stop - mine.start]
        out[mine, mine] += np.einsum("rk,rak,rbk->ab", counts[own], score, score, optimize=True)
    return out


def mean_scores(posterior: Posterior, table: Floats, scores: Floats) -> Iterator[Floats]:
    """Each respondent's expected score, (respondents, n_free), block after block of them."""
    row, packing = posterior.responses.row, posterior.packing
    column = packing.first[posterior.layout.question]
    for start, weight in _people(posterior, table):
        yield expected_scores(start, row, weight, scores, column, packing.n_free)


def _people(posterior: Posterior, table: Floats) -> Iterator[tuple[Ints, Floats]]:
    """Blocks of respondents: where their answers begin, and the posteriors of their abilities."""
    responses, grid = posterior.responses, posterior.grid
    size = max(1, _HELD // max(grid.n_nodes, posterior.packing.n_free))
    for begin in range(0, responses.n_respondents, size):
        end = min(begin + size, responses.n_respondents)
        weight = ability_posterior(responses.start, responses.row, table, grid.log_weight, begin, end)
        yield responses.start[begin : end + 1], weight


def _tiles(layout: Layout, n_nodes: int) -> int:
    """How many tiles of nodes are counted at a time: all where there is room, else one."""
    every = -(-n_nodes // TILE)
    return every if every * TILE * layout.n_rows**2 <= _COUNTED else 1


def _groups(layout: Layout) -> Iterator[tuple[int, int]]:
    """Runs of questions whose pairs with all others are counted at a time."""
    room = max(1, _COUNTED // (TILE * max(layout.n_rows, 1)))
    first = 0
    while first < layout.n_questions:
        last = int(np.searchsorted(layout.first, layout.first[first] + room, side="right")) - 1
        last = min(max(last, first + 1), layout.n_questions)
        yield first, last
        first = last


def _pair_counts(posterior: Posterior, table: Floats, begin: int, end: int, low: int) -> Floats:
    """Expected counts of the pairs whose earlier answer is one of the rows begin to end, from node `low` on."""
    layout, n_nodes = posterior.layout, posterior.grid.n_nodes
    tiles = min(_tiles(layout, n_nodes), -(-(n_nodes - low) // TILE))
    pairs = np.zeros((tiles, end - begin, layout.n_rows, TILE))
    for start, weight in _people(posterior, table):
        add_pair_counts(start, posterior.responses.row, weight, low, begin, pairs)
    return pairs


def _moments(pairs: Floats, scores: Floats, j: int, layout: Layout, packing: Packing) -> Floats:
    """Second moments of question j's entries with those of all later questions: (entries of j, n_free)."""
    own, size = slice(layout.first[j], layout.first[j + 1]), packing.first[j + 1] - packing.first[j]
    here = np.moveaxis(pairs, 0, 2).reshape(pairs.shape[1], layout.n_rows, -1)
    n = min(here.shape[2], scores.shape[2])
    # Questions that nobody was asked together with this one have nothing to add, and may be most of them.
    seen = np.flatnonzero(here[:, :, :n].any(axis=(0, 2)))
    one = np.einsum("rsk,rak->ask", here[:, seen, :n], scores[own, :size, :n], optimize=True)
    both = np.einsum("ask,sbk->sab", one, scores[seen, :, :n], optimize=True)
    by_question = np.zeros((layout.n_questions, *both.shape[1:]))
    np.add.at(by_question, layout.question[seen], both)
    place = np.arange(packing.n_free) - packing.first[packing.question]
    return np.asarray(by_question[packing.question, :, place].T)
