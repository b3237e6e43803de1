"""Models in which ability plus normal noise falls into one of several ordered bins."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, ndtr, ndtri

from sprite.core.distributions import normal
from sprite.core.layout import Layout
from sprite.core.types import Floats, Ints
from sprite.kernels.intervals import interval_on_counts, interval_pullback, interval_table
from sprite.models.base import Gradients, Kind, Model, Parameter, Start, Values, batched, flat
from sprite.models.order import first_step, pick_steps, steps_of
from sprite.models.ranges import MEAN, VARIANCE, Ranges


class IntervalModel(Model):
    """P(rank r | z) = Phi(gamma_{r+1} - (z - alpha)) - Phi(gamma_r - (z - alpha)), gamma_0 = -inf, gamma_1 = 0.

    Priors: alpha ~ N(0, nu_alpha); gamma_2 < gamma_3 < ... ~ N(0, nu_gamma) restricted to that order; ability ~
    N(mu_theta, nu_theta). A model is then where the rank of each option comes from.
    """

    nu_alpha: float
    nu_gamma: float
    mu_theta: float
    nu_theta: float

    @property
    def ability(self) -> tuple[float, float]:
        """Mean and variance of the normal distribution of ability."""
        return self.mu_theta, self.nu_theta

    @property
    def learnable(self) -> Ranges:
        """All: the noise has variance 1, which is the unit of the others.

        The mean of ability stands for what all difficulties have in common. Were it held at 0, a few respondents to
        many questions would pay for that with a large variance of ability.
        """
        return {"nu_alpha": VARIANCE, "nu_gamma": VARIANCE, "mu_theta": MEAN, "nu_theta": VARIANCE}

    def log_table(self, values: Values, nodes: Floats, layout: Layout) -> Floats:
        """Log P(option | ability) for every row at every node."""
        alpha, edges, rank = _inputs(values, layout)
        table = interval_table(flat(edges), flat(alpha), rank, layout.first, nodes)
        return np.asarray(table).reshape(*edges.shape[:-1], layout.n_rows, len(nodes))

    def pullback(self, values: Values, nodes: Floats, table: Floats, weight: Floats, layout: Layout) -> Gradients:
        """Gradient of sum(weight * log_table) in alpha and gamma."""
        lower, upper = _bounds(values, layout)
        shape = (-1, layout.n_rows, len(nodes))
        of_lower, of_upper = interval_pullback(
            np.ascontiguousarray(table.reshape(shape)),
            np.ascontiguousarray(np.broadcast_to(weight, table.shape).reshape(shape)),
            flat(lower),
            flat(upper),
            nodes,
        )
        of_lower, of_upper = of_lower.reshape(lower.shape), of_upper.reshape(lower.shape)
        edge = _first_edge(layout)[layout.question] + np.broadcast_to(np.asarray(values["rank"]), lower.shape)
        of_edge = np.zeros((*lower.shape[:-1], layout.n_rows + layout.n_questions))
        np.put_along_axis(of_edge, edge, of_lower, axis=-1)
        above = np.take_along_axis(of_edge, edge + 1, axis=-1)
        np.put_along_axis(of_edge, edge + 1, above + of_upper, axis=-1)
        return {
            "alpha": layout.sum_by_question(of_lower + of_upper),
            "gamma": of_edge[..., _gamma_edges(layout)],
        }

    def on_counts(self, values: Values, nodes: Floats, counts: Floats, layout: Layout) -> tuple[Floats, Gradients]:
        """Log likelihood of each question given counts, and its gradient, without making the table."""
        alpha, edges, rank = _inputs(values, layout)
        nodes, counts = batched(nodes, counts, len(rank))
        value, of_edge = interval_on_counts(flat(edges), flat(alpha), rank, counts, layout.first, nodes)
        of_edge = of_edge.reshape(edges.shape)
        return value.reshape(alpha.shape), {
            "alpha": np.add.reduceat(of_edge, _first_edge(layout), axis=-1),
            "gamma": of_edge[..., _gamma_edges(layout)],
        }

    def log_prior(self, values: Values, layout: Layout) -> tuple[Floats, Gradients]:
        """Normal difficulty; normal bounds, whose restriction to one order among all costs a constant."""
        alpha, gamma = np.asarray(values["alpha"], float), np.asarray(values["gamma"], float)
        if self.prior is None:
            return np.zeros_like(alpha), {"alpha": np.zeros_like(alpha), "gamma": np.zeros_like(gamma)}
        of_alpha, d_alpha = normal(alpha, 0.0, self.nu_alpha)
        of_gamma, d_gamma = normal(gamma, 0.0, self.nu_gamma)
        n_bounds = np.maximum(layout.n_options - 2, 0)
        total = np.concatenate([np.zeros((*gamma.shape[:-1], 1)), np.cumsum(of_gamma, axis=-1)], axis=-1)
        begin = first_step(layout, 2)
        one_order = gammaln(n_bounds + 1) + n_bounds * np.log(2.0)
        density = of_alpha + total[..., begin[1:]] - total[..., begin[:-1]] + one_order
        return density, {"alpha": d_alpha, "gamma": d_gamma}

    def bounds_and_rank(self, layout: Layout, rank: Parameter) -> tuple[Parameter, ...]:
        """A difficulty a question, the bounds above the first, and the order of the options."""
        return (
            Parameter("alpha", "question", np.arange(layout.n_questions), "real"),
            Parameter("gamma", "step", steps_of(layout, 2), "increasing"),
            rank,
        )

    def sample_bounds(self, layout: Layout, kind: Kind, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """From the prior; or an exam: the top option (the key) chosen by about half."""
        n_bounds = len(steps_of(layout, 2))
        question = steps_of(layout, 2)
        if kind == "prior":
            alpha = rng.normal(0.0, np.sqrt(self.nu_alpha), layout.n_questions)
            gamma = np.abs(rng.normal(0.0, np.sqrt(self.nu_gamma), n_bounds))
            return {"alpha": alpha, "gamma": gamma[np.lexsort((gamma, question))]}
        gap = rng.gamma(4.0, 0.12, n_bounds)
        total = np.concatenate([[0.0], np.cumsum(gap)])
        begin = first_step(layout, 2)
        gamma = total[1:] - total[begin[question]]
        # The key lies above the top bound: put that bound near the middle of the respondents.
        top = total[begin[1:]] - total[begin[:-1]]
        return {"alpha": rng.normal(-0.2, 0.6, layout.n_questions) - top, "gamma": gamma}

    def refresh(self, values: Values, layout: Layout, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Another value for one bound of every question, the bounds then put in order again."""
        gamma = np.array(values["gamma"], float)
        question = steps_of(layout, 2)
        picked = pick_steps(layout, 2, gamma.shape[:-1], rng)
        gamma = np.where(picked, np.abs(rng.normal(0.0, np.sqrt(self.nu_gamma), gamma.shape)), gamma)
        by_question = np.lexsort((gamma, np.broadcast_to(question, gamma.shape)), axis=-1)
        return {
            "alpha": np.asarray(values["alpha"]),
            "gamma": np.take_along_axis(gamma, by_question, axis=-1),
            "rank": np.asarray(values["rank"]),
        }

    def reflect(self, values: Values, layout: Layout) -> dict[str, NDArray[np.generic]] | None:
        """The order is an input, and the prior on bounds above 0 is not symmetric."""
        return None


