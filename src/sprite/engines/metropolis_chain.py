"""One chain of the paper's sampler: its target, its proposals, and one iteration.

Everything happens on the unconstrained x of `Packing`. The paper's proposal nu' ~ IG(a, nu (a - 1)) is there a random
walk too, x' = x + d with d = log(a - 1) - log G and G ~ Gamma(a, 1): the density of d does not depend on x. It is not
symmetric, so the acceptance ratio holds log q(-d) - log q(d) = 2 a d - 2 (a - 1) sinh(d).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sprite.core.types import Bools, Floats, Ints
from sprite.data.responses import Responses
from sprite.density.grid import grid_for
from sprite.density.packing import Packing
from sprite.kernels.metropolis import answer_sums, impute, take_columns, take_rows, tally
from sprite.models.base import Model, Values
from sprite.models.intervals import move_option
from sprite.models.sprite import Sprite
from sprite.result.orientation import ENOUGH_FOR_A_SIGN, option_means

AIM_ABILITY, AIM_QUESTION, AIM_JOINT = 0.44, 0.3, 0.234
"""Acceptance rates that the warm-up steers to: for one number, for a handful, for very many at once."""


@dataclass(frozen=True)
class Steps:
    """Sizes of the proposals as the user gave them; None is adapted in warm-up. All but the shape are variances."""

    z: float | None
    mu: float | None
    shape_nu: float | None
    other: float | None
    joint: bool
    exact: bool


class Target:
    """The posterior of abilities, parameters and missing answers, in the pieces that the half-sweeps need."""

    def __init__(self, responses: Responses, model: Model, imputes: bool) -> None:
        self.model, self.layout = model, responses.layout
        self.packing = Packing(model, self.layout)
        self.n = responses.n_respondents
        self.mean, self.variance = model.ability
        self.free_order = len(self.packing.discrete) > len(self.packing.fixed_ranks)
        self.grid = grid_for(model.ability, ENOUGH_FOR_A_SIGN)
        observed_who = responses.respondent_of_answer
        observed_question = self.layout.question[responses.row]
        self.n_observed = len(responses.row)
        missing = np.broadcast_to(self.layout.n_options > 0, (self.n, self.layout.n_questions)).copy()
        missing[observed_who, observed_question] = False
        who, question = np.nonzero(missing & imputes)
        self.who = np.concatenate([observed_who, who])
        self.question = np.concatenate([observed_question, question])
        self.row = np.concatenate([responses.row.astype(np.int64), self.layout.first[question]])
        """The row of every answer, observed ones first; what follows is imputed."""
        self.imputed_at: Ints = np.concatenate([[0], np.cumsum(self.layout.n_options[question])]).astype(np.int64)
        """Where each imputed cell's options begin in the counts."""

    def sums(self, table: Floats, row: Ints) -> tuple[Floats, Floats]:
        """Log likelihood of the answers of each respondent and of each question."""
        out = np.empty(self.n), np.empty(self.layout.n_questions)
        answer_sums(self.who[: len(row)], self.question[: len(row)], row, table, *out)
        return out

    def log_prior(self, x: Floats, values: Values) -> Floats:
        """Log prior density in x of each question."""
        return self.model.log_prior(values, self.layout)[0] + self.packing.log_jacobian(x)

    def log_ability(self, z: Floats) -> Floats:
        """Log density of each ability, up to a constant."""
        return np.asarray(-0.5 * (z - self.mean) ** 2 / self.variance)

    def upright(self, x: Floats, ranks: Mapping[str, Ints]) -> bool:
        """Whether options whose choosers score higher stand higher; only learned orders are restricted to that half.

        Moves of all questions given the abilities are together one reversible step. Undoing it whenever it leaves the
        half is a Metropolis step for the posterior restricted to it: the step's own ratio is 1, the restriction's 0.
        The half is one of parameters alone, so moves of abilities and of missing answers never leave it.
        """
        if not self.free_order:
            return True
        means = option_means(x, ranks, self.model, self.layout, self.packing, self.grid)
        return float(means @ (self.layout.count * self.layout.score)) >= 0.0


