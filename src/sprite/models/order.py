"""The order of options that GPCM and ORD take as an input."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from sprite.core.layout import Layout
from sprite.core.types import Bools, Ints

Order: TypeAlias = Literal["given", "label", "empirical"]
ORDERS = ("given", "label", "empirical")


def ranks(layout: Layout, order: Order) -> Ints:
    """Rank of each row within its question (0 = lowest).

    `given` is the order the responses carry, label order where none was given; `empirical` sorts by the mean rest
    score of each option's choosers, options nobody chose lowest.
    """
    if order == "given":
        return layout.rank.astype(np.int64)
    if order == "label":
        return layout.position
    score = np.where(layout.count > 0, layout.score, -np.inf)
    by_score = np.lexsort((layout.position, score, layout.question))
    rank = np.empty(layout.n_rows, dtype=np.int64)
    rank[by_score] = layout.position
    return rank


def random_ranks(layout: Layout, rng: np.random.Generator, on_top: Bools | None = None) -> Ints:
    """A uniformly drawn order for every question, among those with the marked rows on top."""
    marked = np.zeros(layout.n_rows, dtype=bool) if on_top is None else on_top
    by_chance = np.lexsort((rng.random(layout.n_rows), marked, layout.question))
    rank = np.empty(layout.n_rows, dtype=np.int64)
    rank[by_chance] = layout.position
    return rank


@lru_cache(maxsize=64)
def steps_of(layout: Layout, fewer: int) -> Ints:
    """The question of each step, where a question has `fewer` steps than options (none below zero)."""
    return np.repeat(np.arange(layout.n_questions), np.maximum(layout.n_options - fewer, 0))


@lru_cache(maxsize=64)
def first_step(layout: Layout, fewer: int) -> Ints:
    """Where each question's steps begin, in the same numbering."""
    return np.concatenate([[0], np.cumsum(np.maximum(layout.n_options - fewer, 0))])


def pick_steps(layout: Layout, fewer: int, lead: tuple[int, ...], rng: np.random.Generator) -> Bools:
    """Which steps are picked: one of every question that has any, each as likely as another, (..., steps)."""
    question = steps_of(layout, fewer)
    within = np.arange(len(question)) - first_step(layout, fewer)[question]
    number = np.maximum(layout.n_options - fewer, 1)
    picked = (rng.random((*lead, layout.n_questions)) * number).astype(np.int64)
    return np.asarray(within == picked[..., question])
