"""The search for modes of the collapsed posterior, and for LORD's orders on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from sprite.core.layout import Layout
from sprite.core.types import Bools, Floats, Ints
from sprite.density.blocks import Blocks, curvature, metric_of
from sprite.density.posterior import Posterior
from sprite.kernels.passes import expected_counts
from sprite.models.base import Start
from sprite.models.intervals import swap_neighbours
from sprite.result.run import Mode

TOLERANCE = 2e-3
"""Largest gradient entry, where each question's curvature is 1: the log posterior is then right to 1e-6 or so."""
STAGES = (8, 20, 100, 400, 400)
"""Iterations between renewals of the curvatures; the first are few because they begin far from the mode."""
HOPELESS = 50.0
"""A start this far behind the best after the third stage is given up; after the second, a hundredth an answer more."""

Ranks = Mapping[str, Ints]


def find_modes(
    posterior: Posterior,
    starts: list[tuple[Start, str]],
    rng: np.random.Generator,
    told: Callable[[str], None] = lambda text: None,
) -> list[Mode]:
    """Search from every start, and from where the posterior says; the modes found, best first, each once."""
    modes: list[Mode] = []
    if posterior.begin is not None:
        told("learned")
        modes.append(climb(posterior, *posterior.begin, "learned"))
    for kind, name in starts:
        told(name)
        values = posterior.model.start(posterior.layout, kind, rng)
        ranks = {p.name: np.asarray(values[p.name], np.int64) for p in posterior.packing.discrete}
        best = max((mode.log_posterior for mode in modes), default=-np.inf)
        mode = climb(posterior, posterior.packing.pack(values), ranks, name, best)
        if all(abs(mode.log_posterior - other.log_posterior) > 0.05 for other in modes):
            modes.append(mode)
    return sorted(modes, key=lambda mode: -mode.log_posterior)


def climb(
    posterior: Posterior,
    x: Floats,
    ranks: Ranks,
    name: str,
    best: float = -np.inf,
    tolerance: float = TOLERANCE,
    orders: bool = True,
) -> Mode:
    """Quasi-Newton steps where each question's own curvature is 1; never ends below where it began.

    `orders` says whether free orders of options are searched too, or stay as they are.
    """
    blocks = Blocks.of(posterior.packing)
    free_order = orders and len(posterior.packing.discrete) > len(posterior.packing.fixed_ranks)
    norm = np.inf
    for stage, iterations in enumerate(STAGES):
        counts = _counts(posterior, x, ranks)
        if free_order and stage < len(STAGES) - 1:
            x, ranks = better_orders(posterior, blocks, x, ranks, counts)
            counts = _counts(posterior, x, ranks)
        metric = metric_of(blocks, curvature(posterior, blocks, x, counts, ranks))
        origin = x

        def downhill(y: Floats, origin: Floats = origin, metric=metric, ranks: Ranks = ranks) -> tuple[float, Floats]:  # type: ignore[no-untyped-def]
            at = posterior.evaluate(origin + metric.unwhiten(y), ranks)
            return -at.value, -metric.pull(at.gradient)

        found = minimize(
            downhill,
            np.zeros_like(x),
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": iterations,
                "maxfun": 3 * iterations,
                "maxcor": 20,
                "ftol": 1e-15,
                "gtol": tolerance / 2,
            },
        )
        x = origin + metric.unwhiten(found.x)
        norm = float(np.abs(found.jac).max(initial=0.0))
        settled = not free_order or stage > 1
        behind = HOPELESS + (0.01 * posterior.responses.n_answers if stage == 1 else 0.0)
        if (norm < tolerance and settled) or (stage in (1, 2) and -found.fun < best - behind):
            break
    at = posterior.evaluate(x, ranks)
    free = {key: value for key, value in ranks.items() if key not in posterior.packing.fixed_ranks}
    return Mode(name, at.value, at.log_likelihood, norm, norm < tolerance, x, free)


