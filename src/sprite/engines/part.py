"""The questions that have rarely chosen options, as a test of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sprite.core.layout import Layout
from sprite.core.types import Floats, Ints, Rows
from sprite.data.responses import Responses
from sprite.density.packing import Packing
from sprite.density.posterior import Posterior
from sprite.kernels.standing import Answers
from sprite.models.softmax import SoftmaxModel

RARE = 30
"""An option chosen by more respondents than this is known well enough to stay where it is."""
LARGEST = 5_000_000
"""Respondents x nodes above which their posteriors are not held in memory, and nothing is relocated."""


@dataclass(frozen=True, eq=False)
class Part:
    """Some questions of a test, with what relocating one of their options takes."""

    layout: Layout
    packing: Packing
    model: SoftmaxModel
    answers: Answers
    rows: Ints
    """Where their rows lie in the whole test."""
    entries: Ints
    """Where their entries lie in the whole x."""
    rare: Ints
    """The rows here that may be relocated."""
    own: Ints
    """The entries here that belong to each row, -1 where there are fewer: (rows, most)."""

    @classmethod
    def of(cls, posterior: Posterior) -> Part | None:
        """None where options have no curves of their own, all are chosen often, or respondents are too many."""
        layout, packing, model = posterior.layout, posterior.packing, posterior.model
        if not (packing.n_free and isinstance(model, SoftmaxModel) and model.one_by_one):
            return None
        free = np.zeros(layout.n_rows, dtype=bool)
        free[packing.rows] = True
        rare = free & (layout.count <= RARE)
        if not rare.any() or posterior.responses.n_respondents * posterior.grid.n_nodes > LARGEST:
            return None
        return cls.around(posterior, model, np.flatnonzero(rare))

    @classmethod
    def around(cls, posterior: Posterior, model: SoftmaxModel, relocatable: Ints) -> Part:
        """The questions of these rows, which may be relocated."""
        layout, packing, responses = posterior.layout, posterior.packing, posterior.responses
        rare = np.zeros(layout.n_rows, dtype=bool)
        rare[relocatable] = True
        questions = np.zeros(layout.n_questions, dtype=bool)
        questions[layout.question[rare]] = True
        here, rows = layout.only(questions)
        small = Packing(model, here)
        who, by_row = _choosers(responses, rows)
        begin, grid = layout.first[:-1][questions], posterior.grid
        return cls(
            here,
            small,
            model,
            Answers(responses.start, responses.row, who, by_row, here.first, begin, grid.log_weight, grid.nodes),
            rows,
            np.flatnonzero(questions[packing.question]),
            np.flatnonzero(rare[rows]),
            _own_entries(small, here.n_rows),
        )

    def turns(self) -> list[Ints]:
        """Every rare row once: each turn has a row of every question, or -1 where a question has no more."""
        question = self.layout.question[self.rare]
        turn = np.arange(len(question)) - np.searchsorted(question, question)
        out = np.full((int(turn.max()) + 1, self.layout.n_questions), -1)
        out[turn, question] = self.rare
        return list(out)

    def pick(self, chains: int, rng: np.random.Generator) -> Ints:
        """A rare row of every question for every chain, (chains, Q)."""
        share = np.full((self.layout.n_rows,), -np.inf)
        share[self.rare] = 0.0
        keys = share + rng.gumbel(size=(chains, self.layout.n_rows))
        # The largest key of each question: rows sorted by question and key, the last one of each.
        order = np.lexsort((keys, np.broadcast_to(self.layout.question, keys.shape)), axis=-1)
        return np.asarray(order[:, self.layout.first[1:] - 1])

    def take(self, rows: Ints, x: Floats) -> Floats:
        """The entries of one row of every question, (..., Q) -> (..., Q, most), 0 in the padding."""
        own = self.own[rows]
        return np.where(own >= 0, np.take_along_axis(x[..., None, :], np.maximum(own, 0), axis=-1), 0.0)

    def put(self, rows: Ints, at: Floats, x: Floats) -> Floats:
        """x with these entries of one row of every question; x is overwritten."""
        own = np.where((rows >= 0)[..., None], self.own[rows], -1)
        lines = x.reshape(-1, x.shape[-1])
        line, place = np.nonzero(own.reshape(len(lines), -1) >= 0)
        lines[line, own.reshape(len(lines), -1)[line, place]] = at.reshape(len(lines), -1)[line, place]
        return lines.reshape(x.shape)

    def curves(self, x: Floats) -> Floats:
        """Height, slope, curve and centre of every row: (..., rows, 4)."""
        curves = self.model.curves(self.packing.unpack(x), self.layout)
        return np.stack([curves.height, curves.slope, curves.curve, curves.centre], axis=-1)

    def log_prior(self, x: Floats) -> Floats:
        """Log prior density of each question, Jacobian included."""
        density, _ = self.model.log_prior(self.packing.unpack(x), self.layout)
        return density + self.packing.log_jacobian(x)


def _own_entries(packing: Packing, n_rows: int) -> Ints:
    order = np.argsort(packing.rows, kind="stable")
    rows = packing.rows[order]
    place = np.arange(len(rows)) - np.searchsorted(rows, rows)
    own = np.full((n_rows, int(place.max()) + 1), -1)
    own[rows, place] = order
    return own


def _choosers(responses: Responses, rows: Ints) -> tuple[Rows, Ints]:
    position = np.full(responses.layout.n_rows, -1)
    position[rows] = np.arange(len(rows))
    here = position[responses.row]
    answers = np.flatnonzero(here >= 0)
    answers = answers[np.argsort(here[answers], kind="stable")]
    by_row = np.searchsorted(here[answers], np.arange(len(rows) + 1))
    return responses.respondent_of_answer[answers].astype(np.int32), by_row
