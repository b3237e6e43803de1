"""Hyperparameters learned from the data: those that make the answers most probable (type-II maximum likelihood).

Questions' parameters are integrated out by Laplace's approximation around a mode, abilities on the grid. Quasi-Newton
steps climb this evidence while the mode is followed; where they end, the mode is searched for anew, and if a better one
is found, they go on from there.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy.optimize import Bounds, minimize

from sprite.core.types import Floats
from sprite.density.evidence import log_evidence, mode_shift
from sprite.density.posterior import Posterior
from sprite.engines.base import Problem, Progress
from sprite.engines.em import on_fine_grid, starts
from sprite.engines.search import climb, find_modes
from sprite.engines.upright import upright_start
from sprite.kernels.passes import moments
from sprite.models.base import Model
from sprite.result.orientation import orientation, reflection
from sprite.result.run import Mode

ROUNDS = 3
STARTS = 3
STEPS = 40
"""Evaluations of the evidence in each round, at most."""
PATIENCE = 10
"""Evaluations without a gain after which a round ends: where the mode jumps, no line search finds a way on."""
NODES = 31
"""Nodes of the grid to begin with; it is refined until the log likelihood no longer moves."""
BETTER = 0.1
"""A mode with this much more evidence is worth another round, and a step that gains a hundredth of it is the last."""
_STEP = 1e-3
_TIGHT = 3e-4  # tolerance of the mode: evidence takes the curvature there, which moves faster than the height
_DIGITS = 4


@dataclass(frozen=True)
class Learned:
    """What was learned, and what it gained."""

    problem: Problem
    """The model with its learned hyperparameters in place, and the mode that they were learned with."""
    given: float
    """Log evidence of the model as it was given."""
    evidence: float
    """Log evidence of the learned one."""
    messages: tuple[str, ...]


def learn(problem: Problem, rng: np.random.Generator, progress: Progress) -> Learned:
    """Learn the model's `learnable` hyperparameters, beginning from those it holds."""
    given, evidence = np.nan, -np.inf
    for number in range(ROUNDS):
        progress(0, STEPS, "learning the prior: search")
        posterior, mode = _search(problem, rng)
        value = log_evidence(posterior, mode.x, mode.ranks)[0]
        if number and value < evidence + BETTER:
            break
        given = given if number else value
        ascent = Ascent(posterior, mode, progress)
        ascent.run()
        evidence = ascent.evidence
        problem = Problem(problem.responses, ascent.model, replace(mode, x=ascent.x))
    return Learned(replace(problem, model=_rounded(problem.model)), given, evidence, _messages(problem.model))


class _StuckError(Exception):
    """Ends a round in which nothing is gained any more."""


