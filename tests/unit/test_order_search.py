"""LORD's search for orders, on tests whose key says little about them: a hard place to begin."""

from __future__ import annotations

import numpy as np
import pytest

from sprite.engines.base import Problem
from sprite.engines.em import starts
from sprite.engines.search import climb, find_modes
from sprite.engines.upright import upright_start
from sprite.models.lord import LORD
from sprite.models.registry import MODELS
from sprite.simulation import simulate


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_finds_orders_about_as_good_as_the_true_ones(seed: int) -> None:
    responses, truth = simulate(LORD(nu_alpha=2.0, nu_gamma=1.5, nu_theta=0.5), 400, 20, 4, kind="prior", seed=seed)
    posterior = Problem(responses, LORD()).posterior(41)
    rank = np.asarray(truth.values["rank"], np.int64)
    true = climb(posterior, posterior.packing.pack(truth.values), {"rank": rank}, "truth")
    rng = np.random.default_rng(seed)
    found = upright_start(posterior, find_modes(posterior, starts(2, posterior), rng), rng)
    print(f"{found.log_posterior - true.log_posterior:+.1f} against the search from the truth")
    assert found.log_posterior > true.log_posterior - 5.0


def test_options_nobody_chose_may_stand_on_top() -> None:
    """Half of the options here. With all of them lowest, every start ended 200 and more below where the truth leads."""
    responses, truth = simulate(LORD(), 44, 143, 11, kind="prior", observed=0.51, seed=0)
    assert (responses.count == 0).mean() > 0.5
    posterior = Problem(responses, LORD()).posterior(61)
    rank = np.asarray(truth.values["rank"], np.int64)
    true = climb(posterior, posterior.packing.pack(truth.values), {"rank": rank}, "truth")
    found = find_modes(posterior, starts(3, posterior), np.random.default_rng(0))
    print([f"{mode.start} {mode.log_posterior - true.log_posterior:+.1f}" for mode in found])
    assert found[0].log_posterior > true.log_posterior - 150.0


@pytest.mark.parametrize("name", ["gpcm", "ord"])
def test_an_empirical_order_is_the_same_wherever_the_search_begins(name: str) -> None:
    """Of a test whose key says nothing, so that scores with and without it differ."""
    data = simulate("sprite", 80, 12, 4, kind="prior", seed=3).responses
    model = MODELS[name](order="empirical")
    posterior = Problem(data, model).posterior(61)
    for begin in starts(5, posterior):
        for mode in find_modes(posterior, [begin], np.random.default_rng(0)):
            assert mode.ranks == {}
            again = posterior.evaluate(mode.x, posterior.packing.fixed_ranks)
            assert again.value == pytest.approx(mode.log_posterior)
