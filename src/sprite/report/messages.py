"""What the page says of each verdict: the sentences of `verdicts`, put right for a reader of a page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sprite.plots.numbers import MINUS
from sprite.report.tables import rows_of
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

_NUMBER = re.compile(r"\((person fit|residual correlation) ([-+−]?\d+\.\d+)([^()]*\)[^()]*)$")
"""In the last brackets alone: what users wrote, such as an option -5, stays as it is."""


def messages(fit: Fit, verdicts: pd.DataFrame) -> list[str]:
    """One sentence a verdict."""
    data = fit.responses
    count = {
        (question, option): int(data.count[data.first[j] + k])
        for j, question in enumerate(data.questions)
        for k, option in enumerate(data.options[j])
    }
    out = []
    for row in rows_of(verdicts):
        message = _NUMBER.sub(lambda m: f"({m[1]} {m[2].replace('-', MINUS)}{m[3]}", row["message"])
        if row["verdict"] == "dead_distractor" and count.get((row["question"], row["option"])) == 0:
            message = f"Nobody chose option {row['option']} of {row['question']}: it does no work."
        elif row["verdict"] == "unusual_respondent" and not data.key:
            message = _without_key(row["respondent"], message)
        out.append(message)
    return out


def _without_key(respondent: str, message: str) -> str:
    """Of a respondent's answers, none of which is known to be right."""
    fit = _NUMBER.search(message)
    shown = f" (person fit {fit[2]})" if fit else ""
    return (
        f"The answers of {respondent} do not fit together: among them are choices that hardly anyone of that ability "
        f"makes{shown}."
    )
