"""Predictions against brute force, in whatever pieces they are asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sprite.analysis.predict import predict
from sprite.core.errors import InputError
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.result.fit import Fit
from sprite.simulation import simulate

FINE = np.linspace(-7.0, 7.0, 4001)


@pytest.fixture(scope="module")
def simulated():
    return simulate("sprite", 60, 7, [4, 3, 5, 2, 4, 4, 3], observed=0.8, seed=4)


@pytest.fixture(scope="module")
def fitted(simulated) -> Fit:
    return fit(simulated.responses, "sprite", EM(starts=1, draws=12))


def by_brute_force(fitted: Fit, values: dict, respondent: str, question: str) -> np.ndarray:
    """P(option | the respondent's answers) on 4,001 points."""
    mean, variance = fitted.model.ability
    responses = fitted.responses
    table = fitted.model.log_table(values, mean + np.sqrt(variance) * FINE, responses.layout)
    i = responses.respondents.tolist().index(respondent)
    j = responses.questions.index(question)
    rows = responses.row[responses.start[i] : responses.start[i + 1]]
    density = np.exp(table[rows].sum(axis=0) - 0.5 * FINE**2)
    return np.exp(table[responses.first[j] : responses.first[j + 1]]) @ (density / density.sum())


@pytest.mark.parametrize("model", ["sprite", "nrm", "gpcm", "ord", "lord"])
def test_every_unobserved_cell_and_no_other(simulated, model):
    fitted = fit(simulated.responses, model, EM(starts=1, draws=0, standard_errors=False))
    frame = predict(fitted)
    assert list(frame.columns) == ["respondent", "question", "option", "probability", "is_mode"]
    answers = simulated.responses.to_frame()
    observed = set(zip(answers.respondent, answers.question, strict=True))
    predicted = frame[["respondent", "question"]].drop_duplicates().itertuples(index=False, name=None)
    everything = {(r, q) for r in simulated.responses.respondents.tolist() for q in simulated.responses.questions}
    assert set(predicted) == everything - observed
    cells = frame.groupby(["respondent", "question"], sort=False)
    np.testing.assert_allclose(cells.probability.sum(), 1.0, atol=1e-9)
    assert (cells.is_mode.sum() == 1).all()
    np.testing.assert_array_equal(frame[frame.is_mode].probability, cells.probability.max())
    for (respondent, question), cell in list(cells)[::25]:
        expected = by_brute_force(fitted, fitted.values, respondent, question)
        np.testing.assert_allclose(cell.probability, expected, atol=1e-5)
        assert cell.option.tolist() == list(simulated.responses.options[simulated.responses.questions.index(question)])


def test_averages_over_draws_of_the_parameters(fitted):
    frame = predict(fitted)
    respondent, question = frame.respondent[0], frame.question[0]
    each = [
        by_brute_force(fitted, {name: value[0, d] for name, value in fitted.draws.items()}, respondent, question)
        for d in range(fitted.n_draws)
    ]
    found = frame[(frame.respondent == respondent) & (frame.question == question)].probability
    np.testing.assert_allclose(found, np.mean(each, axis=0), atol=1e-5)
    assert np.std(each, axis=0).max() > 1e-3


def test_prediction_follows_ability(simulated, fitted):
    """The abler of two respondents is likelier to be correct: a reflected scale would turn that round."""
    frame = predict(fitted, [(name, "Q1") for name in simulated.responses.respondents.tolist()])
    key = simulated.responses.key["Q1"][0]
    of_key = frame[frame.option == key].probability.to_numpy()
    assert np.corrcoef(of_key, fitted.ability_moments()[0])[0, 1] > 0.7


def test_pieces_make_the_whole(fitted):
    whole = predict(fitted)
    n_cells = len(whole[["respondent", "question"]].drop_duplicates())
    for chunk in (1, 10, 1000):
        pieces = list(predict(fitted, chunk=chunk))
        sizes = [len(piece[["respondent", "question"]].drop_duplicates()) for piece in pieces]
        assert max(sizes) <= chunk
        assert len(pieces) == -(-n_cells // chunk)
        together = pd.concat(pieces, ignore_index=True)
        pd.testing.assert_frame_equal(together, whole, rtol=1e-12)


def test_chosen_cells_keep_their_order_and_may_be_observed(simulated, fitted):
    cells = [("r9", "Q3"), ("r2", "Q1"), ("r9", "Q1"), ("r2", "Q1")]
    frame = predict(fitted, cells)
    assert len(frame) == 5 + 4 + 4 + 4
    assert frame.respondent.tolist()[:6] == ["r9"] * 5 + ["r2"]
    np.testing.assert_array_equal(frame.probability[5:9], frame.probability[13:17])
    parts = pd.concat(predict(fitted, cells, chunk=3), ignore_index=True)
    pd.testing.assert_frame_equal(parts, frame, rtol=1e-12)
    assert len(predict(fitted, [])) == 0


def test_nothing_is_missing():
    complete = fit(simulate("nrm", 30, 3, 3, seed=1).responses, "nrm", EM(starts=1, draws=3))
    assert list(predict(complete).columns) == ["respondent", "question", "option", "probability", "is_mode"]
    assert len(predict(complete)) == 0


def test_unknown_names_are_refused(fitted):
    with pytest.raises(InputError, match="no respondent called 'nobody'"):
        predict(fitted, [("nobody", "Q1")])
    with pytest.raises(InputError, match="no question called 'Q0'"):
        predict(fitted, [("r1", "Q0")])
    with pytest.raises(InputError, match="pairs"):
        predict(fitted, [("r1", "Q1", "A")])
    with pytest.raises(InputError, match="chunk >= 1"):
        predict(fitted, chunk=0)
