"""Where the chains of `Metropolis` begin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sprite.core.types import Floats, Ints
from sprite.density.posterior import Posterior, Ranks
from sprite.engines.base import Problem
from sprite.engines.em import starts as search_starts
from sprite.engines.metropolis_chain import Target
from sprite.engines.search import find_modes
from sprite.kernels.passes import moments
from sprite.models.base import Values
from sprite.result.run import Mode

PLAUSIBLE = 10.0
"""Chains also start in modes whose log posterior is within this of the best."""
SCATTER = 2.0
"""Abilities start this many posterior standard deviations around their means: wider than the posterior."""


@dataclass(frozen=True, eq=False)
class Start:
    """A state of a chain."""

    x: Floats
    ranks: dict[str, Ints]
    z: Floats


def chain_starts(
    problem: Problem, target: Target, chains: int, kind: Literal["modes", "prior"], rng: np.random.Generator
) -> tuple[list[Start], list[Mode]]:
    """One start a chain, and the modes that a search found."""
    if kind == "prior":
        return [_from_prior(target, rng) for _ in range(chains)], []
    posterior = problem.posterior(61)
    modes = find_modes(posterior, search_starts(3, posterior), rng)
    points: list[tuple[Floats, Ranks]] = [
        (mode.x, mode.ranks)
        for mode in modes
        if mode.log_posterior > modes[0].log_posterior - PLAUSIBLE and target.upright(mode.x, mode.ranks)
    ]
    if not points:  # every mode of an unknown order points the wrong way
        values = problem.model.start(target.layout, "score", rng)
        points = [(target.packing.pack(values), _free_ranks(target, values))]
    return [_scattered(target, posterior, *points[c % len(points)], rng) for c in range(chains)], modes


def _from_prior(target: Target, rng: np.random.Generator) -> Start:
    z = rng.normal(target.mean, np.sqrt(target.variance), target.n)
    for _ in range(100):  # one or two do, unless hardly any order points the right way
        values = target.model.sample(target.layout, "prior", rng)
        start = Start(target.packing.pack(values), _free_ranks(target, values), z)
        if target.upright(start.x, start.ranks):
            break
    return start


def _scattered(target: Target, posterior: Posterior, x: Floats, ranks: Ranks, rng: np.random.Generator) -> Start:
    mean, sd = _abilities(posterior, x, ranks)
    return Start(x, dict(ranks), mean + SCATTER * sd * rng.standard_normal(target.n))


def _free_ranks(target: Target, values: Values) -> dict[str, Ints]:
    packing = target.packing
    return {p.name: np.asarray(values[p.name], np.int64) for p in packing.discrete if p.name not in packing.fixed_ranks}


def _abilities(posterior: Posterior, x: Floats, ranks: Ranks) -> tuple[Floats, Floats]:
    """Posterior mean and standard deviation of every ability; the prior's where a mean is not a number."""
    responses, grid = posterior.responses, posterior.grid
    _, mean, sd, _ = moments(responses.start, responses.row, posterior.table(x, ranks), grid.log_weight, grid.nodes)
    prior_mean, prior_variance = posterior.model.ability
    return np.nan_to_num(mean, nan=prior_mean), np.nan_to_num(sd, nan=float(np.sqrt(prior_variance)))
