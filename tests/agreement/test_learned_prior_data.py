"""Learned priors on real tests, against numbers reached in other ways."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sprite.data.reading import read
from sprite.data.responses import Responses
from sprite.density.evidence import log_evidence
from sprite.density.information import observed_information
from sprite.engines.base import Problem, silent
from sprite.engines.em import EM, starts
from sprite.engines.learning import learn
from sprite.engines.search import find_modes
from sprite.fitting import fit
from sprite.models.ord import ORD
from sprite.models.sprite import Sprite

DATA = Path(__file__).parents[3] / "shared" / "data"


def answers(name: str) -> Responses:
    folder = DATA / name
    if not folder.is_dir():
        pytest.skip(f"the data are not beside the repository (../shared/data/{name})")
    key = folder / "key.csv"
    return read(folder / "responses.csv", key=key if key.is_file() else None)


@pytest.mark.parametrize(("name", "near"), [("science_likert", 0.52), ("conspiracist2016", 1.51)])
def test_variance_of_ability_is_where_the_likelihood_has_it(name: str, near: float) -> None:
    """With hundreds of respondents the prior on the questions says next to nothing about nu_theta."""
    responses = answers(name)
    found = learn(Problem(responses, ORD(prior="learned")), np.random.default_rng(0), silent).problem.model
    assert isinstance(found, ORD)
    assert found.nu_theta == pytest.approx(near, rel=0.03)
    engine = EM(starts=1, standard_errors=False)
    level = [fit(responses, ORD(prior=None, nu_theta=f * near), engine).log_likelihood for f in (0.9, 1.0, 1.1)]
    assert level[1] > max(level[0], level[2])


def test_what_questions_share_hardly_counts() -> None:
    """The evidence by question against that with the whole information, on SAT12."""
    responses = answers("sat12")
    posterior = Problem(responses, Sprite()).posterior(61)
    mode = find_modes(posterior, starts(1, posterior), np.random.default_rng(0))[0]
    by_question = log_evidence(posterior, mode.x, mode.ranks)[0]
    whole = np.linalg.slogdet(observed_information(posterior, mode.x))[1]
    exact = mode.log_posterior + 0.5 * (len(mode.x) * np.log(2 * np.pi) - whole)
    assert by_question == pytest.approx(exact, abs=3.0)
    assert by_question != pytest.approx(exact, abs=0.1)  # or the two would be one and the same computation


def test_sat12_finds_the_abilities_of_a_real_test() -> None:
    """Under the default the anchors place ability where respondents are not; freed, the likelihood rises by far."""
    responses = answers("sat12")
    found = fit(responses, Sprite(prior="learned"), EM(starts=1))
    assert found.log_likelihood > -18960.0  # -19211.6 under the default
    assert found.learned["mu_z"] == pytest.approx(2.4, abs=0.2)
    centre, variance = found.model.ability
    ability = found.ability_moments()[0]
    assert ability.mean() == pytest.approx(centre, abs=0.05)
    assert ability.var() < variance
