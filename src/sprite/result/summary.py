"""The parameters of a fit as one tidy frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sprite.core.errors import SpriteError
from sprite.core.types import Floats
from sprite.result.entries import Entries, entries_of

if TYPE_CHECKING:
    import pandas as pd

    from sprite.result.fit import Fit

LOWER, UPPER = 0.05, 0.95
_Z = 1.6448536269514722  # the normal quantile of UPPER


def summary_frame(fit: Fit) -> pd.DataFrame:
    """One line a parameter entry; columns as `Fit.summary` documents them."""
    import pandas as pd

    mixing = {m.entries.name: m for m in fit.mixing}
    try:
        errors = fit.standard_errors()
    except SpriteError:
        errors = {}
    parts = []
    for entries in entries_of(fit.model, fit.responses):
        columns: dict[str, Any] = {
            "question": entries.questions,
            "option": pd.array(entries.options, dtype="string"),
            "step": pd.array(entries.steps, dtype="Int64"),
            "parameter": entries.name,
        }
        estimate = np.asarray(fit.values[entries.name], float)
        if fit.kind == "posterior" and fit.n_draws:
            numbers = _of_draws(entries, np.asarray(fit.draws[entries.name], float), estimate)
        else:
            numbers = _of_estimate(entries, estimate, errors.get(entries.name))
        columns |= dict(zip(("estimate", "sd", "lower", "upper"), numbers, strict=True))
        columns["fixed"] = entries.fixed
        if fit.kind == "posterior":
            nothing = np.full(len(entries.fixed), np.nan)
            for name in ("rhat", "ess_bulk", "ess_tail", "mcse"):
                columns[name] = getattr(mixing[entries.name], name) if entries.name in mixing else nothing
            if entries.on_log_scale:
                columns["mcse"] = columns["mcse"] * columns["estimate"]
        parts.append(pd.DataFrame(columns))
    frame = pd.concat(parts, ignore_index=True)
    frame.attrs["learned"] = fit.learned
    return frame


def _of_draws(entries: Entries, draws: Floats, point: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean, or median of what is positive; for orders the most frequent one, as their ranks cannot be averaged."""
    flat = draws.reshape(-1, draws.shape[-1])
    lower, middle, upper = np.quantile(flat, [LOWER, 0.5, UPPER], axis=0)
    if entries.on_log_scale:
        return middle, middle * np.log(flat).std(axis=0), lower, upper
    return point if entries.discrete else flat.mean(axis=0), flat.std(axis=0), lower, upper


def _of_estimate(entries: Entries, estimate: Floats, error: Floats | None) -> tuple[Floats, Floats, Floats, Floats]:
    """Normal intervals, on the logarithm of what must be positive; none where there is no error."""
    if error is None:
        error = np.where(entries.fixed, 0.0, np.nan)
    if entries.parameter.constraint in ("positive", "increasing"):
        spread = np.exp(_Z * error / estimate)
        return estimate, error, estimate / spread, estimate * spread
    return estimate, error, estimate - _Z * error, estimate + _Z * error
