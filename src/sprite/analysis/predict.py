"""What respondents would have answered where nothing was observed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sprite.analysis.scores import names
from sprite.core.errors import InputError
from sprite.core.types import Floats, Ints
from sprite.data.responses import Responses
from sprite.kernels.passes import posterior
from sprite.kernels.sums import add_products
from sprite.kernels.threads import run, split_evenly
from sprite.result.abilities import blocks, draw_tables, draws_within
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

Cells = tuple[Ints, Ints]
"""Respondents and questions by number, one pair a cell."""
_WHOLE = 1 << 16  # cells made at a time when the whole is asked for


def predict(
    fit: Fit, cells: Sequence[tuple[str, str]] | None = None, chunk: int | None = None
) -> pd.DataFrame | Iterator[pd.DataFrame]:
    """Probabilities of every answer that was not observed, or of chosen (respondent, question) cells.

    One row a cell and option:

    respondent, question, option
        As you named them; options in label order.
    probability
        Posterior mean of P(option | ability): over the respondent's ability and over draws of the parameters.
    is_mode
        Whether it is the cell's most probable option, the point prediction; its probability says how sure that is.

    A chosen cell that was observed is predicted with its own answer among the data, so it looks better than it would
    for new data; `sprite.compare` hides answers before it predicts them.

    With `chunk=n` the answer is an iterator of frames of up to about n cells each, so that a table larger than
    memory can be written piece by piece. The numbers do not depend on it.
    """
    import pandas as pd

    if chunk is not None and chunk < 1:
        raise InputError("predict needs chunk >= 1", found=chunk)
    chosen = None if cells is None else _numbered(fit, cells)
    predictor = Predictor(fit)
    frames = (_frame(fit, part, *predictor(*part)) for part in _parts(fit, chosen, chunk or _WHOLE))
    if chunk is not None:
        return frames
    found = list(frames)
    return pd.concat(found, ignore_index=True) if len(found) > 1 else found[0]


class Predictor:
    """Predicts the cells it is given; how many draws it averages over depends on the fit and the answers alone.

    `answers` are what is known of each respondent, where that is not what was fitted: the same table of options.
    """

    def __init__(self, fit: Fit, answers: Responses | None = None) -> None:
        self.grid = fit.grid
        self.responses = responses = fit.responses if answers is None else answers
        work = (responses.n_answers + responses.n_respondents * responses.first[-1]) * fit.n_nodes
        self.tables = draw_tables(fit, draws_within(float(work)))

    def __call__(self, respondent: Ints, question: Ints) -> tuple[Ints, Floats]:
        """Where each cell's options begin (one more at the end), and their probabilities in label order."""
        responses = self.responses
        size = np.diff(responses.first)[question]
        first = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        probability = np.zeros(int(first[-1]))
        people, person = np.unique(respondent, return_inverse=True)
        # The entries of all cells, by cell and then by option: which respondent and which row of the table.
        row = np.arange(first[-1]) + np.repeat(responses.first[question] - first[:-1], size)
        who = np.repeat(person, size)
        own = np.concatenate([[0], np.cumsum(np.diff(responses.start)[people])]).astype(np.int64)
        answers = np.arange(own[-1]) + np.repeat(responses.start[people] - own[:-1], np.diff(own))
        given = responses.row[answers]
        by_person = np.argsort(who, kind="stable")
        for low, high in blocks(len(people), max(self.grid.n_nodes, int(responses.first[-1])), least=512):
            entries = by_person[slice(*np.searchsorted(who[by_person], [low, high]))]
            total, n = np.zeros(len(entries)), 0
            cells = who[entries] - low, row[entries]
            parts = split_evenly(len(entries), len(entries) * self.grid.n_nodes)
            for n, table in enumerate(self.tables(), start=1):  # noqa: B007 - the last n is their number
                mass = posterior(own, given, table, self.grid.log_weight, low, high)
                run(partial(_add, mass, np.exp(table), cells, total), parts)
            probability[entries] = total / n
        return first, probability


def _add(mass: Floats, table: Floats, cells: Cells, total: Floats, low: int, high: int) -> None:
    """Each cell's probability under one draw: its respondent's mass at every node times its option's there."""
    add_products(mass, table, *cells, low, high, total)


def modes(first: Ints, probability: Floats) -> Ints:
    """Where each cell's most probable option stands in `probability`; ties go to the first label."""
    cell = np.repeat(np.arange(len(first) - 1), np.diff(first))
    return np.lexsort((np.arange(len(probability)), -probability, cell))[first[:-1]]


def _frame(fit: Fit, cells: Cells, first: Ints, probability: Floats) -> pd.DataFrame:
    import pandas as pd

    responses = fit.responses
    size = np.diff(first)
    labels = np.array([label for options in responses.options for label in options], dtype=object)
    is_mode = np.zeros(len(probability), dtype=bool)
    is_mode[modes(first, probability)] = True
    row = np.arange(first[-1]) + np.repeat(responses.first[cells[1]] - first[:-1], size)
    return pd.DataFrame(
        {
            "respondent": np.repeat(names(responses)[cells[0]], size),
            "question": np.repeat(np.array(responses.questions, dtype=object)[cells[1]], size),
            "option": labels[row],
            "probability": probability,
            "is_mode": is_mode,
        }
    )


def _parts(fit: Fit, cells: Cells | None, n: int) -> Iterator[Cells]:
    """The chosen cells, or all that were not observed, some `n` at a time; one empty part where there are none."""
    if cells is not None:
        for low in range(0, max(1, len(cells[0])), n):
            yield cells[0][low : low + n], cells[1][low : low + n]
        return
    responses = fit.responses
    nothing = np.empty(0, dtype=np.int64)
    held, some = (nothing, nothing), False
    step = max(1, n // max(1, responses.n_questions))
    for low in range(0, responses.n_respondents, step):
        high = min(low + step, responses.n_respondents)
        missing = np.ones((high - low, responses.n_questions), dtype=bool)
        span = slice(responses.start[low], responses.start[high])
        who = np.repeat(np.arange(high - low), np.diff(responses.start[low : high + 1]))
        missing[who, responses.question_of_row[responses.row[span]]] = False
        person, question = np.nonzero(missing)
        held = np.concatenate([held[0], person + low]), np.concatenate([held[1], question])
        while len(held[0]) >= n:
            yield held[0][:n], held[1][:n]
            held, some = (held[0][n:], held[1][n:]), True
    if len(held[0]) or not some:
        yield held


def _numbered(fit: Fit, cells: Sequence[tuple[str, str]]) -> Cells:
    responses = fit.responses
    people = {name: i for i, name in enumerate(responses.respondents.tolist())}
    questions = {name: j for j, name in enumerate(responses.questions)}
    pairs = [tuple(cell) for cell in cells]
    for pair in pairs:
        if len(pair) != 2:
            raise InputError("cells are pairs (respondent, question)", found=pair)
        if pair[0] not in people:
            raise InputError(
                f"the fit has no respondent called {pair[0]!r}",
                remedy="See fit.responses.respondents; for other people, fit.score gives their abilities",
            )
        if pair[1] not in questions:
            raise InputError(f"the fit has no question called {pair[1]!r}", remedy="See fit.responses.questions")
    respondent = np.array([people[pair[0]] for pair in pairs], dtype=np.int64)
    return respondent, np.array([questions[pair[1]] for pair in pairs], dtype=np.int64)
