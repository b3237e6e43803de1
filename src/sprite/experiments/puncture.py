"""Puncturing: hide a share of the answers, fit to the rest, score the predictions of what was hidden."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from sprite.analysis.predict import Predictor, modes
from sprite.core.errors import InputError, SpriteError
from sprite.core.types import Floats, Ints, Rows
from sprite.data.responses import Responses
from sprite.engines.base import Engine, Progress
from sprite.experiments.store import Store, fingerprint
from sprite.fitting import fit
from sprite.kernels.threads import get_threads, set_threads
from sprite.models.base import Model

BINS = 10
_BLAS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
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


def pattern(responses: Responses, share: float, seed: int, repeat: int) -> Ints:
    """Positions of the answers to hide, uniformly at random: the same for every model."""
    hidden = round(share * responses.n_answers)
    if not 0.0 < share < 1.0 or not 0 < hidden < responses.n_answers:
        raise InputError(
            "puncture is the share of the answers to hide, between 0 and 1, and must leave some on either side",
            found=share,
        )
    rng = np.random.default_rng([seed, repeat])
    return np.sort(rng.choice(responses.n_answers, hidden, replace=False))


def measure(responses: Responses, task: Task) -> dict[str, float]:
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
        fitted = fit(rest, task.model, task.engine, seed)
        if fitted.interrupted:
            raise KeyboardInterrupt  # a fit that was cut short is no result
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
) -> list[list[dict[str, float]]]:
    """What `measure` finds by pattern and model, the baseline after the models."""
    pattern(responses, share, seed, 0)  # refuses an impossible share before anything is begun
    everyone = (*models, None)
    tasks = [Task(model, engine, float(share), int(seed), k) for k in range(repeats) for model in everyone]
    results = run(responses, tasks, jobs, Store.at(store), progress)
    return [results[k : k + len(everyone)] for k in range(0, len(results), len(everyone))]


def run(
    responses: Responses, tasks: Sequence[Task], jobs: int, store: Store, progress: Progress
) -> list[dict[str, float]]:
    """The results of all tasks, in their order; what the store has is not computed again.

    Every fit has one thread to itself, so the number of processes cannot change a result. Each result is stored as
    soon as it is there: an interruption costs only what was under way.
    """
    data = fingerprint(responses)
    settings = [{"data": data, **task.settings} for task in tasks]
    results = [store.get(each) for each in settings]
    waiting = [k for k, result in enumerate(results) if result is None]
    done = len(tasks) - len(waiting)
    if done:
        progress(done, len(tasks), "from the store")
    arriving = _alone if jobs == 1 or len(waiting) <= 1 else _together
    for k, result in arriving(responses, tasks, waiting, jobs):
        store.put(settings[k], result)
        results[k] = result
        done += 1
        model = tasks[k].model
        progress(done, len(tasks), f"{model.name if model else 'baseline'}, pattern {tasks[k].repeat + 1}")
    return [result for result in results if result is not None]


Arrivals = Iterator[tuple[int, dict[str, float]]]


def _alone(responses: Responses, tasks: Sequence[Task], waiting: Sequence[int], jobs: int) -> Arrivals:
    threads = get_threads()
    try:
        set_threads(1)
        for k in waiting:
            yield k, measure(responses, tasks[k])
    finally:
        set_threads(threads)


def _together(responses: Responses, tasks: Sequence[Task], waiting: Sequence[int], jobs: int) -> Arrivals:
    pool = ProcessPoolExecutor(min(jobs, len(waiting)), get_context("spawn"), initializer=_begin, initargs=(responses,))
    try:
        with _one_thread_each():
            future = {pool.submit(_measure, tasks[k]): k for k in waiting}
        for finished in as_completed(future):
            yield future[finished], finished.result()
    except BrokenProcessPool:
        raise SpriteError(
            "a process of the comparison ended unexpectedly, perhaps for lack of memory. Use fewer jobs; with a store, "
            "what was finished is kept. In a script, call compare below `if __name__ == '__main__':`"
        ) from None
    finally:
        # After an interruption nothing is waited for, and nothing more is begun.
        pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Processes begun here do linear algebra in one thread, or they would get in each other's way."""
    before = {name: os.environ.get(name) for name in _BLAS}
    os.environ.update(dict.fromkeys(_BLAS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


_responses: Responses | None = None


def _begin(responses: Responses) -> None:
    """What each process does first; Ctrl-C ends it without a word, the caller keeps the books."""
    global _responses
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    set_threads(1)
    _responses = responses


def _measure(task: Task) -> dict[str, float]:
    assert _responses is not None
    return measure(_responses, task)


def _shares(rest: Responses, question: Ints) -> tuple[Ints, Floats]:
    """Answer shares of what remains, every option counted once more than it was chosen."""
    count = rest.count + 1.0
    of: Rows = rest.question_of_row
    share = count / np.bincount(of, count, minlength=rest.n_questions)[of]
    size = np.diff(rest.first)[question]
    first = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    return first, share[np.arange(first[-1]) + np.repeat(rest.first[question] - first[:-1], size)]
