"""Gibbs: the default for full posteriors.

Every sweep draws all abilities exactly on the grid, which reduces each question's data to counts; then each question's
parameters move by short HMC on its counts. Directions in which all questions move together, and jumps between a
question's modes, have moves of their own.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sprite.core.errors import InputError
from sprite.core.types import Floats, Ints
from sprite.density.blocks import Blocks, Metric, curvature, metric_of
from sprite.density.grid import doubled
from sprite.density.posterior import Posterior
from sprite.engines.base import GRID_TOLERANCE, Engine, Problem, Progress
from sprite.engines.em import laplace, on_fine_grid, starts
from sprite.engines.modes import QuestionModes, question_modes
from sprite.engines.moves import TARGET, condition, hamiltonian, jump, refresh, swap_ranks
from sprite.engines.recall import Memory, recall, recall_collapsed, remember
from sprite.engines.search import find_modes
from sprite.engines.upright import keep_upright, turned, upright_start
from sprite.kernels.draws import draw_counts
from sprite.kernels.passes import expected_counts, log_likelihood
from sprite.kernels.threads import get_threads
from sprite.kernels.threads import run as in_threads
from sprite.result.run import Mode, Run

GLOBAL_EIGENVALUE = 2.0
"""A direction is global where its posterior variance exceeds by this factor what the questions alone account for."""
MOST_GLOBAL = 3
GLOBAL_EVERY = 2
JUMP_EVERY = 4
REFRESH_EVERY = 4


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
    draws: int = 1500
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
            posterior, starts(self.starts), rng, lambda name: progress(0, total, f"search from {name} start")
        )
        best, posterior, _ = on_fine_grid(problem, posterior, modes[0])
        while True:
            with np.errstate(over="ignore", invalid="ignore"):  # a step into nowhere is refused, not warned about
                begin = upright_start(posterior, [best, *modes[1:]], rng)
                x, ranks, stats, interrupted = _sample(self, posterior, begin, rng, progress)
            error = _grid_error(problem, posterior, x, ranks, rng)
            if error <= GRID_TOLERANCE or interrupted:
                break
            posterior = Posterior(problem.responses, problem.model, doubled(posterior.grid, problem.model.ability))
        return Run(
            x=x,
            ranks=ranks,
            mode=best,
            modes=tuple(modes[1:]),
            stats=stats,
            interrupted=interrupted,
            n_nodes=posterior.grid.n_nodes,
            grid_error=error,
        )


@dataclass(frozen=True, eq=False)
class _Plan:
    """What the modes tell about how to move."""

    metric: Metric
    modes: QuestionModes | None
    directions: Floats
    """Global directions in x, each as long as the posterior's standard deviation along it: (directions, n_free)."""


def _plan(posterior: Posterior, best: Mode, rng: np.random.Generator) -> _Plan:
    blocks = Blocks.of(posterior.packing)
    responses = posterior.responses
    table = posterior.table(best.x, best.ranks)
    counts = expected_counts(responses.start, responses.row, table, posterior.grid.log_weight)[1]
    metric = metric_of(blocks, curvature(posterior, blocks, best.x, counts, best.ranks), least=0.3)
    # Modes belong to one order of the options; where orders move, swaps do what jumps do elsewhere.
    modes = None if best.ranks else question_modes(posterior, blocks, best.x, best.ranks, counts, rng)
    covariance, _ = laplace(posterior, best)
    directions = np.empty((0, posterior.packing.n_free))
    if covariance is not None:
        white = metric.whiten(metric.whiten(covariance).T)
        variance, vector = np.linalg.eigh(white)
        top = np.flatnonzero(variance > GLOBAL_EIGENVALUE)[-MOST_GLOBAL:]
        directions = metric.unwhiten((vector[:, top] * np.sqrt(variance[top])).T)
    return _Plan(metric, modes, directions)


