"""Whether stored results are still what the program finds: some of them are computed again and laid beside."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from sprite.core.errors import InputError, SpriteError
from sprite.experiments.reproduce.budget import Budget, Told
from sprite.experiments.reproduce.outputs import Table, markdown
from sprite.experiments.reproduce.parts import Part
from sprite.experiments.store import Store
from sprite.experiments.work import Result, arrivals

if TYPE_CHECKING:
    import pandas as pd

_SEED = 0
_NOT_FOUND = ("seconds", "n_test", "n_train")
"""What a result holds beside its findings."""


def again(found: Sequence[tuple[Part, Result]], how_many: int, jobs: int, told: Told) -> Table:
    """One row a finding: the unit, and its number as stored and as it is now; shown are differences by engine.

    Units are taken at random, the same ones each time. Posterior modes should come out the same; averages over draws
    to within their own error if a sampler has changed since, and otherwise the same, too.
    """
    import pandas as pd

    found = [(part, result) for part, result in found if part.engine_name]  # the baseline is no more than counting
    if not found:
        raise InputError("there is nothing to check: no unit that fits is in the store", remedy="Run it first")
    picked = np.random.default_rng(_SEED).permutation(len(found))[:how_many]
    pairs = [found[k] for k in sorted(picked)]
    budget, rows = Budget([part for part, _ in pairs], jobs), []
    with closing(arrivals([part for part, _ in pairs], jobs, Store.at(None))) as coming:
        for done, arrival in enumerate(coming, start=1):
            part, stored = pairs[arrival.number]
            if arrival.result is None:
                raise arrival.error or SpriteError(f"{part.words}: came to nothing")
            budget.done(part, arrival.result["seconds"])
            told(done, len(pairs), budget.left, part.words)
            now = _findings(arrival.result)
            what = {"unit": part.words, "engine": part.engine_name}
            rows += [
                {**what, "measure": measure, "stored": value, "now": now[measure]}
                for measure, value in _findings(stored).items()
            ]
    frame = pd.DataFrame(rows).sort_values(["measure", "unit"], ignore_index=True)
    frame["difference"] = frame["now"] - frame["stored"]
    return Table(frame, _text(frame))


def _text(frame: pd.DataFrame) -> str:
    rows = []
    for (measure, engine), group in frame.groupby(["measure", "engine"], sort=True):
        size = group["difference"].abs()
        farthest = group.iloc[int(np.argmax(size.fillna(-1.0)))]
        rows.append(
            [
                str(measure),
                str(engine),
                str(len(group)),
                f"{size.median():.2g}",
                f"{group['difference'].mean():+.2g}",
                f"{size.max():.2g}",
                f"{farthest['unit']}: {farthest['stored']:.4f}, now {farthest['now']:.4f}",
            ]
        )
    header = ["measure", "engine", "units", "median difference", "mean, with sign", "largest", "where that is"]
    return markdown(header, rows)


def _findings(result: Result) -> dict[str, float]:
    return {name: float(value) for name, value in result.items() if _is_number(value) and name not in _NOT_FOUND}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
