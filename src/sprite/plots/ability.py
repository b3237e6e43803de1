"""Where ability is populated, the curves there with their bands, and what groups of respondents really chose."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from sprite.analysis.curves import interval, populated
from sprite.core.types import Floats
from sprite.kernels.passes import posterior
from sprite.result.abilities import thinned
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

POINTS = 61
_DRAWS = (40, 200)  # fewest and most draws behind a band
_HELD = 3e7  # probabilities of all draws held at a time: 120 MB
_PEOPLE = 20_000  # respondents behind observed shares: more would not move a point
_BLOCK = 1 << 21

_shares: WeakKeyDictionary[Fit, dict[int, pd.DataFrame]] = WeakKeyDictionary()


def ability_points(fit: Fit, n: int = POINTS) -> Floats:
    """Evenly spaced abilities over the populated range."""
    return np.linspace(*populated(fit), n)


def probabilities(fit: Fit, at: Floats) -> tuple[Floats, Floats, Floats]:
    """P(option | ability) at these abilities with its 90 % band, (rows, abilities) each; bands NaN without draws."""
    layout = fit.responses.layout
    wanted = int(np.clip(_HELD / max(1, layout.n_rows * len(at)), *_DRAWS))
    which = thinned(fit, wanted)
    estimate = np.exp(fit.model.log_table(fit.values, at, layout))
    if which[0] < 0:
        return estimate, *interval(None, estimate)
    x = fit.x.reshape(-1, fit.x.shape[-1])
    ranks = {name: rank.reshape(-1, rank.shape[-1]) for name, rank in fit.ranks.items()}
    drawn = np.empty((len(which), layout.n_rows, len(at)), dtype=np.float32)
    for place, k in enumerate(which):
        values = fit.packing.unpack(x[k], {name: rank[k] for name, rank in ranks.items()})
        drawn[place] = np.exp(fit.model.log_table(values, at, layout))
    if fit.kind == "posterior":
        estimate = drawn.mean(axis=0, dtype=np.float64)
    drawn.sort(axis=0)
    low, high = (drawn[round(q * (len(which) - 1))].astype(np.float64) for q in (0.05, 0.95))
    return estimate, low, high


def group_shares(fit: Fit, groups: int | None = None) -> pd.DataFrame:
    """What respondents chose, in groups of similar estimated ability, beside what the model expects of them.

    question, option, row
        The option; `row` is its place among all options of the test.
    group, ability, n
        Group (1 = lowest), and mean ability and number of those in it who answered the question.
    observed, expected
        Share of them who chose it, and the mean of P(option | z) over their posteriors.

    There are as many groups as leave about 15 respondents in each, from 3 to 8. Very large tests are judged by 20,000
    respondents spread evenly over the data.
    """
    people = np.linspace(0, fit.responses.n_respondents - 1, min(fit.responses.n_respondents, _PEOPLE)).astype(int)
    eap = fit.ability_moments()[0]
    people = people[np.isfinite(eap[people]) & (np.diff(fit.responses.start)[people] > 0)]
    n_groups = groups or int(np.clip(len(people) // 15, 3, 8))
    known = _shares.setdefault(fit, {})
    if n_groups not in known:
        known[n_groups] = _group_shares(fit, people[np.argsort(eap[people], kind="stable")], n_groups)
    return known[n_groups]


def _group_shares(fit: Fit, people: np.ndarray[tuple[int], np.dtype[np.int64]], groups: int) -> pd.DataFrame:
    """By groups of the respondents given, who are sorted by ability."""
    import pandas as pd

    data, grid, table = fit.responses, fit.grid, fit.table()
    eap, layout, probability = fit.ability_moments()[0], fit.responses.layout, np.exp(table)
    shape = (groups, layout.n_questions)
    chosen, expected = np.zeros((groups, layout.n_rows)), np.zeros((groups, layout.n_rows))
    size, total = np.zeros(shape), np.zeros(shape)
    step = max(1, _BLOCK // max(grid.n_nodes, layout.n_questions))
    for g, members in enumerate(np.array_split(people, groups)):
        weight = np.zeros((layout.n_questions, grid.n_nodes))
        for begin in range(0, len(members), step):
            block = members[begin : begin + step]
            parts = [data.row[data.start[i] : data.start[i + 1]] for i in block]
            lengths = np.array([len(part) for part in parts])
            row, who = np.concatenate(parts), np.repeat(np.arange(len(block)), lengths)
            start = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
            belief = posterior(start, row, table, grid.log_weight, 0, len(block))
            answered = np.zeros((len(block), layout.n_questions))
            answered[who, layout.question[row]] = 1.0
            weight += answered.T @ belief
            size[g] += answered.sum(axis=0)
            total[g] += answered.T @ eap[block]
            chosen[g] += np.bincount(row, minlength=layout.n_rows)
        expected[g] = np.einsum("rk,rk->r", probability, weight[layout.question])
    n = size[:, layout.question]
    with np.errstate(invalid="ignore", divide="ignore"):
        observed, expected, ability = chosen / n, expected / n, (total / size)[:, layout.question]
    rows = np.tile(np.arange(layout.n_rows), groups)
    labels = np.array([label for options in data.options for label in options], dtype=object)
    frame = pd.DataFrame(
        {
            "question": np.array(data.questions, dtype=object)[layout.question[rows]],
            "option": labels[rows],
            "row": rows,
            "group": np.repeat(np.arange(1, groups + 1), layout.n_rows),
            "ability": ability.ravel(),
            "n": n.ravel().astype(np.int64),
            "observed": observed.ravel(),
            "expected": expected.ravel(),
        }
    )
    return frame[frame["n"] > 0].sort_values(["row", "group"], ignore_index=True)
