"""Proposals from what the chains remember of the warm-up, one option of a question at a time.

An option that hardly anybody chose may stand far out on either side, or near and almost flat: its two parameters roam
through regions that the likelihood tells little about, and that trajectories and draws from the prior cross slowly. All
chains together have been in many of these places by the end of the warm-up, so any of those is proposed anew.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sprite.core.types import Bools, Floats, Ints
from sprite.density.packing import Packing
from sprite.density.posterior import Posterior
from sprite.engines.moves import State, decide
from sprite.models.base import pick_rows

PLACES = 128
"""Places remembered."""
NEIGHBOURS = 12
"""Places near by from which the spread around each place is taken, so that each mode has a spread of its own."""
WIDTHS = np.array([1.0, 6.0])
"""Widths of the kernels in units of that spread: among the neighbours, or where nobody was."""
SHARES = np.array([0.7, 0.3])
"""How often each is proposed from."""
FREEDOM = 3.0
"""Degrees of freedom of the kernels' t distributions: the tails of log variances are long."""


@dataclass(frozen=True, eq=False)
class Memory:
    """Remembered values of each option's entries of x, with the width of a kernel for each."""

    entries: Ints
    """The entries of x that belong to each row, -1 where there are fewer: (rows, most)."""
    places: Floats
    """(places, rows, most)."""
    spread: Floats
    """Around each place, as `places`."""


def option_entries(packing: Packing) -> Ints | None:
    """The entries of x by the row that they belong to, or None where options have none of their own."""
    rows = packing.rows
    if (rows < 0).any() or not len(rows):
        return None
    order = np.argsort(rows, kind="stable")
    place = np.arange(len(rows)) - np.searchsorted(rows[order], rows[order])
    entries = np.full((packing.n_rows, int(place.max()) + 1), -1)
    entries[rows[order], place] = order
    return entries


def remember(entries: Ints, past: Floats, rng: np.random.Generator) -> Memory:
    """A memory of some of the past, (visits, n_free)."""
    some = past[rng.choice(len(past), min(PLACES, len(past)), replace=False)]
    places = np.where(entries >= 0, some[:, np.maximum(entries, 0)], 0.0)
    scale = np.maximum(places.std(axis=0), 1e-3)
    spread = np.empty_like(places)
    for row in range(len(entries)):  # one at a time: all distances at once would be large
        apart = ((places[:, None, row] - places[:, row]) / scale[row]) ** 2
        near = np.argsort(apart.sum(axis=-1), axis=1)[:, :NEIGHBOURS]
        spread[:, row] = places[near, row].std(axis=1)
    return Memory(entries, places, np.maximum(spread, 0.02 * scale))


def recall(posterior: Posterior, memory: Memory, state: State, rng: np.random.Generator) -> Floats:
    """Propose a remembered place, moved a little, for one option of every question of every chain."""
    chains, questions = state.value.shape
    rows = pick_rows(posterior.layout, (chains,), rng)
    entries = memory.entries[rows]
    free = entries >= 0
    which = rng.integers(len(memory.places), size=(chains, questions))
    width = (
        WIDTHS[(rng.random((chains, questions)) > SHARES[0]).astype(np.int64)][..., None] * memory.spread[which, rows]
    )
    proposed = memory.places[which, rows] + rng.standard_t(FREEDOM, size=entries.shape) * width
    x = state.x.copy()
    chain = np.broadcast_to(np.arange(chains)[:, None, None], entries.shape)
    current = np.where(free, state.x[chain, entries], 0.0)
    x[chain[free], entries[free]] = proposed[free]
    value, gradient = posterior.on_counts(x, state.counts, posterior.packing.unpack(x, state.ranks))
    forth, back = (_log_density(memory, rows, at, free) for at in (proposed, current))
    probability, accepted = decide(value - state.value + back - forth, rng)
    state.take(accepted, x, value, gradient, posterior.packing.question)
    return probability


def _log_density(memory: Memory, rows: Ints, at: Floats, free: Bools) -> Floats:
    """Log density of the mixture of kernels over places and widths, up to what is the same both ways."""
    spread = memory.spread[:, rows]
    apart = ((at - memory.places[:, rows]) / spread) ** 2
    density = np.zeros(rows.shape)
    for width, share in zip(WIDTHS, SHARES, strict=True):
        kernel = (1.0 + apart / (FREEDOM * width**2)) ** (-0.5 * (FREEDOM + 1.0)) / (width * spread)
        density += share * np.where(free, kernel, 1.0).prod(axis=-1).sum(axis=0)
    return np.asarray(np.log(density))
