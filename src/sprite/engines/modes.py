"""Several modes of one question's conditional, and a mixture over them to propose from.

A rarely chosen option can stand as a narrow sprite far out or as a nearly flat one. Each question is searched from many
starts on its expected counts; where several modes carry weight, chains start in all of them and jump between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, logsumexp

from sprite.core.types import Bools, Floats, Ints
from sprite.density.blocks import Blocks, curvature, metric_of
from sprite.density.posterior import Posterior, Ranks
from sprite.engines.search import settle

SEARCHES = 12
STEPS = 20
KEPT = 4
"""Modes kept a question."""
NEGLIGIBLE = 7.0
"""A mode whose Laplace evidence is smaller by this factor of e is left out."""
LEAST_SHARE = 0.1
"""Every kept mode is proposed at least this often."""
FREEDOM = 5.0
"""Degrees of freedom of the t distributions that are proposed from: tails heavier than a Gaussian's."""


@dataclass(frozen=True, eq=False)
class QuestionModes:
    """Modes of every question, padded to the same number: slot s of question q is empty where log_share is -inf."""

    blocks: Blocks
    x: Floats
    """(slots, n_free)."""
    factor: Floats
    """Cholesky factors of the precisions, (slots, Q, D, D)."""
    inverse: Floats
    log_share: Floats
    """Log probability of proposing each slot, (slots, Q)."""
    log_weight: Floats
    """Log of the share of the posterior that each mode is estimated to hold, (slots, Q)."""

    @property
    def several(self) -> Bools:
        """Questions with more than one mode."""
        return np.asarray(np.isfinite(self.log_share).sum(axis=0) > 1)

    def pick(self, chains: int, log_share: Floats, rng: np.random.Generator) -> Ints:
        """A slot for every chain and question, (chains, Q)."""
        gumbel = rng.gumbel(size=(chains, *log_share.shape))
        return np.asarray(np.argmax(log_share + gumbel, axis=1))

    def start(self, chains: int, rng: np.random.Generator) -> Floats:
        """Chains spread over the modes by their weight."""
        return self._around(self.pick(chains, self.log_weight, rng), rng)

    def draw(self, chains: int, rng: np.random.Generator) -> Floats:
        """Draws from the mixture."""
        return self._around(self.pick(chains, self.log_share, rng), rng)

    def _around(self, slot: Ints, rng: np.random.Generator) -> Floats:
        blocks = self.blocks
        shape = (*slot.shape, blocks.size)
        tail = np.sqrt(FREEDOM / rng.chisquare(FREEDOM, slot.shape))
        normal = rng.standard_normal(shape)
        questions = np.arange(blocks.n_questions)
        moved = np.einsum("cqji,cqj->cqi", self.inverse[slot, questions], normal) * tail[..., None]
        centre = blocks.spread(self.x)[slot, questions]
        return blocks.gather(centre + moved)

    def log_density(self, x: Floats) -> Floats:
        """Log density of the mixture, by question: (chains, n_free) -> (chains, Q)."""
        apart = self.blocks.spread(x[:, None] - self.x)
        white = np.einsum("sqji,csqj->csqi", self.factor, apart)
        d = np.bincount(self.blocks.question, minlength=self.blocks.n_questions)
        log_det = np.log(np.abs(np.einsum("sqii->sqi", self.factor))).sum(axis=-1)
        constant = gammaln(0.5 * (FREEDOM + d)) - gammaln(0.5 * FREEDOM) - 0.5 * d * np.log(FREEDOM * np.pi)
        kernel = -0.5 * (FREEDOM + d) * np.log1p((white**2).sum(axis=-1) / FREEDOM)
        return np.asarray(logsumexp(self.log_share + log_det + constant + kernel, axis=1))


def question_modes(
    posterior: Posterior, blocks: Blocks, x: Floats, ranks: Ranks, counts: Floats, rng: np.random.Generator
) -> QuestionModes:
    """Search every question's conditional given these counts from x and from draws of the prior."""
    candidates = [x] + [
        posterior.packing.pack(posterior.model.sample(posterior.layout, "prior", rng)) for _ in range(SEARCHES)
    ]
    found = [settle(posterior, blocks, start, counts, ranks, STEPS) for start in candidates]
    modes = np.array([at for at, _ in found])
    value = np.array([top for _, top in found])
    metrics = [metric_of(blocks, curvature(posterior, blocks, at, counts, ranks)) for at in modes]
    factor, inverse = np.array([m.factor for m in metrics]), np.array([m.inverse for m in metrics])
    log_det = np.log(np.abs(np.einsum("sqii->sqi", factor))).sum(axis=-1)
    evidence = value - log_det

    # Keep, best first, each question's modes that are not within a standard deviation or so of a better one.
    questions = np.arange(blocks.n_questions)
    order = np.argsort(-evidence, axis=0, kind="stable")
    spread = blocks.spread(modes)
    kept = np.full((KEPT, blocks.n_questions), -1)
    for slot in order:
        apart = np.ones(blocks.n_questions, dtype=bool)
        for other in kept:
            gap = spread[slot, questions] - spread[np.maximum(other, 0), questions]
            white = np.einsum("qji,qj->qi", factor[np.maximum(other, 0), questions], gap)
            apart &= (other < 0) | (np.sqrt((white**2).sum(axis=-1)) > 1.5)
        worth = evidence[slot, questions] > evidence.max(axis=0) - NEGLIGIBLE
        free = np.argmax(kept < 0, axis=0)
        add = apart & worth & (kept < 0).any(axis=0)
        kept[free[add], questions[add]] = slot[add]
    picked = np.maximum(kept, 0)
    log_weight = np.where(kept >= 0, evidence[picked, questions], -np.inf)
    log_weight -= logsumexp(log_weight, axis=0)
    share = np.where(kept >= 0, np.maximum(np.exp(log_weight), LEAST_SHARE), 0.0)
    with np.errstate(divide="ignore"):
        log_share = np.log(share / share.sum(axis=0))
    return QuestionModes(
        blocks,
        blocks.gather(spread[picked, questions]),
        factor[picked, questions],
        inverse[picked, questions],
        log_share,
        log_weight,
    )
