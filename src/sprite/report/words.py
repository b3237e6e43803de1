"""What a page says to an instructor: remarks, numbers and diagnostics in plain words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sprite.core.readable import MINUS, number
from sprite.result.diagnostics import MAX_RHAT
from sprite.result.words import learned_prior

if TYPE_CHECKING:
    from sprite.result.fit import Fit


@dataclass(frozen=True)
class Remark:
    """One kind of verdict, as the page presents it."""

    short: str
    """In the table of questions."""
    heading: str
    advice: str
    urgent: bool = False
    listed: bool = False
    """Whether a bare list of names will do, because every message says the same."""
    keyless: str = ""
    """The advice where there is no key, if it differs."""


REMARKS: dict[str, Remark] = {
    "key_suspect": Remark(
        "check the key",
        "The key is probably wrong",
        "Check these before you give out marks. If the key is wrong, correct it and mark again.",
        urgent=True,
    ),
    "second_correct": Remark(
        "second correct answer?",
        "There may be a second correct answer",
        "Read both options as an able student would. Accept both, or reword one of them.",
        urgent=True,
    ),
    "uninformative": Remark(
        "tells next to nothing",
        "Questions that tell next to nothing about ability",
        "Too easy, too hard, or read in different ways: reword or replace them.",
        keyless="Nearly all choose the same, or they read it in different ways: reword or replace them.",
    ),
    "attracts_able": Remark(
        "wrong option attracts the able",
        "Wrong options that attract able students",
        "Look for an ambiguity in the wording, or for a misconception worth a word in class.",
    ),
    "both_ends": Remark(
        "chosen at both ends",
        "Options chosen by the weakest and the strongest alike",
        "The strongest may see something in them that the weakest do not: read them again.",
    ),
    "dead_distractor": Remark(
        "dead option",
        "Options that hardly anyone chooses",
        "They do no work: with a more tempting wrong answer in their place these questions would tell more. "
        "Nothing is wrong with the marks.",
        listed=True,
        keyless="They do no work: with a more tempting option in their place these questions would tell more.",
    ),
    "local_dependence": Remark(
        "depends on another",
        "Questions that depend on each other",
        "One may give the other away, or build on its result: together they count for less than they seem to.",
    ),
    "unusual_respondent": Remark(
        "unusual answers",
        "Respondents whose answers do not fit together",
        "A shifted answer sheet, guessing, or help may be behind it, or nothing at all: look before you judge.",
    ),
}


def certainty(probability: float) -> str:
    """How sure a verdict is."""
    if probability >= 0.995:
        return "practically certain"
    return f"{probability * 100:.0f} % certain"


def small(value: float) -> str:
    """A number that is good when it is small, without powers of ten."""
    return "less than 0.001" if 0 <= value < 0.001 else f"{value:.1g}"


def counted(n: int, singular: str) -> str:
    """How many there are of something."""
    return f"{n:,} {singular}{'' if n == 1 else 's'}"


def missing_share(value: float) -> str:
    """The share of answers that are missing; nothing where none is."""
    return "" if value <= 0 else "Less than 1 %" if value < 0.01 else percent(value)


def percent(value: float | None) -> str:
    """A share to read."""
    return "–" if value is None or not math.isfinite(value) else f"{value * 100:.0f} %"


def of_alpha(alpha: float) -> str:
    """What a reliability of this size is good for."""
    if not math.isfinite(alpha):
        return "cannot be computed without a key"
    for least, words in (
        (0.9, "high enough to decide about single students"),
        (0.8, "good for an exam in class"),
        (0.7, "fair: good enough to compare groups, weak for single students"),
        (0.5, "low: differences between students are mostly chance"),
    ):
        if alpha >= least:
            return words
    return "very low: this test hardly tells students apart"


MODELS = {
    "sprite": "SPRITE: every option is a bell curve over ability, and the options compete for each answer",
    "nrm": "Nominal response model (Bock 1972): every option has a slope and an intercept",
    "gpcm": "Generalised partial credit model (Muraki 1992): options in a given order",
    "ord": "Ordinal probit: options in a given order, as bins of ability plus noise",
    "lord": "Ordinal probit with the order of the options learned from the answers",
}
ENGINES = {
    "em": "maximum a posteriori (EM), uncertainty from the curvature around the best answer",
    "gibbs": "draws from the full posterior (blocked Gibbs)",
    "nuts": "draws from the full posterior (NUTS)",
    "metropolis": "draws from the full posterior (the paper's Metropolis-within-Gibbs)",
}


def trust(fit: Fit) -> tuple[str, str]:
    """How far the numbers on the page can be relied on (yes, mostly, with caution), and a sentence that says so."""
    found = fit.diagnostics
    if found.converged and fit.kind == "posterior":
        return "yes", (
            f"The {fit.n_chains} chains agree and there are enough independent draws. The intervals on this page can "
            "be taken at face value, as far as the model is right."
        )
    if found.converged:
        return "yes", (
            "The search ended in a well-defined best answer. Intervals on this page are approximations around it; "
            "they are usually close, and a little too narrow for options that few chose."
        )
    if fit.kind != "posterior":
        return "with caution", "The search for the best answer did not end cleanly: read this page with caution."
    agree = found.max_rhat is not None and found.max_rhat < MAX_RHAT and not found.divergences
    if agree and not found.interrupted:
        return "mostly", (
            "The chains agree, but of some values there are few independent draws: averages are safe, the ends of some "
            "intervals are rough. What to do is said below."
        )
    return "with caution", (
        "The draws have not settled yet, so read the intervals and probabilities on this page with caution. What to do "
        "is said below."
    )


def facts_of_fit(fit: Fit) -> list[tuple[str, str]]:
    """How it was fitted, line by line."""
    found = fit.diagnostics
    lines = [
        ("Model", MODELS.get(fit.model.name, fit.model.name)),
        ("Settings of the model", repr(fit.model)),
        *([("Prior, learned from the answers", learned_prior(fit).replace("-", MINUS))] if fit.learned else []),
        ("Method", ENGINES.get(fit.engine, fit.engine)),
        ("Which way ability points", fit.orientation),
    ]
    if fit.kind == "posterior":
        lines.append(("Draws", f"{fit.n_chains} chains of {fit.n_draws:,}"))
        lines.append(("Largest R-hat (below 1.01 is good)", number(found.max_rhat, 3)))
        lines.append(("Fewest effective draws, bulk (400 or more is good)", number(found.min_ess_bulk, 0)))
        lines.append(("Fewest effective draws, tails (400 or more is good)", number(found.min_ess_tail, 0)))
    if fit.modes:
        lines.append(("Modes found (different answers that the search ended in)", f"{len(fit.modes)}"))
    lines += [
        ("Log likelihood", f"{number(fit.log_likelihood, 1)} with {fit.n_parameters:,} parameters"),
        ("Error of the ability grid (below 0.01 is good)", small(fit.grid_error)),
        ("Seed and time", f"{fit.seed}; {fit.seconds:.1f} s"),
        ("Made", f"{fit.created} with sprite {fit.versions.get('sprite', '')}"),
    ]
    return lines
