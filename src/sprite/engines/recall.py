"""Proposals from what the chains remember of the warm-up, one option at a time.

An option that hardly anybody chose may stand far out and narrow, or near and almost flat, and its parameters roam where
the likelihood tells little. All chains together have been in many such places by the end of the warm-up. Any of those
is proposed anew: to one option of every question given the abilities, and to single options with ability integrated
out, because the choosers' drawn abilities side with wherever their option stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sprite.core.layout import Layout
from sprite.core.types import Bools, Floats, Ints
from sprite.density.posterior import Posterior
from sprite.engines.moves import State, decide
from sprite.kernels.passes import posterior as ability_posterior
from sprite.models.base import pick_rows

PLACES = 128
"""Places remembered of each option."""
NEIGHBOURS = 12
"""Places near by from which the spread around each place is taken, so that each mode has a spread of its own."""
WIDTHS = np.array([1.0, 6.0])
"""Widths of the kernels in units of that spread: among the neighbours, or where nobody was."""
SHARES = np.array([0.7, 0.3])
"""How often each is proposed from."""
FREEDOM = 3.0
"""Degrees of freedom of the kernels' t distributions: the tails of log variances are long."""
TRIES = 3
"""Single options tried a sweep with ability integrated out."""
LARGEST = 5_000_000
"""Respondents x nodes above which their posteriors are not held in memory, and single options are not tried."""


@dataclass(frozen=True, eq=False)
class _Question:
    """One question by itself: its rows, its entries of each parameter, and who answered what."""

    rows: slice
    layout: Layout
    entries: dict[str, Ints]
    who: Ints
    chosen: Ints

    @classmethod
    def of(cls, posterior: Posterior, j: int) -> _Question:
        responses, layout = posterior.responses, posterior.layout
        rows = slice(int(layout.first[j]), int(layout.first[j + 1]))
        parts = (layout.correct[rows], layout.rank[rows], layout.count[rows], layout.score[rows])
        answers = np.flatnonzero((responses.row >= rows.start) & (responses.row < rows.stop))
        return cls(
            rows,
            Layout(np.array([0, rows.stop - rows.start]), *parts),
            {p.name: np.flatnonzero(p.question == j) for p in posterior.packing.continuous},
            np.searchsorted(responses.start, answers, side="right") - 1,
            np.asarray(responses.row[answers], np.int64) - rows.start,
        )


@dataclass(frozen=True, eq=False)
class Memory:
    """Remembered values of each option's entries of x."""

    entries: Ints
    """The entries of x that belong to each row, -1 where there are fewer: (rows, most)."""
    places: Floats
    """(places, rows, most)."""
    spread: Floats
    """Around each place, as `places`."""
    asked: dict[int, _Question] = field(default_factory=dict)
    """What judging a question by itself takes, kept once it has been made."""

    def draw(self, rows: Ints, rng: np.random.Generator) -> Floats:
        """A place of each of these rows, moved a little: (..., most)."""
        which = rng.integers(len(self.places), size=rows.shape)
        width = WIDTHS[(rng.random(rows.shape) > SHARES[0]).astype(np.int64)][..., None]
        noise = rng.standard_t(FREEDOM, size=(*rows.shape, self.entries.shape[1]))
        return np.asarray(self.places[which, rows] + width * self.spread[which, rows] * noise)

    def log_density(self, rows: Ints, at: Floats, free: Bools) -> Floats:
        """Log density of such draws, up to a constant."""
        spread = self.spread[:, rows]
        apart = ((at - self.places[:, rows]) / spread) ** 2
        density = np.zeros(rows.shape)
        for width, share in zip(WIDTHS, SHARES, strict=True):
            kernel = (1.0 + apart / (FREEDOM * width**2)) ** (-0.5 * (FREEDOM + 1.0)) / (width * spread)
            density += share * np.where(free, kernel, 1.0).prod(axis=-1).sum(axis=0)
        return np.asarray(np.log(density))


def remember(posterior: Posterior, past: Floats, rng: np.random.Generator) -> Memory | None:
    """A memory of some of the past, (visits, n_free); None where options have no entries of their own."""
    rows = posterior.packing.rows
    if (rows < 0).any() or not len(rows):
        return None
    order = np.argsort(rows, kind="stable")
    place = np.arange(len(rows)) - np.searchsorted(rows[order], rows[order])
    entries = np.full((posterior.layout.n_rows, int(place.max()) + 1), -1)
    entries[rows[order], place] = order
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
    """Propose a remembered place to one option of every question of every chain, given the abilities."""
    rows = pick_rows(posterior.layout, (len(state.x),), rng)
    x, gain = _propose(memory, rows, state.x, rng)
    value, gradient = posterior.on_counts(x, state.counts, posterior.packing.unpack(x, state.ranks))
    probability, accepted = decide(value - state.value + gain, rng)
    state.take(accepted, x, value, gradient, posterior.packing.question)
    return probability


def recall_collapsed(
    posterior: Posterior, memory: Memory, x: Floats, table: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Propose remembered places to single, mostly rarely chosen options, ability integrated out; x and its table.

    With every respondent's posterior at hand, changing one question multiplies each likelihood by the mean over that
    posterior of the ratio of probabilities.
    """
    responses, grid, layout = posterior.responses, posterior.grid, posterior.layout
    people = responses.n_respondents
    if people * grid.n_nodes > LARGEST:
        return x, table
    weight = np.stack([ability_posterior(responses.start, responses.row, t, grid.log_weight, 0, people) for t in table])
    table = table.copy()
    rare = (1.0 + layout.count) ** -1.5
    packing, model = posterior.packing, posterior.model
    for row in rng.choice(layout.n_rows, TRIES, p=rare / rare.sum()):
        j = int(layout.question[row])
        if j not in memory.asked:
            memory.asked[j] = _Question.of(posterior, j)
        question = memory.asked[j]
        proposal, gain = _propose(memory, np.full((len(x), 1), row), x, rng)
        old, new = (
            {name: np.asarray(values[name])[:, at] for name, at in question.entries.items()}
            for values in (packing.unpack(x), packing.unpack(proposal))
        )
        log_p = model.log_table(new, grid.nodes, question.layout)
        ratio = np.exp(log_p - table[:, question.rows])[:, question.chosen]
        product = weight[:, question.who] * ratio
        change = product.sum(axis=-1)
        prior = model.log_prior(new, question.layout)[0] - model.log_prior(old, question.layout)[0]
        jacobian = packing.log_jacobian(proposal - x)[:, j]
        with np.errstate(divide="ignore"):  # an impossible answer refuses the move
            gain = gain[:, 0] + np.log(change).sum(axis=-1) + prior[:, 0] + jacobian
        taken = np.flatnonzero(decide(gain, rng)[1])
        if len(taken):
            x = x.copy()
            x[taken] = proposal[taken]
            table[taken, question.rows] = log_p[taken]
            weight[np.ix_(taken, question.who)] = product[taken] / change[taken, :, None]
    return x, table


def _propose(memory: Memory, rows: Ints, x: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """x with the entries of these rows, (chains, picks), moved to remembered places, and the Hastings term."""
    entries = memory.entries[rows]
    free = entries >= 0
    chain = np.broadcast_to(np.arange(len(x))[:, None, None], entries.shape)
    current, proposed = np.where(free, x[chain, entries], 0.0), memory.draw(rows, rng)
    moved = x.copy()
    moved[chain[free], entries[free]] = proposed[free]
    return moved, memory.log_density(rows, current, free) - memory.log_density(rows, proposed, free)
