"""`short_form`: the questions that together tell most about ability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import xlogy

from sprite.core.errors import InputError
from sprite.core.layout import Layout
from sprite.core.types import Floats, Ints
from sprite.density.grid import Grid
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

RESPONDENTS = 2000
"""Simulated respondents over whom joint information is averaged."""
_SEED = 20150601
_AT_ONCE = 16  # candidates looked at together


def short_form(fit: Fit, n: int) -> pd.DataFrame:
    """The `n` questions that together tell most about ability, one row each, in the order in which they were chosen.

    position, question
        1 for the question chosen first; the question as you wrote it.
    bits_added
        What it tells beyond those chosen before it: I(Z; Y | those), in bits.
    bits_total
        What those chosen so far tell together: I(Z; Y_1, ..., Y_position).
    share_of_full
        bits_total as a part of what all questions tell together.
    sd, loss_sd
        Average posterior standard deviation of ability after these questions, and by how much it exceeds that after
        all of them.

    Greedy: each question is the one that adds most to those already chosen (the first is the one with most bits). Joint
    information is averaged over the posteriors of 2000 respondents simulated from the estimate, always the same ones.
    """
    import pandas as pd

    data = fit.responses
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= data.n_questions:
        raise InputError(f"short_form(n) takes a whole number from 1 to {data.n_questions}", found=n)
    state = _Panel(np.exp(fit.table()), fit.grid, data.layout)
    bound = np.full(data.n_questions, np.inf)
    chosen: list[int] = []
    added, sd = [], []
    for _ in range(int(n)):
        j = _best(state, bound)
        chosen.append(j)
        added.append(bound[j])
        state.learn(j)
        sd.append(state.sd())
        bound[j] = -np.inf
    full = float(np.sum(added))
    for j in sorted(set(range(data.n_questions)) - set(chosen)):
        full += float(state.gains(np.array([j]))[0])
        state.learn(j)
    total = np.cumsum(added)
    return pd.DataFrame(
        {
            "position": np.arange(1, n + 1),
            "question": [data.questions[j] for j in chosen],
            "bits_added": added,
            "bits_total": total,
            "share_of_full": total / full if full > 0 else np.full(int(n), np.nan),
            "sd": sd,
            "loss_sd": np.asarray(sd) - state.sd(),
        }
    )


def _best(state: _Panel, bound: Floats) -> int:
    """The question that adds most; `bound` holds what each added when last looked at and is brought up to date.

    Given ability the answers are independent, so a question adds less the more is known: what it added earlier is an
    upper bound, and only questions whose bound exceeds the best found need be looked at again.
    """
    order = np.argsort(-bound, kind="stable")
    best, found = -1, -np.inf
    for begin in range(0, len(order), _AT_ONCE):
        block = order[begin : begin + _AT_ONCE]
        block = block[bound[block] > max(found, -1.0)]
        if not len(block):
            break
        bound[block] = state.gains(block)
        leader = int(block[np.argmax(bound[block])])
        if bound[leader] > found:
            best, found = leader, float(bound[leader])
    return best


class _Panel:
    """Simulated respondents with their answers, and what is known of their abilities so far."""

    def __init__(self, probability: Floats, grid: Grid, layout: Layout) -> None:
        rng = np.random.default_rng(_SEED)
        weight = np.exp(grid.log_weight)
        self.probability, self.nodes, self.layout = probability, grid.nodes, layout
        # Abilities at even steps of the prior's distribution function; answers by inverting each question's.
        place = (np.arange(RESPONDENTS) + 0.5) / RESPONDENTS
        node = np.minimum(np.searchsorted(np.cumsum(weight), place), grid.n_nodes - 1)
        self.node = node
        self.chance = rng.random((layout.n_questions, RESPONDENTS))
        self.posterior = np.broadcast_to(weight, (RESPONDENTS, grid.n_nodes)).copy()
        self.negentropy = layout.sum_by_question(np.asarray(xlogy(probability, probability), float).T).T

    def gains(self, questions: Ints) -> Floats:
        """I(Z; Y_j | answers so far) in bits for some questions: the mean over respondents of H(Y_j) - H(Y_j | Z)."""
        rows = np.concatenate([np.arange(*self.layout.first[j : j + 2]) for j in questions])
        size = self.layout.n_options[questions]
        first = np.concatenate([[0], np.cumsum(size)])
        share = self.posterior @ self.probability[rows].T
        entropy = -xlogy(share, share).mean(axis=0)
        total = np.concatenate([[0.0], np.cumsum(entropy)])
        known = self.posterior.mean(axis=0) @ self.negentropy[questions].T
        return np.asarray(np.maximum(total[first[1:]] - total[first[:-1]] + known, 0.0) / np.log(2.0))

    def learn(self, j: int) -> None:
        """Everyone answers question j."""
        rows = slice(self.layout.first[j], self.layout.first[j + 1])
        if rows.start == rows.stop:
            return
        curve = self.probability[rows]
        passed = np.cumsum(curve, axis=0)[:, self.node] < self.chance[j]
        answer = np.minimum(passed.sum(axis=0), len(curve) - 1)
        self.posterior *= curve[answer]
        self.posterior /= self.posterior.sum(axis=1, keepdims=True)

    def sd(self) -> float:
        """Average posterior standard deviation."""
        mean = self.posterior @ self.nodes
        variance = self.posterior @ self.nodes**2 - mean**2
        return float(np.sqrt(np.maximum(variance, 0.0)).mean())
