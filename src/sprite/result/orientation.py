"""Which way is up: the mirror image of a fit has the same likelihood and prior, so a rule must choose.

Reflecting all parameters and abilities changes nothing that the data could tell. Draws are first brought to one side
by a functional that changes sign under reflection, then the whole fit is turned so that its rule holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sprite.core.errors import SpriteError
from sprite.core.layout import Layout
from sprite.core.types import Bools, Floats
from sprite.data.responses import Responses
from sprite.density.grid import Grid, grid_for
from sprite.density.packing import Packing
from sprite.density.posterior import Ranks
from sprite.kernels.passes import moments
from sprite.models.base import Model

ENOUGH_FOR_A_SIGN = 41
"""Nodes that tell the sign of a mean."""
_CHUNK = 4_000_000  # table entries held at a time: 32 MB
_LEFT_OPEN = 1e-10


@dataclass(frozen=True)
class Orientation:
    """Whether the fit has to be turned, by which rule, and what else there is to say."""

    flip: bool
    rule: str
    message: str = ""


def reflection(model: Model, layout: Layout, packing: Packing) -> Floats | None:
    """The signs that reflect x (x -> signs * x), or None where the model has no mirror image."""
    rank = packing.fixed_ranks or {p.name: layout.position for p in packing.discrete}

    def reflected(x: Floats) -> Floats | None:
        values = model.reflect(packing.unpack(x, rank), layout)
        return None if values is None else packing.pack(values)

    at_zero, at_one = reflected(np.zeros(packing.n_free)), reflected(np.ones(packing.n_free))
    if at_zero is None or at_one is None:
        return None
    signs = np.sign(at_one - at_zero)
    if not (np.allclose(at_zero, 0.0) and np.allclose(at_one, signs)):
        raise SpriteError(f"the reflection of {type(model).__name__} is more than a change of signs: not supported")
    return signs


def flips(x: Floats, model: Model, layout: Layout, packing: Packing) -> Bools:
    """Which draws, (...), stand on the other side: where the options' mean abilities run against their weights."""
    flat = x.reshape(-1, x.shape[-1])
    lean = np.empty(len(flat))
    weight = _weights(layout)[0]
    grid = grid_for(model.ability, ENOUGH_FOR_A_SIGN)
    step = max(1, _CHUNK // (layout.n_rows * ENOUGH_FOR_A_SIGN))
    for begin in range(0, len(flat), step):
        block = flat[begin : begin + step]
        lean[begin : begin + step] = option_means(block, None, model, layout, packing, grid) @ weight
    return (lean < 0).reshape(x.shape[:-1])


def orientation(
    x: Floats, ranks: Ranks, responses: Responses, model: Model, packing: Packing, mirrored: bool
) -> Orientation:
    """The rule for this estimate; `mirrored` says that the model has a mirror image."""
    layout = responses.layout
    grid = grid_for(model.ability, ENOUGH_FOR_A_SIGN)
    table = model.log_table(packing.unpack(x, ranks), grid.nodes, layout)
    ability = moments(responses.start, responses.row, table, grid.log_weight, grid.nodes)[1]
    score, score_name = _scores(responses)
    agreement = _agreement(ability, score)
    if not mirrored:
        against = agreement < -_LEFT_OPEN
        message = (
            f"Ability runs against the {score_name}: check the order of the options and the key." if against else ""
        )
        return Orientation(False, _own_direction(model), message)
    if abs(agreement) > _LEFT_OPEN:
        return Orientation(agreement < 0, f"Estimated ability correlates positively with the {score_name}.")
    weight, words = _weights(layout)
    lean = float(option_means(x, ranks, model, layout, packing, grid) @ weight)
    if abs(lean) > _LEFT_OPEN:
        return Orientation(lean < 0, f"{words}, as the {score_name} leaves the direction open.")
    return Orientation(False, "Nothing in the data tells the two directions of ability apart: left as estimated.")


def option_means(x: Floats, ranks: Ranks | None, model: Model, layout: Layout, packing: Packing, grid: Grid) -> Floats:
    """E[z | option chosen] under the model for every row, shape (..., rows)."""
    mass = np.exp(model.log_table(packing.unpack(x, ranks), grid.nodes, layout) + grid.log_weight)
    return np.asarray(mass @ grid.nodes / np.maximum(mass.sum(axis=-1), np.finfo(float).tiny))


def _weights(layout: Layout) -> tuple[Floats, str]:
    """What the options' mean abilities are weighted by to see the direction, and the rule in words."""
    weight = layout.count * layout.score
    if np.abs(weight).max(initial=0.0) > _LEFT_OPEN:
        return weight, "Options whose choosers score higher elsewhere stand at higher ability"
    right = layout.sum_by_question(layout.correct.astype(float))[layout.question]
    wrong = layout.n_options[layout.question] - right
    both = (right > 0) & (wrong > 0)
    if both.any():
        weight = np.where(layout.correct, 1.0 / np.maximum(right, 1), -1.0 / np.maximum(wrong, 1)) * both
        return weight, "Correct options stand at higher ability than the others"
    weight = layout.position - 0.5 * (layout.n_options[layout.question] - 1)
    return weight, "Later options stand at higher ability than earlier ones"


def _scores(responses: Responses) -> tuple[Floats, str]:
    """A score for each respondent that ability should rise with (NaN where there is none), and its name."""
    layout, who = responses.layout, responses.respondent_of_answer
    keyed = layout.sum_by_question(layout.correct.astype(float))[layout.question] > 0
    if keyed.any():
        point, counted, name = layout.correct.astype(float), keyed, "share of correct answers"
    else:
        point, counted = layout.score, np.ones(layout.n_rows, dtype=bool)
        name = "mean score of the options chosen (no key)"
    n = responses.n_respondents
    of = np.bincount(who, counted[responses.row], minlength=n)
    total = np.bincount(who, (point * counted)[responses.row], minlength=n)
    return np.where(of > 0, total / np.maximum(of, 1), np.nan), name


def _agreement(ability: Floats, score: Floats) -> float:
    """The correlation of the two where both are known; 0 where either is constant."""
    known = np.isfinite(ability) & np.isfinite(score)
    if known.sum() < 2:
        return 0.0
    a, b = ability[known] - ability[known].mean(), score[known] - score[known].mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    # Rounding alone makes a constant vary by 1e-16 or so.
    return float(a @ b) / size if size > 1e-12 * known.sum() else 0.0


def _own_direction(model: Model) -> str:
    if getattr(model, "mu_z", 0.0) != 0.0:
        return "The mean of ability is not 0, so the model itself tells the two directions of ability apart."
    return "Ability rises with the order of the options, so there is no mirror image to choose from."
