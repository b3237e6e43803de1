"""A fit as the DataTree that arviz-stats and arviz-plots take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sprite.core.errors import SpriteError
from sprite.core.types import Ints
from sprite.result.entries import Entries, entries_of

if TYPE_CHECKING:
    import xarray as xr

    from sprite.result.fit import Fit


def to_arviz(fit: Fit) -> xr.DataTree:
    """Groups posterior, sample_stats, observed_data, constant_data, and orders where these are free.

    Free parameters are in `posterior`, (chain, draw, entries), positive ones also as logarithms. What is anchored or an
    input is in `constant_data`: a constant has no R-hat. Entries lie along `question`, `option_row` or `step_row`,
    and `constant_data` has the question and the label or number of each, `option_row_question` and so on.
    """
    import xarray as xr

    if not fit.n_chains * fit.n_draws:
        raise SpriteError(f"there are no draws: {fit.refusal or 'nothing was drawn'}")
    steps = {"chain": np.arange(fit.n_chains), "draw": np.arange(fit.n_draws)}
    posterior: dict[str, Any] = {}
    orders: dict[str, Any] = {}
    constant: dict[str, Any] = {}
    taken: dict[str, tuple[int, ...]] = {}
    for entries in entries_of(fit.model, fit.responses):
        draws = np.asarray(fit.draws[entries.name])
        free, fixed = np.flatnonzero(~entries.fixed), np.flatnonzero(entries.fixed)
        if len(free):
            # Parameters share a dimension where they have the same entries free.
            dim = _DIMS[entries.parameter.dim]
            if taken.setdefault(dim, tuple(free)) != tuple(free):
                dim = f"{entries.name}_{dim}"
            constant |= _belongings(entries, free, dim)
            group = orders if entries.discrete else posterior
            group[entries.name] = _labelled(entries, free, dim, draws[..., free], steps)
            if entries.on_log_scale:
                posterior[f"log_{entries.name}"] = _labelled(entries, free, dim, np.log(draws[..., free]), steps)
        if len(fixed):
            dim = f"fixed_{entries.name}"
            constant[entries.name] = _labelled(entries, fixed, dim, draws[0, 0, fixed], {})
            constant |= _belongings(entries, fixed, dim)
    groups = {
        "posterior": xr.Dataset(posterior, attrs=_attributes(fit)),
        "observed_data": _observed(fit),
    }
    stats = {_STATS.get(name, name): value for name, value in fit.stats.items() if value.shape == fit.x.shape[:2]}
    if stats:
        groups["sample_stats"] = xr.Dataset({n: (("chain", "draw"), v) for n, v in stats.items()}, coords=steps)
    if orders:
        groups["orders"] = xr.Dataset(orders)
    if constant:
        groups["constant_data"] = xr.Dataset(constant)
    return xr.DataTree.from_dict(groups)


_DIMS = {"question": "question", "option": "option_row", "step": "step_row"}
_STATS = {"divergent": "diverging", "acceptance": "acceptance_rate", "log_posterior": "lp"}


def _labelled(entries: Entries, chosen: Ints, dim: str, values: NDArray[Any], steps: dict[str, Any]) -> xr.DataArray:
    import xarray as xr

    words = entries.words()
    return xr.DataArray(values, dims=(*steps, dim), coords=steps | {dim: [words[k] for k in chosen]})


def _belongings(entries: Entries, chosen: Ints, dim: str) -> dict[str, Any]:
    """The question of each entry and its label or number, as variables of their own.

    As coordinates of the draws they would keep arviz-stats from stacking parameters of different dimensions.
    """
    import xarray as xr

    named: dict[str, Any] = {}
    if entries.parameter.dim != "question":
        named["question"] = entries.questions
    if entries.parameter.dim == "option":
        named["label"] = entries.options
    if entries.parameter.dim == "step":
        named["number"] = entries.steps
    coords = {dim: [entries.words()[k] for k in chosen]}
    return {
        f"{dim}_{name}": xr.DataArray([values[k] for k in chosen], dims=dim, coords=coords)
        for name, values in named.items()
    }


def _observed(fit: Fit) -> xr.Dataset:
    """Every answer as the position of the chosen option in its question, with respondent and question."""
    import xarray as xr

    data = fit.responses
    question = data.question_of_row[data.row]
    return xr.Dataset(
        {"option": ("answer", data.row - data.first[question])},
        coords={
            "answer": np.arange(data.n_answers),
            "respondent": ("answer", data.respondents.astype(object)[data.respondent_of_answer]),
            "question": ("answer", np.asarray(data.questions, dtype=object)[question]),
        },
    )


def _attributes(fit: Fit) -> dict[str, Any]:
    return {
        "inference_library": "sprite",
        "inference_library_version": fit.versions["sprite"],
        "created_at": fit.created,
        "sampling_time": fit.seconds,
        "model": repr(fit.model),
        "engine": fit.engine,
        "seed": fit.seed,
    }
