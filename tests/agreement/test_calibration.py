"""Simulation-based calibration, reduced: the ranks of the truth are uniform, and a wrong sampler is found out.

The full version is `python -m sprite.experiments.calibration`; its numbers are in docs/calibration.md.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sprite.engines import gibbs
from sprite.engines.gibbs import Gibbs
from sprite.engines.metropolis import Metropolis
from sprite.engines.nuts import NUTS
from sprite.engines.relocate import Survey
from sprite.experiments.calibration import calibrate, leans, side_by_side, uniformity
from sprite.models.lord import LORD
from sprite.models.registry import model_of
from sprite.models.sprite import Sprite

ALERT, FAIL = 0.05, 0.002
"""Levels of the p-value that takes all quantities of a pair into account."""
GIBBS = Gibbs(chains=2, draws=320, warmup=100, starts=1)
LIGHT = Sprite(alpha=3.0, beta=2.0)
"""Variances with lighter tails than the default's, so that few draws suffice for engines that move slowly."""


def smallest(ranks: pd.DataFrame) -> float:
    found = uniformity(ranks)
    p = float(found["p"].min())
    if p < ALERT:
        print("ALERT: ranks are hardly uniform", found.to_string(), sep="\n")
    return p


@pytest.mark.parametrize(
    ("model", "engine", "replications", "together"),
    [
        (Sprite(), GIBBS, 60, 60),
        (model_of("nrm"), GIBBS, 40, 40),
        (model_of("gpcm"), GIBBS, 40, 40),
        (model_of("ord"), GIBBS, 30, 30),
        (LORD(nu_alpha=1.0, nu_gamma=1.0), Gibbs(chains=2, draws=160, warmup=60, starts=2), 12, 1),
        (LIGHT, NUTS(chains=1, draws=130, warmup=100, starts=1), 10, 5),
        (LIGHT, Metropolis(chains=1, warmup=1000, draws=3000, thin=20), 10, 5),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_ranks_are_uniform(model, engine, replications, together) -> None:
    ranks = calibrate(model, engine, 20, 3, 3, replications, seed=1, together=together, draws=31)
    assert set(ranks["draws"]) == {31}
    assert ranks["replication"].nunique() >= 0.4 * replications
    assert smallest(ranks) > FAIL


@pytest.mark.parametrize("wrong", [False, True])
def test_relocation_that_forgets_its_proposal_density_is_found_out(wrong, monkeypatch) -> None:
    """With every option offered places in every sweep; the right one passes in the same settings."""
    monkeypatch.setattr(gibbs, "RELOCATE_ALL_EVERY", 1)
    monkeypatch.setattr(gibbs, "SURVEY_AT", ())
    if wrong:
        monkeypatch.setattr(Survey, "log_density", lambda survey, rows, at: np.zeros(rows.shape))
    engine = Gibbs(chains=1, draws=160, warmup=50, starts=1)
    p = smallest(calibrate("sprite", engine, 20, 3, 3, 120, seed=1, together=120, draws=31))
    assert p < FAIL if wrong else p > FAIL


def test_uniform_ranks_pass_and_others_do_not() -> None:
    rng = np.random.default_rng(0)

    def frame(rank: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame({"quantity": "a", "rank": rank, "draws": 63, "ess": 63.0})

    passed = [float(uniformity(frame(rng.integers(0, 64, 100)), 400)["p"].iloc[0]) for _ in range(40)]
    assert np.mean(np.array(passed) < 0.05) < 0.2
    shapes = [rng.beta(0.5, 0.5, 100), rng.beta(2.5, 2.5, 100), rng.beta(1.0, 1.8, 100)]
    assert all(uniformity(frame((64 * shape).astype(int)), 400)["p"].iloc[0] < 0.01 for shape in shapes)


def test_tests_side_by_side_keep_their_truth() -> None:
    tests = side_by_side(model_of("gpcm"), 10, 3, 3, [(0, 0), (0, 1)])
    alone = side_by_side(model_of("gpcm"), 10, 3, 3, [(0, 1)])
    half = len(alone.x)
    np.testing.assert_array_equal(tests.x[half:], alone.x)
    np.testing.assert_array_equal(tests.abilities[10:], alone.abilities)
    assert tests.responses.n_answers == 60
    np.testing.assert_array_equal(tests.responses.row[30:] - 9, alone.responses.row)
    np.testing.assert_array_equal(tests.responses.layout.rank[9:], alone.responses.layout.rank)
    # A reflected test leans the other way.
    signs = np.where(np.isin(np.arange(half) % 3, 0), -1.0, 1.0)  # slope, step, step
    one, other = (leans(alone, x[None], {}) for x in (alone.x, signs * alone.x))
    np.testing.assert_allclose(one, -other, atol=1e-9)


def test_the_result_does_not_depend_on_the_processes() -> None:
    engine = Gibbs(chains=1, draws=30, warmup=20, starts=1)
    one, two = (calibrate("nrm", engine, 8, 2, 3, 4, jobs=jobs, together=2, draws=15) for jobs in (1, 2))
    pd.testing.assert_frame_equal(one, two)
