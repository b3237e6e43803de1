"""NRM, Bock's nominal response model: every option has a slope and an intercept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sprite.core.distributions import normal
from sprite.core.layout import Layout
from sprite.core.types import Floats
from sprite.models.base import Gradients, Kind, Parameter, Prior, Start, Values, check_settings, pick_rows
from sprite.models.ranges import MEAN, VARIANCE, Ranges
from sprite.models.softmax import Curves, SoftmaxModel


@dataclass(frozen=True)
class NRM(SoftmaxModel):
    """P(k | z) proportional to exp(slope_k z + intercept_k), slopes and intercepts summing to zero in each question.

    Priors, exchangeable over options: N(0, nu_slope) and N(0, nu_intercept) given that sum. Ability ~ N(mu_z, nu_z).
    """

    prior: Prior = "default"
    nu_slope: float = 1.0
    nu_intercept: float = 4.0
    mu_z: float = 0.0
    nu_z: float = 1.0

    name: ClassVar[str] = "nrm"
    hyperparameters: ClassVar[tuple[str, ...]] = ("nu_slope", "nu_intercept", "mu_z", "nu_z")

    def __post_init__(self) -> None:
        check_settings(self, ("nu_slope", "nu_intercept", "nu_z"))

    @property
    def ability(self) -> tuple[float, float]:
        """Mean and variance of the normal distribution of ability."""
        return self.mu_z, self.nu_z

    @property
    def learnable(self) -> Ranges:
        """All but nu_z, which only sets the unit of ability: slopes make up for it exactly."""
        return {"nu_slope": VARIANCE, "nu_intercept": VARIANCE, "mu_z": MEAN}

    def parameters(self, layout: Layout) -> tuple[Parameter, ...]:
        """Slope and intercept of every option."""
        return (
            Parameter("slope", "option", layout.question, "zero_sum"),
            Parameter("intercept", "option", layout.question, "zero_sum"),
        )

    def curves(self, values: Values, layout: Layout) -> Curves:
        """Straight lines about 0."""
        slope, intercept = np.asarray(values["slope"], float), np.asarray(values["intercept"], float)
        zero = np.zeros_like(slope)
        return Curves(intercept, slope, zero, zero)

    def pull_curves(self, values: Values, gradient: Curves, layout: Layout) -> Gradients:
        """The lines are the parameters."""
        return {"slope": gradient.slope, "intercept": gradient.height}

    def log_prior(self, values: Values, layout: Layout) -> tuple[Floats, Gradients]:
        """Independent normals on the plane of zero sums, which has one dimension less than there are options."""
        slope, intercept = np.asarray(values["slope"], float), np.asarray(values["intercept"], float)
        if self.prior is None:
            return np.zeros((*slope.shape[:-1], layout.n_questions)), {
                "slope": np.zeros_like(slope),
                "intercept": np.zeros_like(intercept),
            }
        of_slope, d_slope = normal(slope, 0.0, self.nu_slope)
        of_intercept, d_intercept = normal(intercept, 0.0, self.nu_intercept)
        origin = np.zeros(1)
        extra = normal(origin, 0.0, self.nu_slope)[0] + normal(origin, 0.0, self.nu_intercept)[0]
        density = layout.sum_by_question(of_slope + of_intercept) - np.where(layout.n_options > 0, extra, 0.0)
        return density, {"slope": d_slope, "intercept": d_intercept}

    def start(self, layout: Layout, kind: Start, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Intercepts from how often options were chosen; slopes from the key, the choosers' scores, or drawn."""
        if kind == "keyed":
            slope = layout.correct.astype(float)
            slope[layout.reference[layout.reference >= 0]] = 1.0
        elif kind == "score":
            slope = layout.score.copy()
        else:
            slope = rng.normal(0.0, 1.0, layout.n_rows)
        return _centred(slope, np.log(layout.count + 0.5), layout)

    def sample(self, layout: Layout, kind: Kind, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """From the prior; or an exam: the key rises most steeply."""
        rows = layout.n_rows
        if kind == "prior":
            slope = rng.normal(0.0, np.sqrt(self.nu_slope), rows)
            return _centred(slope, rng.normal(0.0, np.sqrt(self.nu_intercept), rows), layout)
        key = np.zeros(rows, dtype=bool)
        key[layout.reference] = True
        slope = np.where(key, 0.0, -rng.gamma(5.0, 0.25, rows))
        return _centred(slope, np.where(key, 1.2, 0.0) + rng.normal(0.0, 0.6, rows), layout)

    def refresh(self, values: Values, layout: Layout, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Another slope and intercept for one option of every question.

        Zero sums are independent normals less their mean, and that mean is independent of them: put a mean back,
        draw one of the normals anew, take the mean off again.
        """
        slope, intercept = np.asarray(values["slope"], float), np.asarray(values["intercept"], float)
        rows = pick_rows(layout, slope.shape[:-1], rng)

        def anew(part: Floats, variance: float) -> Floats:
            mean = rng.normal(size=rows.shape) * np.sqrt(variance / np.maximum(layout.n_options, 1))
            whole = part + mean[..., layout.question]
            np.put_along_axis(whole, rows, rng.normal(0.0, np.sqrt(variance), rows.shape), axis=-1)
            return whole

        return _centred(anew(slope, self.nu_slope), anew(intercept, self.nu_intercept), layout)

    def reflect(self, values: Values, layout: Layout) -> dict[str, NDArray[np.generic]] | None:
        """Slopes change sign; with a mean ability other than 0 the prior is not symmetric."""
        if self.mu_z != 0.0:
            return None
        return {
            "slope": -np.asarray(values["slope"], float),
            "intercept": np.asarray(values["intercept"], float),
        }


def _centred(slope: Floats, intercept: Floats, layout: Layout) -> dict[str, NDArray[np.generic]]:
    def centre(values: Floats) -> Floats:
        mean = layout.sum_by_question(values) / np.maximum(layout.n_options, 1)
        return np.asarray(values - mean[..., layout.question])

    return {"slope": centre(slope), "intercept": centre(intercept)}


def key_baseline(values: Values, layout: Layout) -> dict[str, Floats]:
    """Slopes and intercepts relative to the correct option, which gets 0 and 0."""
    return {name: _relative(np.asarray(values[name], float), layout.reference, layout) for name in _NAMES}


def first_baseline(values: Values, layout: Layout) -> dict[str, Floats]:
    """Slopes and intercepts relative to the first option."""
    return {name: _relative(np.asarray(values[name], float), layout.first[:-1], layout) for name in _NAMES}


def mirt_form(values: Values, layout: Layout) -> dict[str, Floats]:
    """The nominal form of R's mirt: logit = ak_k a1 z + d_k with ak = 0 for the first option, M - 1 for the last.

    `a1` (one a question) is undefined, NaN, with a single option and 0 where first and last slope are equal; then no
    `ak` exists and they are NaN.
    """
    relative = first_baseline(values, layout)
    last = np.maximum(layout.first[1:] - 1, 0)
    steps = np.maximum(layout.n_options - 1, 1)
    a1 = relative["slope"][..., last] / steps
    with np.errstate(divide="ignore", invalid="ignore"):
        ak = np.where(a1[..., layout.question] != 0, relative["slope"] / a1[..., layout.question], np.nan)
    return {"a1": np.where(layout.n_options > 1, a1, np.nan), "ak": ak, "d": relative["intercept"]}


def locations(values: Values) -> Floats:
    """Bock's alpha = -intercept / slope, so that the logit is slope (z - alpha); NaN where the slope is 0."""
    slope, intercept = np.asarray(values["slope"], float), np.asarray(values["intercept"], float)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(slope != 0.0, -intercept / slope, np.nan)


_NAMES = ("slope", "intercept")


def _relative(values: Floats, base: NDArray[np.integer], layout: Layout) -> Floats:
    return np.asarray(values - values[..., base[layout.question]])
