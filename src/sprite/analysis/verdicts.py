"""`verdicts`: what is probably wrong with the test, in plain words; docs/verdicts.md defines them and their errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import betainc

from sprite.analysis.curves import curves, keyed_questions, respondent_weights
from sprite.analysis.options import DIP
from sprite.analysis.order import check_level
from sprite.analysis.test_faults import dependent_pairs, unusual_respondents
from sprite.core.readable import number
from sprite.core.types import Bools, Floats
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

KINDS = (
    "key_suspect",
    "second_correct",
    "uninformative",
    "attracts_able",
    "both_ends",
    "dead_distractor",
    "local_dependence",
    "unusual_respondent",
)
"""From the most to the least important."""
MARGIN = 0.1
"""Standard deviations above the average respondent that count as able."""
BESIDE = 0.2
"""Standard deviations below the key's choosers within which those of a second correct option stand."""
SHARE_OF_KEY = 0.5
"""The ablest tenth choose a second correct option at least this many times as often as the key."""
RARE = 0.05
"""An option below this share is dead."""
FEW_BITS = 0.05
"""A question that tells less is uninformative."""


@dataclass(frozen=True)
class Verdict:
    """One verdict on a question, or on one of its options."""

    kind: str
    question: int
    row: int | None
    probability: float


def verdicts(fit: Fit, level: float = 0.9) -> pd.DataFrame:
    """What is probably wrong with the test, the most important first.

    question, option
        What it is about, as you wrote it; for two dependent questions "A / B"; empty for a respondent. For key_suspect
        and second_correct the option is the one that should be looked at, not the key.
    verdict
        key_suspect, second_correct, uninformative, attracts_able, both_ends, dead_distractor, local_dependence or
        unusual_respondent.
    probability
        Share of draws in which the definition holds (1 where there are no draws and it holds at the estimate); for
        dead_distractor that of a share below 5 % given the counts; for the last two kinds 1 - p of a test.
    message
        The verdict in words.
    respondent
        For unusual_respondent who it is; empty elsewhere.

    A verdict is given where its probability is at least `level`.
    """
    import pandas as pd

    check_level(level)
    data = fit.responses
    lines = []
    for v in question_verdicts(fit, level):
        question = data.questions[v.question]
        option = "" if v.row is None else data.options[v.question][v.row - data.first[v.question]]
        lines.append((question, option, v.kind, v.probability, _message(fit, v, question, option), ""))
    for pair in dependent_pairs(fit, level):
        a, b = data.questions[pair.a], data.questions[pair.b]
        tend = "go together" if pair.excess > 0 else "exclude each other"
        message = (
            f"{a} and {b} are not independent: right answers to them {tend} more than ability explains "
            f"(residual correlation {number(pair.excess, sign=True)} against the average pair). "
            "Does one give the other away?"
        )
        lines.append((f"{a} / {b}", "", "local_dependence", pair.probability, message, ""))
    for person in unusual_respondents(fit):
        name = str(data.respondents[person.respondent])
        why = "right where it is hard, wrong where it is easy, or" if data.key else "there are"
        message = (
            f"The answers of {name} do not fit together: {why} choices that hardly anyone of that ability makes "
            f"(person fit {number(person.fit, 1)})."
        )
        lines.append(("", "", "unusual_respondent", person.probability, message, name))
    return pd.DataFrame(lines, columns=["question", "option", "verdict", "probability", "message", "respondent"])


def question_verdicts(fit: Fit, level: float = 0.9) -> list[Verdict]:
    """The verdicts on questions and options, sorted by importance, then probability, then position."""
    layout = fit.responses.layout
    chance = _probabilities(fit)
    found: list[Verdict] = []
    for j in range(layout.n_questions):
        rows = np.arange(layout.first[j], layout.first[j + 1])
        if len(rows) < 2:
            continue
        found += _of_question(j, rows, chance, level)
    return sorted(found, key=lambda v: (KINDS.index(v.kind), -v.probability, v.question, v.row or 0))


