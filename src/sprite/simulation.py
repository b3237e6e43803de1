"""Tests made by a model, with the truth they were made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sprite.core.errors import InputError
from sprite.core.layout import Layout
from sprite.core.types import Bools, Floats, Ints
from sprite.data.responses import MAX_OPTIONS, Responses, from_codes
from sprite.models.base import Kind, Model
from sprite.models.gpcm import GPCM
from sprite.models.ord import ORD
from sprite.models.order import random_ranks
from sprite.models.registry import model_of

_BLOCK = 1 << 21  # table entries made at a time: 16 MB


@dataclass(frozen=True, eq=False)
class Truth:
    """What the answers were drawn from: every respondent's ability and the parameters by name."""

    model: Model
    abilities: Floats
    values: Mapping[str, NDArray[np.generic]]
    """As the model names them, by row, question or step (see `Model.parameters`)."""


class Simulation(NamedTuple):
    """A simulated test: the responses, and the truth behind them."""

    responses: Responses
    truth: Truth


def simulate(
    model: Model | str = "sprite",
    n_respondents: int = 500,
    n_questions: int = 30,
    n_options: int | Sequence[int] = 4,
    *,
    kind: Kind = "exam",
    observed: float = 1.0,
    seed: int = 0,
) -> Simulation:
    """Draw a test from a model.

    `kind="exam"` makes questions as real exams have them, the key above its distractors; `kind="prior"` draws the
    parameters from the model's prior, which hardly ever looks like an exam but is what calibration needs. `n_options`
    is one number or one a question; `observed` is the share of answers that are not missing, at random.
    For models that take an order, the key is the highest option of it.
    """
    chosen = model_of(model)
    sizes = _sizes(n_respondents, n_questions, n_options, kind, observed)
    rng = np.random.default_rng(seed)
    layout, carried_order = _keyed_layout(chosen, sizes, rng)
    # An empirical order is an estimate from answers; before there are any, the order drawn above stands for it.
    generator = (
        replace(chosen, order="given") if isinstance(chosen, GPCM | ORD) and chosen.order == "empirical" else chosen
    )
    values = generator.sample(layout, kind, rng)
    mean, variance = chosen.ability
    abilities = rng.normal(mean, np.sqrt(variance), n_respondents)
    codes = draw_codes(generator, values, abilities, layout, rng)
    codes[rng.random(codes.shape) >= observed] = -1
    responses = from_codes(
        codes,
        [_labels(int(m)) for m in sizes],
        correct=layout.correct,
        rank=layout.rank if carried_order else None,
    )
    return Simulation(responses, Truth(chosen, abilities, values))


def draw_codes(
    model: Model,
    values: Mapping[str, NDArray[np.generic]],
    abilities: Floats,
    layout: Layout,
    rng: np.random.Generator,
) -> Ints:
    """One answer of every respondent to every question: positions of options, shape (respondents, questions)."""
    codes = np.empty((len(abilities), layout.n_questions), dtype=np.int64)
    step = max(1, _BLOCK // layout.n_rows)
    question = layout.question[:, None]
    for begin in range(0, len(abilities), step):
        block = slice(begin, begin + step)
        probability = np.exp(model.log_table(values, abilities[block], layout))
        # Every question's probabilities sum to one, so question j's running total goes from j to j + 1.
        passed = (
            np.cumsum(probability, axis=0)
            < question + rng.random((layout.n_questions, probability.shape[1]))[layout.question]
        )
        passed[layout.first[1:] - 1] = False  # rounding must not lead past the last option
        codes[block] = np.add.reduceat(passed, layout.first[:-1], axis=0).T
    return codes


def _keyed_layout(model: Model, sizes: Ints, rng: np.random.Generator) -> tuple[Layout, bool]:
    """A layout with a random key (the top of the order, where there is one), and whether the order is data."""
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = int(first[-1])
    correct = np.zeros(rows, dtype=bool)
    order = getattr(model, "order", None)
    correct[first[1:] - 1 if order == "label" else first[:-1] + rng.integers(0, sizes)] = True
    bare = _layout(first, correct, np.zeros(rows, dtype=np.int64))
    rank = bare.position if order in (None, "label") else random_ranks(bare, rng, correct)
    return _layout(first, correct, rank), order == "given"


def _layout(first: Ints, correct: Bools, rank: Ints) -> Layout:
    rows = len(correct)
    return Layout(first, correct, rank.astype(np.int32), np.zeros(rows, dtype=np.int64), np.zeros(rows))


def _labels(size: int) -> list[str]:
    """A, B, C, ... as far as the alphabet goes, else 1, 2, 3, ..."""
    return [chr(65 + k) for k in range(size)] if size <= 26 else [str(k + 1) for k in range(size)]


def _sizes(n_respondents: int, n_questions: int, n_options: int | Sequence[int], kind: str, observed: float) -> Ints:
    if n_respondents < 1 or n_questions < 1:
        raise InputError("a test needs at least one respondent and one question", found=(n_respondents, n_questions))
    if kind not in ("exam", "prior"):
        raise InputError('kind must be "exam" or "prior"', found=kind)
    if not 0.0 < observed <= 1.0:
        raise InputError("observed must be a share above 0 and at most 1", found=observed)
    sizes = (
        np.broadcast_to(np.asarray(n_options, dtype=np.int64), n_questions)
        if np.ndim(n_options) == 0
        else (np.asarray(n_options, dtype=np.int64))
    )
    if len(sizes) != n_questions:
        raise InputError(f"n_options must be one number or {n_questions}, one a question", found=len(sizes))
    if sizes.min() < 1 or sizes.max() > MAX_OPTIONS:
        raise InputError(f"a question has 1 to {MAX_OPTIONS} options", found=int(sizes.max()))
    return sizes
