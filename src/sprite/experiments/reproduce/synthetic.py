"""The paper's synthetic experiment: how well a known truth is recovered as the test grows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sprite.core.layout import Layout
from sprite.core.types import Bools, Floats
from sprite.data.scores import chooser_scores
from sprite.density.packing import Packing
from sprite.engines.base import Engine, Problem
from sprite.engines.metropolis import Metropolis
from sprite.experiments.reproduce import published
from sprite.experiments.reproduce.outputs import Table, markdown
from sprite.experiments.reproduce.parts import Part
from sprite.experiments.reproduce.settings import Settings
from sprite.experiments.work import Result, whole
from sprite.fitting import fit
from sprite.models.base import Model
from sprite.models.sprite import Sprite
from sprite.result.assembly import assemble
from sprite.result.fit import Fit
from sprite.result.orientation import flips, reflection
from sprite.simulation import Simulation, simulate

if TYPE_CHECKING:
    import pandas as pd

MEASURES = {"E_Z": "abilities", "E_mu": "means", "E_nu": "variances", "E_log_nu": "log variances"}
SAMPLERS = ("gibbs", "half-sweeps", "joint")
_PER_CELL = {"gibbs": 0.02, "half-sweeps": 0.02, "joint": 0.012}
"""Seconds for each respondent and question, by which time is guessed before any is known."""


@dataclass(frozen=True)
class Recovery:
    """One truth drawn from the prior, fitted once."""

    size: int
    """Respondents, and questions."""
    sampler: str
    engine: Engine
    repeat: int
    model: Sprite = field(default_factory=Sprite)

    @property
    def settings(self) -> dict[str, Any]:
        """All that the result depends on."""
        return {
            "experiment": "synthetic",
            "size": self.size,
            "options": published.OPTIONS,
            "repeat": self.repeat,
            "model": repr(self.model),
            "engine": repr(self.engine),
        }

    @property
    def test_name(self) -> str:
        """The size."""
        return str(self.size)

    @property
    def model_name(self) -> str:
        """No contest."""
        return ""

    @property
    def engine_name(self) -> str:
        """The engine, without saying how it accepts."""
        return self.engine.name

    @property
    def kind(self) -> str:
        """Size and sampler."""
        return f"{self.size} {self.sampler}"

    @property
    def expected(self) -> float:
        """A first guess at its seconds."""
        return _PER_CELL[self.sampler] * self.size**2

    @property
    def words(self) -> str:
        """What it is."""
        return f"{self.size} x {self.size}, {self.sampler}, replication {self.repeat + 1}"

    def compute(self) -> Result:
        """Draw a truth and answers, fit, and compare."""
        began = time.perf_counter()
        seed = int(np.random.SeedSequence([self.size, self.repeat]).generate_state(1)[0])
        made = simulate(self.model, self.size, self.size, published.OPTIONS, kind="prior", seed=seed)
        sampled = _by_metropolis if isinstance(self.engine, Metropolis) else _by_any
        fitted, x, z = sampled(made, self.engine, seed)
        state = fitted.diagnostics
        return {
            **errors(made, x, z),
            "max_rhat": state.max_rhat,
            "min_ess": state.min_ess_bulk,
            "acceptance": state.acceptance,
            "seconds": time.perf_counter() - began,
        }


def _by_any(made: Simulation, engine: Engine, seed: int) -> tuple[Fit, Floats, Floats]:
    """The fit, its draws turned by `Direction`, and the mean abilities under them."""
    fitted = whole(fit(made.responses, made.truth.model, engine, seed))
    direction = Direction.of(made)
    x = direction.turn(fitted.x, direction.upside_down(fitted.x))
    return fitted, x, replace(fitted, x=x).ability_moments()[0]


def _by_metropolis(made: Simulation, engine: Engine, seed: int) -> tuple[Fit, Floats, Floats]:
    """The same, with the means of the abilities that were drawn, for those the paper averages.

    Each chain is turned as a whole: one that changed sides on its way would spoil the paper's averages as well.
    """
    assert isinstance(engine, Metropolis)
    problem = Problem(made.responses, made.truth.model)
    sample = engine.sample(problem, np.random.default_rng(seed))
    fitted = whole(assemble(made.responses, made.truth.model, engine.run_of(problem, sample), engine.name, seed=seed))
    direction = Direction.of(made)
    chains = direction.upside_down(sample.x).mean(axis=1) > 0.5
    x = direction.turn(sample.x, np.broadcast_to(chains[:, None], sample.x.shape[:2]))
    return fitted, x, np.where(chains[:, None], -sample.z_mean, sample.z_mean).mean(axis=0)


@dataclass(frozen=True, eq=False)
class Direction:
    """Which way is up, for truth and draws alike, from the answers alone.

    The rule of a fit goes by the number of correct answers. Under the paper's prior that says little of ability, and
    draws of one posterior would end up on both sides; the first axis of reciprocal averaging needs no key.
    """

    model: Model
    layout: Layout
    packing: Packing
    signs: Floats

    @classmethod
    def of(cls, made: Simulation) -> Direction:
        """The direction for this test."""
        data, model = made.responses, made.truth.model
        score = chooser_scores(data.start, data.row, np.zeros_like(data.correct), data.question_of_row)
        packing = Packing(model, data.layout)
        signs = reflection(model, data.layout, packing)
        assert signs is not None
        return cls(model, replace(data.layout, score=score), packing, signs)

    def upside_down(self, x: Floats) -> Bools:
        """Which draws, (...), have to be turned."""
        return flips(x, self.model, self.layout, self.packing)

    def turn(self, x: Floats, which: Bools) -> Floats:
        """The draws, these of them turned."""
        return np.where(which[..., None], self.signs * x, x)


def errors(made: Simulation, x: Floats, z: Floats) -> dict[str, float]:
    """The paper's relative errors of posterior means, anchored entries left out; log nu beside nu.

    `x` are draws, (chain, draw, free parameters), and `z` mean abilities, both the right way up. The truth is turned
    here. nu_largest is the largest variance's part of the squared length of all of them, nu_worst that of the worst
    estimate in the squared error.
    """
    direction = Direction.of(made)
    packing = direction.packing
    truth_x = packing.pack(made.truth.values)
    turned = direction.upside_down(truth_x)
    truth, draws = packing.unpack(direction.turn(truth_x, turned)), packing.unpack(x)
    abilities = np.where(turned, -made.truth.abilities, made.truth.abilities)
    mu_free, nu_free = (np.isnan(p.fixed) for p in packing.continuous if p.fixed is not None)
    mu, nu = (np.asarray(draws[name], float) for name in ("mu", "nu"))
    true_mu, true_nu = (np.asarray(truth[name], float) for name in ("mu", "nu"))
    nu_error = (nu.mean(axis=(0, 1)) - true_nu)[nu_free] ** 2
    nu_size = true_nu[nu_free] ** 2
    return {
        "E_Z": relative(z, abilities),
        "E_mu": relative(mu.mean(axis=(0, 1))[mu_free], true_mu[mu_free]),
        "E_nu": float(nu_error.sum() / nu_size.sum()),
        "E_log_nu": relative(np.log(nu).mean(axis=(0, 1))[nu_free], np.log(true_nu[nu_free])),
        "nu_largest": float(nu_size.max() / nu_size.sum()),
        "nu_worst": float(nu_error.max() / max(float(nu_error.sum()), np.finfo(float).tiny)),
    }


def relative(estimate: Floats, truth: Floats) -> float:
    """The squared length of the difference as a part of the truth's."""
    return float(np.sum((estimate - truth) ** 2) / np.sum(truth**2))


