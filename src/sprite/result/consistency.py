"""Whether the parts of a fit from a file belong together: compiled loops trust them, and do not look again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from sprite.core.types import Ints, Rows
from sprite.data.responses import Responses
from sprite.density.grid import REACH
from sprite.result.fit import Fit

_MOST_NODES = 1_000_000


def check_consistency(fit: Fit) -> None:
    """Raise ValueError where the parts of a fit contradict each other."""
    for problem in chain(_of_responses(fit.responses), _of_fit(fit)):  # the later parts trust the earlier ones
        raise ValueError(f"its parts do not belong together: {problem}")


def _of_responses(data: Responses) -> Iterator[str]:
    sizes = [len(labels) for labels in data.options]
    rows, start, row = sum(sizes), data.start, data.row
    if len(sizes) != data.n_questions or len(data.correct) != rows or not (data.rank is None or len(data.rank) == rows):
        yield "questions and options"
    if len(start) != data.n_respondents + 1 or start[0] or start[-1] != len(row) or (np.diff(start) < 0).any():
        yield "respondents and answers"
    elif len(row):
        if row.min() < 0 or row.max() >= rows:
            yield "answers and options"
        elif not ((np.diff(data.question_of_row[row]) > 0) | (np.diff(data.respondent_of_answer) > 0)).all():
            yield "answers and questions"
    if data.rank is not None and not _are_orders(data.rank, data):
        yield "options and their order"


def _of_fit(fit: Fit) -> Iterator[str]:
    free = fit.n_parameters
    if fit.x.ndim != 3 or fit.x.shape[2] != free or fit.point.shape != (free,):
        yield "draws and parameters"
    if not (np.isfinite(fit.x).all() and np.isfinite(fit.point).all()):
        yield "draws that are no numbers"
    if fit.covariance is not None and (fit.covariance.shape != (free, free) or not np.isfinite(fit.covariance).all()):
        yield "standard errors and parameters"
    if any(mode.x.shape != (free,) for mode in fit.modes):
        yield "modes and parameters"
    orders = [*fit.ranks.values(), *fit.point_ranks.values(), *(r for mode in fit.modes for r in mode.ranks.values())]
    if any(rank.shape[:-1] not in ((), fit.x.shape[:2]) or not _are_orders(rank, fit.responses) for rank in orders):
        yield "orders and options"
    if not (0 < fit.n_nodes <= _MOST_NODES and 0 < fit.reach <= REACH * _MOST_NODES):
        yield "a grid of no sensible size"


def _are_orders(rank: Ints | Rows, data: Responses) -> bool:
    """Whether every question's ranks are 0, 1, ... in some order; no ranks at all will do."""
    if not rank.size:
        return True
    if rank.shape[-1] != data.first[-1]:
        return False
    place = rank + data.first[data.question_of_row]
    return bool((np.sort(place, axis=-1) == np.arange(rank.shape[-1])).all())
