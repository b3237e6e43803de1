"""`information`: Fisher information of the questions and of the test over ability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from sprite.analysis.curves import DRAWS, interval
from sprite.core.errors import InputError
from sprite.core.types import Floats
from sprite.models.base import Values
from sprite.result.abilities import thinned
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

_STEP = 1e-4  # of a standard deviation of ability, for central differences of the log probabilities
_HELD = 20_000_000  # numbers of all draws held at a time: 160 MB


def information(fit: Fit, abilities: Sequence[float] | None = None) -> pd.DataFrame:
    """One row an ability and question, then one an ability for the test as a whole.

    ability
        Where: the values given, or 61 from 3 standard deviations below the mean to 3 above.
    question
        As you wrote it; "test" in the rows of the whole test, which are those with a reliability.
    fisher, lower, upper
        Fisher information, sum over options of P'(k | z)^2 / P(k | z), with its 90 % interval: the mean over draws of
        a posterior; at the estimate where that is a mode. The interval is NaN where the fit has no standard errors.
    reliability
        Of the whole test at this ability: fisher / (fisher + 1 / Var(z)); NaN in the rows of questions.

    ``frame.attrs["marginal_reliability"]`` is 1 - (mean posterior variance of the respondents) / Var(z): the part of
    the variance of ability that the answers at hand have explained.
    """
    import pandas as pd

    data, (mean, variance) = fit.responses, fit.model.ability
    if abilities is None:
        at = mean + np.sqrt(variance) * np.linspace(-3.0, 3.0, 61)
    else:
        at = np.atleast_1d(np.asarray(abilities, dtype=float))
        if at.ndim != 1 or not len(at) or not np.isfinite(at).all():
            raise InputError("information(abilities=...) must be finite numbers", found=abilities)
    drawn = _drawn(fit, at)
    found = fisher(fit, fit.values, at) if drawn is None or fit.kind == "laplace" else drawn.mean(axis=0)
    lower, upper = interval(drawn, found)
    test_lower, test_upper = interval(None if drawn is None else drawn.sum(axis=1), found.sum(axis=0))
    test = found.sum(axis=0)
    n = data.n_questions
    frame = pd.DataFrame(
        {
            "ability": np.tile(at, n + 1),
            "question": np.repeat(np.array([*data.questions, "test"], dtype=object), len(at)),
            "fisher": np.concatenate([found.ravel(), test]),
            "lower": np.concatenate([lower.ravel(), test_lower]),
            "upper": np.concatenate([upper.ravel(), test_upper]),
            "reliability": np.concatenate([np.full(found.size, np.nan), test / (test + 1.0 / variance)]),
        }
    )
    frame.attrs["marginal_reliability"] = marginal_reliability(fit)
    return frame


def marginal_reliability(fit: Fit) -> float:
    """1 - (mean posterior variance of the respondents) / Var(z); NaN where nobody has a posterior."""
    sd = fit.ability_moments()[1]
    known = np.isfinite(sd)
    return float(1.0 - np.mean(sd[known] ** 2) / fit.model.ability[1]) if known.any() else float("nan")


def fisher(fit: Fit, values: Values, at: Floats) -> Floats:
    """Fisher information of every question at these abilities, (questions, abilities)."""
    layout = fit.responses.layout
    step = _STEP * np.sqrt(fit.model.ability[1])
    nodes = np.concatenate([at - step, at, at + step])
    below, table, above = np.split(fit.model.log_table(values, nodes, layout), 3, axis=-1)
    # P'^2 / P = P (log P)'^2, which stays finite where P is tiny; where P is 0 the option tells nothing.
    possible = np.isfinite(table) & np.isfinite(below) & np.isfinite(above)
    slope = np.where(possible, np.where(possible, above, 0.0) - np.where(possible, below, 0.0), 0.0) / (2 * step)
    return np.asarray(layout.sum_by_question((np.exp(table) * slope**2).T).T)


def _drawn(fit: Fit, at: Floats) -> Floats | None:
    which = thinned(fit, int(np.clip(_HELD // max(1, fit.responses.n_questions * len(at)), 20, DRAWS)))
    if which[0] < 0:
        return None
    x = fit.x.reshape(-1, fit.x.shape[-1])
    ranks = {name: rank.reshape(-1, rank.shape[-1]) for name, rank in fit.ranks.items()}
    return np.stack([fisher(fit, fit.packing.unpack(x[k], {n: r[k] for n, r in ranks.items()}), at) for k in which])