class Ascent:
    """Climbs the evidence as a function of y, the hyperparameters in units that move it about equally.

    The best place so far is kept with its mode and how that mode moves with y, from which the next mode is guessed.
    """

    def __init__(self, posterior: Posterior, mode: Mode, progress: Progress) -> None:
        self.posterior, self.progress = posterior, progress
        self.ranges = posterior.model.learnable
        self.centre = np.array([_up(getattr(posterior.model, name), ends) for name, ends in self.ranges.items()])
        self.unit = np.ones(len(self.ranges))
        self.x, self.ranks = mode.x, mode.ranks
        self.unit = self._units()
        ends = np.array([[_up(end, ends) for end in ends] for ends in self.ranges.values()])
        self.lower, self.upper = ((ends - self.centre[:, None]) / self.unit[:, None]).T
        self.level = max(abs(mode.log_posterior), 1.0)
        self.y = np.zeros(len(self.ranges))
        self.shift = np.zeros((len(self.ranges), len(mode.x)))
        """How far the mode moves with each entry of y."""
        self.evidence = -np.inf
        self.steps = self.best_step = 0

    @property
    def model(self) -> Model:
        """The best model so far."""
        return self.model_at(self.y)

    def run(self) -> None:
        """Climb until a step gains next to nothing."""
        with suppress(_StuckError):
            minimize(
                self.downhill,
                self.y,
                jac=True,
                method="L-BFGS-B",
                bounds=Bounds(self.lower, self.upper),
                options={"maxfun": STEPS, "ftol": 0.01 * BETTER / self.level, "gtol": 0.02},
            )

    def downhill(self, y: Floats) -> tuple[float, Floats]:
        """Minus the log evidence and its gradient."""
        posterior = self.posterior.under(self.model_at(y))
        guesses = (self.x, self.x + (y - self.y) @ self.shift)
        begin = max(guesses, key=lambda x: posterior.evaluate(x, self.ranks).value)
        x = climb(posterior, begin, self.ranks, "", tolerance=_TIGHT, orders=False).x
        evidence, metric = log_evidence(posterior, x, self.ranks)
        gradient, shift = np.empty(len(y)), np.empty_like(self.shift)
        steps = np.where(y + _STEP > self.upper, -_STEP, _STEP)
        for k, step in enumerate(steps):
            moved = posterior.under(self.model_at(y + step * (np.arange(len(y)) == k)))
            by = mode_shift(posterior, moved, x, self.ranks, metric)
            gradient[k] = (log_evidence(moved, x + by, self.ranks)[0] - evidence) / step
            shift[k] = by / step
        self.steps += 1
        if evidence > self.evidence:
            self.evidence, self.x, self.y, self.shift, self.best_step = evidence, x, y.copy(), shift, self.steps
        elif self.steps - self.best_step >= PATIENCE:
            raise _StuckError
        self.progress(min(self.steps, STEPS), STEPS, f"learning the prior: log evidence {self.evidence:.1f}")
        return -evidence, -gradient

    def model_at(self, y: Floats) -> Model:
        """The model with these hyperparameters."""
        values = self.centre + self.unit * y
        found = {name: _down(value, ends) for value, (name, ends) in zip(values, self.ranges.items(), strict=True)}
        return _with(self.posterior.model, found)

    def _units(self) -> Floats:
        """Steps that move the log density of parameters and abilities by about 1.

        From the squares of each question's and respondent's part of its slope: never more information than that, so
        that first steps do not overshoot.
        """
        posterior = self.posterior
        values, data = posterior.packing.unpack(self.x, self.ranks), posterior.responses
        table, grid = posterior.table(self.x, self.ranks), posterior.grid
        _, mean, sd, _ = moments(data.start, data.row, table, grid.log_weight, grid.nodes)

        def parts(y: Floats) -> Floats:
            model = self.model_at(y)
            centre, variance = model.ability
            ability = -0.5 * (np.log(variance) + ((mean - centre) ** 2 + sd**2) / variance)
            return np.concatenate([model.log_prior(values, posterior.layout)[0], ability])

        steps = _STEP * np.eye(len(self.ranges))
        slopes = np.array([(parts(step) - parts(-step)) / (2 * _STEP) for step in steps])
        return np.asarray(1.0 / np.sqrt(np.maximum((slopes**2).sum(axis=1), 1.0)))


def _search(problem: Problem, rng: np.random.Generator) -> tuple[Posterior, Mode]:
    """The best mode, the right way up, on a grid that is fine enough."""
    posterior = problem.posterior(NODES)
    modes = find_modes(posterior, starts(STARTS, posterior), rng)
    mode, posterior, _ = on_fine_grid(posterior, upright_start(posterior, modes, rng))
    signs = reflection(problem.model, posterior.layout, posterior.packing)
    if signs is None:
        return posterior, mode
    # The mean of ability will be learned on the side where this mode stands, and that side is then final.
    turn = orientation(mode.x, mode.ranks, problem.responses, problem.model, posterior.packing, True).flip
    return posterior, replace(mode, x=signs * mode.x) if turn else mode


def _messages(model: Model) -> tuple[str, ...]:
    """What ran to an end of its range."""
    out = []
    for name, ends in model.learnable.items():
        value = getattr(model, name)
        for end, words in zip(ends, ("smaller", "larger"), strict=True):
            if abs(_up(value, ends) - _up(end, ends)) < 1e-3:
                out.append(
                    f"Learning took {name} to the end of its range ({end:g}); the answers would have it {words} still. "
                    f'They do not tell it: compare with prior="default" before relying on it.'
                )
    return tuple(out)


def _rounded(model: Model) -> Model:
    """Four digits are more than data can tell, and can be read."""
    return _with(model, {name: float(f"{getattr(model, name):.{_DIGITS}g}") for name in model.learnable})


def _with(model: Model, values: dict[str, float]) -> Model:
    return cast(Model, replace(cast(Any, model), **values))


def _up(value: float, ends: tuple[float, float]) -> float:
    return float(np.log(value)) if ends[0] > 0 else value


def _down(value: float, ends: tuple[float, float]) -> float:
    """From the scale that is searched; within the range whatever rounding does."""
    return float(np.clip(np.exp(value) if ends[0] > 0 else value, *ends))
