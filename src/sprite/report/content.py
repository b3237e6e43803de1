"""What the page shows, gathered from a fit as plain values: everything the template needs and nothing else."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from sprite.analysis.curves import populated
from sprite.analysis.information import marginal_reliability
from sprite.core.readable import number
from sprite.plots.ability_map import ability_distribution_data, ability_map_data
from sprite.plots.precision import precision_data
from sprite.report import svg
from sprite.report.glossary import glossary
from sprite.report.panels import kinds_of, panels
from sprite.report.strip import Strip
from sprite.report.tables import MOST_ROWS, download, rows_of
from sprite.report.words import (
    REMARKS,
    certainty,
    counted,
    facts_of_fit,
    missing_share,
    of_alpha,
    percent,
    trust,
)
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

SHOWN_RESPONDENTS = 1000
_BEYOND = 0.5  # the intervals of respondents fit on their axis, unless somebody gave a few answers only
_MISFIT = 0.01  # of a posterior predictive p-value: with a hundred questions one is that small by chance
_CHECKED, _CHECKED_QUESTIONS = 5e9, 200  # answers x nodes x draws, and questions, beyond which fit is not checked


def content(fit: Fit, title: str | None) -> dict[str, Any]:
    """Everything the template needs."""
    data = fit.responses
    verdicts, questions, options = fit.verdicts(), fit.questions(), fit.options()
    classical, abilities = fit.classical(), fit.abilities()
    checked = data.n_answers * fit.n_nodes * 200 <= _CHECKED and data.n_questions <= _CHECKED_QUESTIONS
    misfit = _misfits(fit.fit_statistics()) if checked else {}
    here = ability_map_data(fit)
    options = options.assign(
        ability_here=here["ability"], ability_here_lower=here["ability_lower"], ability_here_upper=here["ability_upper"]
    )
    level, sentence = trust(fit)
    frames = {
        "questions": questions,
        "options": options,
        "abilities": abilities,
        "verdicts": verdicts,
        "classical": classical,
        "option_order": fit.option_order(),
    }
    return {
        "title": title or "Test report",
        "test": _test(fit),
        "first": _first(fit, verdicts),
        "remarks": [(kind, remark.short) for kind, remark in REMARKS.items() if (verdicts["verdict"] == kind).any()],
        "questions": _questions(fit, questions, verdicts),
        "panels": panels(fit, questions, options, verdicts, misfit),
        "abilities": _abilities(fit, abilities),
        "quality": _quality(fit, classical),
        "trust": {
            "level": level,
            "sentence": sentence,
            "facts": facts_of_fit(fit),
            "messages": list(fit.diagnostics.messages),
            "checked": checked,
            "misfits": [(question, data.questions.index(question) + 1) for question in misfit],
        },
        "glossary": glossary(bool(data.key)),
        "downloads": {name: download(frame) for name, frame in frames.items()},
        "cut": {name: MOST_ROWS for name, frame in frames.items() if len(frame) > MOST_ROWS},
    }


def _test(fit: Fit) -> dict[str, Any]:
    data = fit.responses
    sizes = sorted({len(labels) for labels in data.options})
    cells = data.n_respondents * data.n_questions
    return {
        "respondents": counted(data.n_respondents, "respondent"),
        "questions": counted(data.n_questions, "question"),
        "options": counted(sizes[0], "option") if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]} options",
        "answers": f"{data.n_answers:,}",
        "missing": missing_share(1 - data.n_answers / cells if cells else 0.0),
        "keyed": len(data.key),
        "n_questions": data.n_questions,
        "notes": list(data.notes),
    }


def _first(fit: Fit, verdicts: pd.DataFrame) -> list[dict[str, Any]]:
    """The verdicts by kind, the most important first."""
    place = {question: j for j, question in enumerate(fit.responses.questions)}
    groups = []
    for kind, remark in REMARKS.items():
        own = verdicts[verdicts["verdict"] == kind]
        if not len(own):
            continue
        lines = [
            {
                "message": row["message"],
                "certainty": certainty(row["probability"]),
                "question": row["question"],
                "option": row["option"],
                "panel": place.get(row["question"]),
            }
            for row in rows_of(own)
        ]
        listed = _by_question(fit, lines) if remark.listed else []
        advice = remark.advice if fit.responses.key else remark.keyless or remark.advice
        groups.append({"kind": kind, "remark": remark, "advice": advice, "lines": lines, "listed": listed})
    return groups


def _by_question(fit: Fit, lines: list[dict[str, Any]]) -> list[tuple[str, int, list[str]]]:
    """The options of each question that the same is said of, both in the order of the test."""
    named: dict[int, list[str]] = defaultdict(list)
    for line in lines:
        named[line["panel"]].append(line["option"])
    data = fit.responses
    return [(data.questions[j], j, sorted(named[j], key=data.options[j].index)) for j in sorted(named)]


def _questions(fit: Fit, questions: pd.DataFrame, verdicts: pd.DataFrame) -> list[dict[str, Any]]:
    kinds = kinds_of(verdicts)
    most = float(np.nanmax(questions["bits"])) if len(questions) else 1.0
    return [
        {
            "name": row["question"],
            "text": fit.responses.texts.questions.get(row["question"], ""),
            "n": f"{row['n']:,}",
            "correct": percent(row["p_correct"]),
            "rest": number(row["point_biserial"]),
            "bits": number(row["bits"]),
            "bar": f"{100 * row['bits'] / max(most, 1e-9):.0f}",
            "kinds": kinds.get(row["question"], []),
            "short": [REMARKS[kind].short for kind in kinds.get(row["question"], [])],
            "urgent": any(REMARKS[kind].urgent for kind in kinds.get(row["question"], [])),
        }
        for row in rows_of(questions)
    ]


def _misfits(statistics: pd.DataFrame) -> dict[str, str]:
    """Questions that the model does not reproduce, with what is off."""
    off = statistics[statistics["p_value"] < _MISFIT]
    return dict(zip(off["question"], off["message"], strict=True))


def _abilities(fit: Fit, abilities: pd.DataFrame) -> dict[str, Any]:
    spread = ability_distribution_data(fit)
    edges = np.append(spread["lower"].to_numpy(), spread["upper"].iloc[-1])
    shown = abilities.head(SHOWN_RESPONDENTS)
    place = Strip(abilities["lower"].to_numpy(), abilities["upper"].to_numpy(), populated(fit), beyond=_BEYOND)
    lines = [
        {
            "name": row["respondent"],
            "right": f"{row['n_correct']}",
            "answered": f"{row['n_answered']}",
            "ability": number(row["ability"]),
            "interval": f"{number(row['lower'])} to {number(row['upper'])}",
            "strip": place.drawn(row["ability"], row["lower"], row["upper"]) if np.isfinite(row["ability"]) else "",
        }
        for row in rows_of(shown)
    ]
    known = abilities["ability"].dropna()
    words = f"Histogram of the abilities of {len(known):,} respondents"
    return {
        "chart": Markup(svg.histogram(edges, spread["n"].tolist(), words)),
        "lines": lines,
        "axis": place.ends,
        "left_out": len(abilities) - len(shown),
        "mean": number(float(known.mean())) if len(known) else "–",
        "sd": number(float(known.std())) if len(known) > 1 else "–",
        "error": number(float(abilities["sd"].mean())),
    }


def _quality(fit: Fit, classical: pd.DataFrame) -> dict[str, Any]:
    precision = precision_data(fit, points=41)
    alpha, sd = float(classical.attrs["alpha"]), float(classical.attrs["sd_score"])
    at = precision["ability"].to_numpy()
    bands = [precision[name].to_numpy() for name in ("fisher", "lower", "upper")]
    reliability = marginal_reliability(fit)
    best = float(at[int(np.argmax(bands[0]))])
    return {
        "alpha": number(alpha),
        "alpha_words": of_alpha(alpha),
        "reliability": number(reliability),
        "reliability_words": of_alpha(reliability),
        "mean_score": number(float(classical.attrs["mean_score"]), 1),
        "sd_score": number(sd, 1),
        "of": len(fit.responses.key),
        "error": number(sd * float(np.sqrt(max(0.0, 1 - alpha))), 1) if np.isfinite(alpha) else "–",
        "best": number(best, 1),
        "chart": Markup(svg.line(at, bands, "information", "Information of the whole test along ability")),
        "worse": [
            (row["question"], number(row["alpha_if_dropped"], 3))
            for row in rows_of(classical[classical["alpha_if_dropped"] > alpha + 0.002])
        ],
    }
