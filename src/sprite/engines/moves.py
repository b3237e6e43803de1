"""The moves of a Gibbs sweep.

All chains move in lockstep: x has shape (chains, n_free), and every question of every chain accepts or rejects by
itself. Given the abilities on the grid a question's data are counts, so none of these costs anything that grows with N.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sprite.core.types import Bools, Floats, Ints
from sprite.density.blocks import Metric
from sprite.density.posterior import Posterior
from sprite.kernels.sprites import move_sprites
from sprite.models.intervals import move_option

TARGET = 0.9
"""Acceptance, at the median over chains, that the step sizes are adapted to: longer steps turn back on themselves."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Answers at drawn abilities: nodes, (chains, K), and counts there, (chains, rows, K)."""

    nodes: Floats
    counts: Floats

    @classmethod
    def of(cls, chains: Sequence[tuple[Floats, Floats]]) -> Drawn:
        """Nodes and counts of every chain, padded with nodes at which nobody stands."""
        nodes = np.zeros((len(chains), max(len(own) for own, _ in chains)))
        counts = np.zeros((len(chains), len(chains[0][1]), nodes.shape[1]))
        for chain, (own, count) in enumerate(chains):
            nodes[chain, : len(own)], counts[chain, :, : len(own)] = own, count
        return cls(nodes, counts)


@dataclass
class State:
    """Where the chains are, with each question's log density given the counts, and its gradient."""

    x: Floats
    ranks: dict[str, Ints]
    drawn: Drawn
    value: Floats
    gradient: Floats

    def take(self, accepted: Bools, x: Floats, value: Floats, gradient: Floats, question: Ints) -> None:
        """Move the accepted questions of each chain."""
        entries = accepted[:, question]
        self.x = np.where(entries, x, self.x)
        self.gradient = np.where(entries, gradient, self.gradient)
        self.value = np.where(accepted, value, self.value)


def condition(posterior: Posterior, x: Floats, ranks: dict[str, Ints], drawn: Drawn) -> State:
    """The state of chains at x given these counts."""
    value, gradient = posterior.on_counts(x, drawn.counts, posterior.packing.unpack(x, ranks), drawn.nodes)
    return State(x, ranks, drawn, value, gradient)


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
        value, gradient = posterior.on_counts(x, state.drawn.counts, packing.unpack(x, state.ranks), state.drawn.nodes)
        momentum = momentum + (1.0 if leap < leaps - 1 else 0.5) * size * metric.pull(gradient)
    gain = value - state.value + 0.5 * (kinetic - packing.sum_by_question(momentum**2))
    probability, accepted = decide(gain, rng)
    state.take(accepted, x, value, gradient, packing.question)
    return probability


class SpriteMoves:
    """The same for SPRITE, compiled, chain by chain: x and the acceptance probabilities (chains, Q) as they become."""

    def __init__(
        self, posterior: Posterior, x: Floats, metric: Metric, step: Floats, leaps: int, rng: np.random.Generator
    ) -> None:
        packing, layout, model = posterior.packing, posterior.layout, posterior.model
        entry = np.full((layout.n_rows, 2), -1)
        entry[packing.rows, packing.exponentiated.astype(np.int64)] = np.arange(packing.n_free)
        prior = np.array([getattr(model, name) for name in ("nu_mu", "alpha", "beta")])
        self.x = x.copy()
        self.probability = np.empty((len(x), layout.n_questions))
        self._fixed = (layout.first, packing.first, entry, prior, metric.inverse)
        self._leaps = leaps
        self._step = step * rng.uniform(0.8, 1.2, self.probability.shape)
        self._normal, self._uniform = rng.standard_normal(x.shape), rng.random(self.probability.shape)

    def move(self, chain: int, nodes: Floats, counts: Floats) -> None:
        """One chain's questions on its counts."""
        random = (self._step[chain], self._leaps, self._normal[chain], self._uniform[chain])
        move_sprites(self.x[chain], counts, nodes, *self._fixed, *random, self.probability[chain])


def refresh(posterior: Posterior, state: State, rng: np.random.Generator) -> Floats:
    """One option's parameters of every question anew from the prior, accepted by the likelihood ratio."""
    packing = posterior.packing
    values = packing.unpack(state.x, state.ranks)
    x = packing.pack(posterior.model.refresh(values, posterior.layout, rng))
    proposed = packing.unpack(x, state.ranks)
    value, gradient = posterior.on_counts(x, state.drawn.counts, proposed, state.drawn.nodes)
    gain = (value - posterior.log_prior(x, proposed)[0]) - (state.value - posterior.log_prior(state.x, values)[0])
    probability, accepted = decide(gain, rng)
    state.take(accepted, x, value, gradient, packing.question)
    return probability


def reorder(posterior: Posterior, state: State, far: bool, rng: np.random.Generator) -> Floats:
    """Take one option of every question past its neighbour, or `far`: to any place, each keeping its share of answers.

    Either way there and back are proposed equally often.
    """
    layout, packing, model = posterior.layout, posterior.packing, posterior.model
    first, second = rng.random((2, *state.value.shape))
    places = np.maximum(layout.n_options - 1, 1)
    lower = (first * places).astype(np.int64)
    source = (first * layout.n_options).astype(np.int64) if far else lower
    other = (second * places).astype(np.int64)
    target = other + (other >= source) if far else lower + 1
    values, log_jacobian = move_option(packing.unpack(state.x, state.ranks), source, target, model.ability, layout)
    x = np.where(np.isfinite(log_jacobian)[:, packing.question], packing.pack(values), state.x)
    ranks = {"rank": np.asarray(values["rank"], np.int64)}
    value, gradient = posterior.on_counts(x, state.drawn.counts, packing.unpack(x, ranks), state.drawn.nodes)
    # The Jacobian is that of the natural scale, and so must the densities be.
    gain = (value - packing.log_jacobian(x)) - (state.value - packing.log_jacobian(state.x)) + log_jacobian
    probability, accepted = decide(gain, rng)
    state.take(accepted, x, value, gradient, packing.question)
    state.ranks = {"rank": np.where(accepted[:, layout.question], ranks["rank"], state.ranks["rank"])}
    return probability


def decide(gain: Floats, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Acceptance probabilities and decisions; a step into nowhere has a NaN gain and is refused."""
    probability = np.exp(np.minimum(np.where(np.isnan(gain), -np.inf, gain), 0.0))
    return probability, rng.random(gain.shape) < probability
