"""Metropolis: the paper's sampler, with missing answers imputed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sprite.core.errors import InputError
from sprite.core.types import Floats, Ints
from sprite.density.grid import REACH, Grid
from sprite.density.refinement import checked
from sprite.engines.base import Engine, Problem, Progress, silent
from sprite.engines.metropolis_chain import Chain, Steps, Target
from sprite.engines.metropolis_start import chain_starts
from sprite.models.sprite import Sprite
from sprite.result.run import Mode, Run

SLICE = 200
"""Iterations of a chain before the next chain has its turn: how often progress is told."""
TOO_LOW, TOO_HIGH = 0.1, 0.6


@dataclass(frozen=True, eq=False)
class Imputed:
    """How often each option was drawn for each missing answer, over all chains and iterations after the warm-up."""

    respondent: Ints
    question: Ints
    first: Ints
    """Cell c owns entries first[c] to first[c + 1], one an option in label order."""
    share: Floats
    """Share of the draws that fell on the option."""
    probability: Floats
    """Mean of P(option | z) over the same iterations: what the shares estimate, with less noise."""


@dataclass(frozen=True, eq=False)
class Sample:
    """What the sampler knows; `run` hands over the part that all engines have."""

    x: Floats
    """(chain, draw, n_free), as in `Run`."""
    ranks: dict[str, Ints]
    stats: dict[str, Floats]
    z_mean: Floats
    """Posterior mean of each ability, (chain, respondent), each chain in its own direction; NaN if none was drawn."""
    z_sd: Floats
    imputed: Imputed
    interrupted: bool
    modes: tuple[Mode, ...]
    """Modes found by the search, best first; empty with start="prior"."""


@dataclass(frozen=True)
class Metropolis(Engine):
    """Metropolis-within-Gibbs as in the paper: random walks of abilities and sprites, missing answers imputed.

    By default an iteration moves every respondent given the questions, then every question given the abilities, then
    draws the missing answers. Model hyperparameters belong to the model and are not set here, even where the paper
    uses one symbol for both.

    chains, warmup, draws, thin: iterations of each chain, of which every `thin`-th after the warm-up is kept (the
        paper: 90,000 of warm-up and 10,000 draws).
    step_z: the paper's nu_z in step 1, the variance of the proposal z' ~ N(z, nu_z).
    step_mu: its nu_mu in step 2, the variance of the proposal mu' ~ N(mu, nu_mu).
    shape_nu: its alpha_nu in step 3, nu' ~ IG(alpha_nu, nu (alpha_nu - 1)); above 1, where that has the mean nu.
    step: for the other models, the variance of the random walk on their unconstrained parameters.
        Steps left at None are adapted in the warm-up, to each respondent and to each question.
    joint: accept or reject all parameters at once, which is the paper's step 4 to the letter; it hardly moves at
        realistic sizes.
    ratio: "exact", or "paper" for its printed likelihood ratio alone, with neither priors nor the correction for the
        asymmetric proposal of nu: that does not sample the posterior, and is there to show so.
    impute: draw missing answers as the paper does; without, they are integrated out, which gives the same posterior.
    start: "modes" found by a search, abilities scattered around their estimates; or "prior", random values as in the
        paper.
    """

    chains: int = 4
    warmup: int = 20_000
    draws: int = 10_000
    thin: int = 10
    step_z: float | None = None
    step_mu: float | None = None
    shape_nu: float | None = None
    step: float | None = None
    joint: bool = False
    ratio: Literal["exact", "paper"] = "exact"
    impute: bool = True
    start: Literal["modes", "prior"] = "modes"

    name: ClassVar[str] = "metropolis"

    def __post_init__(self) -> None:
        if self.chains < 1 or self.warmup < 0 or self.thin < 1 or self.draws < self.thin:
            raise InputError("Metropolis needs chains >= 1, warmup >= 0, thin >= 1 and draws >= thin", found=self)
        for field in ("step_z", "step_mu", "step"):
            value = getattr(self, field)
            if value is not None and not (np.isfinite(value) and value > 0):
                raise InputError(f"Metropolis({field}=...) is a variance and must be above 0", found=value)
        if self.shape_nu is not None and not (np.isfinite(self.shape_nu) and self.shape_nu > 1):
            raise InputError(
                "Metropolis(shape_nu=...) must be above 1: at 1 or below the proposal IG(shape, nu (shape - 1)) has "
                "no positive scale",
                found=self.shape_nu,
                remedy="The prior's shape is another number: Sprite(alpha=...)",
            )
        for field, allowed in (("ratio", ("exact", "paper")), ("start", ("modes", "prior"))):
            if getattr(self, field) not in allowed:
                raise InputError(
                    f"Metropolis({field}=...) must be one of {', '.join(map(repr, allowed))}",
                    found=getattr(self, field),
                )

    def run(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Run:
        """Sample, and say what is wrong with the acceptance rates if anything is."""
        return self.run_of(problem, self.sample(problem, rng, progress))

    def run_of(self, problem: Problem, sample: Sample) -> Run:
        """The part of a sample that all engines have."""
        grid, error = _checked_grid(problem, sample)
        return Run(
            x=sample.x,
            ranks=sample.ranks,
            mode=sample.modes[0] if sample.modes else None,
            modes=sample.modes[1:],
            stats=sample.stats,
            messages=self._messages(sample),
            interrupted=sample.interrupted,
            n_nodes=0 if grid is None else grid.n_nodes,
            reach=REACH if grid is None else grid.reach,
            grid_error=error,
        )

    def sample(self, problem: Problem, rng: np.random.Generator, progress: Progress = silent) -> Sample:
        """The chains with all that only this engine has: its own abilities and the imputed answers."""
        self._check(problem)
        target = Target(problem.responses, problem.model, self.impute)
        steps = Steps(self.step_z, self.step_mu, self.shape_nu, self.step, self.joint, self.ratio == "exact")
        total = self.warmup + self.draws
        progress(0, total, "search for modes" if self.start == "modes" else "random starts")
        starts, modes = chain_starts(problem, target, self.chains, self.start, rng)
        recorders = [
            Recorder(self, Chain(target, steps, s.x, s.ranks, s.z, own))
            for s, own in zip(starts, rng.spawn(self.chains), strict=True)
        ]
        interrupted = False
        try:
            for done in range(0, total, SLICE):
                for recorder in recorders:
                    recorder.advance(min(SLICE, total - done))
                rates = np.mean([recorder.chain.accepted for recorder in recorders], axis=0)
                progress(
                    min(done + SLICE, total),
                    total,
                    f"{'warm-up' if done < self.warmup else 'draws'}, accepted: {rates[0]:.0%} of abilities, "
                    f"{rates[1]:.0%} of questions",
                )
        except KeyboardInterrupt:
            interrupted = True
        return _collect(target, recorders, interrupted, tuple(modes))

    def _check(self, problem: Problem) -> None:
        model = type(problem.model).__name__
        if problem.model.prior is None:
            raise InputError(
                f"Metropolis draws from a posterior, and {model}(prior=None) has none",
                remedy="Use a model with a prior, or EM() for maximum likelihood",
            )
        foreign = ("step",) if isinstance(problem.model, Sprite) else ("step_mu", "shape_nu")
        for field in foreign:
            if getattr(self, field) is not None:
                raise InputError(
                    f"Metropolis({field}=...) says nothing about {model}",
                    found=getattr(self, field),
                    remedy="SPRITE takes step_mu and shape_nu, the other models take step",
                )

    def _messages(self, sample: Sample) -> tuple[str, ...]:
        if not sample.x.shape[1]:
            return ("stopped during the warm-up, before the first draw: nothing to summarise",)
        messages = []
        if self.ratio == "paper":
            messages.append('ratio="paper" leaves out priors and the Hastings term: these are not posterior draws')
        parts = (
            ("abilities", "acceptance_abilities", ("step_z",)),
            ("questions", "acceptance_questions", ("step_mu", "shape_nu", "step")),
        )
        for what, stat, names in parts:
            rate = float(sample.stats[stat].mean())
            if TOO_LOW <= rate <= TOO_HIGH:
                continue
            if self.joint and rate < TOO_LOW:
                remedy = "joint=True accepts all or nothing: use joint=False"
            else:
                given = [name for name in names if getattr(self, name) is not None]
                # A higher shape makes a narrower proposal, a higher variance a wider one.
                change = [
                    f"{'lower' if (rate < TOO_LOW) != (name == 'shape_nu') else 'raise'} {name}" for name in given
                ]
                remedy = " and ".join(change) + ", or leave it to be adapted"
                if not given:
                    remedy = f"raise warmup (now {self.warmup:,}), in which the steps are adapted"
            messages.append(f"{rate:.1%} of the moves of {what} were accepted, outside 10-60 %: {remedy}")
            if self.joint:
                break
        return tuple(messages)


class Recorder:
    """Runs a chain and keeps its draws."""

    def __init__(self, settings: Metropolis, chain: Chain) -> None:
        self.settings, self.chain = settings, chain
        size = settings.draws // settings.thin
        self.x = np.empty((size, len(chain.x)))
        self.ranks = {name: np.empty((size, len(rank)), np.int64) for name, rank in chain.ranks.items()}
        self.stats = np.empty((size, 4))
        """Accepted shares of abilities, of questions, of rank exchanges, and the log posterior."""
        self.kept = self.done = self.counted = 0
        self.z_sum, self.z_squares = np.zeros_like(chain.z), np.zeros_like(chain.z)
        self._accepted = np.zeros(3)

    def advance(self, iterations: int) -> None:
        """Some iterations; after the warm-up they are counted, and every `thin`-th is kept."""
        chain, thin = self.chain, self.settings.thin
        for _ in range(iterations):
            if self.done < self.settings.warmup:
                chain.iterate((self.done + 1.0) ** -0.6, 5.0 / (self.done + 50.0))
                self.done += 1
                continue
            chain.iterate(0.0, 0.0)
            self.done += 1
            self.counted += 1
            self._accepted += chain.accepted
            self.z_sum += chain.z
            self.z_squares += chain.z**2
            chain.count_imputed()
            if self.counted % thin == 0 and self.kept < len(self.x):
                self.x[self.kept] = chain.x
                for name, rank in chain.ranks.items():
                    self.ranks[name][self.kept] = rank
                self.stats[self.kept, :3] = self._accepted / thin
                self.stats[self.kept, 3] = chain.log_posterior()
                self._accepted[:] = 0.0
                self.kept += 1


def _collect(target: Target, recorders: list[Recorder], interrupted: bool, modes: tuple[Mode, ...]) -> Sample:
    """All chains cut to the length of the shortest."""
    n = min(recorder.kept for recorder in recorders)
    stats = np.stack([recorder.stats[:n] for recorder in recorders])
    names = ["acceptance_abilities", "acceptance_questions", "acceptance_ranks", "log_posterior"]
    if not target.free_order:
        names[2] = ""
    counted = np.array([[recorder.counted or np.nan] for recorder in recorders])
    z_mean = np.stack([recorder.z_sum for recorder in recorders]) / counted
    z_square = np.stack([recorder.z_squares for recorder in recorders]) / counted
    total = max(1, sum(recorder.counted for recorder in recorders))
    share, probability = np.sum([recorder.chain.tally for recorder in recorders], axis=0) / total
    missing = slice(target.n_observed, None)
    return Sample(
        x=np.stack([recorder.x[:n] for recorder in recorders]),
        ranks={name: np.stack([recorder.ranks[name][:n] for recorder in recorders]) for name in recorders[0].ranks},
        stats={name: stats[..., k] for k, name in enumerate(names) if name},
        z_mean=z_mean,
        z_sd=np.sqrt(np.maximum(z_square - z_mean**2, 0.0)),
        imputed=Imputed(target.who[missing], target.question[missing], target.imputed_at, share, probability),
        interrupted=interrupted,
        modes=modes,
    )


def _checked_grid(problem: Problem, sample: Sample) -> tuple[Grid | None, float]:
    """A grid on which the log likelihood at the last draw of every chain stands still, for what comes after."""
    if not sample.x.shape[1]:
        return None, np.nan
    draws = [
        (x, {name: rank[chain, -1] for name, rank in sample.ranks.items()}) for chain, x in enumerate(sample.x[:, -1])
    ]
    posterior, error = checked(problem.posterior(61), draws)
    return posterior.grid, error
