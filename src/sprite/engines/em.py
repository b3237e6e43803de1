"""EM: the mode of the collapsed posterior (or likelihood), with standard errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sprite.core.errors import InputError
from sprite.core.types import Floats
from sprite.density.information import observed_information
from sprite.density.posterior import Posterior
from sprite.density.refinement import good_enough, refined
from sprite.engines.base import Engine, Problem, Progress
from sprite.engines.search import Begin, climb, find_modes
from sprite.engines.upright import upright_start
from sprite.kernels.passes import moments
from sprite.result.run import Mode, Run

AT_INFINITY = 10.0
"""A standard error above this on the unconstrained scale (logits, log variances) means a flat likelihood."""
FAR_OUT = 1.7
"""Abilities so many times as far out as their distribution says, in the root mean square. Modes of real tests, and of
simulated ones of 99 respondents and more, came to 1.4 at the most; those of SPRITE and NRM with fewer respondents than
questions to between 1.9 and 4.2, and the full posterior predicted far better."""
MOST_PARAMETERS = 4000
"""Of more, the covariance is not computed: the time grows with the third power, from half a minute here."""


@dataclass(frozen=True)
class EM(Engine):
    """Marginal maximum a posteriori by quadrature; maximum likelihood where the model's prior is None.

    Every step computes expected counts on the grid (the E step); Fisher's identity makes them the exact gradient, and
    quasi-Newton steps in each question's own metric take the place of separate M steps.

    starts: how many searches (from the key, from the choosers' scores, from scores that do not look at the key, then
        random ones); the best mode is kept.
    standard_errors: whether to compute the observed information and draw from the Laplace approximation.
    draws: draws from the Laplace approximation, for intervals.
    nodes: nodes of the grid to begin with; it is refined until the log likelihood no longer moves.
    """

    starts: int = 3
    standard_errors: bool = True
    draws: int = 400
    nodes: int = 61

    name: ClassVar[str] = "em"

    def __post_init__(self) -> None:
        if self.starts < 1 or self.draws < 0 or self.nodes < 5:
            raise InputError("EM needs starts >= 1, draws >= 0 and nodes >= 5", found=self)

    def run(self, problem: Problem, rng: np.random.Generator, progress: Progress) -> Run:
        """Search, check the grid, then the curvature at the mode."""
        total = self.starts + 1
        posterior = problem.posterior(self.nodes)
        done = iter(range(total + 1))
        modes = find_modes(
            posterior,
            starts(self.starts, posterior),
            rng,
            lambda name: progress(next(done), total, f"search from {name} start"),
        )
        begin = upright_start(posterior, modes, rng)
        if begin not in modes:  # every mode found is upside down: climb from the right side
            begin = climb(posterior, begin.x, begin.ranks, begin.start)
        best, posterior, error = on_fine_grid(posterior, begin)
        run = Run(
            x=np.empty((1, 0, posterior.packing.n_free)),
            kind="laplace",
            mode=best,
            modes=tuple(mode for mode in modes if mode is not begin),
            messages=(*_unfinished(best), *_far_out(posterior, best)),
            n_nodes=posterior.grid.n_nodes,
            reach=posterior.grid.reach,
            grid_error=error,
        )
        if not self.standard_errors:
            return replace(run, refusal="not asked for (EM(standard_errors=False))")
        progress(self.starts, total, "standard errors")
        covariance, refusal = laplace(posterior, best)
        progress(total, total, "done")
        if covariance is None:
            return replace(run, refusal=refusal)
        draws = rng.multivariate_normal(best.x, covariance, size=(1, self.draws), method="cholesky")
        orders = {name: np.broadcast_to(rank, (1, self.draws, len(rank))) for name, rank in best.ranks.items()}
        return replace(run, x=draws, ranks=orders, covariance=covariance)


def starts(number: int, posterior: Posterior) -> list[tuple[Begin, str]]:
    """From the key, from scores, with a key also from scores that do not look at it, then random ones.

    Where the order of the options is an input there is no such third start: other scores could give another order.
    """
    named: list[tuple[Begin, str]] = [("keyed", "keyed"), ("score", "score")]
    if posterior.layout.correct.any() and not posterior.packing.fixed_ranks:
        named.append(("axis", "axis"))
    return (named + [("random", f"random {k}") for k in range(1, number)])[:number]


def on_fine_grid(posterior: Posterior, mode: Mode) -> tuple[Mode, Posterior, float]:
    """Refine the grid until the log likelihood at the mode stands still, fitting again each time."""
    while True:
        error, better = refined(posterior, [(mode.x, mode.ranks)])
        if good_enough(posterior, error):
            return mode, posterior, error
        posterior = better
        mode = climb(posterior, mode.x, mode.ranks, mode.start)


def laplace(posterior: Posterior, mode: Mode) -> tuple[Floats | None, str]:
    """Covariance of x at the mode, or None and the reason."""
    if posterior.packing.n_free > MOST_PARAMETERS:
        return None, (
            f"{posterior.packing.n_free:,} parameters are too many for a covariance (at most {MOST_PARAMETERS:,}); "
            "Gibbs() needs none"
        )
    information = observed_information(posterior, mode.x, mode.ranks)
    try:
        np.linalg.cholesky(information)
        covariance = np.linalg.inv(information)
    except np.linalg.LinAlgError:
        return None, "the log posterior is not curved downwards in every direction at the estimate: it is not a mode"
    error = np.sqrt(np.diag(covariance))
    flat = np.unique(posterior.packing.question[error > AT_INFINITY])
    if len(flat):
        names = ", ".join(posterior.responses.questions[j] for j in flat[:5]) + (", ..." if len(flat) > 5 else "")
        return None, (
            f"the estimate lies at infinity in {len(flat)} question(s) ({names}): an option there is chosen so rarely, "
            "or so perfectly in line with ability, that the likelihood still rises as its parameters grow without "
            "bound; use a model with a prior"
        )
    return 0.5 * (covariance + covariance.T), ""


def _far_out(posterior: Posterior, mode: Mode) -> tuple[str, ...]:
    """Where questions are many and respondents few, the options' many parameters outweigh the few abilities."""
    data, grid = posterior.responses, posterior.grid
    table = posterior.table(mode.x, mode.ranks)
    _, mean, sd, _ = moments(data.start, data.row, table, grid.log_weight, grid.nodes)
    centre, variance = posterior.model.ability
    times = float(np.sqrt(np.mean((mean - centre) ** 2 + sd**2) / variance))
    if times < FAR_OUT:
        return ()
    return (
        f"This mode has abilities {times:.1f} times as far out as their distribution says: with {data.n_respondents} "
        f"respondents and {data.n_questions} questions it is no good summary of the posterior. Use Gibbs()",
    )


def _unfinished(mode: Mode) -> tuple[str, ...]:
    if mode.converged:
        return ()
    return (
        f"EM stopped before it converged (gradient {mode.gradient_norm:.2g}): try EM(starts=10), a model with a prior, "
        "or Gibbs()",
    )