def parts(settings: Settings) -> list[Part]:
    """Gibbs at every size; the paper's sampler as far as is practical, accepting in half-sweeps and jointly."""
    out: list[Part] = []
    for size in settings.sizes:
        engines: dict[str, Engine] = {"gibbs": settings.gibbs}
        if size <= settings.metropolis_up_to:
            engines["half-sweeps"] = settings.metropolis
            engines["joint"] = replace(settings.metropolis, joint=True)
        out += [
            Recovery(size, name, engine, repeat)
            for name, engine in engines.items()
            for repeat in range(settings.replications)
        ]
    return out


def tables(found: Sequence[tuple[Part, Result]]) -> dict[str, Table]:
    """Every replication; in words the medians and quartiles by size."""
    import pandas as pd

    lines = [
        {"size": part.size, "sampler": part.sampler, "replication": part.repeat, **result}
        for part, result in found
        if isinstance(part, Recovery)
    ]
    if not lines:
        return {}
    frame = pd.DataFrame(lines)
    return {"synthetic": Table(frame, _text(frame))}


def _text(frame: pd.DataFrame) -> str:
    header = ["sampler", "N = Q", "replications", *MEASURES, "R-hat above 1.1", "seconds"]
    rows = []
    for sampler in SAMPLERS:
        for size, group in frame[frame["sampler"] == sampler].groupby("size"):
            quartiles = [np.quantile(group[name], (0.5, 0.25, 0.75)) for name in MEASURES]
            stuck = int((~(group["max_rhat"].astype(float) <= 1.1)).sum())
            rows.append(
                [
                    sampler,
                    str(size),
                    str(len(group)),
                    *(f"{_brief(m)} ({_brief(low)} to {_brief(high)})" for m, low, high in quartiles),
                    f"{stuck} of {len(group)}",
                    f"{group['seconds'].mean():.0f}",
                ]
            )
    return markdown(header, rows)


def _brief(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.3g}"
