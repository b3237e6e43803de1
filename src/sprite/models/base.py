"""The contract of a model.

A model is a frozen dataclass of settings with the mathematics of P(option | ability): which parameters there are and
what constrains them, the table of log probabilities, its gradient, the prior, starting points, what a reflection does.
It never fits, reads or draws charts.

`values` maps a parameter's name to its entries on the natural scale, shape (..., entries): leading axes are chains or
draws. `nodes` are ability values, shape (nodes,). Tables have shape (..., rows, nodes), rows as in `Layout`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sprite.core.errors import InputError
from sprite.core.layout import Layout
from sprite.core.types import Floats, Ints
from sprite.models.ranges import Ranges

Values: TypeAlias = Mapping[str, NDArray[np.generic]]
Gradients: TypeAlias = dict[str, Floats]
Constraint: TypeAlias = Literal["real", "positive", "zero_sum", "increasing", "permutation"]
Kind: TypeAlias = Literal["exam", "prior"]
Start: TypeAlias = Literal["keyed", "score", "random"]
Prior: TypeAlias = Literal["default", "learned"] | None


@dataclass(frozen=True, eq=False)
class Parameter:
    """One named block of parameters.

    Constraints: `real`; `positive`; `zero_sum` within each question; `increasing` and positive within each question;
    `permutation` of 0..M-1 within each question, which is discrete and not part of the continuous parameters.
    """

    name: str
    dim: Literal["option", "question", "step"]
    question: Ints
    """The question of each entry, in increasing order."""
    constraint: Constraint
    fixed: Floats | None = None
    """The value of each entry that is held fixed, NaN where free; None where all are free."""


class Model(ABC):
    """What every model provides; `docs/extending.md` writes one from beginning to end."""

    name: ClassVar[str]
    hyperparameters: ClassVar[tuple[str, ...]]
    """Fields that set the prior; each can be given by name."""
    prior: Prior

    @property
    @abstractmethod
    def ability(self) -> tuple[float, float]:
        """Mean and variance of the normal distribution of ability."""

    @property
    @abstractmethod
    def learnable(self) -> Ranges:
        """The hyperparameters that `prior="learned"` takes from the data, each with the range it is looked for in.

        Only what the data can tell under these settings: a hyperparameter that others can stand in for exactly stays
        as it is.
        """

    @abstractmethod
    def parameters(self, layout: Layout) -> tuple[Parameter, ...]:
        """The parameters of this model for a test of this layout."""

    @abstractmethod
    def log_table(self, values: Values, nodes: Floats, layout: Layout) -> Floats:
        """Log P(option | ability) for every row at every node."""

    @abstractmethod
    def pullback(self, values: Values, nodes: Floats, table: Floats, weight: Floats, layout: Layout) -> Gradients:
        """Gradient of sum(weight * log_table) in every continuous parameter; `table` is the log table at `values`."""

    def on_counts(self, values: Values, nodes: Floats, counts: Floats, layout: Layout) -> tuple[Floats, Gradients]:
        """Log likelihood of each question given counts of its answers at the nodes, (..., Q), and its gradient.

        Every batch may have nodes of its own, (..., nodes): with fewer respondents than nodes, those where they stand.
        """
        if nodes.ndim > 1:
            return _by_batch(self.on_counts, values, nodes, counts, layout)
        table = self.log_table(values, nodes, layout)
        value = layout.sum_by_question(np.einsum("...rk,...rk->...r", table, counts))
        return value, self.pullback(values, nodes, table, counts, layout)

    @abstractmethod
    def log_prior(self, values: Values, layout: Layout) -> tuple[Floats, Gradients]:
        """Log prior density of each question's parameters, shape (..., Q), and its gradient; fixed entries count 0."""

    @abstractmethod
    def start(self, layout: Layout, kind: Start, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Values to begin a search from: the key alone, the mean score of each option's choosers, or random."""

    @abstractmethod
    def sample(self, layout: Layout, kind: Kind, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Parameters drawn from the prior, or such as real exams have (the key above its distractors)."""

    @abstractmethod
    def refresh(self, values: Values, layout: Layout, rng: np.random.Generator) -> dict[str, NDArray[np.generic]]:
        """Replace some entries of every question, one option's or one step's, by a draw from the prior.

        Reversible with respect to the prior, so that for a sampler the likelihood alone decides: how options that
        hardly anybody chose, of which the likelihood says little, get about.
        """

    def faint(self, layout: Layout, rng: np.random.Generator) -> dict[str, NDArray[np.generic]] | None:
        """A guess, with some noise, at parameters with which each option is chosen at every ability as seldom as it is.

        Samplers propose them to options that hardly anybody chose; None where no such place lies apart from others.
        """
        return None

    @abstractmethod
    def reflect(self, values: Values, layout: Layout) -> dict[str, NDArray[np.generic]] | None:
        """The values that say the same of -ability, or None where neither likelihood nor prior are symmetric."""


def check_settings(model: Model, positive: tuple[str, ...], **choices: tuple[object, ...]) -> None:
    """Refuse impossible settings of a model, naming the field, the value and what is allowed."""
    choices["prior"] = ("default", "learned", None)
    for field, allowed in choices.items():
        if getattr(model, field) not in allowed:
            raise InputError(
                f"{type(model).__name__}({field}=...) must be one of {', '.join(map(repr, allowed))}",
                found=getattr(model, field),
            )
    for field in positive:
        value = getattr(model, field)
        if not (np.isfinite(value) and value > 0):
            raise InputError(f"{type(model).__name__}({field}=...) must be a positive number", found=value)
    for field in model.hyperparameters:
        if not np.isfinite(getattr(model, field)):
            raise InputError(
                f"{type(model).__name__}({field}=...) must be a finite number", found=getattr(model, field)
            )


def pick_rows(layout: Layout, lead: tuple[int, ...], rng: np.random.Generator) -> Ints:
    """One row of every question, (..., Q), rarely chosen options more often than others."""
    weight = np.asarray(1.0 / (1.0 + layout.count), np.float64)
    total = layout.sum_by_question(weight)
    # Each question's weights sum to one, so question j's running total goes from j to j + 1.
    running = np.cumsum(weight / total[layout.question])
    at = np.searchsorted(running, np.cumsum(layout.n_options > 0) - 1 + rng.random((*lead, layout.n_questions)))
    return np.clip(at, layout.first[:-1], np.maximum(layout.first[1:] - 1, layout.first[:-1]))


def flat(array: Floats) -> Floats:
    """Merge leading axes into one: compiled loops take exactly one batch axis."""
    return np.ascontiguousarray(array.reshape(math.prod(array.shape[:-1]), array.shape[-1]))


def batched(nodes: Floats, counts: Floats, batches: int) -> tuple[Floats, Floats]:
    """Nodes (..., K) and counts (..., rows, K) as compiled loops take them: of every batch, or one for all."""
    out = flat(nodes), np.ascontiguousarray(counts).reshape(-1, *counts.shape[-2:])
    for name, merged in zip(("nodes", "counts"), out, strict=True):
        if len(merged) not in (1, batches):
            raise ValueError(f"{name} of {len(merged)} batches do not go with parameters of {batches}")
    return out


def _by_batch(
    on_counts: Callable[[Values, Floats, Floats, Layout], tuple[Floats, Gradients]],
    values: Values,
    nodes: Floats,
    counts: Floats,
    layout: Layout,
) -> tuple[Floats, Gradients]:
    """One batch after the other, for a model whose table takes the same nodes for all."""
    found = []
    for batch in np.ndindex(nodes.shape[:-1]):
        own = {name: value[batch] if value.ndim > 1 else value for name, value in values.items()}
        found.append(on_counts(own, nodes[batch], counts[batch], layout))
    shape = nodes.shape[:-1]
    gradients = {
        name: np.stack([of[name] for _, of in found]).reshape(*shape, *found[0][1][name].shape) for name in found[0][1]
    }
    return np.stack([value for value, _ in found]).reshape(*shape, -1), gradients
