"""Tests that are hardly tests: one function each, for every engine, model and analysis to survive.

Each takes a number of respondents and of questions, where they are free, so that the same case is small in a unit test
and of a realistic size in `python -m benchmarks.stress`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sprite.data.responses import Responses, from_codes

OPTIONS, KEY = ("A", "B", "C", "D"), 1
MANY = "100 times the questions"


def responses(codes: np.ndarray, n_options: int = len(OPTIONS)) -> Responses:
    """Option positions (respondents, questions), -1 where missing; option 1 is correct everywhere."""
    labels = [OPTIONS if n_options <= len(OPTIONS) else tuple(f"{k:02d}" for k in range(n_options))][0][:n_options]
    return from_codes(codes, [labels] * codes.shape[1], correct=np.tile(np.arange(n_options) == KEY, codes.shape[1]))


def answered(ability: np.ndarray, q: int, seed: int = 1) -> np.ndarray:
    """Answers of people of these abilities to questions of mixed difficulty: the abler, the more often correct."""
    rng = np.random.default_rng(seed)
    logits = np.zeros((len(ability), q, len(OPTIONS)))
    logits[:, :, KEY] = 1.5 * (ability[:, None] - np.linspace(-1.5, 1.5, q))
    logits[:, :, 2] = -0.5 * ability[:, None]
    return np.argmax(logits + rng.gumbel(size=logits.shape), axis=2)


def sound(n: int, q: int) -> np.ndarray:
    return answered(np.random.default_rng(0).normal(size=n), q)


def equal(n: int, q: int) -> Responses:
    return responses(np.tile(np.arange(q) % len(OPTIONS), (n, 1)))


def perfect(n: int, q: int) -> Responses:
    return responses(np.full((n, q), KEY))


def one_respondent(n: int, q: int) -> Responses:
    return responses(sound(n, q)[:1])


def two_respondents(n: int, q: int) -> Responses:
    return responses(sound(n, q)[:2])


def one_question(n: int, q: int) -> Responses:
    return responses(sound(n, q)[:, :1])


def chosen_once(n: int, q: int) -> Responses:
    codes = sound(n, q)
    codes[:, -1] = KEY
    codes[n // 2, -1] = 2
    return responses(codes)


def empty_respondent(n: int, q: int) -> Responses:
    codes = sound(n, q)
    codes[n // 2] = -1
    return responses(codes)


def unchosen(n: int, q: int) -> Responses:
    """15 options, of which the last ten are never chosen."""
    return responses(sound(n, q), n_options=15)


def missing(n: int, q: int) -> Responses:
    """95 % missing; every question has an answer, or it would not be on the test."""
    codes, keep = sound(n, q), np.random.default_rng(2).random((n, q)) < 0.05
    keep[np.arange(q) % n, np.arange(q)] = True
    return responses(np.where(keep, codes, -1))


def two_humps(n: int, q: int) -> Responses:
    centre = np.where(np.arange(n) % 3 == 0, 3.0, -1.5)
    return responses(answered(centre + 0.3 * np.random.default_rng(3).normal(size=n), q))


def skewed(n: int, q: int) -> Responses:
    return responses(answered(np.random.default_rng(4).lognormal(0.0, 1.2, n) - 1.5, q))


def apart(n: int, q: int) -> Responses:
    """Two groups of respondents, each with questions of its own."""
    codes = sound(n, q)
    codes[: n // 2, q // 2 :] = -1
    codes[n // 2 :, : q // 2] = -1
    return responses(codes)


def guttman(n: int, q: int) -> Responses:
    """Whoever gets a question right gets every easier one right; the wrong ones all choose alike."""
    return responses(np.where(np.arange(n)[:, None] * (q + 1) // n > np.arange(q), KEY, 0))


def copied(n: int, q: int) -> Responses:
    """Every answer sheet ten times."""
    return responses(np.repeat(sound(-(-n // 10), q), 10, axis=0)[:n])


def many_questions(n: int, q: int) -> Responses:
    return responses(sound(n, 100 * q))


AWKWARD: dict[str, Callable[[int, int], Responses]] = {
    "all equal answers": equal,
    "all correct": perfect,
    "one respondent": one_respondent,
    "two respondents": two_respondents,
    "one question": one_question,
    "an option chosen once": chosen_once,
    "an empty respondent": empty_respondent,
    "15 options, 10 never chosen": unchosen,
    "95 % missing": missing,
    "ability two-humped": two_humps,
    "ability skewed": skewed,
    "two disconnected groups": apart,
    "perfect Guttman": guttman,
    "every sheet ten times": copied,
    MANY: many_questions,
}
