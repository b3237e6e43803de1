"""`short_form`: joint information against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sprite.analysis.questions import questions
from sprite.analysis.short_form import _best, _Panel, short_form
from sprite.core.errors import InputError
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.nrm import NRM
from sprite.models.registry import MODELS
from sprite.simulation import simulate
from tests.unit.test_analysis_options import awkward, fit_at, some


def _joint(of, chosen: tuple[int, ...]) -> tuple[float, float]:
    """I(Z; answers) in bits and the average posterior sd, by enumerating all answer patterns."""
    layout, grid = of.responses.layout, of.grid
    p, w = np.exp(of.table()), np.exp(grid.log_weight)
    bits = sd = 0.0
    for rows in itertools.product(*(range(layout.first[j], layout.first[j + 1]) for j in chosen)):
        given = np.prod([p[r] for r in rows], axis=0)
        share = given @ w
        bits += np.sum(w * given * np.log2(given / share))
        post = w * given / share
        mean = post @ grid.nodes
        sd += share * np.sqrt(post @ (grid.nodes - mean) ** 2)
    return float(bits), float(sd)


def test_joint_information_agrees_with_enumeration() -> None:
    values = {
        "slope": [1.0, -1.0, 0.8, -0.8, 0.6, 0.0, -0.6, 0.3, -0.3],
        "intercept": [0.5, -0.5, 0.4, -0.4, 0.5, 0.0, -0.5, 0.0, 0.0],
    }
    of = fit_at(some(30, (2, 2, 3, 2)), NRM(), values)
    table = short_form(of, 4)
    chosen: list[int] = []
    for line in table.itertuples():
        rest = [j for j in range(4) if j not in chosen]
        chosen.append(max(rest, key=lambda j: _joint(of, (*chosen, j))[0]))
        assert line.question == of.responses.questions[chosen[-1]]
        bits, sd = _joint(of, tuple(chosen))
        assert line.bits_total == pytest.approx(bits, rel=0.02)
        assert line.sd == pytest.approx(sd, rel=0.02)
    assert table.bits_added[0] == pytest.approx(questions(of).bits.max(), rel=1e-9)
    assert np.allclose(table.bits_added.cumsum(), table.bits_total)
    assert table.share_of_full.iloc[-1] == pytest.approx(1.0)
    assert table.loss_sd.iloc[-1] == pytest.approx(0.0, abs=1e-12)


def test_a_part_is_measured_against_the_whole() -> None:
    of = fit(simulate("nrm", 150, 12, 4, seed=2).responses, "nrm", EM(starts=1, draws=10))
    part, whole = short_form(of, 5), short_form(of, 12)
    assert part.question.tolist() == whole.question[:5].tolist()
    assert part.share_of_full.iloc[-1] == pytest.approx(whole.share_of_full[4], rel=0.02)
    assert (whole.bits_added.diff().dropna() < 1e-9).all()  # each adds less than the one before
    assert (whole.sd.diff().dropna() < 0.005).all()
    assert part.loss_sd.iloc[-1] > 0
    assert part.position.tolist() == [1, 2, 3, 4, 5]


def test_looking_again_only_where_needed_changes_nothing() -> None:
    of = fit(simulate("sprite", 150, 40, 4, seed=3).responses, "sprite", EM(starts=1, standard_errors=False))
    panel = _Panel(np.exp(of.table()), of.grid, of.responses.layout)
    bound, left = np.full(40, np.inf), list(range(40))
    for _ in range(8):
        gains = panel.gains(np.array(left))
        j = _best(panel, bound)
        assert j == left[int(np.argmax(gains))]
        assert bound[j] == pytest.approx(gains.max())
        panel.learn(j)
        bound[j] = -np.inf
        left.remove(j)


@pytest.mark.parametrize("name", MODELS)
def test_every_model(name: str) -> None:
    of = awkward(name)
    table = short_form(of, 6)
    assert set(table.question) == set(of.responses.questions)
    assert table.question.iloc[-1] == "Q4"  # its only option tells nothing
    assert table.bits_added.iloc[-1] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("n", [0, 7, 2.5, True])
def test_number_of_questions_must_be_possible(n: int) -> None:
    with pytest.raises(InputError, match="from 1 to 6"):
        short_form(awkward("nrm"), n)
