"""What of a fit goes into a file: arrays by name, and plain data for the rest; and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sprite.core.errors import InputError
from sprite.core.types import Strings
from sprite.data.responses import Responses, Texts, names_array
from sprite.density.grid import REACH
from sprite.models.base import Model
from sprite.models.registry import MODELS
from sprite.result.consistency import check_consistency
from sprite.result.fit import Fit
from sprite.result.run import Mode

_PLAIN = (
    "engine",
    "seed",
    "kind",
    "refusal",
    "interrupted",
    "n_nodes",
    "reach",
    "grid_error",
    "orientation",
    "seconds",
    "created",
)
_MODE = ("start", "log_posterior", "log_likelihood", "gradient_norm", "converged")


def contents_of(fit: Fit) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header (JSON can write it) and the arrays of a fit."""
    data = fit.responses
    names, ends = _bytes_of(data.respondents)
    arrays: dict[str, NDArray[Any]] = {
        "x": fit.x,
        "point": fit.point,
        "respondent_names": names,
        "respondent_ends": ends,
        "start": data.start,
        "row": data.row,
        "correct": data.correct,
    }
    if fit.covariance is not None:
        arrays["covariance"] = fit.covariance
    if data.rank is not None:
        arrays["rank"] = data.rank
    for group, members in (("ranks", fit.ranks), ("point_ranks", fit.point_ranks), ("stats", fit.stats)):
        arrays |= {f"{group}.{name}": np.asarray(value) for name, value in members.items()}
    for k, mode in enumerate(fit.modes):
        arrays[f"modes.{k}"] = mode.x
        arrays |= {f"modes.{k}.{name}": np.asarray(value) for name, value in mode.ranks.items()}
    header = {name: getattr(fit, name) for name in _PLAIN} | {
        "model": {"name": fit.model.name, "settings": asdict(cast(Any, fit.model))},
        "settings": dict(fit.settings),
        "messages": list(fit.messages),
        "versions": dict(fit.versions),
        "modes": [{name: getattr(mode, name) for name in _MODE} for mode in fit.modes],
        "questions": list(data.questions),
        "options": [list(labels) for labels in data.options],
        "question_texts": dict(data.texts.questions),
        "option_texts": [[*key, text] for key, text in data.texts.options.items()],
        "notes": list(data.notes),
        "arrays": {name: [array.dtype.name, list(array.shape)] for name, array in arrays.items()},
    }
    return header, arrays


def fit_from(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Fit:
    """The fit of such contents."""
    header = {"reach": REACH, **header}  # the first fits did not say it
    plain: dict[str, Any] = {name: header[name] for name in _PLAIN}
    plain |= {group: _group(arrays, f"{group}.") for group in ("ranks", "point_ranks", "stats")}
    found = Fit(
        responses=_responses(header, arrays),
        model=_model(header["model"]),
        x=arrays["x"],
        point=arrays["point"],
        covariance=arrays.get("covariance"),
        modes=tuple(
            Mode(**mode, x=arrays[f"modes.{k}"], ranks=_group(arrays, f"modes.{k}."))
            for k, mode in enumerate(header["modes"])
        ),
        settings=header["settings"],
        messages=tuple(header["messages"]),
        versions=header["versions"],
        **plain,
    )
    check_consistency(found)
    return found


def _responses(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Responses:
    return Responses(
        respondents=_strings(arrays["respondent_names"], arrays["respondent_ends"]),
        questions=tuple(header["questions"]),
        options=tuple(tuple(labels) for labels in header["options"]),
        start=arrays["start"],
        row=arrays["row"],
        correct=arrays["correct"],
        rank=arrays.get("rank"),
        texts=Texts(header["question_texts"], {(q, label): text for q, label, text in header["option_texts"]}),
        notes=tuple(header["notes"]),
    )


def _model(described: Mapping[str, Any]) -> Model:
    """A model by its name in the registry, and by nothing else."""
    name, settings = described["name"], described["settings"]
    if name not in MODELS:
        raise InputError("this fit is of a model that this version of sprite does not have", found=name)
    try:
        return MODELS[name](**settings)
    except TypeError as error:
        raise InputError(f"the settings of {name} are not those of this version of sprite ({error})") from error


def _group(arrays: Mapping[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _bytes_of(names: Strings) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """All names as one run of UTF-8 bytes with the end of each: any text survives, empty ones and NULs included."""
    encoded = [str(name).encode("utf-8", "surrogatepass") for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def _strings(data: NDArray[np.uint8], ends: NDArray[np.int64]) -> Strings:
    whole, begins = data.tobytes(), np.concatenate([[0], ends[:-1]])
    if (ends < begins).any() or (len(ends) and ends[-1] != len(whole)):
        raise ValueError("the names of the respondents are cut wrongly")
    return names_array([whole[a:b].decode("utf-8", "surrogatepass") for a, b in zip(begins, ends, strict=True)])
