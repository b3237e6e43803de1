"""LORD's orders of options: which neighbours to exchange, given the expected counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sprite.core.types import Bools, Floats, Ints
from sprite.density.blocks import Blocks, Metric, curvature, metric_of
from sprite.density.posterior import Conditionals
from sprite.models.intervals import move_option

GAIN = 1e-6
"""An order has to be better by this to be taken."""
NOBODY = 1e-10
"""An expected count below this counts nothing: nodes where nobody stands cost nothing."""
HOPE = 10.0
"""A swap that is behind after a few steps in the metric of the order before it is looked at more closely unless it lags
by more than so many times what the next step promises: closer looks that paid were within 5 times."""


def better_orders(
    conditionals: Conditionals, x: Floats, ranks: Mapping[str, Ints], counts: Floats
) -> tuple[Floats, dict[str, Ints]]:
    """Reorder options wherever that raises a question's conditional given the expected counts.

    Raising it raises the posterior (a generalised EM step). First the order of the choosers' mean ability, which may be
    far from the present one, then swaps of neighbours, again and again in the questions where one has helped. Each
    order is judged after the question's bounds have moved to suit it.
    """
    layout, entry = conditionals.layout, conditionals.packing.question
    counts = np.where(counts < NOBODY, 0.0, counts)
    rank = ranks["rank"]
    x, best, _ = settle(conditionals, x, counts, ranks)
    ability = counts @ conditionals.grid.nodes / np.maximum(counts.sum(axis=1), np.finfo(float).tiny)
    values = conditionals.model.start(replace(layout, score=ability), "score", np.random.default_rng(0))
    other = np.asarray(values["rank"], np.int64)
    moved, value, _ = settle(conditionals, conditionals.packing.pack(values), counts, {"rank": other}, steps=12)
    better = value > best + GAIN
    rank = np.where(better[layout.question], other, rank)
    x, best = np.where(better[entry], moved, x), np.where(better, value, best)
    seeking = layout.n_options > 1
    for _ in range(int(layout.n_options.max(initial=1)) ** 2):
        if not seeking.any():
            break
        part, rows, entries = conditionals.only(seeking)
        gained, x[entries], rank[rows], best[seeking] = _swapped_once(
            part, x[entries], rank[rows], best[seeking], counts[rows]
        )
        seeking[seeking] = gained
    return x, {"rank": rank}


def _swapped_once(
    conditionals: Conditionals, x: Floats, rank: Ints, best: Floats, counts: Floats
) -> tuple[Bools, Floats, Ints, Floats]:
    """Try every pair of neighbours in turn, keep what helps; which questions gained, their x, ranks and values."""
    layout, packing = conditionals.layout, conditionals.packing
    blocks = Blocks.of(packing)
    present = metric_of(blocks, curvature(conditionals, blocks, x, counts, {"rank": rank}))
    gained = np.zeros(layout.n_questions, dtype=bool)
    for lower in range(int(layout.n_options.max()) - 1):
        at = np.full(layout.n_questions, lower)
        values, log_jacobian = move_option(
            packing.unpack(x, {"rank": rank}), at, at + 1, conditionals.model.ability, layout
        )
        other = np.asarray(values["rank"], np.int64)
        possible = np.isfinite(log_jacobian)
        moved, value, promise = settle(conditionals, packing.pack(values), counts, {"rank": other}, 2, present)
        for metric in (present, None):
            unsure = possible & (value <= best + GAIN) & (value + HOPE * promise > best)
            if unsure.any():
                few, rows, entries = conditionals.only(unsure)
                of_few = metric and metric.only(unsure, Blocks.of(few.packing))
                moved[entries], value[unsure], promise[unsure] = settle(
                    few, moved[entries], counts[rows], {"rank": other[rows]}, 6, of_few
                )
        better = possible & (value > best + GAIN)
        rank = np.where(better[layout.question], other, rank)
        x, best = np.where(better[packing.question], moved, x), np.where(better, value, best)
        gained |= better
    return gained, x, rank, best


def settle(
    conditionals: Conditionals,
    x: Floats,
    counts: Floats,
    ranks: Mapping[str, Ints],
    steps: int = 6,
    metric: Metric | None = None,
) -> tuple[Floats, Floats, Floats]:
    """A few damped Newton steps of every question on its counts.

    The new x, each question's value there, and what another step promises by its linear term and metric. A metric that
    is given is used as it is; otherwise it is the curvature, renewed every third step.
    """
    packing, blocks = conditionals.packing, Blocks.of(conditionals.packing)

    def value_at(x: Floats) -> tuple[Floats, Floats]:
        return conditionals.on_counts(x, counts, packing.unpack(x, ranks))

    value, gradient = value_at(x)
    damping = np.ones(conditionals.layout.n_questions)
    used = metric
    for step_number in range(steps):
        if metric is None and step_number % 3 == 0:  # curvature costs as much as many gradients
            used = metric_of(blocks, curvature(conditionals, blocks, x, counts, ranks))
        assert used is not None
        step = used.unwhiten(used.pull(gradient))
        # No entry moves by more than 2 at once: far from the mode a Newton step may point anywhere.
        longest = np.abs(blocks.spread(step)).max(axis=-1)
        step = step * np.minimum(1.0, 2.0 / np.maximum(longest, 1e-300))[packing.question]
        moved = x + damping[packing.question] * step
        new_value, new_gradient = value_at(moved)
        better = new_value >= value
        entries = better[packing.question]
        x, gradient = np.where(entries, moved, x), np.where(entries, new_gradient, gradient)
        value = np.where(better, new_value, value)
        damping = np.where(better, np.minimum(1.0, 2 * damping), 0.25 * damping)
    assert used is not None
    return x, value, 0.5 * packing.sum_by_question(used.pull(gradient) ** 2)
