"""What may be wrong with a key: one function a question, each with a remedy."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sprite.core.types import Floats, Ints
from sprite.data.answers import listing
from sprite.data.findings import MANY, Finding
from sprite.data.layouts import plain
from sprite.data.responses import Responses

_KEY_NAMES = {"key", "answerkey", "answers", "correct", "solution", "solutions", "correctanswers", "correctanswer"}


def key_row(r: Responses) -> Iterator[Finding]:
    """A row that is the key rather than a respondent."""
    named = [str(name) for name in r.respondents if plain(str(name)) in _KEY_NAMES] if r.n_respondents else []
    for name in named:
        yield Finding(
            "key_row",
            "warning",
            f"Respondent {name!r} looks like a row that holds the key.",
            f"If so, say --key '@{name}' (key='@{name}'); the row is then no respondent.",
        )
    keyed = len(r.key)
    if keyed < MANY:
        return
    right = np.concatenate([[0], np.cumsum(r.correct[r.row])])
    perfect = np.flatnonzero(right[r.start[1:]] - right[r.start[:-1]] == keyed)
    if 0 < len(perfect) <= max(3, 0.002 * r.n_respondents):
        yield Finding(
            "perfect_row",
            "look",
            f"All {keyed} answers of {listing([str(name) for name in r.respondents[perfect]])} agree with the key.",
            "If that is a key left among the answers, remove it; else well done.",
        )


def key(r: Responses) -> Iterator[Finding]:
    """Questions without a key, and keys that the answers do not support."""
    without = [name for name, labels in zip(r.questions, r.options, strict=True) if name not in r.key and labels]
    if not r.key:
        yield Finding(
            "no_key",
            "info",
            "There is no key.",
            "Fine for surveys; for a test give --key, so that correct options and the direction of ability are known.",
        )
        return
    if without:
        yield Finding(
            "unkeyed_questions",
            "warning",
            f"{len(without)} of {r.n_questions} questions {'has' if len(without) == 1 else 'have'} no key: "
            f"{listing(without)}.",
            "Add what is missing to the key, unless nothing is correct there. A column that is no question is left out "
            "with --ignore COLUMN (ignore=).",
        )
    item_rest = item_rest_correlations(r)
    for j, (name, labels) in enumerate(zip(r.questions, r.options, strict=True)):
        if name not in r.key:
            continue
        own = r.count[r.first[j] : r.first[j + 1]]
        correct = r.correct[r.first[j] : r.first[j + 1]]
        answers = int(own.sum())
        keyed = ";".join(r.key[name])
        if not answers:
            continue
        share, most = int(own[correct].sum()), int(np.argmax(own))
        said = f"{share / answers:.0%} chose the key {keyed!r} of {name!r}"
        if share == 0:
            kind, message, severity = "key_unchosen", f"Nobody chose the key {keyed!r} of {name!r}.", "warning"
        elif item_rest[j] < 0 and answers >= 30:
            kind, severity = "key_negative", "warning"
            message = f"{said}, and they did worse elsewhere (item-rest correlation {item_rest[j]:.2f})."
        elif len(labels) > 2 and share <= own.min() and not correct[most]:
            kind, message, severity = "key_least_chosen", f"Only {said}, fewer than any other option.", "look"
        elif share < own[~correct].max(initial=0):
            kind, severity = "key_not_most_chosen", "info"
            message = f"{said}, and {own[most] / answers:.0%} chose {labels[most]!r}."
        else:
            continue
        remedy = "Look at this question: is the key right?"
        yield Finding(kind, severity, message, remedy, name, keyed)  # type: ignore[arg-type]


def item_rest_correlations(r: Responses) -> Floats:
    """Correlation of each question's right/wrong with the share right among the respondent's other questions."""
    q = r.question_of_row[r.row].astype(np.int64)
    who: Ints = r.respondent_of_answer
    keyed = np.isin(np.arange(r.n_questions), r.question_of_row[r.correct])[q]
    q, who, right = q[keyed], who[keyed], r.correct[r.row[keyed]].astype(np.float64)
    total = np.bincount(who, right, minlength=r.n_respondents)[who] - right
    others = np.bincount(who, minlength=r.n_respondents)[who] - 1
    use = others > 0
    q, right, rest = q[use], right[use], total[use] / others[use]
    n = np.maximum(np.bincount(q, minlength=r.n_questions), 1)

    def centred(values: Floats) -> Floats:
        return np.asarray(values - (np.bincount(q, values, minlength=r.n_questions) / n)[q])

    x, y = centred(right), centred(rest)
    xx, yy, xy = (np.bincount(q, v, minlength=r.n_questions) for v in (x * x, y * y, x * y))
    size = np.sqrt(xx * yy)
    return np.asarray(np.where(size > 1e-12, xy / np.where(size > 1e-12, size, 1.0), 0.0))
