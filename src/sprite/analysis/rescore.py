"""Marks and abilities before and after a changed key or dropped questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sprite.analysis.scores import marks, names
from sprite.core.errors import InputError
from sprite.core.types import Bools
from sprite.data.answers import listing
from sprite.data.responses import Responses
from sprite.result.abilities import posterior_moments
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def rescore(fit: Fit, key: Mapping[str, str | Sequence[str]] | None = None, drop: Sequence[str] = ()) -> pd.DataFrame:
    """One row a respondent, before and after.

    respondent
        As you named them.
    marks_before, marks_after
        Number of correct answers; NA where there is no key at all.
    ability_before, ability_after
        Posterior means at the parameters of the fit. A dropped question's answers no longer count. A changed key
        alone leaves abilities as they are: the model learns from which options were chosen, and the key only anchors
        and orients its scale. Fit again with the corrected key for final abilities.
    rank_before, rank_after
        By marks, 1 for the most; those with equal marks share the best rank (1, 2, 2, 4).
    changed
        Whether marks, rank or ability differ.

    Parameters
    ----------
    fit
        The fit.
    key
        New correct options, by question: a label or several. Other questions keep theirs. Naming every option gives
        the mark to everyone who answered.
    drop
        Questions that no longer count.

    """
    import pandas as pd

    responses = fit.responses
    place = {question: j for j, question in enumerate(responses.questions)}
    corrected = _new_key(responses, key or {}, place)
    if isinstance(drop, str):
        drop = [drop]
    dropped = np.zeros(responses.n_questions, dtype=bool)
    dropped[[_known(question, place) for question in drop]] = True
    gone = dropped[responses.question_of_row]
    before = marks_of(responses, responses.correct)
    after = marks_of(responses, corrected, ~gone)
    ability = fit.ability_posteriors()[0]
    new_ability = ability
    if dropped.any():
        remaining = responses.without(gone[responses.row])
        new_ability = posterior_moments(fit, remaining.start, remaining.row)[0]
    ranks = [marks.rank(method="min", ascending=False).astype("Int64") for marks in (before, after)]
    differ = _differ(before, after) | _differ(*ranks) | (np.abs(new_ability - ability) > 1e-12)
    return pd.DataFrame(
        {
            "respondent": names(responses),
            "marks_before": before,
            "marks_after": after,
            "ability_before": ability,
            "ability_after": new_ability,
            "rank_before": ranks[0],
            "rank_after": ranks[1],
            "changed": differ,
        }
    )


def marks_of(responses: Responses, correct: Bools, counting: Bools | None = None) -> pd.Series[Any]:
    """Number of correct answers of each respondent among the rows that count; NA where there is no key."""
    import pandas as pd

    if not correct.any():
        return pd.Series(pd.array([pd.NA] * responses.n_respondents, dtype="Int64"))
    counted = correct if counting is None else correct & counting
    return pd.Series(pd.array(marks(responses.start, counted[responses.row]), dtype="Int64"))


def _differ(a: pd.Series[Any], b: pd.Series[Any]) -> Bools:
    left, right = (series.to_numpy(dtype=float, na_value=np.nan) for series in (a, b))
    return np.asarray((left != right) & ~(np.isnan(left) & np.isnan(right)))


def _new_key(responses: Responses, key: Mapping[str, str | Sequence[str]], place: Mapping[str, int]) -> Bools:
    correct = responses.correct.copy()
    for question, given in key.items():
        j = _known(question, place)
        options = responses.options[j]
        labels = [given] if isinstance(given, str) and given in options else _several(given)
        for label in labels:
            if label not in options:
                raise InputError(
                    f"question {question!r} has no option {label!r}", remedy=f"Its options are {', '.join(options)}"
                )
        if not labels:
            raise InputError(
                f"the new key names no correct option of question {question!r}",
                remedy="Name one, or drop the question",
            )
        correct[responses.first[j] : responses.first[j + 1]] = [label in labels for label in options]
    return correct


def _several(given: str | Sequence[str]) -> list[str]:
    """Labels as a list; in one piece of text they are separated by semicolons, as in key files."""
    return [label.strip() for label in given.split(";")] if isinstance(given, str) else list(given)


def _known(question: str, place: Mapping[str, int]) -> int:
    if question not in place:
        remedy = f"The questions are {listing(list(place))}"
        raise InputError(f"the fit has no question called {question!r}", remedy=remedy)
    return place[question]
