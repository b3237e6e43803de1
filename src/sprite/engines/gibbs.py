"""Gibbs: the default for full posteriors.

Every sweep draws all abilities exactly on the grid, which reduces each question's data to counts; then each question's
parameters move by short HMC on its counts. Directions in which all questions move together, and rarely chosen options
that may stand in places far apart, have moves of their own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sprite.core.errors import InputError
from sprite.core.types import Floats, Ints
from sprite.density.blocks import Metric, metric_at
from sprite.density.posterior import Posterior
from sprite.density.refinement import Points, checked, good_enough, refined
from sprite.engines.base import Engine, Problem, Progress
from sprite.engines.directions import global_directions
from sprite.engines.em import starts
from sprite.engines.moves import TARGET
from sprite.engines.part import Part
from sprite.engines.relocate import Survey, relocate, survey
from sprite.engines.search import find_modes
from sprite.engines.sweep import move_together, sweep
from sprite.engines.upright import turned, upright_start
from sprite.result.run import Mode, Run

GLOBAL_EVERY = 4
REFRESH_EVERY = 4
RELOCATE_ALL_EVERY, WARMING_RELOCATE_ALL_EVERY = 4, 2
"""Sweeps after which every rarely chosen option is offered other places; fewer in the warm-up, to find who needs it."""
SURVEY_AT = (0.2, 0.6)
"""Shares of the warm-up after which the grid is checked and rarely chosen options are surveyed anew, where the chains
are then. A mode says little of that where questions are many more than respondents."""


@dataclass(frozen=True)
class Gibbs(Engine):
    """Blocked Gibbs sampling with ability on the grid.

    chains, draws, warmup: `draws` are kept of every chain after `warmup` sweeps that adapt the step sizes.
    thin: sweeps for each draw kept.
    starts: searches for modes before sampling (see EM); chains begin spread over what was found.
    leaps: leapfrog steps of a question's HMC.
    nodes: nodes of the grid to begin with; it is refined until the log likelihood no longer moves.
    """

    chains: int = 4
    draws: int = 2000
    warmup: int = 500
    thin: int = 1
    starts: int = 3
    leaps: int = 3
    nodes: int = 61

    name: ClassVar[str] = "gibbs"

    def __post_init__(self) -> None:
        if min(self.chains, self.draws, self.thin, self.starts, self.leaps) < 1 or self.warmup < 0 or self.nodes < 5:
            raise InputError("Gibbs needs chains, draws, thin, starts, leaps >= 1, warmup >= 0, nodes >= 5", found=self)

    def run(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Run:
        """Find the modes, then sweep; again on a finer grid if the draws ask for one."""
        posterior = problem.posterior(self.nodes)
        total = self.warmup + self.draws * self.thin
        modes = find_modes(
            posterior,
            starts(self.starts, posterior),
            rng,
            lambda name: progress(0, total, f"search from {name} start"),
        )
        while True:
            with np.errstate(over="ignore", invalid="ignore"):  # a step into nowhere is refused, not warned about
                begin = upright_start(posterior, modes, rng)
                posterior, x, ranks, stats, interrupted = _sample(self, posterior, begin, rng, progress)
            some = np.unique(np.linspace(0, x.shape[1] - 1, 4).astype(int))
            error, better = refined(posterior, _states(x, ranks, [(int(rng.integers(len(x))), d) for d in some]))
            if good_enough(posterior, error) or interrupted:
                break
            posterior = better
        return Run(
            x=x,
            ranks=ranks,
            mode=modes[0],
            modes=tuple(modes[1:]),
            stats=stats,
            interrupted=interrupted,
            n_nodes=posterior.grid.n_nodes,
            reach=posterior.grid.reach,
            grid_error=error,
        )


@dataclass(frozen=True, eq=False)
class _Plan:
    """What the mode tells about how to move."""

    metric: Metric
    directions: Floats

    @classmethod
    def at(cls, posterior: Posterior, best: Mode) -> _Plan:
        metric = metric_at(posterior, best.x, best.ranks, least=0.3)
        return cls(metric, global_directions(posterior, best, metric))


@dataclass
class _Relocations:
    """Rarely chosen options: what is known of where they may stand, learned anew during the warm-up."""

    found: Survey | None
    waverers: Survey | None = None
    """The options among them that stand now here, now far away, offered other places in every sweep."""
    visits: list[Floats] = field(default_factory=list)

    @classmethod
    def at(cls, posterior: Posterior, x: Floats, rng: np.random.Generator) -> _Relocations:
        part = Part.of(posterior)
        return cls(survey(posterior, part, x[None], rng) if part else None)

    def survey_again(self, posterior: Posterior, x: Floats, rng: np.random.Generator) -> None:
        part = Part.of(posterior) if self.found else None
        self.found = survey(posterior, part, x, rng) if part else None
        if self.found:
            self.found.remember(np.concatenate(self.visits), rng)

    def end_warmup(self, posterior: Posterior) -> None:
        if self.found and self.visits:
            settled = self.visits[len(self.visits) // 4 :]
            self.waverers = self.found.of_waverers(posterior, np.concatenate(settled))

    def move(
        self, x: Floats, table: Floats, sweep: int, warming: bool, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        if warming:
            self.visits.append(x)
        everything = sweep % (WARMING_RELOCATE_ALL_EVERY if warming else RELOCATE_ALL_EVERY) == 0
        offered = self.found if everything else self.waverers
        return relocate(offered, x, table, rng) if offered else (x, table)


def _sample(
    settings: Gibbs, posterior: Posterior, best: Mode, rng: np.random.Generator, progress: Progress
) -> tuple[Posterior, Floats, dict[str, Ints], dict[str, Floats], bool]:
    """Warm up and draw, on a grid that the states on the way have found good enough: that of the posterior returned."""
    plan, rare = _Plan.at(posterior, best), _Relocations.at(posterior, best.x, rng)
    packing, layout = posterior.packing, posterior.layout
    chains, total = settings.chains, settings.warmup + settings.draws * settings.thin
    x = best.x + 0.5 * plan.metric.unwhiten(rng.standard_normal((chains, packing.n_free)))
    x = rare.found.scatter(x, rng) if rare.found else x
    ranks = {name: np.tile(rank, (chains, 1)) for name, rank in best.ranks.items()}
    x = np.where(turned(posterior, x, ranks)[:, None], best.x, x)
    log_step = np.full(layout.n_questions, np.log(0.5))
    global_scale = np.log(2.4 / np.sqrt(max(1, len(plan.directions))))
    kept = np.empty((chains, settings.draws, packing.n_free))
    kept_ranks = {name: np.empty((chains, settings.draws, layout.n_rows), dtype=np.int64) for name in ranks}
    acceptance = np.full((chains, settings.draws), np.nan)
    table = posterior.table(x, ranks)
    told, n_kept, accepted = 0.0, 0, np.zeros((chains, layout.n_questions))
    surveys = {int(share * settings.warmup) for share in SURVEY_AT} - {0}
    try:
        for number in range(total):
            warming = number < settings.warmup
            gain = 2.0 / (1.0 + number) ** 0.6
            if number in surveys:
                posterior, _ = checked(posterior, _states(x, ranks, range(chains)))
                table = posterior.table(x, ranks)
                rare.survey_again(posterior, x, rng)
            if number == settings.warmup:
                rare.end_warmup(posterior)
            if len(plan.directions) and number % GLOBAL_EVERY == 0:
                x, table, rate = move_together(
                    posterior, plan.directions, x, ranks, table, float(np.exp(global_scale)), rng
                )
                global_scale += gain * (rate - 0.3) if warming else 0.0
            x, table = rare.move(x, table, number, warming, rng)
            anew = number % REFRESH_EVERY == 0 and not rare.found
            x, ranks, probability = sweep(
                posterior, plan.metric, x, ranks, table, np.exp(log_step), settings.leaps, anew, rng
            )
            accepted = accepted if probability is None else probability
            if warming and probability is not None:
                # The median: one chain that is nowhere for now shall not make the steps of all too small.
                log_step += gain * (np.median(probability, axis=0) - TARGET)
            table = posterior.table(x, ranks)
            draw = number - settings.warmup
            if draw >= 0 and draw % settings.thin == settings.thin - 1:
                kept[:, n_kept] = x
                for name in kept_ranks:
                    kept_ranks[name][:, n_kept] = ranks[name]
                acceptance[:, n_kept] = accepted.mean(axis=1)
                n_kept += 1
            now = time.perf_counter()
            if now - told > 0.2 or number == total - 1:
                phase = "warm-up" if warming else "sampling"
                progress(number + 1, total, f"{phase}, acceptance {accepted.mean():.2f}")
                told = now
    except KeyboardInterrupt:
        if n_kept < 2:
            raise
    orders = {name: value[:, :n_kept] for name, value in kept_ranks.items()}
    return posterior, kept[:, :n_kept], orders, {"acceptance": acceptance[:, :n_kept]}, n_kept < settings.draws


def _states(x: Floats, ranks: Mapping[str, Ints], which: Iterable[int | tuple[int, int]]) -> Points:
    """Some of these x, each with its orders."""
    return [(x[at], {name: rank[at] for name, rank in ranks.items()}) for at in which]
