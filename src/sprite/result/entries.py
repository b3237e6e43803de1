"""What each entry of a parameter is called: its question, and its option or step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sprite.core.types import Bools, Ints
from sprite.data.responses import Responses
from sprite.models.base import Model, Parameter


@dataclass(frozen=True, eq=False)
class Entries:
    """The entries of one parameter."""

    parameter: Parameter
    questions: list[str]
    options: list[str | None]
    """The option's label, None where the entry belongs to a question or a step."""
    steps: list[int | None]
    """The rank that a step or bound leads up to (1 = the second lowest), None elsewhere."""
    fixed: Bools
    """Whether it is anchored, an input, or leaves no choice."""

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.parameter.name

    @property
    def on_log_scale(self) -> bool:
        """Whether its logarithm is diagnosed and averaged: variances have tails too heavy for a mean."""
        return self.parameter.constraint == "positive"

    @property
    def discrete(self) -> bool:
        """Whether it is an order."""
        return self.parameter.constraint == "permutation"

    def words(self) -> list[str]:
        """Each entry in short: Q1[A], Q1[step 2], Q1."""
        return [
            f"{q}[{label}]" if label is not None else q if step is None else f"{q}[step {step}]"
            for q, label, step in zip(self.questions, self.options, self.steps, strict=True)
        ]


def entries_of(model: Model, responses: Responses) -> Iterator[Entries]:
    """The entries of every parameter of a model, in the model's order."""
    layout = responses.layout
    labels = [label for options in responses.options for label in options]
    for p in model.parameters(layout):
        n = len(p.question)
        fixed = np.zeros(n, dtype=bool) if p.fixed is None else ~np.isnan(p.fixed)
        if p.constraint == "zero_sum":  # a question's only option has nothing to sum to zero with
            fixed |= layout.n_options[p.question] == 1
        yield Entries(
            parameter=p,
            questions=[responses.questions[j] for j in p.question],
            options=list(labels) if p.dim == "option" else [None] * n,
            steps=[int(s) for s in _steps(p.question, layout.n_options)] if p.dim == "step" else [None] * n,
            fixed=fixed,
        )


def _steps(question: Ints, n_options: Ints) -> Ints:
    """M - 1 steps lead up to ranks 1, 2, ...; M - 2 bounds to ranks 2, 3, ..., the first bound being 0."""
    size = np.bincount(question, minlength=len(n_options))
    within = np.arange(len(question)) - (np.cumsum(size) - size)[question]
    return np.asarray(within + (n_options - size)[question])
