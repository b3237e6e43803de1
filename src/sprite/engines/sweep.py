"""The three parts of a Gibbs sweep: abilities, questions, and what all questions do together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sprite.core.types import Floats, Ints
from sprite.density.blocks import Metric
from sprite.density.posterior import Posterior
from sprite.engines.moves import Drawn, SpriteMoves, condition, hamiltonian, refresh, reorder
from sprite.engines.upright import keep_upright, turned
from sprite.kernels.draws import draw_counts, draw_nodes, node_counts
from sprite.kernels.passes import log_likelihood
from sprite.kernels.threads import each
from sprite.models.sprite import Sprite

Ranks = dict[str, Ints]
Then = Callable[[int, Floats, Floats], None]
OPTIONS_A_ROUND = 3
"""Options of the longest question for each round of moves that change orders: many options need many moves."""


def draw_abilities(
    posterior: Posterior, table: Floats, rng: np.random.Generator, then: Then | None = None
) -> list[tuple[Floats, Floats]]:
    """Every chain's nodes and counts at freshly drawn abilities; `then` is told a chain, its nodes and its counts.

    What follows on the counts of a chain alone follows in the same thread: handing over costs as much as drawing.
    """
    uniform = rng.random((len(table), posterior.responses.n_respondents))
    found: list[tuple[Floats, Floats]] = [(np.empty(0), np.empty((0, 0)))] * len(table)

    def task(chain: int) -> None:
        found[chain] = _draw(posterior, table[chain], uniform[chain])
        if then is not None:
            then(chain, *found[chain])

    each(len(table), task)
    return found


def _draw(posterior: Posterior, table: Floats, uniform: Floats) -> tuple[Floats, Floats]:
    """Nodes and counts of one chain: where respondents are fewer than nodes, only the nodes at which they stand."""
    data, grid = posterior.responses, posterior.grid
    if data.n_respondents >= grid.n_nodes:
        return grid.nodes, draw_counts(data.start, data.row, table, grid.log_weight, uniform, threads=1)[1]
    node = draw_nodes(data.start, data.row, table, grid.log_weight, uniform, threads=1)
    occupied, place = np.unique(node, return_inverse=True)
    if occupied[:1] == [-1]:  # answers that are impossible count nothing
        occupied, place = occupied[1:], place - 1
    return grid.nodes[occupied], node_counts(data.start, data.row, place.astype(np.int32), len(table), len(occupied))


def sweep(
    posterior: Posterior,
    metric: Metric,
    x: Floats,
    ranks: Ranks,
    table: Floats,
    step: Floats,
    leaps: int,
    anew: bool,
    rng: np.random.Generator,
) -> tuple[Floats, Ranks, Floats | None]:
    """Draw the abilities, then every question's parameters given the counts.

    With the acceptance of the questions' HMC, (chains, Q), where there was one. `anew` also proposes one option's (or
    step's) parameters of every question anew from the prior.
    """
    if isinstance(posterior.model, Sprite):
        moves = SpriteMoves(posterior, x, metric, step, leaps, rng)
        drawn = draw_abilities(posterior, table, rng, moves.move)
        if not anew:
            return moves.x, ranks, moves.probability
        state = condition(posterior, moves.x, ranks, Drawn.of(drawn))
        refresh(posterior, state, rng)
        return state.x, ranks, moves.probability
    state = condition(posterior, x, ranks, Drawn.of(draw_abilities(posterior, table, rng)))
    if ranks and anew:
        # By itself: what is undone as a whole must be reversible as a whole.
        refresh(posterior, state, rng)
        return *keep_upright(posterior, (x, ranks), (state.x, state.ranks)), None
    if ranks:
        reorder(posterior, state, False, rng)
    probability = hamiltonian(posterior, state, metric, step, leaps, rng)
    if ranks:
        for _ in range(max(1, int(posterior.layout.n_options.max()) // OPTIONS_A_ROUND)):
            reorder(posterior, state, True, rng)
            reorder(posterior, state, False, rng)
        return *keep_upright(posterior, (x, ranks), (state.x, state.ranks)), probability
    if anew:
        refresh(posterior, state, rng)
    return state.x, ranks, probability


def move_together(
    posterior: Posterior,
    directions: Floats,
    x: Floats,
    ranks: Ranks,
    table: Floats,
    scale: float,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, float]:
    """A random walk along global directions, judged on the collapsed posterior; x, its table and the acceptance."""
    proposal = x + scale * rng.standard_normal((len(x), len(directions))) @ directions
    new_table = posterior.table(proposal, ranks)
    gain = np.empty((2, len(x)))

    def task(chain: int) -> None:
        responses, weight = posterior.responses, posterior.grid.log_weight
        for which, log_p in enumerate((table, new_table)):
            likelihoods = log_likelihood(responses.start, responses.row, log_p[chain], weight, threads=1)
            gain[which, chain] = likelihoods.sum()

    each(len(x), task)
    for which, at in enumerate((x, proposal)):
        gain[which] += posterior.log_prior(at, posterior.packing.unpack(at, ranks))[0].sum(axis=-1)
    probability = np.exp(np.minimum(np.nan_to_num(gain[1] - gain[0], nan=-np.inf), 0.0))
    accepted = (rng.random(len(x)) < probability) & ~turned(posterior, proposal, ranks)
    return (
        np.where(accepted[:, None], proposal, x),
        np.where(accepted[:, None, None], new_table, table),
        float(probability.mean()),
    )
