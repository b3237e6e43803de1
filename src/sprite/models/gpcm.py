"""GPCM, the generalized partial credit model: ordered steps with one slope a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sprite.core.distributions import normal
from sprite.core.layout import Layout
from sprite.core.types import Floats, Ints
from sprite.models.base import Gradients, Kind, Parameter, Prior, Start, Values, check_settings
from sprite.models.order import ORDERS, Order, first_step, pick_steps, ranks, steps_of
from sprite.models.ranges import MEAN, VARIANCE, Ranges
from sprite.models.softmax import Curves, SoftmaxModel


@dataclass(frozen=True)
class GPCM(SoftmaxModel):
    """The option of rank r has the logit slope r z + step_1 + ... + step_r.

    `order` is where the ranks come from (see `models.order`); `sign` leaves the slope free, as R's mirt does, or holds
    it positive. Muraki's thresholds are -step / slope, undefined at slope 0 (see `thresholds`).
    Priors: slope ~ N(0, nu_slope), restricted to the positive side where so held; step ~ N(0, nu_step).
    """

    order: Order = "given"
    sign: Literal["free", "positive"] = "free"
    prior: Prior = "default"
    nu_slope: float = 1.0
    nu_step: float = 4.0
    mu_z: float = 0.0
    nu_z: float = 1.0

    name: ClassVar[str] = "gpcm"
    hyperparameters: ClassVar[tuple[str, ...]] = ("nu_slope", "nu_step", "mu_z", "nu_z")

    def __post_init__(self) -> None:
        check_settings(self, ("nu_slope", "nu_step", "nu_z"), order=ORDERS, sign=("free", "positive"))

    @property
    def ability(self) -> tuple[float, float]:
        """Mean and variance of the normal distribution of ability."""
        return self.mu_z, self.nu_z

    @property
    def learnable(self) -> Ranges:
        """All but nu_z, which only sets the unit of ability: slopes make up for it exactly."""
        return {"nu_slope": VARIANCE, "nu_step": VARIANCE, "mu_z": MEAN}

    def parameters(self, layout: Layout) -> tuple[Parameter, ...]:
        """A slope a question, a step between neighbouring options, and the order itself, held fixed."""
        return (
            Parameter(
                "slope",
                "question",
                np.arange(layout.n_questions),
                "real" if self.sign == "free" else "positive",
            ),
            Parameter("step", "step", steps_of(layout, 1), "real"),
            Parameter("rank", "option", layout.question, "permutation", ranks(layout, self.order).astype(float)),
        )

    def curves(self, values: Values, layout: Layout) -> Curves:
        """Straight lines: the rank times the slope, and the sum of the steps so far."""
        slope, rank = np.asarray(values["slope"], float), np.asarray(values["rank"], np.int64)
        height = _steps_so_far(np.asarray(values["step"], float), layout)[..., layout.first[layout.question] + rank]
        zero = np.zeros_like(height)
        return Curves(height, slope[..., layout.question] * rank, zero, zero)

    def pull_curves(self, values: Values, gradient: Curves, layout: Layout) -> Gradients:
        """A step lifts every option above it."""
        rank = np.asarray(values["rank"], np.int64)
        by_rank = np.empty_like(gradient.height)
        by_rank[..., layout.first[layout.question] + rank] = gradient.height
        # Sum from the top down to each rank: the whole question's sum less what lies below.
        below = np.cumsum(by_rank, axis=-1) - by_rank
        rows = _step_rows(layout)
        end = layout.first[1:][layout.question[rows]]
        total = np.concatenate([np.zeros((*by_rank.shape[:-1], 1)), np.cumsum(by_rank, axis=-1)], axis=-1)
        return {
            "slope": layout.sum_by_question(gradient.slope * rank),
            "step": np.asarray(total[..., end] - below[..., rows]),
        }

    def log_prior(self, values: Values, layout: Layout) -> tuple[Floats, Gradients]:
        """Normal slope (folded to the positive side where so held) and normal steps."""
        slope, step = np.asarray(values["slope"], float), np.asarray(values["step"], float)
        if self.prior is None:
            return np.zeros_like(slope), {"slope": np.zeros_like(slope), "step": np.zeros_like(step)}
        of_slope, d_slope = normal(slope, 0.0, self.nu_slope)
        of_step, d_step = normal(step, 0.0, self.nu_step)
        if self.sign == "positive":
            of_slope = of_slope + np.log(2.0)
        by_row = np.zeros((*step.shape[:-1], layout.n_rows))
        by_row[..., _step_rows(layout)] = of_step
        return of_slope + layout.sum_by_question(by_row), {"slope": d_slope, "step": d_step}

    def start(self, layout: Layout, kind: Start, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Steps from how often neighbours were chosen; the slope's sign from the key, the scores, or drawn."""
        rank = ranks(layout, self.order)
        toward = layout.correct.astype(float) if kind == "keyed" and layout.correct.any() else layout.score
        lean = layout.sum_by_question(layout.count * (rank - (layout.n_options[layout.question] - 1) / 2) * toward)
        slope = np.where(lean < 0, -0.5, 0.5)
        if kind == "random":
            slope = rng.normal(0.0, 0.7, layout.n_questions)
        if self.sign == "positive":
            slope = np.maximum(np.abs(slope), 0.05)
        by_rank = np.empty(layout.n_rows)
        by_rank[layout.first[layout.question] + rank] = np.log(layout.count + 0.5)
        rows = _step_rows(layout)
        return {"slope": slope, "step": by_rank[rows] - by_rank[rows - 1], "rank": rank}

    def sample(self, layout: Layout, kind: Kind, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """From the prior; or an exam: positive slopes, the top option (the key) chosen by about half."""
        rank = ranks(layout, self.order)
        n_steps = len(_step_rows(layout))
        if kind == "prior":
            slope = rng.normal(0.0, np.sqrt(self.nu_slope), layout.n_questions)
            slope = np.abs(slope) if self.sign == "positive" else slope
            return {"slope": slope, "step": rng.normal(0.0, np.sqrt(self.nu_step), n_steps), "rank": rank}
        slope = rng.gamma(8.0, 0.08, layout.n_questions)
        return {"slope": slope, "step": rng.normal(0.4, 0.5, n_steps), "rank": rank}

    def refresh(self, values: Values, layout: Layout, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Another value for one step of every question."""
        step = np.array(values["step"], float)
        at = pick_steps(layout, 1, step.shape[:-1], rng)
        anew = rng.normal(0.0, np.sqrt(self.nu_step), step.shape)
        return {
            "slope": np.asarray(values["slope"]),
            "step": np.where(at, anew, step),
            "rank": np.asarray(values["rank"]),
        }

    def reflect(self, values: Values, layout: Layout) -> dict[str, NDArray[np.generic]] | None:
        """The slope changes sign, where it may."""
        if self.sign == "positive" or self.mu_z != 0.0:
            return None
        return {
            "slope": -np.asarray(values["slope"], float),
            "step": np.asarray(values["step"], float),
            "rank": np.asarray(values["rank"]),
        }


def thresholds(values: Values, layout: Layout) -> Floats:
    """Muraki's thresholds -step / slope, where neighbouring options are equally likely; NaN where the slope is 0."""
    slope = np.asarray(values["slope"], float)[..., steps_of(layout, 1)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(slope != 0.0, -np.asarray(values["step"], float) / slope, np.nan)


def _step_rows(layout: Layout) -> Ints:
    """For each step, the position (question's first row + rank) of the option that it leads up to."""
    return np.flatnonzero(layout.position > 0)


def _steps_so_far(step: Floats, layout: Layout) -> Floats:
    """Sum of the steps up to each rank, laid out like rows."""
    total = np.concatenate([np.zeros((*step.shape[:-1], 1)), np.cumsum(step, axis=-1)], axis=-1)
    begin = first_step(layout, 1)[layout.question]
    return np.asarray(total[..., begin + layout.position] - total[..., begin])
