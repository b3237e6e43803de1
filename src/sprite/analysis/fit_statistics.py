"""How well the model reproduces the answers to each question along ability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from sprite.core.layout import Layout
from sprite.core.types import Floats, Ints
from sprite.kernels.draws import draw_counts
from sprite.result.abilities import tables, thinned
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

GROUPS = 6
REPLICATES = 200
SURPRISING = 0.05
_SEED = 0


def fit_statistics(fit: Fit) -> pd.DataFrame:
    """One row a question: a posterior predictive check of its option shares along ability.

    For each of 200 draws of the parameters every respondent's ability is drawn from its posterior, and for the same
    abilities new answers are drawn from the model. Respondents are taken in six groups of ability; the discrepancy is
    the sum over groups and options of (chosen - expected)^2 / (expected + 1/2).

    question, n
        Its name, and how many answered it.
    chi2, chi2_expected
        Mean discrepancy of the observed answers, and of answers that the model made.
    groups
        Ability groups compared (1 is the lowest), equally many respondents each under the model's distribution.
    p_value
        Share of draws in which the made answers fit no better than the observed ones. Near 0: the model does not
        reproduce this question. Under a true model such values are not uniform but nearer to 1/2, so a small one is
        strong evidence. With many questions some are small by chance. NaN where nobody answered the question.
    worst_option, worst_group
        Where chosen and expected differ most, in standard deviations.
    observed, expected
        The option's share in that group, and the model's; NaN where nobody answered the question.
    message
        The same in words.
    """
    import pandas as pd

    layout = fit.responses.layout
    chosen, expected, of_observed, of_made = _replicate(fit, layout)
    p_value = (of_made >= of_observed).mean(axis=0)
    people = layout.sum_by_question(chosen.T).T  # groups within question: (questions, groups)
    residual = np.abs(chosen - expected) / np.sqrt(expected + 0.5)
    rows = []
    for j, question in enumerate(fit.responses.questions):
        low, high = layout.first[j], layout.first[j + 1]
        n = int(layout.count[low:high].sum())
        row: dict[str, object] = {
            "question": question,
            "n": n,
            "chi2": of_observed[:, j].mean(),
            "chi2_expected": of_made[:, j].mean(),
            "groups": GROUPS,
            "p_value": p_value[j] if n else np.nan,
            "worst_option": None,
            "worst_group": pd.NA,
            "observed": np.nan,
            "expected": np.nan,
            "message": "nobody answered it",
        }
        if n:
            at, group = np.unravel_index(int(residual[low:high].argmax()), (high - low, GROUPS))
            size = people[j, group]
            option = fit.responses.options[j][at]
            shares = float(chosen[low + at, group] / size), float(expected[low + at, group] / size)
            row |= {"worst_option": option, "worst_group": int(group) + 1, "observed": shares[0], "expected": shares[1]}
            row["message"] = _message(float(p_value[j]), option, int(group), *shares)
        rows.append(row)
    return pd.DataFrame(rows).astype({"worst_group": "Int64", "worst_option": object})


def _replicate(fit: Fit, layout: Layout) -> tuple[Floats, Floats, Floats, Floats]:
    """Mean chosen and expected numbers by row and group; discrepancies of observed and of made answers by draw."""
    rng = np.random.default_rng(_SEED)
    grid = fit.grid
    group = _groups(fit, grid.nodes)
    responses = fit.responses
    chosen, expected = np.zeros((2, layout.n_rows, GROUPS))
    of_observed, of_made = np.empty((2, REPLICATES, layout.n_questions))
    which = np.resize(thinned(fit, REPLICATES), REPLICATES)
    for d, table in enumerate(tables(fit, which)):
        uniform = rng.random(responses.n_respondents)
        _, counts = draw_counts(responses.start, responses.row, table, grid.log_weight, uniform)
        probability = np.exp(table)
        # Given abilities, a question's answers at a node are multinomial: their number is all that N enters by.
        answered = layout.sum_by_question(counts.T).T
        made = _made(answered, probability, layout, rng)
        means = (answered[layout.question] * probability) @ group
        observed = counts @ group
        of_observed[d] = _discrepancy(observed, means, layout)
        of_made[d] = _discrepancy(made @ group, means, layout)
        chosen += observed / REPLICATES
        expected += means / REPLICATES
    return chosen, expected, of_observed, of_made


def _made(answered: Floats, probability: Floats, layout: Layout, rng: np.random.Generator) -> Floats:
    """Numbers of answers drawn from the model, by row and node."""
    made = np.zeros_like(probability)
    n = answered.round().astype(np.int64)
    for j in range(layout.n_questions):
        rows = slice(layout.first[j], layout.first[j + 1])
        busy = np.flatnonzero(n[j])
        if len(busy):
            shares = probability[rows, busy].T
            made[rows, busy] = rng.multinomial(n[j, busy], shares / shares.sum(axis=1, keepdims=True)).T
    return made


def _discrepancy(chosen: Floats, expected: Floats, layout: Layout) -> Floats:
    return layout.sum_by_question(((chosen - expected) ** 2 / (expected + 0.5)).sum(axis=1))


def _groups(fit: Fit, nodes: Floats) -> Floats:
    """Which group each node is in, as a (nodes, groups) matrix of zeros and ones."""
    mean, variance = fit.model.ability
    cuts = norm.ppf(np.arange(1, GROUPS) / GROUPS, mean, np.sqrt(variance))
    group: Ints = np.searchsorted(cuts, nodes)
    return np.eye(GROUPS)[group]


def _message(p_value: float, option: str, group: int, observed: float, expected: float) -> str:
    where = f"option {option!r} was chosen by {observed:.0%} in ability group {group + 1} of {GROUPS}"
    if p_value < SURPRISING:
        return f"the model does not reproduce this question: {where} where it expects {expected:.0%}"
    return f"no sign of misfit; the largest difference: {where}, expected {expected:.0%}"
