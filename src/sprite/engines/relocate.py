"""Rarely chosen options, relocated with ability integrated out.

An option that hardly anybody chose may stand far out and narrow, or near and almost flat, and the abilities drawn for
its choosers side with wherever it stands: given them it cannot leave. So where each such option may stand is surveyed
before sampling, by importance sampling that begins at the prior, and during sampling places from the survey are
proposed to it on the collapsed posterior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sprite.core.types import Floats, Ints
from sprite.density.posterior import Posterior
from sprite.engines.part import Part
from sprite.kernels.collapsed import choose, judge
from sprite.kernels.mixture import log_mixture, spread_around
from sprite.kernels.standing import standing
from sprite.kernels.threads import each

PLACES = 96
"""Places remembered of each option."""
VISITS = 32
"""Of these, so many are taken from where chains have been."""
SURVEYED, FEWEST = 384, 32
"""Places looked at in each round of the survey; fewer, where there is more than this to do, but not below that."""
WORK = 50_000_000
"""Probabilities that a survey may compute for them."""
ROUNDS = 3
FAINT = 12
"""Of the places, so many are where an option would be chosen alike at every ability.

That may be ten of the prior's deviations away, too far for the survey to find; and a chain that gets there by itself
would not leave for long if it were not proposed.
"""
BEYOND = np.array([1.0, 3.0])
"""Widths, in units of the prior's and for each entry by itself, of where the survey begins."""
POWERS = (0.5, 0.12)
"""Half of the places are kept by their weights to the first power, half to the second, so that lesser modes remain."""
NEIGHBOURS = 6
"""Places near by from which the spread around each place is taken, so that each mode has a spread of its own."""
WIDTHS = np.array([1.0, 5.0])
"""Widths of the kernels in units of that spread: among the neighbours, or where nobody was."""
SHARES = np.array([0.8, 0.2])
"""How often each is proposed from."""
FAR_APART = 0.8
"""An option that deviates more than this in an entry of x needs relocation often; others get about by themselves."""
CANDIDATES = 8
"""Places proposed at once to an option."""


@dataclass(frozen=True, eq=False)
class Survey:
    """Where each rarely chosen option may stand."""

    part: Part
    places: Floats
    """(rows, places, most entries of a row)."""
    sharpness: Floats
    """One over the spread around each place, as `places`."""

    def draw(self, rows: Ints, rng: np.random.Generator) -> Floats:
        """A place of each of these rows, moved a little: (..., most)."""
        which = rng.integers(self.places.shape[1], size=rows.shape)
        width = rng.choice(WIDTHS, p=SHARES, size=rows.shape)[..., None]
        noise = rng.standard_t(3.0, size=(*rows.shape, self.places.shape[2]))
        return np.asarray(self.places[rows, which] + width * noise / self.sharpness[rows, which])

    def log_density(self, rows: Ints, at: Floats) -> Floats:
        """Log density of such draws, up to a constant; 0 where there is no row (-1)."""
        out = np.empty(rows.size)
        size = (self.part.own >= 0).sum(axis=1)
        log_mixture(rows.ravel(), at.reshape(rows.size, -1), size, self.places, self.sharpness, WIDTHS, SHARES, out)
        return out.reshape(rows.shape)

    def scatter(self, x: Floats, rng: np.random.Generator) -> Floats:
        """x, (chains, n_free), with every rarely chosen option anywhere that it may stand."""
        part = self.part
        here = x[:, part.entries]
        for changing in part.turns():
            rows = np.broadcast_to(changing, (len(x), len(changing)))
            here = part.put(rows, self.places[rows, rng.integers(PLACES, size=rows.shape)], here)
        out = x.copy()
        out[:, part.entries] = here
        return out

    def resample(self, changing: Ints, at: Floats, log_weight: Floats, rng: np.random.Generator) -> None:
        """Keep places of the rows that change by their weights, (states, looks, Q); every state counts the same."""
        questions = np.flatnonzero(changing >= 0)
        top = log_weight.max(axis=1, keepdims=True)
        log_weight = (log_weight - np.where(np.isfinite(top), top, 0.0)).reshape(-1, len(changing))
        at = at.reshape(-1, *at.shape[2:])
        weight = np.mean([_normalised(power * log_weight[:, questions]) for power in POWERS], axis=0)
        picked = (np.cumsum(weight, axis=0) < rng.random((PLACES, 1, len(questions)))).sum(axis=1)
        self._settle(changing[questions], np.swapaxes(at[np.minimum(picked, len(at) - 1), questions], 0, 1))

    def remember(self, visits: Floats, rng: np.random.Generator) -> None:
        """Put some of the chains' own places, (visits, n_free), in the place of some surveyed ones.

        Where a chain has been, others may go, and none stays for want of being offered its own place again.
        """
        some = visits[rng.choice(len(visits), min(VISITS, len(visits)), replace=False)][:, self.part.entries]
        for changing in self.part.turns():
            own = self.part.take(np.broadcast_to(changing, (len(some), len(changing))), some)
            self._add(changing[changing >= 0], own[:, changing >= 0])

    def allow_for_faint(self, rng: np.random.Generator) -> None:
        """Put guesses at where options would be chosen alike at every ability in the place of some surveyed ones."""
        part = self.part
        guesses = [part.model.faint(part.layout, rng) for _ in range(FAINT)]
        x = np.array([part.packing.pack(values) for values in guesses if values is not None])
        if len(x):
            self._add(part.rare, np.where(part.own >= 0, x[:, part.own], 0.0)[:, part.rare])

    def _add(self, rows: Ints, some: Floats) -> None:
        """Let these places, (some, rows, entries), be remembered instead of as many that came first."""
        self._settle(rows, np.concatenate([self.places[rows, len(some) :], np.swapaxes(some, 0, 1)], axis=1))

    def _settle(self, rows: Ints, places: Floats) -> None:
        """Let these, (rows, places, entries), be the rows' places, each with the spread of those around it."""
        scale = np.maximum(places.std(axis=1, keepdims=True), 1e-3)
        self.places[rows] = places
        self.sharpness[rows] = 1.0 / (np.maximum(spread_around(places / scale, NEIGHBOURS), 0.1) * scale)

    def of_waverers(self, posterior: Posterior, visits: Floats) -> Survey | None:
        """The same for those options alone that chains have seen in places far apart; None if there is none."""
        part = self.part
        deviation = np.where(part.own >= 0, visits[:, part.entries].std(axis=0)[part.own], 0.0).max(axis=1)
        waverers = part.rare[deviation[part.rare] > FAR_APART]
        if not len(waverers):
            return None
        fewer = Part.around(posterior, part.model, part.rows[waverers])
        same = np.searchsorted(part.rows, fewer.rows)
        return Survey(fewer, self.places[same], self.sharpness[same])


