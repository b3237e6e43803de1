"""`option_order` and `partial_order`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest

from sprite.analysis.curves import curves
from sprite.analysis.order import _chains, _closure, _levels, option_order, partial_order
from sprite.core.errors import InputError
from sprite.models.nrm import NRM
from sprite.models.registry import MODELS
from tests.unit.test_analysis_options import awkward, fit_at, some


def _drawn(slopes: list[list[float]]):
    draws = [{"slope": s, "intercept": np.zeros(len(s))} for s in slopes]
    return fit_at(some(20, (len(slopes[0]),)), NRM(), draws[0], draws=draws)


def test_probability_is_the_share_of_draws_and_ties_count_half() -> None:
    # With equal intercepts E[z | k] goes in the order of the slopes.
    of = _drawn([[1, 0, -1]] * 7 + [[0, 1, -1]] * 2 + [[0.5, 0.5, -1]])
    table = option_order(of)
    assert table[["option_a", "option_b"]].to_numpy().tolist() == [["A", "B"], ["A", "C"], ["B", "C"]]
    assert np.allclose(table.probability, [0.75, 1.0, 1.0])
    assert table.settled.tolist() == [False, True, True]
    assert table.relation.tolist() == ["not settled", "a above b", "a above b"]
    assert option_order(of, level=0.7).relation[0] == "a above b"
    assert partial_order(of).order.tolist() == ["{A, B} > C"]
    assert partial_order(of, level=0.7).order.tolist() == ["A > B > C"]


def test_lower_option_first_in_label_order() -> None:
    of = _drawn([[-1, 0, 1]] * 10)
    table = option_order(of)
    assert (table.probability == 0).all()
    assert (table.relation == "b above a").all()
    assert partial_order(of).order[0] == "C > B > A"


def test_without_draws_the_estimate_decides() -> None:
    of = fit_at(some(20, (2, 1)), NRM(), {"slope": [1, -1, 0], "intercept": [0, 0, 0]})
    assert option_order(of).probability.tolist() == [1.0]
    assert partial_order(of).order.tolist() == ["A > B", "A"]


def test_pairs_that_form_no_levels_are_listed() -> None:
    above = np.zeros((4, 4), bool)
    above[0, 2] = above[1, 2] = above[1, 3] = True
    assert _levels(_closure(above), tuple("ABCD")) == ""
    assert _chains(_closure(above), tuple("ABCD")) == "A > C, B > C, B > D"
    chain = np.zeros((3, 3), bool)
    chain[0, 1] = chain[1, 2] = True
    assert _levels(_closure(chain), tuple("ABC")) == "A > B > C"
    assert _chains(_closure(chain), tuple("ABC")) == "A > B > C"  # A > C follows
    assert _levels(np.zeros((2, 2), bool), ("A", "B")) == "{A, B}"


def test_a_circle_settles_nothing() -> None:
    circle = np.zeros((3, 3), bool)
    circle[0, 1] = circle[1, 2] = circle[2, 0] = True
    assert not _closure(circle).any()


@pytest.mark.parametrize("name", MODELS)
def test_every_model(name: str) -> None:
    of = awkward(name)
    table = option_order(of)
    assert len(table) == sum(m * (m - 1) // 2 for m in of.responses.layout.n_options)
    assert table.probability.between(0, 1).all()
    mean = curves(of).estimate.mean
    first = of.responses.first
    sure = table[table.settled & (table.question == "Q2")]
    for line in sure.itertuples():
        a, b = (first[1] + of.responses.options[1].index(label) for label in (line.option_a, line.option_b))
        assert (mean[a] > mean[b]) == (line.relation == "a above b")
    assert (partial_order(of).n_pairs == [1, 10, 6, 0, 3, 6]).all()


def test_level_must_be_a_probability() -> None:
    with pytest.raises(InputError, match="level must be"):
        option_order(awkward("nrm"), level=0.4)


def test_settled_pairs_are_strung_into_chains() -> None:
    assert _strung("AE BD DA DC BA BE BC DE") == "B > D > A > E, D > C"
    assert _strung("AC BC") == "A > C, B > C"
    assert _strung("AB BC CA DE") == "D > E"  # a circle settles nothing
    assert _strung("") == ""


def test_chains_say_what_the_pairs_say_and_nothing_twice() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        pairs = {(a, b) for a in range(7) for b in range(a + 1, 7) if rng.random() < 0.4}
        chains = _chains(_closure(_matrix(pairs, 7)), tuple("ABCDEFG"))
        links = [("ABCDEFG".index(a), "ABCDEFG".index(b)) for chain in chains.split(", ") for a, b in _links(chain)]
        assert len(links) == len(set(links))
        assert (_closure(_matrix(links, 7)) == _closure(_matrix(pairs, 7))).all()
        for link in links:
            fewer = _closure(_matrix(set(links) - {link}, 7))
            assert (fewer != _closure(_matrix(pairs, 7))).any()


def _strung(pairs: str) -> str:
    return _chains(
        _closure(_matrix([("ABCDE".index(a), "ABCDE".index(b)) for a, b in pairs.split()], 5)), tuple("ABCDE")
    )


def _matrix(pairs: Iterable[tuple[int, int]], n: int) -> np.ndarray:
    above = np.zeros((n, n), bool)
    for a, b in pairs:
        above[a, b] = True
    return above


def _links(chain: str) -> Iterable[tuple[str, str]]:
    return pairwise(chain.split(" > "))
