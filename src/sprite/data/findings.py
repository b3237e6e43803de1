"""What may be wrong with a set of answers: one function a question, each with a remedy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sprite.data.answers import listing
from sprite.data.connections import INCOMPARABLE, disconnected
from sprite.data.labels import are_numbers, collisions
from sprite.data.layouts import RESPONDENT, plain
from sprite.data.responses import Responses

Severity = Literal["warning", "look", "info"]

MANY = 10
"""Answers that two respondents must share before it is no accident, and so on: a short test proves nothing."""
_NO_QUESTION = RESPONDENT | {
    *("total", "totalscore", "score", "sum", "points", "grade", "mark", "result", "percent", "percentage"),
    *("timestamp", "time", "date", "datetime", "starttime", "endtime", "duration", "seconds", "submitted"),
    *("firstname", "lastname", "givenname", "familyname", "surname", "forename"),
    *("comment", "comments", "remarks", "notes", "feedback", "age", "gender", "group", "class", "section", "school"),
}
_TIME = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*|\d{1,2}:\d{2}.*")
_FRACTION = re.compile(r"[+-]?\d*[.,]\d+")
_NO_ANSWER = {".", "-", "--", "*", "?", "x", "blank", "omit", "omitted", "none", "missing", "noanswer", "notreached"}


@dataclass(frozen=True)
class Finding:
    """One thing worth knowing, and what to do about it."""

    kind: str
    severity: Severity
    message: str
    remedy: str = ""
    question: str | None = None
    option: str | None = None


def sizes(r: Responses) -> Iterator[Finding]:
    """Too little to learn from."""
    silent = int((np.diff(r.start) == 0).sum())
    if silent:
        yield Finding(
            "empty_respondents",
            "info",
            f"{silent:,} of {r.n_respondents:,} respondents answered nothing.",
            "They harm nothing: their ability is what one knows without any answer.",
        )
    if r.n_respondents - silent < 30:
        yield Finding(
            "few_respondents",
            "look",
            f"Only {r.n_respondents - silent} respondents answered anything.",
            "Read every result with its uncertainty; verdicts on single options need more.",
        )


def questions(r: Responses) -> Iterator[Finding]:
    """Questions without a choice, or that are no questions."""
    count = r.count
    crowded: list[Finding] = []
    for j, (name, labels) in enumerate(zip(r.questions, r.options, strict=True)):
        own = count[r.first[j] : r.first[j + 1]]
        answers = int(own.sum())
        chosen = [label for label, n in zip(labels, own, strict=True) if n]
        if plain(name) in _NO_QUESTION:
            yield _no_question(name, "its name is that of something else")
        elif chosen and all(_TIME.fullmatch(label) for label in chosen):
            yield _no_question(name, f"it holds dates or times, such as {chosen[0]!r}")
        elif len(chosen) > 20 and (len(chosen) > 0.5 * answers or (r.key and name not in r.key) or _measured(chosen)):
            crowded.append(_no_question(name, f"{answers:,} answers are {len(chosen):,} different ones"))
        elif not answers:
            yield Finding(
                "empty_question", "warning", f"Nobody answered {name!r}.", "It teaches nothing; leave it out.", name
            )
        elif len(chosen) == 1:
            yield Finding(
                "constant_question",
                "warning",
                f"Everybody who answered {name!r} chose {chosen[0]!r}.",
                "It teaches nothing about anybody; leave it out, or declare the options nobody chose.",
                name,
                chosen[0],
            )
    if len(crowded) > max(2, r.n_questions / 2):
        yield Finding(
            "not_options",
            "warning",
            f"The answers do not look like options: {len(crowded)} of {r.n_questions} questions, such as "
            f"{crowded[0].question!r}, have more than 20 different ones.",
            "In a long table name the column of the chosen options: --response COLUMN (response=); in a wide one look "
            "whether the cells hold times, scores or free text.",
        )
    else:
        yield from crowded


def _measured(labels: list[str]) -> bool:
    """Whether the labels are numbers with fractions, as times and scores are."""
    return are_numbers(labels, comma=True) and any(_FRACTION.fullmatch(label) for label in labels)


def _no_question(name: str, why: str) -> Finding:
    return Finding(
        "not_a_question",
        "warning",
        f"Column {name!r} does not look like a question: {why}.",
        f"Leave it out: --ignore {name!r} (ignore=[{name!r}]); if it names the respondents, --respondent {name!r}.",
        name,
    )


def labels(r: Responses) -> Iterator[Finding]:
    """Labels that are probably one, or that mean no answer."""
    for name, options in zip(r.questions, r.options, strict=True):
        for group in collisions(options):
            yield Finding(
                "label_collision",
                "warning",
                f"{name!r} has the options {' and '.join(map(repr, group))}, which differ only in case or blanks.",
                "If they are the same, write them alike in the data.",
                name,
                group[-1],
            )
    for group in collisions(r.questions):
        yield Finding(
            "question_collision",
            "look",
            f"The questions {' and '.join(map(repr, group))} differ only in case or blanks.",
            "If they are the same, write them alike in the data.",
            group[-1],
        )
    yield from _one_question_only(r)
    yield from _missing_codes(r)


def _one_question_only(r: Responses) -> Iterator[Finding]:
    """A label that only one question has, where all its others are common, is often a typing slip."""
    seen = Counter(label for options in r.options for label in options)
    if r.n_questions < 5:
        return
    for name, options in zip(r.questions, r.options, strict=True):
        alone = [label for label in options if seen[label] == 1]
        common = [label for label in options if seen[label] > r.n_questions / 2]
        if len(alone) == 1 and len(common) >= 2 and not any(alone[0] in group for group in collisions(options)):
            yield Finding(
                "lone_label",
                "look",
                f"No question but {name!r} has the option {alone[0]!r}.",
                "Check that it is not a typing slip.",
                name,
                alone[0],
            )


def _missing_codes(r: Responses) -> Iterator[Finding]:
    """A label of most questions that is never correct and stands apart from the rest, such as 9 after 1-5."""
    seen = Counter(label for options in r.options for label in options)
    correct = {label for own in r.key.values() for label in own}
    numbers = sorted({float(label) for label in seen if are_numbers([label])})
    for label, n in seen.items():
        if n < max(2, r.n_questions / 2) or label in correct:
            continue
        apart = False
        if are_numbers([label]) and len(numbers) > 2:
            value = float(label)
            apart = value < 0 <= numbers[1] or (value == numbers[-1] and value - numbers[-2] > 1.5)
        if apart or plain(label) in _NO_ANSWER or label.lower() in _NO_ANSWER:
            yield Finding(
                "missing_code",
                "look",
                f"The label {label!r} of {n} questions may mean that there is no answer.",
                f"If so: --missing {label!r} (missing_codes=[{label!r}]); --omitted {label!r} keeps it as an option.",
                option=label,
            )


def missing(r: Responses) -> Iterator[Finding]:
    """Answers that end before the test does."""
    cells = r.n_respondents * r.n_questions
    if not r.n_answers or r.n_questions < MANY or r.n_answers < 0.5 * cells:
        return
    answered = np.diff(r.start) > 0
    last = r.question_of_row[r.row[r.start[1:][answered] - 1]]
    tail = r.n_questions - 1 - last
    stopped = int((tail >= 2).sum())
    lost = int(tail[tail >= 2].sum())
    gaps = cells - r.n_answers
    if stopped >= 0.02 * r.n_respondents and lost > 0.2 * gaps:
        yield Finding(
            "not_reached",
            "look",
            f"{stopped:,} respondents stopped at least two questions before the end; {lost / gaps:.0%} of all missing "
            "answers are there.",
            "Time may have run out: questions at the end then tell about speed too.",
        )


def connections(r: Responses) -> Iterator[Finding]:
    """Groups of respondents and questions that share nothing have no common scale."""
    if apart := disconnected(r):
        yield Finding("disconnected", "warning", apart, f"{INCOMPARABLE}.")


def duplicates(r: Responses) -> Iterator[Finding]:
    """Respondents who answered exactly alike, where their answers are too rare for chance."""
    long_enough = np.diff(r.start) >= MANY
    if not long_enough.any():
        return
    weights = np.random.default_rng(0).integers(1, 2**62, int(r.first[-1]), dtype=np.uint64)
    summed = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weights[r.row], dtype=np.uint64)])
    finger = summed[r.start[1:]] - summed[r.start[:-1]]
    share = r.count / np.maximum(np.bincount(r.question_of_row, r.count), 1.0)[r.question_of_row]
    rarity = np.concatenate([[0.0], np.cumsum(np.log(share[r.row]))])
    chance = rarity[r.start[1:]] - rarity[r.start[:-1]]
    candidates = np.flatnonzero(long_enough & (chance + 2 * np.log(r.n_respondents) < np.log(1e-3)))
    _, inverse, times = np.unique(finger[candidates], return_inverse=True, return_counts=True)
    again = candidates[times[inverse] > 1]
    if not len(again):
        return
    first = again[finger[again] == finger[again[0]]]
    yield Finding(
        "same_answers",
        "look",
        f"{len(again):,} respondents share all their answers with another, such as "
        f"{listing([str(name) for name in r.respondents[first]], 3)}.",
        "Look for sheets entered twice or copied, and for surveys filled in without reading.",
    )