def _normalised(log_weight: Floats) -> Floats:
    """Weights that sum to one along the first axis; all the same where none is above zero."""
    top = log_weight.max(axis=0)
    weight = np.where(np.isfinite(top), np.exp(log_weight - np.where(np.isfinite(top), top, 0.0)), 1.0)
    return np.asarray(weight / weight.sum(axis=0))


def survey(posterior: Posterior, part: Part, states: Floats, rng: np.random.Generator) -> Survey:
    """Look where each option may stand while all else stays as it is in one of these states, (states, n_free)."""
    layout = part.layout
    states_curves = part.curves(states[:, part.entries])
    at_states = [standing(part.answers, *both) for both in zip(posterior.table(states), states_curves, strict=True)]
    shape = (layout.n_rows, PLACES, part.own.shape[1])
    found = Survey(part, np.zeros(shape), np.ones(shape))
    turns = part.turns()
    number = int(np.clip(WORK // (len(turns) * ROUNDS * layout.n_questions * posterior.grid.n_nodes), FEWEST, SURVEYED))
    looks = -(-number // len(states))
    prior = np.array([part.packing.pack(part.model.sample(layout, "prior", rng)) for _ in range(number)])
    # Far wider than the prior: a few choosers can hold an option where it has hardly any mass.
    prior = prior.mean(axis=0) + (prior - prior.mean(axis=0)) * rng.choice(BEYOND, size=prior.shape)
    for changing in turns:
        rows = np.broadcast_to(changing, (len(states), looks, len(changing)))
        wide = part.take(np.broadcast_to(changing, (number, len(changing))), prior)
        found.resample(changing, wide[None], np.zeros((1, *wide.shape[:-1])), rng)
        seen, gains = [], []  # in all rounds: what a later one happens to miss is not forgotten
        for _ in range(ROUNDS):
            at = found.draw(np.maximum(rows, 0), rng)
            candidates = part.put(rows, at, np.repeat(states[:, None, part.entries], looks, axis=1))
            new = _of_rows(part.curves(candidates), rows)
            gain = np.zeros(rows.shape)

            def task(state: int, changing: Ints = changing, new: Floats = new, gain: Floats = gain) -> None:
                judge(part.answers, at_states[state], changing, new[state], gain[state])

            each(len(states), task)
            gain += part.log_prior(candidates) - found.log_density(rows, at)
            seen.append(at)
            gains.append(np.where(np.isfinite(gain), gain, -np.inf))
            found.resample(changing, np.concatenate(seen, axis=1), np.concatenate(gains, axis=1), rng)
    found.allow_for_faint(rng)
    return found


def relocate(found: Survey, x: Floats, table: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Offer places from the survey to one rarely chosen option of every question; x and its table.

    What is and the candidates are chosen between by posterior over proposal density, which leaves the posterior
    invariant (iterated sampling-importance-resampling).
    """
    part, chains = found.part, len(x)
    changing = part.pick(chains, rng)
    rows = np.broadcast_to(changing[:, None], (chains, CANDIDATES, changing.shape[1]))
    here = x[:, part.entries]
    at = found.draw(np.maximum(rows, 0), rng)
    candidates = part.put(rows, at, np.repeat(here[:, None], CANDIDATES, axis=1))
    curves, new = part.curves(here), _of_rows(part.curves(candidates), rows)
    everything = np.concatenate([here[:, None], candidates], axis=1)
    places = np.concatenate([part.take(changing, here)[:, None], at], axis=1)
    log_q = found.log_density(np.broadcast_to(changing[:, None], places.shape[:-1]), places)
    log_ratio = part.log_prior(everything) - log_q
    uniform = rng.random(changing.shape)
    choice = np.zeros(changing.shape, dtype=np.int64)
    table = table.copy()

    def task(chain: int) -> None:
        stand = standing(part.answers, table[chain], curves[chain])
        choose(part.answers, stand, changing[chain], new[chain], log_ratio[chain], uniform[chain], choice[chain])

    each(chains, task)
    x = x.copy()
    entry_question = part.packing.question
    x[:, part.entries] = np.take_along_axis(everything, choice[:, entry_question][:, None], axis=1)[:, 0]
    return x, table


def _of_rows(curves: Floats, rows: Ints) -> Floats:
    """The curves, (..., rows, 4), of one row of every question, (..., Q)."""
    return np.ascontiguousarray(np.take_along_axis(curves, np.maximum(rows, 0)[..., None], axis=-2))
