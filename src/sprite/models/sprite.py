"""SPRITE: every option is a Gaussian over ability, and the sprites compete for each answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from sprite.core.distributions import inverse_gamma, normal
from sprite.core.layout import Layout
from sprite.core.types import Bools, Floats
from sprite.models.base import Gradients, Kind, Parameter, Prior, Start, Values, check_settings, pick_rows
from sprite.models.ranges import MEAN, SHAPE, VARIANCE, Ranges
from sprite.models.softmax import Curves, SoftmaxModel


@dataclass(frozen=True)
class Sprite(SoftmaxModel):
    """P(k | z) proportional to N(z | mu_k, nu_k).

    `anchor` says what is held in each question: `correct` the correct option's mean at 0 and variance at 1, `scale`
    its variance alone (its mean is then the question's difficulty), `none` nothing.
    Priors: mu ~ N(0, nu_mu), nu ~ InvGamma(alpha, beta), ability ~ N(mu_z, nu_z).
    """

    anchor: Literal["correct", "scale", "none"] = "correct"
    prior: Prior = "default"
    nu_mu: float = 1.0
    alpha: float = 1.0
    beta: float = 1.0
    mu_z: float = 0.0
    nu_z: float = 1.0

    name: ClassVar[str] = "sprite"
    one_by_one: ClassVar[bool] = True
    hyperparameters: ClassVar[tuple[str, ...]] = ("nu_mu", "alpha", "beta", "mu_z", "nu_z")

    def __post_init__(self) -> None:
        check_settings(self, ("nu_mu", "alpha", "beta", "nu_z"), anchor=("correct", "scale", "none"))

    @property
    def ability(self) -> tuple[float, float]:
        """Mean and variance of the normal distribution of ability."""
        return self.mu_z, self.nu_z

    @property
    def learnable(self) -> Ranges:
        """All; but with nothing anchored, stretching ability and all sprites alike changes nothing: nu_z then stays."""
        ranges = {"nu_mu": VARIANCE, "alpha": SHAPE, "beta": VARIANCE, "mu_z": MEAN, "nu_z": VARIANCE}
        return {name: ends for name, ends in ranges.items() if name != "nu_z" or self.anchor != "none"}

    def parameters(self, layout: Layout) -> tuple[Parameter, ...]:
        """Mean and variance of every option's sprite."""
        free_mu, free_nu = _free(self.anchor, layout)
        return (
            Parameter("mu", "option", layout.question, "real", np.where(free_mu, np.nan, 0.0)),
            Parameter("nu", "option", layout.question, "positive", np.where(free_nu, np.nan, 1.0)),
        )

    def curves(self, values: Values, layout: Layout) -> Curves:
        """-0.5 log nu - (z - mu)^2 / (2 nu), as a curve about mu."""
        mu, nu = np.asarray(values["mu"], float), np.asarray(values["nu"], float)
        return Curves(-0.5 * np.log(nu), np.zeros_like(mu), -0.5 / nu, mu)

    def pull_curves(self, values: Values, gradient: Curves, layout: Layout) -> Gradients:
        """Moving mu is a slope of 1 / nu about mu."""
        nu = np.asarray(values["nu"], float)
        return {"mu": gradient.slope / nu, "nu": 0.5 * (gradient.curve / nu - gradient.height) / nu}

    def log_prior(self, values: Values, layout: Layout) -> tuple[Floats, Gradients]:
        """Normal means, inverse-gamma variances; anchored entries count nothing."""
        mu, nu = np.asarray(values["mu"], float), np.asarray(values["nu"], float)
        free_mu, free_nu = _free(self.anchor, layout)
        if self.prior is None:
            free_mu = free_nu = np.zeros(layout.n_rows, dtype=bool)
        of_mu, d_mu = normal(mu, 0.0, self.nu_mu)
        of_nu, d_nu = inverse_gamma(nu, self.alpha, self.beta)
        density = layout.sum_by_question(np.where(free_mu, of_mu, 0.0) + np.where(free_nu, of_nu, 0.0))
        return density, {"mu": np.where(free_mu, d_mu, 0.0), "nu": np.where(free_nu, d_nu, 0.0)}

    def start(self, layout: Layout, kind: Start, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Unit variances; means below the key's, or as the choosers score, or drawn."""
        reference = np.zeros(layout.n_rows, dtype=bool)
        reference[layout.reference[layout.reference >= 0]] = True
        if kind == "keyed":
            mu = np.where(reference | layout.correct, 0.0, -1.0)
        elif kind == "score":
            mu = layout.score - layout.score[layout.reference][layout.question]
        else:
            mu = rng.normal(0.0, 1.0, layout.n_rows)
        nu = np.exp(rng.normal(0.0, 0.5, layout.n_rows)) if kind == "random" else np.ones(layout.n_rows)
        return self._anchored(mu, nu, layout)

    def sample(self, layout: Layout, kind: Kind, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """From the prior; or an exam: distractors below the key, some near, most of them narrower than it is wide."""
        rows = layout.n_rows
        if kind == "prior":
            mu = rng.normal(0.0, np.sqrt(self.nu_mu), rows)
            nu = self._prior_variances((rows,), rng)
            return self._anchored(mu, nu, layout)
        difficulty = rng.normal(0.3, 0.5, layout.n_questions) if self.anchor != "correct" else np.zeros(1)
        key = np.zeros(rows, dtype=bool)
        key[layout.reference] = True
        below = rng.gamma(4.0, 0.35, rows)
        mu = np.broadcast_to(difficulty, layout.n_questions)[layout.question] - np.where(key, 0.0, below)
        return self._anchored(mu, np.where(key, 1.0, np.exp(rng.normal(-0.2, 0.2, rows))), layout)

    def refresh(self, values: Values, layout: Layout, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Another mean and variance for one option of every question."""
        mu, nu = np.array(values["mu"], float), np.array(values["nu"], float)
        rows = pick_rows(layout, mu.shape[:-1], rng)
        np.put_along_axis(mu, rows, rng.normal(0.0, np.sqrt(self.nu_mu), rows.shape), axis=-1)
        np.put_along_axis(nu, rows, self._prior_variances(rows.shape, rng), axis=-1)
        return self._anchored(mu, nu, layout)

    def faint(self, layout: Layout, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Variances so large that an option has its share of the answers from all alike, wherever its mean is.

        Beside a key of variance 1 a flat sprite's share is near 2.6 / sqrt(nu); the prior adds 2 alpha to its count.
        """
        total = layout.sum_by_question(layout.count.astype(float))[layout.question]
        share = rng.gamma(layout.count + 2.0 * self.alpha) / (2.6 * np.maximum(total, 1.0))
        mu = rng.normal(0.0, np.sqrt(self.nu_mu), layout.n_rows)
        return self._anchored(mu, np.maximum(share, 1e-50) ** -2.0, layout)

    def reflect(self, values: Values, layout: Layout) -> dict[str, NDArray[np.generic]] | None:
        """Means change sign; with a mean ability other than 0 the prior is not symmetric."""
        if self.mu_z != 0.0:
            return None
        return {"mu": -np.asarray(values["mu"], float), "nu": np.asarray(values["nu"], float)}

    def _prior_variances(self, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
        """Draws within what floating point can work with: of a small alpha's prior most lies beyond."""
        with np.errstate(divide="ignore", over="ignore"):
            return np.clip(self.beta / rng.gamma(self.alpha, 1.0, shape), 1e-100, 1e100)

    def _anchored(self, mu: Floats, nu: Floats, layout: Layout) -> dict[str, NDArray[np.generic]]:
        free_mu, free_nu = _free(self.anchor, layout)
        return {"mu": np.where(free_mu, mu, 0.0), "nu": np.where(free_nu, nu, 1.0)}


@lru_cache(maxsize=512)
def _free(anchor: str, layout: Layout) -> tuple[Bools, Bools]:
    """Which means and which variances are free."""
    mu, nu = np.ones(layout.n_rows, dtype=bool), np.ones(layout.n_rows, dtype=bool)
    anchored = layout.reference[layout.reference >= 0]
    mu[anchored] = anchor != "correct"
    nu[anchored] = anchor == "none"
    return mu, nu
