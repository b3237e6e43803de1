"""From an engine's `Run` to a `Fit`: align the draws, choose the point, turn everything the right way up."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from sprite.core.layout import Layout
from sprite.core.types import Floats, Ints
from sprite.data.responses import Responses
from sprite.density.grid import grid_for
from sprite.density.packing import Packing
from sprite.density.posterior import Posterior
from sprite.density.refinement import checked
from sprite.models.base import Model
from sprite.result.fit import Fit
from sprite.result.orientation import flips, orientation, reflection
from sprite.result.run import Mode, Run

_NODES = 61


def assemble(
    responses: Responses,
    model: Model,
    run: Run,
    engine: str = "unknown",
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    began: float | None = None,
) -> Fit:
    """A `Fit` of this run; `began` is when the engine started, by `time.perf_counter`."""
    layout = responses.layout
    packing = Packing(model, layout)
    signs = reflection(model, layout, packing)
    x = run.x
    if signs is not None and run.kind == "posterior":
        x = np.where(flips(x, model, layout, packing)[..., None], signs * x, x)
    point, point_ranks = _point(x, run, packing, layout)
    found = orientation(point, point_ranks, responses, model, packing, signs is not None)
    n_nodes, reach, error = run.n_nodes, run.reach, float(run.grid_error)
    if not n_nodes:  # of an engine that needs none itself
        posterior, error = checked(Posterior(responses, model, grid_for(model.ability, _NODES)), [(point, point_ranks)])
        n_nodes, reach = posterior.grid.n_nodes, posterior.grid.reach
    modes = (() if run.mode is None else (run.mode,)) + run.modes
    covariance = run.covariance
    if signs is not None:
        if found.flip:
            x, point = signs * x, signs * point
            covariance = None if covariance is None else covariance * np.outer(signs, signs)
        modes = tuple(_turned(mode, signs, responses, model, packing) for mode in modes)
    return Fit(
        responses=responses,
        model=model,
        engine=engine,
        settings=json.loads(json.dumps(dict(settings or {}), default=_plain)),
        seed=seed,
        kind=run.kind,
        x=x,
        ranks={name: np.asarray(rank, np.int64) for name, rank in run.ranks.items()},
        point=point,
        point_ranks=point_ranks,
        covariance=covariance,
        refusal=run.refusal,
        modes=modes,
        stats={name: np.asarray(value) for name, value in run.stats.items()},
        messages=(*run.messages, *((found.message,) if found.message else ())),
        interrupted=run.interrupted,
        n_nodes=n_nodes,
        reach=reach,
        grid_error=error,
        orientation=found.rule,
        seconds=0.0 if began is None else time.perf_counter() - began,
        versions=_versions(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _point(x: Floats, run: Run, packing: Packing, layout: Layout) -> tuple[Floats, dict[str, Ints]]:
    """The mode of a Laplace run; else the mean of the draws, in each question over its most frequent order."""
    if run.mode is not None and (run.kind == "laplace" or not x.shape[0] * x.shape[1]):
        return run.mode.x, {name: np.asarray(rank, np.int64) for name, rank in run.mode.ranks.items()}
    draws = x.reshape(-1, packing.n_free)
    keep = np.ones((len(draws), layout.n_questions), dtype=bool)
    ranks: dict[str, Ints] = {}
    for name, drawn in run.ranks.items():
        rank = np.asarray(drawn, np.int64).reshape(-1, layout.n_rows)
        ranks[name] = np.empty(layout.n_rows, dtype=np.int64)
        for j in range(layout.n_questions):
            rows = slice(layout.first[j], layout.first[j + 1])
            orders, which, count = np.unique(rank[:, rows], axis=0, return_inverse=True, return_counts=True)
            ranks[name][rows] = orders[np.argmax(count)]
            keep[:, j] &= which.ravel() == np.argmax(count)
    weight = keep[:, packing.question]
    return np.asarray((draws * weight).sum(axis=0) / np.maximum(weight.sum(axis=0), 1)), ranks


def _turned(mode: Mode, signs: Floats, responses: Responses, model: Model, packing: Packing) -> Mode:
    """A mode the right way up, so that modes can be compared."""
    flip = orientation(mode.x, mode.ranks, responses, model, packing, True).flip
    return replace(mode, x=signs * mode.x) if flip else mode


def _plain(value: object) -> object:
    """What JSON cannot write, as what it can."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


def _versions() -> dict[str, str]:
    packages = {"sprite": "sprite-irt", "numpy": "numpy", "numba": "numba"}
    return {name: version(package) for name, package in packages.items()} | {"python": platform.python_version()}
