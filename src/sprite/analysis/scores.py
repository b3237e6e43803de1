"""How able respondents are: those of the fit, and others who took the same test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sprite.core.errors import InputError
from sprite.core.types import Bools, Floats, Ints, Rows
from sprite.data.responses import Responses
from sprite.result.abilities import plausible_values as draw_plausible_values
from sprite.result.abilities import posterior_moments
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


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
    return _frame(fit, fit.responses, fit.responses.row, fit.ability_posteriors())


def plausible_values(fit: Fit, n: int = 10, seed: int = 0) -> pd.DataFrame:
    """`n` draws of every respondent's ability from its posterior: respondent, draw (1 to n), ability.

    Every draw has its own draw of the parameters. Analyse each set by itself and combine the results (Rubin's rules):
    averages of posterior means would understate how much abilities vary.
    """
    import pandas as pd

    if n < 1:
        raise InputError("plausible_values needs n >= 1", found=n)
    values = draw_plausible_values(fit, n, seed)
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
    row = matched_rows(fit.responses, responses)
    return _frame(fit, responses, row, posterior_moments(fit, responses.start, row, plug_in))


def matched_rows(known: Responses, new: Responses) -> Rows:
    """The answers of `new` as rows of `known`, matched by the names of questions and options."""
    place = {question: j for j, question in enumerate(known.questions)}
    unknown = [question for question in new.questions if question not in place]
    if unknown:
        raise InputError(
            f"the fit has no question called {_listed(unknown)}",
            remedy="Rename the columns as in the fit (fit.responses.questions) or leave them out: ignore= (--ignore)",
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


def _frame(fit: Fit, responses: Responses, row: Rows, posteriors: Floats) -> pd.DataFrame:
    import pandas as pd

    mean, mode, sd, lower, upper = posteriors
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
