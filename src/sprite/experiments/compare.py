"""`compare`: which model predicts answers best, on the same answers for all."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from sprite.analysis.loo import pointwise, standard_error, summary
from sprite.core.errors import InputError, SpriteWarning
from sprite.core.types import Floats
from sprite.data.responses import Responses
from sprite.engines.base import Engine, Progress, silent
from sprite.engines.em import EM
from sprite.engines.registry import engine_of
from sprite.experiments.puncture import held_out
from sprite.experiments.work import Result, whole
from sprite.fitting import fit
from sprite.models.base import Model
from sprite.models.registry import model_of

if TYPE_CHECKING:
    import pandas as pd

MODELS = ("sprite", "nrm", "gpcm", "ord", "lord")
BASELINE = "baseline"


def compare(
    responses: Responses,
    models: Sequence[Model | str] = MODELS,
    engine: Engine | str | None = None,
    method: Literal["puncture", "loo"] = "puncture",
    *,
    puncture: float = 0.2,
    repeats: int = 10,
    seed: int = 0,
    jobs: int = 1,
    store: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """One row a model: how well it predicts answers that it has not seen.

    ``method="puncture"`` hides a share of the answers at random, fits each model to the rest, scores its predictions of
    the hidden ones, and repeats that with other patterns; a last row, `baseline`, predicts everyone by the answer
    shares of each question. Columns:

    model
        Its name, with the settings that are not the default ones.
    error, error_sd
        Share of hidden answers that are not the most probable option: mean and deviation over patterns.
    log_loss, log_loss_sd
        Mean of -log(probability of the hidden answer), in nats.
    brier, calibration
        Sum over options of (probability - chosen)^2; expected calibration error over ten bins.
    seconds, repeats
        Mean time of a fit with its predictions, and number of patterns.
    diff_log_loss, diff_log_loss_se, diff_error, diff_error_se
        Difference to the first model on the same hidden answers (above 0: worse than it), and its standard error,
        corrected for the overlap of what remains between patterns (Nadeau and Bengio 2003).

    ``method="loo"`` fits each model once and leaves out one respondent after the other by importance weights; see
    `sprite.analysis.loo.loo` for its columns, to which diff_elpd and diff_elpd_se are added (below 0: worse than the
    first model).

    Parameters
    ----------
    responses
        What `sprite.read` returns.
    models
        Models or their names.
    engine
        The engine for all; by default ``EM()`` for puncturing and ``Gibbs()`` for LOO.
    method
        ``"puncture"`` or ``"loo"``.
    puncture, repeats, seed
        The share to hide, how many patterns, and what they are drawn from. The same seed gives the same numbers
        (to rounding), whatever `jobs` and `store` are.
    jobs
        Processes to use.
    store
        A folder to keep finished fits in, so that the same call goes on after an interruption.
    progress
        Called as ``progress(done, total, text)``.

    """
    if not isinstance(responses, Responses):
        raise InputError(
            "compare() takes responses as sprite.read returns them",
            found=type(responses).__name__,
            remedy="Read the answers first: responses = sprite.read(...)",
        )
    chosen = [model_of(model) for model in ([models] if isinstance(models, str | Model) else models)]
    labels = labels_of(chosen)
    if method == "loo":
        return _by_loo(responses, chosen, labels, engine_of(engine), seed, progress or silent)
    if method != "puncture":
        raise InputError('method must be "puncture" or "loo"', found=method)
    if repeats < 1 or jobs < 1:
        raise InputError("compare needs repeats >= 1 and jobs >= 1", found=(repeats, jobs))
    by = engine_of("em" if engine is None else engine)
    if doubt := doubts(responses, by):
        warnings.warn(doubt, SpriteWarning, stacklevel=2)
    results = held_out(
        responses,
        chosen,
        by,
        share=puncture,
        repeats=repeats,
        seed=seed,
        jobs=jobs,
        store=store,
        progress=progress or silent,
    )
    return score_table([*labels, BASELINE], results)


def doubts(responses: Responses, engine: Engine) -> str:
    """What makes a comparison of held-out predictions by this engine doubtful; nothing if all is well."""
    if not isinstance(engine, EM) or responses.n_respondents >= responses.n_questions:
        return ""
    return (
        f"With fewer respondents ({responses.n_respondents}) than questions ({responses.n_questions}) posterior modes "
        "often predict worse than answer shares. Compare by the full posterior, with the engine gibbs"
    )


def labels_of(models: Sequence[Model]) -> list[str]:
    """A name for each model: its own, with the settings that differ from the defaults."""
    if not models:
        raise InputError("there is no model to compare", remedy="Name at least one, such as 'sprite'")
    labels = []
    for model in models:
        named: list[str] = [field.name for field in fields(model)] if is_dataclass(model) else []
        changed = [
            f"{name}={getattr(model, name)}"
            for name in named
            if getattr(model, name) != getattr(type(model), name, None)
        ]
        labels.append(f"{model.name} ({', '.join(changed)})" if changed else model.name)
    twice = {label for label in labels if labels.count(label) > 1}
    if twice:
        raise InputError(f"the same model is given twice: {', '.join(sorted(twice))}", remedy="Name each model once")
    return labels


def score_table(labels: Sequence[str], results: Sequence[Sequence[Result]], independent: bool = False) -> pd.DataFrame:
    """The columns of `compare`, from what `puncture.measure` found by pattern and model; differences to the first.

    `independent` says that every pattern hides answers of another test, so that nothing overlaps.
    """
    import pandas as pd

    def of(name: str) -> Floats:
        """A score by pattern and model."""
        return np.array([[result[name] for result in of_pattern] for of_pattern in results])

    overlap = 0.0 if independent else float(of("n_test")[0, 0] / of("n_train")[0, 0])
    frame = pd.DataFrame({"model": list(labels)})
    for name in ("error", "log_loss"):
        frame[name] = of(name).mean(axis=0)
        frame[f"{name}_sd"] = _deviation(of(name))
    for name in ("brier", "calibration", "seconds"):
        frame[name] = of(name).mean(axis=0)
    frame["repeats"] = len(results)
    for name in ("log_loss", "error"):
        difference = of(name) - of(name)[:, :1]
        frame[f"diff_{name}"] = difference.mean(axis=0)
        frame[f"diff_{name}_se"] = corrected_error(difference, overlap)
    return frame


def corrected_error(difference: Floats, overlap: float) -> Floats:
    """Standard error of the mean over patterns (the first axis), by Nadeau and Bengio's corrected resampled variance.

    Patterns share most of what they are fitted to, so that their differences are not independent: the variance is
    taken (1 / J + n_test / n_train) times and not 1 / J times.
    """
    return _deviation(difference) * float(np.sqrt(1.0 / len(difference) + overlap))


def _deviation(values: Floats) -> Floats:
    return np.asarray(values.std(axis=0, ddof=1)) if len(values) > 1 else np.full(values.shape[1], np.nan)


def _by_loo(
    responses: Responses, models: Sequence[Model], labels: Sequence[str], engine: Engine, seed: int, progress: Progress
) -> pd.DataFrame:
    import pandas as pd

    rows: list[dict[str, object]] = []
    first: Floats | None = None
    for k, (model, label) in enumerate(zip(models, labels, strict=True)):
        progress(k, len(models), label)
        began = time.perf_counter()
        fitted = whole(fit(responses, model, engine, seed))
        found = pointwise(fitted)
        first = found.elpd if first is None else first
        difference = found.elpd - first
        rows.append(
            {
                "model": label,
                **summary(found),
                "seconds": time.perf_counter() - began,
                "diff_elpd": float(difference.sum()),
                "diff_elpd_se": standard_error(difference),
            }
        )
    progress(len(models), len(models), "done")
    columns = [
        "model",
        "elpd",
        "se",
        "p_loo",
        "k_bad",
        "diff_elpd",
        "diff_elpd_se",
        "n",
        "n_draws",
        "seconds",
        "message",
    ]
    return pd.DataFrame(rows)[columns]