def _sample(
    settings: Gibbs, posterior: Posterior, best: Mode, rng: np.random.Generator, progress: Progress
) -> tuple[Floats, dict[str, Ints], dict[str, Floats], bool]:
    plan = _plan(posterior, best, rng)
    packing, layout = posterior.packing, posterior.layout
    chains, total = settings.chains, settings.warmup + settings.draws * settings.thin
    if plan.modes is None:
        x = best.x + 0.5 * plan.metric.unwhiten(rng.standard_normal((chains, packing.n_free)))
    else:
        x = plan.modes.start(chains, rng)
    ranks = {name: np.tile(rank, (chains, 1)) for name, rank in best.ranks.items()}
    x = np.where(turned(posterior, x, ranks)[:, None], best.x, x)
    log_step = np.full(layout.n_questions, np.log(0.5))
    global_scale = np.log(2.4 / np.sqrt(max(1, len(plan.directions))))
    kept = np.empty((chains, settings.draws, packing.n_free))
    kept_ranks = {name: np.empty((chains, settings.draws, layout.n_rows), dtype=np.int64) for name in ranks}
    stats = {name: np.full((chains, settings.draws), np.nan) for name in ("acceptance", "log_posterior")}
    table = posterior.table(x, ranks)
    told, n_kept = 0.0, 0
    past: list[Floats] = []
    memory: Memory | None = None
    probability = np.zeros((chains, layout.n_questions))
    try:
        for sweep in range(total):
            warming = sweep < settings.warmup
            gain = 2.0 / (1.0 + sweep) ** 0.6
            if len(plan.directions) and sweep % GLOBAL_EVERY == 0:
                x, table, accepted = _move_together(posterior, plan, x, ranks, table, np.exp(global_scale), rng)
                global_scale += gain * (accepted - 0.3) if warming else 0.0
            if memory is not None:
                x, table = recall_collapsed(posterior, memory, x, table, rng)
            counts = _draw_abilities(posterior, table, rng)
            state = condition(posterior, x, ranks, counts)
            before = (state.x, state.ranks)
            if ranks and sweep % REFRESH_EVERY == 0:
                # By itself: what is undone as a whole must be reversible as a whole.
                refresh(posterior, state, rng)
            else:
                if ranks:
                    swap_ranks(posterior, state, rng)
                probability = hamiltonian(posterior, state, plan.metric, np.exp(log_step), settings.leaps, rng)
                if warming:
                    log_step += gain * (probability.mean(axis=0) - TARGET)
                if plan.modes is not None and sweep % JUMP_EVERY == 0:
                    jump(posterior, state, plan.modes, rng)
                if memory is not None:
                    recall(posterior, memory, state, rng)
                if ranks:
                    swap_ranks(posterior, state, rng)
                else:
                    refresh(posterior, state, rng)
            if ranks:
                state.x, state.ranks = keep_upright(posterior, before, (state.x, state.ranks))
            x, ranks = state.x, state.ranks
            if warming and plan.modes is not None:
                past.append(x)
                if sweep + 1 in (settings.warmup // 2, settings.warmup):
                    memory = remember(posterior, np.concatenate(past[len(past) // 3 :]), rng)
            table = posterior.table(x, ranks)
            draw = sweep - settings.warmup
            if draw >= 0 and draw % settings.thin == settings.thin - 1:
                kept[:, n_kept] = x
                for name in kept_ranks:
                    kept_ranks[name][:, n_kept] = ranks[name]
                stats["acceptance"][:, n_kept] = probability.mean(axis=1)
                n_kept += 1
            now = time.perf_counter()
            if now - told > 0.2 or sweep == total - 1:
                phase = "warm-up" if warming else "sampling"
                progress(sweep + 1, total, f"{phase}, acceptance {probability.mean():.2f}")
                told = now
    except KeyboardInterrupt:
        if n_kept < 2:
            raise
    interrupted = n_kept < settings.draws
    return (
        kept[:, :n_kept],
        {name: value[:, :n_kept] for name, value in kept_ranks.items()},
        {name: value[:, :n_kept] for name, value in stats.items()},
        interrupted,
    )


def _by_chain(chains: int, task: Callable[[int], None]) -> None:
    """task(chain) for every chain, the chains dealt to the threads in runs."""
    edges = np.linspace(0, chains, min(get_threads(), chains) + 1).astype(int)

    def several(low: int, high: int) -> None:
        for chain in range(low, high):
            task(chain)

    in_threads(several, [(int(a), int(b)) for a, b in itertools.pairwise(edges)])


def _draw_abilities(posterior: Posterior, table: Floats, rng: np.random.Generator) -> Floats:
    """Counts of every chain's answers at freshly drawn abilities."""
    responses, grid = posterior.responses, posterior.grid
    uniform = rng.random((len(table), responses.n_respondents))
    counts = np.empty_like(table)
    node = np.empty(uniform.shape, dtype=np.int32)

    def task(chain: int) -> None:
        draw_counts(
            responses.start,
            responses.row,
            table[chain],
            grid.log_weight,
            uniform[chain],
            threads=1,
            out=(node[chain], counts[chain]),
        )

    _by_chain(len(table), task)
    return counts


def _move_together(
    posterior: Posterior,
    plan: _Plan,
    x: Floats,
    ranks: dict[str, Ints],
    table: Floats,
    scale: float,
    rng: np.random.Generator,
) -> tuple[Floats, Floats, float]:
    """A random walk along the global directions, judged on the collapsed posterior."""
    proposal = x + scale * rng.standard_normal((len(x), len(plan.directions))) @ plan.directions
    new_table = posterior.table(proposal, ranks)
    gain = np.empty((2, len(x)))

    def task(chain: int) -> None:
        responses, weight = posterior.responses, posterior.grid.log_weight
        for which, log_p in enumerate((table, new_table)):
            each = log_likelihood(responses.start, responses.row, log_p[chain], weight, threads=1)
            gain[which, chain] = each.sum()

    _by_chain(len(x), task)
    for which, at in enumerate((x, proposal)):
        gain[which] += posterior.log_prior(at, posterior.packing.unpack(at, ranks))[0].sum(axis=-1)
    probability = np.exp(np.minimum(np.nan_to_num(gain[1] - gain[0], nan=-np.inf), 0.0))
    accepted = (rng.random(len(x)) < probability) & ~turned(posterior, proposal, ranks)
    return (
        np.where(accepted[:, None], proposal, x),
        np.where(accepted[:, None, None], new_table, table),
        float(probability.mean()),
    )


def _grid_error(
    problem: Problem, posterior: Posterior, x: Floats, ranks: dict[str, Ints], rng: np.random.Generator
) -> float:
    """By how much a doubled grid moves the log likelihood, at most, over some of the draws."""
    finer = Posterior(problem.responses, problem.model, doubled(posterior.grid, problem.model.ability))
    worst = 0.0
    for draw in np.unique(np.linspace(0, x.shape[1] - 1, 4).astype(int)):
        chain = int(rng.integers(len(x)))
        order = {name: rank[chain, draw] for name, rank in ranks.items()}
        coarse, fine = (p.log_likelihoods(x[chain, draw], order).sum() for p in (posterior, finer))
        worst = max(worst, abs(float(fine - coarse)))
    return worst
