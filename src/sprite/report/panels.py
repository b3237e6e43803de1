"""One panel a question: its chart, its table of options and what is said of it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from sprite.analysis.curves import populated
from sprite.analysis.order import partial_order
from sprite.core.readable import number
from sprite.plots.ability import ability_points, group_shares, probabilities
from sprite.plots.palette import looks
from sprite.report import svg
from sprite.report.strip import Strip
from sprite.report.tables import rows_of
from sprite.report.words import certainty, percent
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

_CURVE_POINTS = 33
_LONG = 45  # signs of an option's wording beyond which its table takes the whole width
_BEYOND = 0.05  # options that few chose have long intervals, and there is little room in a panel


def panels(
    fit: Fit, questions: pd.DataFrame, options: pd.DataFrame, verdicts: pd.DataFrame, misfit: dict[str, str]
) -> list[dict[str, Any]]:
    """What the template needs for every question."""
    data = fit.responses
    at = ability_points(fit, _CURVE_POINTS)
    middle, low, high = probabilities(fit, at)
    seen = _points(fit)
    order = partial_order(fit)["order"].tolist()
    messages: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for question, message, probability in zip(
        verdicts["question"], verdicts["message"], verdicts["probability"], strict=True
    ):
        messages[question].append((message, certainty(float(probability))))
    kinds = kinds_of(verdicts)
    chosen = options[options["n"] > 0]
    ends = (chosen["ability_here_lower"].to_numpy(), chosen["ability_here_upper"].to_numpy())
    place = Strip(*ends, populated(fit), beyond=_BEYOND)
    rows = rows_of(options)
    out = []
    for j, (question, numbers) in enumerate(zip(data.questions, rows_of(questions), strict=True)):
        own = slice(int(data.first[j]), int(data.first[j + 1]))
        drawn = looks(fit, j)
        words = f"Share who choose each option of {question} along ability"
        chart = svg.option_curves(drawn, at, middle[own], low[own], high[own], seen[own], words) if drawn else ""
        out.append(
            {
                "name": question,
                "text": data.texts.questions.get(question, ""),
                "kinds": kinds.get(question, []),
                "messages": messages.get(question, []),
                "facts": _facts(numbers, order[j]),
                "misfit": misfit.get(question, ""),
                "chart": Markup(chart),
                "wide": any(
                    len(f"{rows[r]['option']}{rows[r].get('text', '')}") > _LONG for r in range(own.start, own.stop)
                ),
                "axis": place.ends,
                "options": [
                    {
                        "swatch": Markup(svg.swatch(look)),
                        "label": look.option,
                        "correct": look.correct,
                        "text": rows[r].get("text", ""),
                        "n": f"{rows[r]['n']:,}",
                        "share": percent(rows[r]["share"]),
                        "bar": f"{100 * np.nan_to_num(rows[r]['share']):.0f}",
                        "thirds": [
                            percent(rows[r][f"share_{name}"]).removesuffix(" %") for name in ("low", "mid", "high")
                        ],
                        "ability": number(rows[r]["ability_here"]) if rows[r]["n"] else "–",
                        "strip": place.drawn(*(rows[r][f"ability_here{end}"] for end in ("", "_lower", "_upper")))
                        if rows[r]["n"]
                        else "",
                    }
                    for look, r in zip(drawn, range(own.start, own.stop), strict=True)
                ],
            }
        )
    return out


def kinds_of(verdicts: pd.DataFrame) -> dict[str, list[str]]:
    """The kinds of verdicts on each question, without repetition; a pair of questions counts for both."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for question, kind in zip(verdicts["question"], verdicts["verdict"], strict=True):
        names = question.split(" / ") if kind == "local_dependence" else [question]
        for name in names:
            if kind not in kinds[name]:
                kinds[name].append(kind)
    return kinds


def _facts(numbers: dict[str, Any], order: str) -> list[str]:
    facts = [f"{numbers['n']:,} answered"]
    if np.isfinite(numbers["p_correct"]):
        facts.append(f"{percent(numbers['p_correct'])} right")
        facts.append(f"correlation with the rest {number(numbers['point_biserial'])}")
    bits = f"tells {number(numbers['bits'])} bits"
    if np.isfinite(numbers["bits_lower"]):
        bits += f" ({number(numbers['bits_lower'])} to {number(numbers['bits_upper'])})"
    if np.isfinite(numbers["bits_right_wrong"]):
        bits += f", of which {number(numbers['bits_right_wrong'])} remain if scored right or wrong"
    bits += f"; {number(numbers['bits_here'])} among these respondents"
    return [*facts, bits, f"settled order: {order}"]


def _points(fit: Fit) -> list[list[tuple[float, float]]]:
    """Observed (ability, share) of every option."""
    points: list[list[tuple[float, float]]] = [[] for _ in range(fit.responses.layout.n_rows)]
    shares = group_shares(fit)
    for row, ability, observed in zip(shares["row"], shares["ability"], shares["observed"], strict=True):
        points[int(row)].append((float(ability), float(observed)))
    return points
