"""Fits to draw and report on: a small ordinary test, and one whose every name is an attack or a trap."""

from __future__ import annotations

from functools import cache

import numpy as np

import sprite
from sprite.data.responses import Responses, Texts, from_codes
from sprite.result.fit import Fit

ATTACK = "<script>window.hit=1</script>"
QUESTIONS = (
    ATTACK,
    "</script><img src=x onerror=window.hit=1>",
    "a.b[c]",
    'it\'s "quoted" \\ back',
    "=1+1",
    "{{ 7*7 }}",
    "line\u2028separator & ampersand",
    "-5",
)
OPTIONS = ("a.b[c]", ATTACK, '"quoted", com\u2028ma', "=HYPERLINK(1)", "-5")


@cache
def small_fit() -> Fit:
    """120 respondents, 8 questions with 4 options."""
    responses = sprite.simulate(n_respondents=120, n_questions=8, n_options=4, seed=3).responses
    return sprite.fit(responses, sprite.Sprite(), sprite.EM(starts=1))


def hostile_responses(n: int = 90) -> Responses:
    """Names, labels and wordings that would break out of HTML, JSON, Vega-Lite, templates or spreadsheets."""
    rng = np.random.default_rng(5)
    ability = rng.normal(size=n)
    right = rng.random((n, len(QUESTIONS))) < 1 / (1 + np.exp(-1.5 * ability[:, None]))
    codes = np.where(right, 0, rng.integers(1, len(OPTIONS), right.shape))
    codes[:, 0] = np.where(right[:, 0], 1, 0)  # the key of the first is wrong, so that it is remarked upon
    correct = np.tile(np.arange(len(OPTIONS)) == 0, len(QUESTIONS))
    texts = Texts(
        questions={question: f"{ATTACK} what is {question}?" for question in QUESTIONS},
        options={(question, option): f"{option} {ATTACK}" for question in QUESTIONS for option in OPTIONS},
    )
    names = [f"{ATTACK}{i}" if i % 3 else f"+{i}=x" for i in range(n)]
    return from_codes(
        codes, [OPTIONS] * len(QUESTIONS), questions=QUESTIONS, respondents=names, correct=correct, texts=texts
    )


@cache
def hostile_fit() -> Fit:
    """A fit of them."""
    return sprite.fit(hostile_responses(), sprite.Sprite(), sprite.EM(starts=1))