def start_bounds(
    layout: Layout, rank: Ints, ability: tuple[float, float], kind: Start, rng: np.random.Generator
) -> dict[str, NDArray[np.generic]]:
    """Bounds that give the observed shares to an average respondent, jittered for `random`."""
    by_rank = np.empty(layout.n_rows)
    by_rank[layout.first[layout.question] + rank] = layout.count + 0.5
    total = np.concatenate([[0.0], np.cumsum(by_rank)])
    begin, end = layout.first[:-1][layout.question], layout.first[1:][layout.question]
    share = (total[1:] - total[begin]) / (total[end] - total[begin])
    bound = ability[0] + ndtri(np.clip(share, 1e-6, 1 - 1e-6)) * np.sqrt(1.0 + ability[1])
    if kind == "random":
        bound = bound + np.repeat(rng.normal(0.0, 0.5, layout.n_questions), layout.n_options)
    has_bound = layout.n_options > 1
    lowest = np.where(has_bound, bound[np.minimum(layout.first[:-1], max(layout.n_rows - 1, 0))], 0.0)
    inner = (layout.position > 0) & (layout.position < layout.n_options[layout.question] - 1)
    gamma = bound[inner] - lowest[layout.question[inner]]
    # Strictly increasing even where an option was never chosen.
    return {"alpha": lowest, "gamma": gamma + 1e-3 * layout.position[inner], "rank": rank}


def _edges(values: Values, layout: Layout) -> Floats:
    """Each question's M + 1 edges before alpha shifts them: -inf, 0, gamma_2, ..., inf."""
    gamma = np.asarray(values["gamma"], float)
    edges = np.zeros((*gamma.shape[:-1], layout.n_rows + layout.n_questions))
    begin = _first_edge(layout)
    edges[..., begin] = -np.inf
    edges[..., begin + layout.n_options] = np.inf
    edges[..., begin[layout.n_options == 0]] = 0.0
    edges[..., _gamma_edges(layout)] = gamma
    return edges


