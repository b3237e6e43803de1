"""NUTS: the No-U-Turn sampler of nutpie on the collapsed posterior; the independent check on Gibbs."""

from __future__ import annotations

import importlib
import time
import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sprite.core.errors import InputError, SpriteError
from sprite.core.types import Floats, Ints
from sprite.density.blocks import metric_at
from sprite.density.evidence import log_evidence
from sprite.density.posterior import Posterior
from sprite.engines.base import Engine, Problem, Progress
from sprite.engines.em import on_fine_grid, starts
from sprite.engines.search import climb, find_modes
from sprite.kernels.threads import RESPONDENT_COST, SMALL, get_threads, set_threads
from sprite.result.run import Mode, Run

MATTERS = 0.01
"""A mode with at least this share of the posterior (by its Laplace approximation) gets a chain of its own."""
JITTER = 0.5
"""Spread of the starts about their mode, where 1 is the posterior's own."""
POLL = 0.05  # seconds between looks at how far the chains have come
STATS = {
    "diverging": "divergent",
    "mean_tree_accept": "acceptance",
    "n_steps": "n_steps",
    "maxdepth_reached": "deepest",
    "logp": "log_posterior",
    "energy": "energy",
}
"""nutpie's names for what it tells of every draw, and ours."""


@dataclass(frozen=True)
class NUTS(Engine):
    """Full posterior by the No-U-Turn sampler, abilities integrated out on the grid.

    Chains start at the modes that the search finds, in coordinates in which each question's curvature is 1; nutpie's
    low-rank mass matrix learns what is left, the directions that all questions share. Needs the package nutpie.

    chains, draws, warmup: how many chains, draws kept of each, and steps of adaptation before them.
    target_accept: the acceptance rate that sets the step size; nearer 1 means smaller steps and fewer divergences.
    max_depth: a trajectory takes at most 2 ** max_depth steps.
    starts: how many searches for modes. nodes: nodes of the grid to begin with, refined where that is too coarse.
    """

    chains: int = 4
    draws: int = 1000
    warmup: int = 500
    target_accept: float = 0.8
    max_depth: int = 10
    starts: int = 3
    nodes: int = 61

    name: ClassVar[str] = "nuts"

    def __post_init__(self) -> None:
        if min(self.chains, self.draws, self.starts, self.max_depth) < 1 or self.warmup < 10 or self.nodes < 5:
            raise InputError(
                "NUTS needs chains, draws, starts and max_depth >= 1, warmup >= 10 and nodes >= 5", found=self
            )
        if not 0.0 < self.target_accept < 1.0:
            raise InputError("NUTS(target_accept=...) must lie between 0 and 1", found=self.target_accept)

    def run(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Run:
        """Search for modes, check the grid, then sample."""
        posterior = problem.posterior(self.nodes)
        if len(posterior.packing.discrete) > len(posterior.packing.fixed_ranks):
            raise InputError(
                f"NUTS cannot sample {type(problem.model).__name__}: the order of its options is free, and NUTS moves "
                "only what is continuous",
                remedy="Use Gibbs()",
            )
        nutpie = _nutpie()
        total = self.chains * (self.warmup + self.draws)
        found = find_modes(
            posterior,
            starts(self.starts, posterior),
            rng,
            lambda name: progress(0, total, f"search from {name} start"),
        )
        best, posterior, error = on_fine_grid(posterior, found[0])
        modes = [best, *found[1:]]
        if posterior.grid.n_nodes != self.nodes:
            modes[1:] = [climb(posterior, mode.x, mode.ranks, mode.start) for mode in modes[1:]]
        run = Run(
            x=np.empty((self.chains, self.draws, posterior.packing.n_free)),
            mode=best,
            modes=tuple(modes[1:]),
            n_nodes=posterior.grid.n_nodes,
            reach=posterior.grid.reach,
            grid_error=error,
        )
        if not posterior.packing.n_free:
            return run
        weight = evidence_shares(posterior, modes)
        chains = [
            _Chain(self, nutpie, posterior, modes[k], own)
            for k, own in zip(assign(weight, self.chains), rng.spawn(self.chains), strict=True)
        ]
        interrupted = _sample(chains, _at_once(posterior, self.chains), total, progress)
        x, stats = _together(chains)
        messages = _messages(self, stats, x.shape[1], interrupted, int((weight >= MATTERS).sum()))
        return replace(run, x=x, stats=stats, messages=messages, interrupted=interrupted)


def evidence_shares(posterior: Posterior, modes: list[Mode]) -> Floats:
    """Each mode's share of the posterior by Laplace's approximation, question by question; 0 for one far down."""
    if len(modes) == 1:
        return np.ones(1)
    # A mode far down cannot matter, whatever its width.
    level = np.array(
        [
            log_evidence(posterior, mode.x, mode.ranks)[0]
            if mode.log_posterior > modes[0].log_posterior - 50.0
            else -np.inf
            for mode in modes
        ]
    )
    share = np.exp(level - level.max())
    return np.asarray(share / share.sum())


def assign(share: Floats, chains: int) -> Ints:
    """The mode that each chain starts from: one for every mode that matters, the others in proportion."""
    order = np.argsort(-share, kind="stable")
    number = np.zeros(len(share), dtype=np.int64)
    number[[k for k in order if share[k] >= MATTERS][:chains]] = 1
    while number.sum() < chains:
        number[np.argmax(share * chains - number)] += 1
    return np.repeat(order, number[order])


class _Chain:
    """One chain: a nutpie sampler of its own, so that where it starts and what it draws depend on its seed alone."""

    def __init__(self, engine: NUTS, nutpie: Any, posterior: Posterior, mode: Mode, rng: np.random.Generator) -> None:
        self._engine, self._nutpie = engine, nutpie
        self.done = 0
        self.stopped_at: int | None = None
        """How many draws were done when Ctrl-C came."""
        self.x: Floats = np.empty((0, posterior.packing.n_free))
        self.stats: dict[str, Floats] = {}
        self.sampler: Any = None
        metric = metric_at(posterior, mode.x, mode.ranks)
        begin = JITTER * rng.standard_normal(posterior.packing.n_free)
        self._seed = int(rng.integers(2**63))

        def evaluate(y: Floats) -> tuple[float, Floats]:
            if self.stopped_at is not None:  # a value that is not finite ends the trajectory, which may be a long one
                return np.nan, y
            with np.errstate(all="ignore"):
                at = posterior.evaluate(mode.x + metric.unwhiten(y), mode.ranks)
                # nutpie counts a value that is not finite as a divergence.
                return at.value, metric.pull(at.gradient)

        def expand(y: Floats) -> dict[str, Floats]:
            self.done += 1
            return {"x": mode.x + metric.unwhiten(y)}

        self._model = nutpie.compiled_pyfunc.from_pyfunc(
            len(begin),
            lambda: evaluate,
            lambda seed1, seed2, chain: expand,
            expanded_dtypes=[np.dtype(np.float64)],
            expanded_shapes=[begin.shape],
            expanded_names=["x"],
            make_initial_point_fn=lambda seed: begin,
        )

    def start(self) -> None:
        engine = self._engine
        self.sampler = self._nutpie.sample(
            self._model,
            draws=engine.draws,
            tune=engine.warmup,
            chains=1,
            cores=1,
            seed=self._seed,
            progress_bar=False,
            low_rank_modified_mass_matrix=True,
            blocking=False,
            target_accept=engine.target_accept,
            maxdepth=engine.max_depth,
        )

    @property
    def finished(self) -> bool:
        try:
            return self.sampler is not None and bool(self.sampler.is_finished)
        except TimeoutError:  # nutpie's way to say no
            return False

    def collect(self, abort: bool = False) -> None:
        """Take over what has been drawn."""
        if self.sampler is None:
            return
        self.stopped_at = self.done if abort else None
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "More chains", UserWarning)  # one chain and, in warm-up, no draw yet
            trace = self.sampler.abort() if abort else self.sampler.wait()
        # What came after is the last state again, not a draw.
        kept = slice(None if self.stopped_at is None else max(0, self.stopped_at - self._engine.warmup))
        self.x = np.asarray(trace.posterior["x"].values, float)[0][kept]
        self.stats = {
            ours: np.asarray(trace.sample_stats[theirs].values, float)[0][kept]
            for theirs, ours in STATS.items()
            if theirs in trace.sample_stats
        }


