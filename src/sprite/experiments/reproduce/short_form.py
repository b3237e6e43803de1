"""Whether a short form, made of the questions that tell most, keeps its promise with other respondents."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sprite.analysis.predict import Predictor
from sprite.core.types import Bools, Floats, Ints
from sprite.data.responses import Responses
from sprite.experiments.puncture import scores_of
from sprite.experiments.reproduce.outputs import markdown
from sprite.experiments.reproduce.parts import OnTest
from sprite.experiments.work import Result, whole
from sprite.fitting import fit
from sprite.models.sprite import Sprite
from sprite.result.abilities import posterior_moments
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 20
"""Respondents who answered everything, below which promised precision is not compared with what came of it."""
_TRAINED, _HIDDEN = 2 / 3, 0.2


@dataclass(frozen=True, eq=False)
class ShortForm(OnTest):
    """A short form chosen on some respondents, tried on the others."""

    length: float
    random_forms: int

    @property
    def settings(self) -> dict[str, Any]:
        """All that the result depends on."""
        return {
            "experiment": "short form",
            "data": self.test.identity,
            "engine": repr(self.engine),
            "repeat": self.repeat,
            "length": self.length,
            "random_forms": self.random_forms,
        }

    @property
    def words(self) -> str:
        """What it is."""
        return f"{self.test_name}: short form, split {self.repeat + 1}"

    def compute(self) -> Result:
        """Part the respondents, fit and choose on two thirds, try on the rest."""
        began = time.perf_counter()
        data = self.test.responses
        rng = np.random.default_rng([20150601, self.repeat])
        chooses = np.zeros(data.n_respondents, dtype=bool)
        chooses[rng.permutation(data.n_respondents)[: round(_TRAINED * data.n_respondents)]] = True
        who = data.respondent_of_answer
        fitted = whole(fit(data.without(~chooses[who]), Sprite(), self.engine, self.repeat))
        n = int(np.clip(round(self.length * data.n_questions), 1, data.n_questions))
        return {
            **_tried(fitted, data, ~chooses, n, self.random_forms, rng),
            "seconds": time.perf_counter() - began,
        }


def _tried(fitted: Fit, data: Responses, tries: Bools, n: int, random_forms: int, rng: np.random.Generator) -> Result:
    """What the short form of `n` questions promises, and what comes of it with those who try it.

    A fifth of their answers is hidden. Every form predicts the same hidden answers from the others that belong to it.
    """
    chosen = fitted.short_form(n)
    ranked = fitted.questions().sort_values("bits", kind="stable")
    place = {name: j for j, name in enumerate(data.questions)}
    form = np.array([place[name] for name in chosen["question"]])
    least = np.array([place[name] for name in ranked["question"][:n]])
    everything = np.arange(data.n_questions)
    who, question = data.respondent_of_answer, data.question_of_row[data.row].astype(np.int64)
    theirs = np.flatnonzero(tries[who])
    hidden = np.sort(rng.choice(theirs, max(1, round(_HIDDEN * len(theirs))), replace=False))
    left = tries[who].copy()
    left[hidden] = False

    def loss(questions: Ints) -> float:
        answers = data.without(~(left & np.isin(question, questions)))
        first, probability = Predictor(fitted, answers)(who[hidden], question[hidden])
        return scores_of(first, probability, first[:-1] + data.row[hidden] - data.first[question[hidden]]).log_loss

    by_chance = [loss(rng.choice(data.n_questions, n, replace=False)) for _ in range(random_forms)]
    end = chosen.iloc[-1]
    return {
        "kept": n,
        "questions": data.n_questions,
        "bits_share": float(end["share_of_full"]),
        "loss_none": loss(everything[:0]),
        "loss_least": loss(least),
        "loss_random": float(np.mean(by_chance)),
        "loss_random_best": float(np.min(by_chance)),
        "loss_form": loss(form),
        "loss_all": loss(everything),
        "sd_promised": float(end["sd"]),
        **_precision(fitted, data, tries, form),
    }


def _precision(fitted: Fit, data: Responses, tries: Bools, form: Ints) -> dict[str, float | None]:
    """Among those who answered everything: precision after the form, and how far abilities move with the rest.

    If the model is right, the mean squared move is what the variance loses on average.
    """
    complete = tries & (np.diff(data.start) == data.n_questions)
    people = np.flatnonzero(complete)
    if len(people) < ENOUGH:
        return {"sd_found": None, "move_promised": None, "move_found": None}
    who, question = data.respondent_of_answer, data.question_of_row[data.row]

    def ability(questions: Ints) -> tuple[Floats, Floats]:
        part = data.without(~(complete[who] & np.isin(question, questions)))
        mean, _, sd, *_ = posterior_moments(fitted, part.start, part.row)[:, people]
        return mean, sd

    short, short_sd = ability(form)
    full, full_sd = ability(np.arange(data.n_questions))
    return {
        "sd_found": float(short_sd.mean()),
        "move_promised": float(np.sqrt(np.maximum(np.mean(short_sd**2 - full_sd**2), 0.0))),
        "move_found": float(np.sqrt(np.mean((full - short) ** 2))),
    }


def form_text(frame: pd.DataFrame) -> str:
    """By test, means over the splits; gains are parts of what all answers add to knowing nothing."""
    promised = ["sd promised", "sd found", "move promised", "move found"]
    header = ["test", "questions kept", "bits promised", "gain kept", "random form", "least informative", *promised]
    rows = []
    for test, group in frame.groupby("test", sort=False):
        mean = group.drop(columns="test").astype(float).mean()
        whole_gain = mean["loss_none"] - mean["loss_all"]

        def gain(name: str, mean: pd.Series[float] = mean, whole_gain: float = whole_gain) -> str:
            return f"{(mean['loss_none'] - mean[name]) / whole_gain:.0%}" if whole_gain > 0 else ""

        rows.append(
            [
                str(test),
                f"{mean['kept']:.0f} of {mean['questions']:.0f}",
                f"{mean['bits_share']:.0%}",
                *(gain(name) for name in ("loss_form", "loss_random", "loss_least")),
                *(_two(mean[name]) for name in ("sd_promised", "sd_found", "move_promised", "move_found")),
            ]
        )
    return markdown(header, rows)


def _two(value: float) -> str:
    return f"{value:.2f}" if value == value else ""