class Chain:
    """The state of one chain, moved by `iterate`."""

    def __init__(
        self, target: Target, steps: Steps, x: Floats, ranks: dict[str, Ints], z: Floats, rng: np.random.Generator
    ) -> None:
        self.target, self.steps, self.rng = target, steps, rng
        self.x, self.ranks, self.z, self.row = x.copy(), dict(ranks), z.copy(), target.row.copy()
        packing, layout = target.packing, target.layout
        self.values: Values = packing.unpack(x, self.ranks)
        self.table = target.model.log_table(self.values, z, layout)
        self.prior = target.log_prior(x, self.values)
        self.movable: Bools = np.diff(packing.first) > 0
        self.swappable: Bools = (layout.n_options > 1) & target.free_order
        self.variances: Bools = packing.exponentiated & isinstance(target.model, Sprite)
        given = steps.mu if isinstance(target.model, Sprite) else steps.other
        self.fixed_sd = None if given is None else np.sqrt(given)
        self.log_scale_z = np.full(target.n, 0.5 * np.log(target.variance if steps.z is None else steps.z))
        self.log_scale = np.full(layout.n_questions, np.log(0.5))
        self.centre, self.spread = x.copy(), np.ones_like(x)
        self.tally = np.zeros(int(target.imputed_at[-1])), np.zeros(int(target.imputed_at[-1]))
        self.accepted = np.zeros(3)
        """Shares accepted in the last iteration: of abilities, of questions, of exchanged ranks."""
        self._impute()

    def iterate(self, gain: float, spread_gain: float) -> None:
        """One iteration; gains above 0 adapt the proposals, which is for the warm-up only."""
        if self.steps.joint:
            p_z = p_x = self._move_everything()
            aim_z = aim_x = AIM_JOINT
        else:
            p_z, p_x = self._move_abilities(), self._move_questions()
            aim_z, aim_x = AIM_ABILITY, AIM_QUESTION
        if self.target.free_order:
            self._exchange_ranks()
        self._impute()
        if gain > 0.0:
            if self.steps.z is None:
                self.log_scale_z += gain * (p_z - aim_z)
            self.log_scale += gain * (p_x - aim_x)
            if not self.steps.joint:
                away = self.x - self.centre
                self.centre += spread_gain * away
                self.spread += spread_gain * (away**2 - self.spread)
                np.maximum(self.spread, 1e-4, out=self.spread)

    def log_posterior(self) -> float:
        """Log density of abilities and parameters given the observed answers, up to a constant."""
        likelihood = self.target.sums(self.table, self.row[: self.target.n_observed])[0].sum()
        return float(likelihood + self.target.log_ability(self.z).sum() + self.prior.sum())

    def count_imputed(self) -> None:
        """Add the imputed answers and their probabilities to the running counts."""
        n, target = self.target.n_observed, self.target
        cells = target.who[n:], target.question[n:], target.layout.first
        tally(*cells, self.table, self.row[n:], target.imputed_at, *self.tally)

    # --- the moves ---------------------------------------------------------------------------------------------

    def _move_abilities(self) -> Floats:
        """Every respondent given the questions; given those, respondents are independent and move side by side."""
        target = self.target
        z = self._propose_z()
        table = target.model.log_table(self.values, z, target.layout)
        ratio = target.sums(table, self.row)[0] - target.sums(self.table, self.row)[0]
        if self.steps.exact:
            ratio += target.log_ability(z) - target.log_ability(self.z)
        p, take = self._judge(ratio)
        self.z = np.where(take, z, self.z)
        take_columns(self.table, table, take)
        self.accepted[0] = take.mean()
        return p

    def _move_questions(self) -> Floats:
        """Every question given the abilities."""
        target = self.target
        x, hastings = self._propose_x()
        values = target.packing.unpack(x, self.ranks)
        table = target.model.log_table(values, self.z, target.layout)
        prior = target.log_prior(x, values)
        ratio = target.sums(table, self.row)[1] - target.sums(self.table, self.row)[1]
        if self.steps.exact:
            ratio += prior - self.prior + hastings
        p, take = self._judge(ratio)
        moved = np.where(take[target.packing.question], x, self.x)
        if not target.upright(moved, self.ranks):
            self.accepted[1] = 0.0
            return p
        self.x = moved
        self.values = target.packing.unpack(self.x, self.ranks)
        self.prior = np.where(take, prior, self.prior)
        take_rows(self.table, table, take, target.layout.first)
        self.accepted[1] = take[self.movable].mean() if self.movable.any() else 0.0
        return p

    def _move_everything(self) -> Floats:
        """The paper's step 4 to the letter: one decision for all abilities and all questions."""
        target = self.target
        z = self._propose_z()
        x, hastings = self._propose_x()
        values = target.packing.unpack(x, self.ranks)
        table = target.model.log_table(values, z, target.layout)
        prior = target.log_prior(x, values)
        ratio = target.sums(table, self.row)[0].sum() - target.sums(self.table, self.row)[0].sum()
        if self.steps.exact:
            ratio += (target.log_ability(z) - target.log_ability(self.z)).sum() + (prior - self.prior + hastings).sum()
        p, take = self._judge(np.array([ratio]))
        took = bool(take[0]) and target.upright(x, self.ranks)
        if took:
            self.x, self.z, self.values, self.prior, self.table = x, z, values, prior, table
        self.accepted[:2] = took
        return p

    def _exchange_ranks(self) -> None:
        """Two neighbouring options of every question change places, each keeping its share of the respondents.

        A bound moves with them: where it stayed, an option that many chose would have to fit between bounds made for
        few, and orders would hardly ever change.
        """
        target, layout, packing = self.target, self.target.layout, self.target.packing
        lower = np.floor(self.rng.random(layout.n_questions) * np.maximum(layout.n_options - 1, 1)).astype(np.int64)
        values, log_jacobian = move_option(self.values, lower, lower + 1, target.model.ability, layout)
        possible = np.isfinite(log_jacobian)
        x = np.where(possible[packing.question], packing.pack(values), self.x)
        ranks = {"rank": np.asarray(values["rank"], np.int64)}
        values = packing.unpack(x, ranks)
        table, prior = target.model.log_table(values, self.z, layout), target.log_prior(x, values)
        ratio = target.sums(table, self.row)[1] - target.sums(self.table, self.row)[1] + prior - self.prior
        # The Jacobian is that of the natural scale, and so must the densities be.
        ratio += log_jacobian - packing.log_jacobian(x) + packing.log_jacobian(self.x)
        take = self._judge(ratio)[1]
        moved = np.where(take[packing.question], x, self.x)
        order = {"rank": np.where(take[layout.question], ranks["rank"], self.ranks["rank"])}
        if not target.upright(moved, order):
            self.accepted[2] = 0.0
            return
        self.x, self.ranks = moved, order
        self.values = packing.unpack(self.x, self.ranks)
        self.prior = np.where(take, prior, self.prior)
        take_rows(self.table, table, take, layout.first)
        self.accepted[2] = take[self.swappable].mean() if self.swappable.any() else 0.0

    def _impute(self) -> None:
        n, target = self.target.n_observed, self.target
        if len(self.row) > n:
            uniform = self.rng.random(len(self.row) - n)
            impute(target.who[n:], target.question[n:], target.layout.first, self.table, uniform, self.row[n:])

    # --- proposals -----------------------------------------------------------------------------------------------

    def _propose_z(self) -> Floats:
        return np.asarray(self.z + np.exp(self.log_scale_z) * self.rng.standard_normal(self.target.n))

    def _propose_x(self) -> tuple[Floats, Floats]:
        """New parameters of every question, and its Hastings term."""
        packing = self.target.packing
        scale = np.exp(self.log_scale)[packing.question] * np.sqrt(self.spread)
        d = (scale if self.fixed_sd is None else self.fixed_sd) * self.rng.standard_normal(packing.n_free)
        if not self.variances.any():
            return self.x + d, np.zeros(packing.n_questions)
        # An adapted shape gives log nu a deviation of about `scale`, up to 0.8: narrower as the shape grows.
        shape = 2.0 + scale[self.variances] ** -2 if self.steps.shape_nu is None else self.steps.shape_nu
        drift = np.log(shape - 1.0) - np.log(self.rng.standard_gamma(shape, int(self.variances.sum())))
        d[self.variances] = drift
        term = np.zeros(packing.n_free)
        with np.errstate(over="ignore"):
            term[self.variances] = 2.0 * shape * drift - 2.0 * (shape - 1.0) * np.sinh(drift)
        # Not by running sums: one absurd proposal must not cost the other questions their digits.
        return self.x + d, np.bincount(packing.question, term, minlength=packing.n_questions).astype(np.float64)

    def _judge(self, log_ratio: Floats) -> tuple[Floats, Bools]:
        """Acceptance probabilities and decisions; a ratio that is not a number is refused."""
        p = np.exp(np.minimum(log_ratio, 0.0))
        p[np.isnan(p)] = 0.0
        return p, self.rng.random(len(p)) < p