def better_orders(
    posterior: Posterior, blocks: Blocks, x: Floats, ranks: Ranks, counts: Floats
) -> tuple[Floats, Ranks]:
    """Reorder options wherever that raises a question's conditional given the expected counts.

    Raising it raises the posterior (a generalised EM step). First the order of the choosers' mean ability, which may be
    far from the present one, then swaps of neighbours: every question takes its best swap, again and again until none
    helps. Each order is judged after the question's bounds have moved to suit it.
    """
    layout = posterior.layout
    rank, variance = ranks["rank"], posterior.model.ability[1]
    x, best = settle(posterior, blocks, x, counts, ranks)
    ability = counts @ posterior.grid.nodes / np.maximum(counts.sum(axis=1), np.finfo(float).tiny)
    values = posterior.model.start(replace(layout, score=ability), "score", np.random.default_rng(0))
    other = np.asarray(values["rank"], np.int64)
    moved, value = settle(posterior, blocks, posterior.packing.pack(values), counts, {"rank": other}, steps=12)
    better = value > best + 1e-6
    rank = np.where(better[layout.question], other, rank)
    x, best = np.where(better[posterior.packing.question], moved, x), np.where(better, value, best)
    for _ in range(int(layout.n_options.max(initial=1)) ** 2):
        gained = np.zeros(layout.n_questions, dtype=bool)
        for lower in range(int(layout.n_options.max(initial=1)) - 1):
            at = np.full(layout.n_questions, lower)
            values, _ = swap_neighbours(posterior.packing.unpack(x, {"rank": rank}), at, variance, layout)
            other = np.asarray(values["rank"], np.int64)
            moved, value = settle(posterior, blocks, posterior.packing.pack(values), counts, {"rank": other})
            better = (value > best + 1e-6) & (layout.n_options > lower + 1)
            rank = np.where(better[layout.question], other, rank)
            x = np.where(better[posterior.packing.question], moved, x)
            best, gained = np.where(better, value, best), gained | better
        if not gained.any():
            break
    return x, {"rank": rank}


def swapped(rank: Ints, lower: int | Ints, chosen: Bools, layout: Layout) -> Ints:
    """Exchange ranks `lower` and `lower` + 1 in the chosen questions; `lower` is one number or one a question."""
    at = np.broadcast_to(lower, layout.n_questions)[layout.question]
    swap = chosen[layout.question] & (layout.n_options[layout.question] > at + 1)
    return np.where(swap & (rank == at), at + 1, np.where(swap & (rank == at + 1), at, rank))


def settle(
    posterior: Posterior, blocks: Blocks, x: Floats, counts: Floats, ranks: Ranks, steps: int = 6
) -> tuple[Floats, Floats]:
    """A few damped Newton steps of every question on its counts; the new x and each question's value there."""

    def value_at(x: Floats) -> tuple[Floats, Floats]:
        return posterior.on_counts(x, counts, posterior.packing.unpack(x, ranks))

    value, gradient = value_at(x)
    damping = np.ones(posterior.layout.n_questions)
    for step_number in range(steps):
        if step_number % 3 == 0:  # curvature costs as much as many gradients
            metric = metric_of(blocks, curvature(posterior, blocks, x, counts, ranks))
        step = metric.unwhiten(metric.pull(gradient))
        # No entry moves by more than 2 at once: far from the mode a Newton step may point anywhere.
        longest = np.abs(blocks.spread(step)).max(axis=-1)
        step = step * np.minimum(1.0, 2.0 / np.maximum(longest, 1e-300))[posterior.packing.question]
        moved = x + damping[posterior.packing.question] * step
        new_value, new_gradient = value_at(moved)
        better = new_value >= value
        entries = better[posterior.packing.question]
        x, gradient = np.where(entries, moved, x), np.where(entries, new_gradient, gradient)
        value = np.where(better, new_value, value)
        damping = np.where(better, np.minimum(1.0, 2 * damping), 0.25 * damping)
    return x, value


def _counts(posterior: Posterior, x: Floats, ranks: Ranks) -> Floats:
    responses = posterior.responses
    return expected_counts(responses.start, responses.row, posterior.table(x, ranks), posterior.grid.log_weight)[1]
