"""`options`: how often, by whom and how informatively each option was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from sprite.analysis.classical import refuse_groups
from sprite.analysis.curves import curves, interval, keyed_questions, row_labels
from sprite.core.types import Floats, Ints
from sprite.data.responses import Responses
from sprite.kernels.passes import moments
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

DIP = 0.05
"""An option is chosen at both ends where its curve dips by more than this between the ends of populated ability."""


def options(fit: Fit, groups: int = 3) -> pd.DataFrame:
    """One row an option, in the order of the questions and labels.

    question, option, text
        As you wrote them; `text` where wordings were given.
    correct
        Whether it is a correct option.
    n, share
        How many chose it, and which part of those who answered the question.
    point_biserial
        Correlation, over those who answered the question, of choosing it with the share correct among the other
        questions; NaN without a key, or where either does not vary.
    ability, ability_lower, ability_upper
        E[z | option chosen] under the model: the mean ability of its choosers, with its 90 % interval (NaN where the
        fit has no standard errors).
    ability_sd
        sd[z | option chosen]: how widely its choosers spread.
    both_ends
        Whether it is chosen at both ends of ability: P(option | z) at the 2.5 % and at the 97.5 % quantile of the
        respondents' abilities both exceed its lowest value between them by more than 0.05.
    bits
        Its part of what the question tells, P(k) KL(p(z | k) || p(z)); the parts sum to the question's bits.
    mu, nu (or slope, intercept, rank, ...)
        The model's own parameters at the estimate; those of a question are repeated for each of its options.
    share_low, share_mid, share_high
        Its share in score groups of about equal size (share_g1, share_g2, ... where `groups` is not 3). The score is
        the share of correct answers, estimated ability where there is no key; equal scores share a group. NaN where
        nobody of the group answered the question.
    """
    import pandas as pd

    refuse_groups(groups)
    data = fit.responses
    layout, found = data.layout, curves(fit)
    questions, labels = row_labels(fit)
    columns: dict[str, Any] = {"question": questions, "option": labels}
    if data.texts.options:
        columns["text"] = [data.texts.options.get(pair, "") for pair in zip(questions, labels, strict=True)]
    answered = layout.sum_by_question(data.count.astype(float))[layout.question]
    lower, upper = interval(None if found.draws is None else found.draws.mean, found.estimate.mean)
    columns |= {
        "correct": data.correct,
        "n": data.count,
        "share": _ratio(data.count, answered),
        "point_biserial": point_biserials(data)[0],
        "ability": found.estimate.mean,
        "ability_lower": lower,
        "ability_upper": upper,
        "ability_sd": found.estimate.sd,
        "both_ends": curves(fit, "respondents").estimate.dip > DIP,
        "bits": found.estimate.bits,
    }
    columns |= _parameters(fit) | _group_shares(fit, groups)
    return pd.DataFrame(columns)


def point_biserials(data: Responses) -> tuple[Floats, Floats]:
    """Correlation with the share correct among the other questions: of choosing each option, of being right.

    By row and by question, over those who answered the question and another one with a key; NaN without a key.
    """
    layout = data.layout
    keyed = keyed_questions(layout)
    if not keyed.any():
        return np.full(layout.n_rows, np.nan), np.full(layout.n_questions, np.nan)
    who, question = data.respondent_of_answer, layout.question[data.row]
    right, counted = data.correct[data.row].astype(float), keyed[question].astype(float)
    total = np.bincount(who, right, minlength=data.n_respondents)[who] - right
    of = np.bincount(who, counted, minlength=data.n_respondents)[who] - counted
    known = of > 0
    row, rest = data.row[known], total[known] / of[known]
    rest = rest - (rest.mean() if len(rest) else 0.0)
    n_row = np.bincount(row, minlength=layout.n_rows).astype(float)
    sum_row = np.bincount(row, rest, minlength=layout.n_rows).astype(float)
    n, total_rest = layout.sum_by_question(n_row), layout.sum_by_question(sum_row)
    squares = np.bincount(layout.question[row], rest**2, minlength=layout.n_questions)
    spread = squares - _ratio(total_rest, n) * total_rest
    spread = np.where(spread > 1e-12 * np.maximum(n, 1.0), spread, 0.0)
    j = layout.question
    by_row = _correlation(n_row, sum_row, n[j], total_rest[j], spread[j])
    n_right = layout.sum_by_question(n_row * layout.correct)
    by_key = _correlation(n_right, layout.sum_by_question(sum_row * layout.correct), n, total_rest, spread)
    return by_row, np.where(keyed, by_key, np.nan)


def score_groups(fit: Fit, groups: int) -> Ints:
    """The group of each respondent, 0 = lowest score; -1 for those without a score."""
    data = fit.responses
    layout, who = data.layout, data.respondent_of_answer
    keyed = keyed_questions(layout)
    if keyed.any():
        of = np.bincount(who, keyed[layout.question[data.row]].astype(float), minlength=data.n_respondents)
        score = _ratio(np.bincount(who, data.correct[data.row].astype(float), minlength=data.n_respondents), of)
    else:
        grid = fit.grid
        score = moments(data.start, data.row, fit.table(), grid.log_weight, grid.nodes)[1]
        score = np.where(np.diff(data.start) > 0, score, np.nan)
    known = np.isfinite(score)
    group = np.full(data.n_respondents, -1, dtype=np.int64)
    if known.any():
        # Rounding must not tell equal scores apart.
        place = (rankdata(np.round(score[known], 10)) - 0.5) / known.sum()
        group[known] = np.minimum(np.floor(place * groups).astype(np.int64), groups - 1)
    return group


def _group_shares(fit: Fit, groups: int) -> dict[str, Floats]:
    data = fit.responses
    layout = data.layout
    group = score_groups(fit, groups)[data.respondent_of_answer]
    names = ("low", "mid", "high") if groups == 3 else tuple(f"g{g + 1}" for g in range(groups))
    out = {}
    for g, name in enumerate(names):
        count = np.bincount(data.row[group == g], minlength=layout.n_rows).astype(float)
        out[f"share_{name}"] = _ratio(count, layout.sum_by_question(count)[layout.question])
    return out


def _parameters(fit: Fit) -> dict[str, np.ndarray[Any, Any]]:
    """The model's parameters that belong to options or to questions, by row."""
    layout = fit.responses.layout
    out = {}
    for parameter in fit.model.parameters(layout):
        value = np.asarray(fit.values[parameter.name])
        if parameter.dim == "option":
            out[parameter.name] = value
        elif parameter.dim == "question":
            out[parameter.name] = value[layout.question]
    return out


def _correlation(n_in: Floats, sum_in: Floats, n: Floats, total: Floats, spread: Floats) -> Floats:
    """Of an indicator with a score, from sums over those it holds for and over all; `spread`: squares about the mean.

    The indicator's squares about its mean are n_in (n - n_in) / n.
    """
    product = sum_in - n_in * _ratio(total, n)
    size = np.sqrt(spread * n_in * np.maximum(n - n_in, 0.0) / np.maximum(n, 1.0))
    return _ratio(product, size)


def _ratio(a: Any, b: Any) -> Floats:
    """a / b, NaN where b is 0."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return np.asarray(np.divide(a, b, out=np.full(np.broadcast(a, b).shape, np.nan), where=b != 0))