def _of_question(
    j: int, rows: np.ndarray[tuple[int], np.dtype[np.int64]], chance: dict[str, Floats], level: float
) -> list[Verdict]:
    """The verdicts on one question; what another one already says is left out."""
    suspect = int(rows[np.argmax(chance["key_suspect"][rows])])
    if chance["key_suspect"][suspect] >= level:
        # Everything else said of this question would rest on the wrong key.
        return [Verdict("key_suspect", j, suspect, float(chance["key_suspect"][suspect]))]
    found = []
    if chance["uninformative"][j] >= level:
        found.append(Verdict("uninformative", j, None, float(chance["uninformative"][j])))
    # Where nothing tells the options apart, any two of them are equally good.
    kinds = ("dead_distractor",) if found else ("dead_distractor", "second_correct", "attracts_able", "both_ends")
    for row in rows:
        for kind in kinds:
            if chance[kind][row] >= level:
                found.append(Verdict(kind, j, int(row), float(chance[kind][row])))
                break
    return found


def _probabilities(fit: Fit) -> dict[str, Floats]:
    """How probable each definition is, by row (uninformative: by question).

    Who is abler is judged over abilities as the respondents have them (`here`): an anchored model's own distribution
    may lie where nobody is. A second correct answer must stand beside the key in both.
    """
    layout = fit.responses.layout
    s, here = curves(fit).evidence, curves(fit, "respondents").evidence
    j = layout.question
    keyed: Bools = keyed_questions(layout)[j]
    wrong = keyed & ~layout.correct
    middle, sd = _spread(fit)
    key, key_here = s.right_mean[:, j], here.right_mean[:, j]
    prefer = here.quarter > here.right_quarter[:, j]
    mean, variance = fit.model.ability
    beside = (s.mean > key - BESIDE * np.sqrt(variance)) & (np.minimum(s.mean, key) > mean) & (here.mean > middle)
    often = s.tenth > SHARE_OF_KEY * s.right_tenth[:, j]
    able = (here.mean > middle + MARGIN * sd) & (here.mean < key_here)
    return {
        "key_suspect": (wrong & (here.mean > key_here) & prefer).mean(axis=0),
        "second_correct": (wrong & beside & often).mean(axis=0),
        "attracts_able": (wrong & able).mean(axis=0),
        "dead_distractor": np.where(layout.correct, 0.0, _rare(fit)),
        "uninformative": (s.question_bits < FEW_BITS).mean(axis=0),
        "both_ends": (here.dip > DIP).mean(axis=0),
    }


def _spread(fit: Fit) -> tuple[float, float]:
    """Mean and standard deviation of the respondents' abilities."""
    nodes, weight = fit.grid.nodes, respondent_weights(fit)
    mean = float(weight @ nodes)
    return mean, float(np.sqrt(weight @ (nodes - mean) ** 2))


def _rare(fit: Fit) -> Floats:
    """P(share < 5 %) of each option given how often it was chosen, under Jeffreys' prior on the question's shares.

    From the counts, not from the curves: these need not reproduce the shares of options that hardly anyone chose.
    """
    layout = fit.responses.layout
    n = layout.sum_by_question(layout.count.astype(float))[layout.question]
    others = n - layout.count + 0.5 * (layout.n_options[layout.question] - 1)
    return np.asarray(betainc(layout.count + 0.5, np.maximum(others, 0.5), RARE))


def _message(fit: Fit, v: Verdict, question: str, option: str) -> str:
    data = fit.responses
    key = " or ".join(data.key.get(question, ()))
    if v.kind == "key_suspect":
        return (
            f"Key of {question} is probably wrong: those who chose {option} are abler than those who chose the key "
            f"{key}, and the ablest prefer {option}."
        )
    if v.kind == "second_correct":
        return (
            f"{question} may have a second correct answer: those who chose {option} are as able as those who chose "
            f"the key {key}, and many of the ablest choose it."
        )
    if v.kind == "attracts_able":
        return (
            f"Option {option} of {question} attracts able respondents: those who chose it are above average, though "
            f"below those who chose the key {key}. Is it ambiguous, or a common misconception?"
        )
    if v.kind == "dead_distractor":
        n = int(data.count[v.row]) if v.row is not None else 0
        if n == 0:
            return f"Nobody chose option {option} of {question}: it does no work."
        often = "once" if n == 1 else f"{n} times"
        return f"Option {option} of {question} is hardly ever chosen ({often}): it does no work."
    if v.kind == "uninformative":
        bits = curves(fit).estimate.question_bits[v.question]
        return f"{question} tells next to nothing about ability ({bits:.2f} bits), whatever is chosen."
    return (
        f"Option {option} of {question} is chosen at both ends of ability, less in between: its choosers are not alike."
    )
