"""The settled order of a question's options in words: levels where there are some, chains elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import pairwise

from sprite.analysis.order import option_order, partial_order
from sprite.result.fit import Fit


def settled_orders(fit: Fit) -> list[str]:
    """One line a question, as `partial_order` has it; pairs that do not form levels are strung into chains."""
    pairs: dict[str, list[tuple[str, str]]] = {question: [] for question in fit.responses.questions}
    found = option_order(fit)
    for question, a, b, relation in zip(
        found["question"], found["option_a"], found["option_b"], found["relation"], strict=True
    ):
        if relation != "not settled":
            pairs[question].append((a, b) if relation == "a above b" else (b, a))
    order = partial_order(fit)
    return [
        words if levels else ", ".join(" > ".join(chain) for chain in chains(pairs[question], labels))
        for question, words, levels, labels in zip(
            order["question"], order["order"], order["levels"], fit.responses.options, strict=True
        )
    ]


def chains(pairs: Iterable[tuple[str, str]], labels: tuple[str, ...]) -> list[list[str]]:
    """Pairs (above, below) as few long chains, the longest first: together they say what the pairs say, nothing twice.

    B > D, D > A, B > A, D > C becomes B > D > A, D > C.
    """
    left = _reduced(_closed(set(pairs), labels))
    out = []
    while left:
        chain = _longest(left, labels)
        left -= set(pairwise(chain))
        out.append(chain)
    return out


def _closed(pairs: set[tuple[str, str]], labels: tuple[str, ...]) -> set[tuple[str, str]]:
    """With all that follows; what stands both above and below itself, in a circle, is not settled."""
    above = set(pairs)
    for k in labels:
        above |= {(a, b) for a in labels if (a, k) in above for b in labels if (k, b) in above}
    return {(a, b) for a, b in above if a != b and (b, a) not in above}


def _reduced(above: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Without what follows from others."""
    follows = {(a, d) for a, b in above for c, d in above if b == c}
    return above - follows


def _longest(pairs: set[tuple[str, str]], labels: tuple[str, ...]) -> list[str]:
    """The longest chain; of several the one that comes first in label order. There are no circles."""

    @cache  # without it many ways down would be walked again and again
    def down(start: str) -> list[str]:
        below = [down(label) for label in labels if (start, label) in pairs]
        return [start, *max(below, key=len, default=[])]

    return max(map(down, labels), key=len)
