"""Other ways to write NRM and GPCM: they give the same probabilities, and say so where a form does not exist."""

from __future__ import annotations

import numpy as np

from sprite.models.gpcm import GPCM, thresholds
from sprite.models.nrm import NRM, first_baseline, key_baseline, locations, mirt_form
from sprite.models.order import steps_of
from tests.cases import ragged_layout

NODES = np.linspace(-3.0, 3.0, 5)


def test_baselines_and_mirts_form_leave_the_probabilities_as_they_are():
    layout = ragged_layout()
    values = NRM().sample(layout, "prior", np.random.default_rng(1))
    table = NRM().log_table(values, NODES, layout)
    for form, base in ((key_baseline, layout.reference), (first_baseline, layout.first[:-1])):
        other = form(values, layout)
        np.testing.assert_allclose(NRM().log_table(other, NODES, layout), table, atol=1e-10)
        assert not other["slope"][base].any()
        assert not other["intercept"][base].any()
    mirt = mirt_form(values, layout)
    several = layout.n_options > 1
    np.testing.assert_allclose(mirt["ak"][layout.first[1:] - 1][several], (layout.n_options - 1)[several])
    slope = np.where(several[layout.question], mirt["ak"] * mirt["a1"][layout.question], 0.0)
    again = NRM().log_table({"slope": slope, "intercept": mirt["d"]}, NODES, layout)
    np.testing.assert_allclose(again, table, atol=1e-10)
    assert np.isnan(mirt["a1"][~several]).all()


def test_locations_and_thresholds_are_undefined_at_slope_zero():
    at = locations({"slope": np.array([2.0, 0.0, -1.0]), "intercept": np.array([1.0, 3.0, -4.0])})
    np.testing.assert_allclose(at, [-0.5, np.nan, -4.0])
    layout = ragged_layout(sizes=(3, 2))
    values = {"slope": np.array([0.5, 0.0]), "step": np.array([1.0, -2.0, 3.0]), "rank": layout.position}
    np.testing.assert_allclose(thresholds(values, layout), [-2.0, 4.0, np.nan])
    # At a threshold the two neighbouring options are equally likely.
    for threshold, step in zip([-2.0, 4.0], range(2), strict=True):
        table = GPCM().log_table(values, np.array([threshold]), layout)[:, 0]
        assert np.isclose(table[step], table[step + 1])
    assert len(steps_of(layout, 1)) == 3
