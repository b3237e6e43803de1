"""The moves of a Gibbs sweep.

All chains move in lockstep: x has shape (chains, n_free), and every question of every chain accepts or rejects by
itself. Given the abilities on the grid a question's data are counts, so none of these costs anything that grows with N.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sprite.core.types import Bools, Floats, Ints
from sprite.density.blocks import Metric
from sprite.density.posterior import Posterior
from sprite.engines.modes import QuestionModes

TARGET = 0.8
"""Acceptance that the step sizes are adapted to."""


@dataclass
class State:
    """Where the chains are, with each question's log density given the counts, and its gradient."""

    x: Floats
    ranks: dict[str, Ints]
    counts: Floats
    value: Floats
    gradient: Floats

    def take(self, accepted: Bools, x: Floats, value: Floats, gradient: Floats, question: Ints) -> None:
        """Move the accepted questions of each chain."""
        entries = accepted[:, question]
        self.x = np.where(entries, x, self.x)
        self.gradient = np.where(entries, gradient, self.gradient)
        self.value = np.where(accepted, value, self.value)


def condition(posterior: Posterior, x: Floats, ranks: dict[str, Ints], counts: Floats) -> State:
    """The state of chains at x given these counts."""
    value, gradient = posterior.on_counts(x, counts, posterior.packing.unpack(x, ranks))
    return State(x, ranks, counts, value, gradient)


def hamiltonian(
    posterior: Posterior, state: State, metric: Metric, step: Floats, leaps: int, rng: np.random.Generator
) -> Floats:
    """Short HMC of every question in its own metric; returns the acceptance probabilities (chains, Q)."""
    packing = posterior.packing
    momentum = rng.standard_normal(state.x.shape)
    size = (step * rng.uniform(0.8, 1.2, state.value.shape))[:, packing.question]
    kinetic = packing.sum_by_question(momentum**2)
    x, value, gradient = state.x, state.value, state.gradient
    momentum = momentum + 0.5 * size * metric.pull(gradient)
    for leap in range(leaps):
        x = x + metric.unwhiten(size * momentum)
        value, gradient = posterior.on_counts(x, state.counts, packing.unpack(x, state.ranks))
        momentum = momentum + (1.0 if leap < leaps - 1 else 0.5) * size * metric.pull(gradient)
    gain = value - state.value + 0.5 * (kinetic - packing.sum_by_question(momentum**2))
    probability, accepted = _decide(gain, rng)
    state.take(accepted, x, value, gradient, packing.question)
    return probability


def jump(posterior: Posterior, state: State, modes: QuestionModes, rng: np.random.Generator) -> Floats:
    """Independence proposals from the mixture of Laplace approximations at each question's modes."""
    x = modes.draw(len(state.x), rng)
    value, gradient = posterior.on_counts(x, state.counts, posterior.packing.unpack(x, state.ranks))
    gain = value - state.value + modes.log_density(state.x) - modes.log_density(x)
    gain[:, ~modes.several] = -np.inf
    probability, accepted = _decide(gain, rng)
    state.take(accepted, x, value, gradient, posterior.packing.question)
    return probability


def swap_ranks(posterior: Posterior, state: State, rng: np.random.Generator) -> Floats:
    """Exchange two neighbouring options of every question, their bins' widths along with them half of the time.

    Both exchanges undo themselves, and permuting increments has Jacobian 1: only the ratio of densities counts.
    """
    layout, packing = posterior.layout, posterior.packing
    chains, rank = len(state.x), state.ranks["rank"]
    lower = (rng.random((chains, layout.n_questions)) * np.maximum(layout.n_options - 1, 1)).astype(np.int64)
    at = lower[:, layout.question]
    inside = layout.n_options[layout.question] > 1
    proposal = np.where(inside & (rank == at), at + 1, np.where(inside & (rank == at + 1), at, rank))
    x = state.x.copy()
    # Bins 1 to M - 2 have widths: the increments of gamma, which stand after alpha in each question's entries.
    wide = (rng.random(lower.shape) < 0.5) & (lower >= 1) & (lower + 1 <= layout.n_options - 2)
    chain, question = np.nonzero(wide)
    here = packing.first[question] + lower[chain, question]
    x[chain, here], x[chain, here + 1] = state.x[chain, here + 1], state.x[chain, here]
    value, gradient = posterior.on_counts(x, state.counts, packing.unpack(x, {"rank": proposal}))
    gain = np.where(layout.n_options > 1, value - state.value, -np.inf)
    probability, accepted = _decide(gain, rng)
    state.take(accepted, x, value, gradient, packing.question)
    state.ranks = {"rank": np.where(accepted[:, layout.question], proposal, rank)}
    return probability


def _decide(gain: Floats, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Acceptance probabilities and decisions; a step into nowhere has a NaN gain and is refused."""
    probability = np.exp(np.minimum(np.where(np.isnan(gain), -np.inf, gain), 0.0))
    return probability, rng.random(gain.shape) < probability