def _sample(chains: list[_Chain], at_once: int, total: int, progress: Progress) -> bool:
    """Run all chains, some at a time; whether Ctrl-C ended it."""
    threads = get_threads()
    set_threads(max(1, threads // at_once))  # the chains are the parallel part; the passes share what is left
    try:
        while not all(chain.finished for chain in chains):
            busy = sum(chain.sampler is not None and not chain.finished for chain in chains)
            for chain in [chain for chain in chains if chain.sampler is None][: at_once - busy]:
                chain.start()
            progress(sum(chain.done for chain in chains), total, "sampling")
            time.sleep(POLL)
        for chain in chains:
            chain.collect()
    except KeyboardInterrupt:
        for chain in chains:
            chain.collect(abort=True)
        return True
    except BaseException:
        for chain in chains:
            if chain.sampler is not None:
                chain.sampler.cancel()
        raise
    finally:
        set_threads(threads)
    progress(total, total, "done")
    return False


def _at_once(posterior: Posterior, chains: int) -> int:
    """How many chains to run at a time.

    One where the passes are short: most of the time is then spent in Python, which runs one thread at a time.
    """
    responses = posterior.responses
    work = (responses.n_answers + RESPONDENT_COST * responses.n_respondents) * posterior.grid.n_nodes
    return min(chains, get_threads()) if work >= SMALL else 1


def _together(chains: list[_Chain]) -> tuple[Floats, dict[str, Floats]]:
    """Chains of one length; after an interruption as many of the longest as hold the most draws together."""
    ordered = sorted(range(len(chains)), key=lambda k: -len(chains[k].x))
    held = [len(chains[k].x) * (place + 1) for place, k in enumerate(ordered)]
    kept = [chains[k] for k in sorted(ordered[: int(np.argmax(held)) + 1])]
    length = min(len(chain.x) for chain in kept)
    names = set.intersection(*(set(chain.stats) for chain in kept))
    stats = {name: np.stack([chain.stats[name][:length] for chain in kept]) for name in STATS.values() if name in names}
    return np.stack([chain.x[:length] for chain in kept]), stats


def _messages(engine: NUTS, stats: dict[str, Floats], drawn: int, interrupted: bool, n_modes: int) -> tuple[str, ...]:
    said = []
    divergent = int(stats["divergent"].sum()) if "divergent" in stats else 0
    deepest = float(stats["deepest"].mean()) if drawn and "deepest" in stats else 0.0
    if interrupted:
        said.append(f"interrupted: {drawn} of {engine.draws} draws of each chain kept")
    if divergent:
        said.append(
            f"{divergent} draw(s) diverged: the sampler met a place too sharply curved for its steps and may have "
            f"missed what lies beyond; try NUTS(target_accept={0.5 * (1 + engine.target_accept):.2g}), or Gibbs()"
        )
    if deepest > 0.01:
        said.append(
            f"{deepest:.0%} of the draws stopped at the longest trajectory allowed: they are right but follow one "
            f"another closely; try NUTS(max_depth={engine.max_depth + 2}) or Gibbs()"
        )
    if n_modes > 1:
        said.append(
            f"the chains started from {min(n_modes, engine.chains)} different modes: NUTS hardly ever moves between "
            "modes, so where R-hat is above 1.01 use Gibbs()"
        )
    return tuple(said)


def _nutpie() -> Any:
    """nutpie, imported when needed: it is an extra, and heavy."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # ArviZ announces its next version at import
            nutpie = importlib.import_module("nutpie")
            importlib.import_module("nutpie.compiled_pyfunc")
    except ImportError as error:
        raise SpriteError(
            f"NUTS needs the package nutpie, which cannot be imported ({error}). "
            "Install it with: pip install nutpie; or use Gibbs()"
        ) from error
    return nutpie
