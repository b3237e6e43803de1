"""The search for modes of the collapsed posterior, and for LORD's orders on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from sprite.core.types import Floats, Ints
from sprite.data.scores import axis_scores
from sprite.density.blocks import Blocks, curvature, metric_of
from sprite.density.posterior import Posterior
from sprite.engines.orders import better_orders
from sprite.models.base import Start
from sprite.result.run import Mode

TOLERANCE = 2e-3
"""Largest gradient entry, where each question's curvature is 1: the log posterior is then right to 1e-6 or so."""
STAGES = (8, 20, 100, 400, 400)
"""Iterations between renewals of the curvatures; the first are few because they begin far from the mode."""
HOPELESS = 50.0
"""A start this far behind the best after the third stage is given up; after the second, a hundredth an answer more."""

Ranks = Mapping[str, Ints]
Begin: TypeAlias = Start | Literal["axis"]
"""Where a search begins: as models know it, or from scores that do not look at the key."""


def find_modes(
    posterior: Posterior,
    starts: list[tuple[Begin, str]],
    rng: np.random.Generator,
    told: Callable[[str], None] = lambda text: None,
) -> list[Mode]:
    """Search from every start, and from where the posterior says; the modes found, best first, each once.

    Starts that a model makes the same are searched from once.
    """
    modes: list[Mode] = []
    begun: list[Floats] = []
    if posterior.begin is not None:
        told("learned")
        modes.append(climb(posterior, *posterior.begin, "learned"))
    for kind, name in starts:
        told(name)
        values = _values_at(posterior, kind, rng)
        ranks = {p.name: np.asarray(values[p.name], np.int64) for p in posterior.packing.discrete}
        x = posterior.packing.pack(values)
        begun.append(np.concatenate([x, *ranks.values()]))
        if any(np.array_equal(begun[-1], other) for other in begun[:-1]):
            continue
        best = max((mode.log_posterior for mode in modes), default=-np.inf)
        mode = climb(posterior, x, ranks, name, best)
        if all(abs(mode.log_posterior - other.log_posterior) > 0.05 for other in modes):
            modes.append(mode)
    return sorted(modes, key=lambda mode: -mode.log_posterior)


def _values_at(posterior: Posterior, kind: Begin, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
    """Where to begin. The axis helps where the number of correct answers says little of what respondents share."""
    layout, data = posterior.layout, posterior.responses
    if kind == "axis":
        scores = axis_scores(data.start, data.row, data.question_of_row, layout.score)
        return posterior.model.start(replace(layout, score=scores), "score", rng)
    return posterior.model.start(layout, kind, rng)


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
        counts = posterior.counts(x, ranks)
        if free_order and stage < len(STAGES) - 1:
            x, ranks = better_orders(posterior, x, ranks, counts)
            counts = posterior.counts(x, ranks)
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
