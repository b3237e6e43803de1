"""`option_order`: which options stand above which, and how surely."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from sprite.analysis.curves import curves, pairs_of
from sprite.core.errors import InputError
from sprite.core.types import Bools, Floats
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


def option_order(fit: Fit, level: float = 0.9) -> pd.DataFrame:
    """One row a pair of options of one question, each unordered pair once, in label order.

    question, option_a, option_b
        As you wrote them.
    probability
        That a stands above b: the share of draws in which E[z | a chosen] > E[z | b chosen] (ties count half). With
        no draws it is 1, 0 or 0.5 by the estimate alone.
    settled
        Whether it is at least `level` or at most 1 - `level`.
    relation
        "a above b", "b above a" or "not settled".
    """
    import pandas as pd

    check_level(level)
    data = fit.responses
    pairs = np.array(list(pairs_of(data.layout)), dtype=np.int64).reshape(-1, 3)
    j, a, b = pairs.T
    probability = _above(curves(fit).evidence.mean, a, b)
    up, down = probability >= level, probability <= 1.0 - level
    labels = [label for options in data.options for label in options]
    return pd.DataFrame(
        {
            "question": [data.questions[k] for k in j],
            "option_a": [labels[k] for k in a],
            "option_b": [labels[k] for k in b],
            "probability": probability,
            "settled": up | down,
            "relation": np.where(up, "a above b", np.where(down, "b above a", "not settled")).astype(object),
        }
    )


def partial_order(fit: Fit, level: float = 0.9) -> pd.DataFrame:
    """One row a question: the order of its options that holds at this level, highest first.

    question
        As you wrote it.
    order
        "A > {B, C} > D" where the settled pairs form levels: every option of a level stands above every option of the
        next, and within braces nothing is settled. Where they do not, the settled pairs that do not follow from others,
        in chains: "B > D > A, D > C". Options in braces alone, "{A, B, C}": nothing is settled.
    levels
        Whether it is of the first kind.
    n_settled, n_pairs
        How many pairs are settled (those that follow from others included), and how many there are.
    """
    import pandas as pd

    check_level(level)
    data = fit.responses
    mean = curves(fit).evidence.mean
    lines = []
    for j, labels in enumerate(data.options):
        m = len(labels)
        rows = data.first[j] + np.arange(m)
        a, b = (k.ravel() for k in np.meshgrid(rows, rows, indexing="ij"))
        above = _closure((_above(mean, a, b) >= level).reshape(m, m) & ~np.eye(m, dtype=bool))
        words = _levels(above, labels)
        lines.append(
            (data.questions[j], words or _chains(above, labels), bool(words), int(above.sum()), m * (m - 1) // 2)
        )
    return pd.DataFrame(lines, columns=["question", "order", "levels", "n_settled", "n_pairs"])


def check_level(level: float) -> None:
    """Refuse a level that is no probability above one half."""
    if not 0.5 < level <= 1.0:
        raise InputError("level must be a probability above 0.5 and at most 1", found=level)


def _above(
    mean: Floats, a: np.ndarray[tuple[int], np.dtype[np.int64]], b: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> Floats:
    """Share of draws in which row a's mean is above row b's."""
    gap = mean[:, a] - mean[:, b]
    return np.asarray((0.5 * (np.sign(gap) + 1.0)).mean(axis=0))


def _closure(above: Bools) -> Bools:
    """What follows from the settled pairs; contradictions (a circle of settled pairs) count as not settled."""
    above = above.copy()
    for k in range(len(above)):
        above |= above[:, [k]] & above[[k], :]
    return np.asarray(above & ~above.T & ~np.eye(len(above), dtype=bool))


def _levels(above: Bools, labels: tuple[str, ...]) -> str:
    """The options in levels, or nothing where the pairs do not form levels."""
    depth = above.sum(axis=0)  # how many stand above: the same within a level
    if not np.array_equal(above, depth[:, None] < depth[None, :]):
        return ""
    groups = [[labels[k] for k in np.flatnonzero(depth == d)] for d in np.unique(depth)]
    return " > ".join(g[0] if len(g) == 1 else "{" + ", ".join(g) + "}" for g in groups)


def _chains(above: Bools, labels: tuple[str, ...]) -> str:
    """The settled pairs that do not follow from others, strung into chains, the longest first: B > D > A, D > C."""
    links = above & ~((above.astype(int) @ above.astype(int)) > 0)
    out = []
    while links.any():
        chain = _longest(links)
        links[chain[:-1], chain[1:]] = False
        out.append(" > ".join(labels[k] for k in chain))
    return ", ".join(out)


def _longest(links: Bools) -> list[int]:
    """The longest chain; of several that which comes first in label order. There are no circles."""

    @cache  # without it many ways down would be walked again and again
    def down(start: int) -> list[int]:
        return [start, *max((down(int(k)) for k in np.flatnonzero(links[start])), key=len, default=[])]

    return max(map(down, range(len(links))), key=len)
