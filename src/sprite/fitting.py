"""`fit`: responses, a model and an engine into one `Fit`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass, replace
from typing import Any

import numpy as np

from sprite.core.errors import InputError
from sprite.data.connections import INCOMPARABLE, disconnected
from sprite.data.responses import Responses
from sprite.engines.base import Engine, Problem, Progress, silent
from sprite.engines.em import EM
from sprite.engines.learning import learn
from sprite.engines.registry import engine_of
from sprite.models.base import Model
from sprite.models.registry import model_of
from sprite.result.assembly import assemble
from sprite.result.fit import Fit


def fit(
    responses: Responses,
    model: Model | str = "sprite",
    engine: Engine | str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Fit:
    """Fit a model to responses.

    Parameters
    ----------
    responses
        What `sprite.read` returns.
    model
        A model such as ``Sprite()`` or ``NRM(prior=None)``, or its name for the default settings. With
        ``prior="learned"`` the hyperparameters are learned first and plugged in, whatever the engine;
        ``fit(...).model`` holds them.
    engine
        An engine such as ``EM(starts=5)``, or its name; the default engine where it is left out.
    seed
        A whole number; the same seed gives the same result.
    progress
        Called as ``progress(done, total, text)`` while the engine works.

    Raises
    ------
    InputError
        Where responses, model and engine do not go together, with the reason and what to do.

    """
    if not isinstance(responses, Responses):
        raise InputError(
            "fit() takes responses as sprite.read returns them",
            found=type(responses).__name__,
            remedy="Read the answers first: responses = sprite.read(...)",
        )
    chosen, by = model_of(model), engine_of(engine)
    _refuse_what_cannot_be(responses, chosen, by)
    _check_seed(seed)
    began = time.perf_counter()
    rng, told = np.random.default_rng(seed), progress or silent
    problem = Problem(responses, chosen)
    said: tuple[str, ...] = ()
    with _ctrl_c_as_such():
        if chosen.prior == "learned":
            learned = learn(problem, rng, told)
            problem, said = learned.problem, learned.messages
        run = by.run(problem, rng, told)
    if apart := disconnected(responses):
        said += (f"{apart} {INCOMPARABLE}.",)
    run = replace(run, messages=(*run.messages, *said))
    settings: dict[str, Any] = asdict(by) if is_dataclass(by) else {}
    return assemble(responses, problem.model, run, by.name, settings, int(seed), began)


def _refuse_what_cannot_be(responses: Responses, model: Model, engine: Engine) -> None:
    if not responses.n_questions or not responses.n_respondents:
        raise InputError("there is nothing to fit: no questions or no respondents", found=responses)
    if responses.layout.n_options.max() < 2:
        raise InputError(
            "there is nothing to fit: no question has two options",
            remedy="Declare the options that nobody chose: sprite.read(..., options=...)",
        )
    name = type(model).__name__
    if model.prior is None and not isinstance(engine, EM):
        raise InputError(
            f"{type(engine).__name__} draws from a posterior, and without a prior there need not be one",
            found=f"{name}(prior=None)",
            remedy=f"Give the model a prior, {name}(), or use EM() for maximum likelihood",
        )


@contextmanager
def _ctrl_c_as_such() -> Iterator[None]:
    """Ctrl-C at the very moment when compiled code returns comes out of Numba as a SystemError."""
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise


def _check_seed(seed: object) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError("seed must be a whole number, 0 or above", found=seed)
