"""Puncturing: hide a share of the answers, fit to the rest, score the predictions of what was hidden."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np

from sprite.analysis.predict import Predictor, modes
from sprite.core.errors import InputError, SpriteError
from sprite.core.types import Floats, Ints, Rows
from sprite.data.responses import Responses
from sprite.engines.base import Engine, Progress
from sprite.experiments.store import Store, fingerprint
from sprite.experiments.work import Result, arrivals, whole
from sprite.fitting import fit
from sprite.models.base import Model

BINS = 10
_SMALLEST = 1e-300  # a probability that is no more than rounding must not make the loss infinite


@dataclass(frozen=True)
class Scores:
    """How well hidden answers were predicted; smaller is better throughout."""

    error: float
    """Share of hidden answers that are not the most probable option."""
    log_loss: float
    """Mean of -log(probability of the hidden answer), natural logarithm."""
    brier: float
    """Mean over hidden answers of the sum over options of (probability - chosen)^2, from 0 to 2."""
    calibration: float
    """Expected calibration error: mean difference of probability and share chosen, in ten bins of all options."""


@dataclass(frozen=True)
class Task:
    """One model on one pattern; the model None is the baseline."""

    model: Model | None
    engine: Engine
    share: float
    seed: int
    repeat: int

    @property
    def settings(self) -> dict[str, Any]:
        """All that the result depends on besides the answers."""
        of_model = None if self.model is None else repr(self.model)
        engine = None if self.model is None else repr(self.engine)
        return {"model": of_model, "engine": engine, "share": self.share, "seed": self.seed, "repeat": self.repeat}


class Test(Protocol):
    """Answers to puncture."""

    @property
    def responses(self) -> Responses:
        """The answers."""

    @property
    def identity(self) -> Any:
        """What tells these answers from others, for the store."""


@dataclass(frozen=True, eq=False)
class Given:
    """Answers at hand."""

    responses: Responses
    identity: str


@dataclass(frozen=True, eq=False)
class Trial:
    """A task on a test, as a unit of work."""

    test: Test
    task: Task

    @property
    def settings(self) -> dict[str, Any]:
        """All that the result depends on."""
        return {"data": self.test.identity, **self.task.settings}

    @property
    def words(self) -> str:
        """Model and pattern."""
        model = self.task.model
        return f"{model.name if model else 'baseline'}, pattern {self.task.repeat + 1}"

    def compute(self) -> Result:
        """Hide, fit, predict and score."""
        return measure(self.test.responses, self.task)


def pattern(responses: Responses, share: float, seed: int, repeat: int) -> Ints:
    """Positions of the answers to hide, uniformly at random: the same for every model."""
    hidden = round(share * responses.n_answers) if 0.0 < share < 1.0 else 0
    if not 0 < hidden < responses.n_answers:
        raise InputError(
            "puncture is the share of the answers to hide, between 0 and 1, and must leave some on either side",
            found=share,
        )
    rng = np.random.default_rng([seed, repeat])
    return np.sort(rng.choice(responses.n_answers, hidden, replace=False))


def measure(responses: Responses, task: Task) -> Result:
    """Hide, fit, predict and score: the scores by name, with seconds, n_test and n_train.

    Option sets are those of all the data. Everything else is made from what remains.
    """
    hidden = pattern(responses, task.share, task.seed, task.repeat)
    rest = responses.without(hidden)
    row = responses.row[hidden]
    question = responses.question_of_row[row].astype(np.int64)
    began = time.perf_counter()
    if task.model is None:
        first, probability = _shares(rest, question)
    else:
        seed = int(np.random.SeedSequence([task.seed, task.repeat]).generate_state(1)[0])
        fitted = whole(fit(rest, task.model, task.engine, seed))
        first, probability = Predictor(fitted)(responses.respondent_of_answer[hidden], question)
    seconds = time.perf_counter() - began
    scores = scores_of(first, probability, first[:-1] + row - responses.first[question])
    return {**asdict(scores), "seconds": seconds, "n_test": len(hidden), "n_train": rest.n_answers}


def scores_of(first: Ints, probability: Floats, chosen: Ints) -> Scores:
    """Scores of predictions: cell c has the options first[c] to first[c + 1], of which `chosen[c]` was the answer."""
    happened = np.zeros(len(probability))
    happened[chosen] = 1.0
    return Scores(
        error=float(np.mean(modes(first, probability) != chosen)),
        log_loss=float(-np.log(np.maximum(probability[chosen], _SMALLEST)).mean()),
        brier=float(np.sum((probability - happened) ** 2) / len(chosen)),
        calibration=calibration_error(probability, happened),
    )


def calibration_error(probability: Floats, happened: Floats) -> float:
    """Mean absolute difference of mean probability and share in bins of equally many probabilities."""
    order = np.argsort(probability, kind="stable")
    bins = np.array_split(order, min(BINS, len(order)))
    return float(sum(abs(probability[b].sum() - happened[b].sum()) for b in bins) / len(order))


def held_out(
    responses: Responses,
    models: Sequence[Model],
    engine: Engine,
    *,
    share: float,
    repeats: int,
    seed: int,
    jobs: int,
    store: str | os.PathLike[str] | None,
    progress: Progress,
) -> list[list[Result]]:
    """What `measure` finds by pattern and model, the baseline after the models."""
    pattern(responses, share, seed, 0)  # refuses an impossible share before anything is begun
    everyone = (*models, None)
    tasks = [Task(model, engine, float(share), int(seed), k) for k in range(repeats) for model in everyone]
    test = Given(responses, fingerprint(responses))
    trials = [Trial(test, task) for task in tasks]
    results: list[Result] = [{}] * len(trials)
    with closing(arrivals(trials, jobs, Store.at(store))) as coming:
        for done, arrival in enumerate(coming, start=1):
            if arrival.result is None:
                raise arrival.error or SpriteError("a fit came to nothing")
            results[arrival.number] = arrival.result
            progress(done, len(trials), "from the store" if arrival.stored else trials[arrival.number].words)
    return [results[k : k + len(everyone)] for k in range(0, len(results), len(everyone))]


def _shares(rest: Responses, question: Ints) -> tuple[Ints, Floats]:
    """Answer shares of what remains, every option counted once more than it was chosen."""
    count = rest.count + 1.0
    of: Rows = rest.question_of_row
    share = count / np.bincount(of, count, minlength=rest.n_questions)[of]
    size = np.diff(rest.first)[question]
    first = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    return first, share[np.arange(first[-1]) + np.repeat(rest.first[question] - first[:-1], size)]
