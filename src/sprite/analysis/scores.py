"""How able respondents are: those of the fit, and others who took the same test."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from sprite.core.errors import InputError
from sprite.core.types import Bools, Floats, Ints, Rows
from sprite.data.responses import Responses
from sprite.density.grid import grid_for
from sprite.kernels.passes import posterior
from sprite.kernels.threads import run, split
from sprite.result import abilities as of_result
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.05, 0.95)
"""Ends of the central 90 % interval."""
_BLOCK = 1 << 16  # posterior probabilities held at a time: half a megabyte, which stays in cache
_KEPT = 1 << 24  # table entries kept between blocks of respondents: 128 MB
_WORK = 4e10


def abilities(fit: Fit) -> pd.DataFrame:
    """One row a respondent of the fit.

    respondent
        As you named them.
    ability
        Posterior mean (EAP), averaged over draws of the parameters.
    map
        Posterior mode at the estimate of the parameters.
    sd
        Posterior standard deviation; the uncertainty of the parameters is part of it.
    lower, upper
        5 % and 95 % quantiles of the same posterior, taken on the grid: no normal approximation.
    n_answered, n_correct
        Answers given, and correct ones among them (any of several correct options counts); NA without a key.
    """
    return _frame(fit, fit.responses, fit.responses.row, plug_in=False)


def plausible_values(fit: Fit, n: int = 10, seed: int = 0) -> pd.DataFrame:
    """`n` draws of every respondent's ability from its posterior: respondent, draw (1 to n), ability.

    Every draw has its own draw of the parameters. Analyse each set by itself and combine the results (Rubin's rules):
    averages of posterior means would understate how much abilities vary.
    """
    import pandas as pd

    if n < 1:
        raise InputError("plausible_values needs n >= 1", found=n)
    values = of_result.plausible_values(fit, n, seed)
    return pd.DataFrame(
        {
            "respondent": np.tile(names(fit.responses), n),
            "draw": np.repeat(np.arange(1, n + 1), fit.responses.n_respondents),
            "ability": values.ravel(),
        }
    )


def score(fit: Fit, responses: Responses, plug_in: bool = False) -> pd.DataFrame:
    """Abilities of respondents who were not in the fit: the columns of `abilities`.

    Questions and options are matched by name. Questions of the fit that are missing count as not answered; questions
    and chosen options that the fit does not know are refused. Correct is what the fit's key says.

    `plug_in` uses the estimate of the parameters alone: much quicker, intervals a little too narrow.
    """
    if not isinstance(responses, Responses):
        raise InputError(
            "score() takes responses as sprite.read returns them",
            found=type(responses).__name__,
            remedy="Read the answers first: responses = sprite.read(...)",
        )
    return _frame(fit, responses, matched_rows(fit.responses, responses), plug_in)


def matched_rows(known: Responses, new: Responses) -> Rows:
    """The answers of `new` as rows of `known`, matched by the names of questions and options."""
    place = {question: j for j, question in enumerate(known.questions)}
    unknown = [question for question in new.questions if question not in place]
    if unknown:
        raise InputError(
            f"the fit has no question called {_listed(unknown)}",
            remedy="Rename the columns as in the fit (fit.responses.questions) or leave them out",
        )
    to = np.full(int(new.first[-1]), -1, dtype=np.int32)
    for j, question in enumerate(new.questions):
        home = place[question]
        labels = {label: k for k, label in enumerate(known.options[home])}
        for k, label in enumerate(new.options[j]):
            if label in labels:
                to[new.first[j] + k] = known.first[home] + labels[label]
            elif new.count[new.first[j] + k]:
                raise InputError(
                    f"question {question!r} of the fit has no option {label!r}",
                    remedy=f"Its options are {', '.join(known.options[home])}. Name {label!r} as missing when "
                    "reading, or fit again with the option declared",
                )
    return to[new.row]


# --- what other analyses use ------------------------------------------------------------------------------------


def names(responses: Responses) -> NDArray[np.object_]:
    """The names of the respondents as pandas takes them."""
    return responses.respondents.astype(object)


def draws_within(work: float, least: int = 20, most: int = 200) -> int:
    """How many draws to average over, when one of them costs `work` additions or so."""
    return int(np.clip(_WORK / max(work, 1.0), least, most))


def draw_tables(fit: Fit, wanted: int) -> Callable[[], Iterable[Floats]]:
    """Tables of log P(option | ability) at thinned draws, to go through as often as needed."""
    which = of_result.thinned(fit, wanted)
    if len(which) * int(fit.responses.first[-1]) * fit.n_nodes <= _KEPT:
        kept = list(of_result.tables(fit, which))
        return lambda: kept
    return lambda: of_result.tables(fit, which)


def blocks(n_respondents: int, width: int, least: int = 1) -> Iterable[tuple[int, int]]:
    """Runs of at least so many respondents such that a line of `width` numbers for each of them stays small."""
    step = max(least, _BLOCK // max(1, width))
    return ((low, min(low + step, n_respondents)) for low in range(0, n_respondents, step))


def posterior_moments(fit: Fit, start: Ints, row: Rows, plug_in: bool = False) -> Floats:
    """Mean, mode, standard deviation, lower and upper end of each respondent's ability: five lines."""
    grid = grid_for(fit.model.ability, fit.n_nodes)
    point = fit.table()
    averaged = None if plug_in else draw_tables(fit, draws_within(len(row) * fit.n_nodes))
    out = np.empty((5, len(start) - 1))

    def task(begin: int, end: int) -> None:
        for low, high in blocks(end - begin, grid.n_nodes):
            span = begin + low, begin + high
            at_point = posterior(start, row, point, grid.log_weight, *span, threads=1)
            mass = at_point
            if averaged is not None:
                mass, n = np.zeros_like(at_point), 0
                for n, table in enumerate(averaged(), start=1):  # noqa: B007 - the last n is their number
                    mass += posterior(start, row, table, grid.log_weight, *span, threads=1)
                mass /= n
            out[1, slice(*span)] = _modes(at_point, grid.nodes)
            out[[0, 2, 3, 4], slice(*span)] = _described(mass, grid.nodes)

    run(task, split(start, grid.n_nodes, None))
    return out


def _described(mass: Floats, nodes: Floats) -> Floats:
    """Mean, standard deviation and both quantiles of each line of node probabilities."""
    # Sums by einsum: a matrix product would wake further threads inside each of ours.
    centred = nodes - nodes.mean()
    first, second = np.einsum("ij,j->i", mass, centred), np.einsum("ij,j->i", mass, centred**2)
    sd = np.sqrt(np.maximum(second - first**2, 0.0))
    total = np.cumsum(mass, axis=1)
    out = np.stack([first + nodes.mean(), sd, *(_quantile(mass, total, nodes, level) for level in LEVELS)])
    out[:, total[:, -1] <= 0.0] = np.nan  # impossible answers: no mass anywhere
    return out


def _quantile(mass: Floats, total: Floats, nodes: Floats, level: float) -> Floats:
    """Where each line's mass passes `level`, by interpolation between nodes on the scale of normal quantiles.

    The mass up to a node is that of the nodes below, half of its own, and the first term of Euler and Maclaurin's
    correction, a twenty-fourth of the difference of its neighbours. On the scale of normal quantiles the curve of a
    normal posterior is a straight line, however wide the cells.
    """
    line, last = np.arange(len(mass)), len(nodes) - 1
    at = np.clip(np.argmax(total >= level, axis=1), 1, last - 1)

    def below(node: Ints) -> Floats:
        around = mass[line, np.minimum(node + 1, last)] - mass[line, np.maximum(node - 1, 0)]
        return np.asarray(total[line, node] - 0.5 * mass[line, node] - around / 24.0)

    left = np.where(below(at) < level, at, at - 1)
    ends = np.clip(np.stack([below(left), below(left + 1)]), 1e-15, 1.0 - 1e-15)
    left_at, right_at = ndtri(ends)
    part = np.clip((ndtri(level) - left_at) / np.maximum(right_at - left_at, 1e-12), 0.0, 1.0)
    return np.asarray(nodes[left] + part * (nodes[1] - nodes[0]))


def _modes(mass: Floats, nodes: Floats) -> Floats:
    """The vertex of the parabola through the largest log probability and its neighbours."""
    line, top = np.arange(len(mass)), mass.argmax(axis=1)
    inner = np.clip(top, 1, len(nodes) - 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        left, middle, right = (np.log(mass[line, inner + step]) for step in (-1, 0, 1))
        shift = 0.5 * (right - left) / (2.0 * middle - left - right)
    ok = (inner == top) & np.isfinite(shift)
    mode = nodes[top] + np.where(ok, shift, 0.0) * (nodes[1] - nodes[0])
    return np.where(mass[line, top] > 0.0, mode, np.nan)


def _frame(fit: Fit, responses: Responses, row: Rows, plug_in: bool) -> pd.DataFrame:
    import pandas as pd

    mean, mode, sd, lower, upper = posterior_moments(fit, responses.start, row, plug_in)
    keyed = bool(fit.responses.correct.any())
    correct = marks(responses.start, fit.responses.correct[row])
    return pd.DataFrame(
        {
            "respondent": names(responses),
            "ability": mean,
            "map": mode,
            "sd": sd,
            "lower": lower,
            "upper": upper,
            "n_answered": np.diff(responses.start),
            "n_correct": pd.arrays.IntegerArray(correct, np.full(len(correct), not keyed)),
        }
    )


def marks(start: Ints, right: Bools) -> Ints:
    """How many answers of each respondent are right."""
    # One more at the end, so that respondents without answers can stand there; reduceat gives them a neighbour's mark.
    padded = np.append(right, False)
    total = np.add.reduceat(padded, start[:-1], dtype=np.int64) if len(start) > 1 else np.zeros(0, dtype=np.int64)
    return np.where(np.diff(start) > 0, total, 0)


def _listed(items: list[str], most: int = 5) -> str:
    shown = ", ".join(map(repr, items[:most]))
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