def _inputs(values: Values, layout: Layout) -> tuple[Floats, Floats, Ints]:
    """Alpha, the edges, and the ranks in one batch axis, as the compiled loops take them."""
    edges = _edges(values, layout)
    rank = np.broadcast_to(np.asarray(values["rank"], np.int64), (*edges.shape[:-1], layout.n_rows))
    return np.asarray(values["alpha"], float), edges, np.ascontiguousarray(rank.reshape(-1, layout.n_rows))


def _bounds(values: Values, layout: Layout) -> tuple[Floats, Floats]:
    """Lower and upper bound of every row on the ability scale."""
    edges = _edges(values, layout)
    at = _first_edge(layout)[layout.question] + np.asarray(values["rank"], np.int64)
    at = np.broadcast_to(at, (*edges.shape[:-1], layout.n_rows))
    lower, upper = np.take_along_axis(edges, at, axis=-1), np.take_along_axis(edges, at + 1, axis=-1)
    shift = np.asarray(values["alpha"], float)[..., layout.question]
    return lower + shift, upper + shift


def move_option(
    values: Values, source: Ints, target: Ints, ability: tuple[float, float], layout: Layout
) -> tuple[dict[str, NDArray[np.generic]], Floats]:
    """Take the option of rank `source` to rank `target`, (..., Q), such that all keep their shares of respondents.

    On the scale of population shares, F(bound) with F the distribution of ability plus noise, the option takes the
    width of its bin along and those that it passes close up; the way back undoes it. Returns the values and the log of
    the Jacobian, the product over bounds that move of f(bound) / f(moved bound); questions in which nothing can move
    stay as they are, with -inf.
    """
    alpha, rank = np.asarray(values["alpha"], float), np.asarray(values["rank"], np.int64)
    centre, scale = ability[0], np.sqrt(1.0 + ability[1])
    possible = (source != target) & (np.maximum(source, target) < layout.n_options)
    begin, size = _first_edge(layout), layout.n_options + 1
    bounds = _edges(values, layout) + np.repeat(alpha, size, axis=-1) - centre
    share = ndtr(bounds / scale)
    own = begin + np.where(possible, source, 0)
    last = bounds.shape[-1] - 1
    width = np.take_along_axis(share, np.minimum(own + 1, last), -1) - np.take_along_axis(share, own, -1)
    up = np.where(target > source, 1, -1)
    edge = np.arange(last + 1) - np.repeat(begin, size)
    low, high = (np.repeat(end(source, target), size, axis=-1) for end in (np.minimum, np.maximum))
    moves = np.repeat(possible, size, axis=-1) & (edge > low) & (edge <= high)
    neighbour = np.clip(np.arange(last + 1) + np.repeat(up, size, axis=-1), 0, last)
    with np.errstate(invalid="ignore"):
        moved = scale * ndtri(np.take_along_axis(share, neighbour, -1) - np.repeat(up * width, size, axis=-1))
        moved = np.where(moves, moved, bounds)
        of_each = np.where(moves, 0.5 * (moved**2 - bounds**2) / scale**2, 0.0)
        rises = np.diff(moved, axis=-1, append=np.inf) > 0
    # Where a bin is too narrow to be told from nothing, the bounds cannot be told apart any more.
    broken = (~np.isfinite(of_each) | ~rises) & (moves | np.roll(moves, -1, axis=-1))
    possible = possible & (np.add.reduceat(broken, begin, axis=-1) == 0)
    bounds = np.where(np.repeat(possible, size, axis=-1), moved, bounds)
    lowest = np.where(layout.n_options > 1, centre + bounds[..., np.minimum(begin + 1, last)], alpha)
    gamma = centre + bounds[..., _gamma_edges(layout)] - lowest[..., steps_of(layout, 2)]
    of_row = (possible[..., layout.question], *(ends[..., layout.question] for ends in (source, target, up)))
    row_possible, row_source, row_target, row_up = of_row
    passed = (rank - row_source) * row_up  # 0 for the option itself, 1 and more for those in its way
    passes = (passed > 0) & ((row_target - rank) * row_up >= 0)
    reordered = np.where(passed == 0, row_target, rank - np.where(passes, row_up, 0))
    return (
        {"alpha": lowest, "gamma": gamma, "rank": np.where(row_possible, reordered, rank)},
        np.where(possible, np.add.reduceat(np.nan_to_num(of_each), begin, axis=-1), -np.inf),
    )


@lru_cache(maxsize=64)
def _first_edge(layout: Layout) -> Ints:
    """Where each question's M + 1 edges begin (-inf, 0, gamma_2, ..., inf)."""
    return layout.first[:-1] + np.arange(layout.n_questions)


@lru_cache(maxsize=64)
def _gamma_edges(layout: Layout) -> Ints:
    """The edge of each gamma."""
    question = steps_of(layout, 2)
    within = np.arange(len(question)) - first_step(layout, 2)[question]
    return _first_edge(layout)[question] + 2 + within
