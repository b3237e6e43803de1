"""Options that move within LORD's order: shares stay, the way back undoes it, and the Jacobian is the true one."""

from __future__ import annotations

import numpy as np
import pytest

from sprite.models.intervals import move_option
from sprite.models.lord import LORD
from tests.cases import ragged_layout

LAYOUT = ragged_layout(1)
MEAN, VARIANCE = 0.7, 1.5
MODEL = LORD(mu_theta=MEAN, nu_theta=VARIANCE)


def places(rng):
    return rng.integers(0, LAYOUT.n_options), rng.integers(0, LAYOUT.n_options)


def population_shares(values):
    nodes = np.linspace(-12, 12, 4001)
    weight = np.exp(-0.5 * (nodes - MEAN) ** 2 / VARIANCE) / np.sqrt(2 * np.pi * VARIANCE) * (nodes[1] - nodes[0])
    return np.exp(MODEL.log_table(values, nodes, LAYOUT)) @ weight


@pytest.mark.parametrize("seed", range(5))
def test_shares_stay_and_the_way_back_undoes_it(seed):
    rng = np.random.default_rng(seed)
    values = MODEL.sample(LAYOUT, "prior", rng)
    source, target = places(rng)
    moved, log_jacobian = move_option(values, source, target, MODEL.ability, LAYOUT)
    possible = np.isfinite(log_jacobian)
    assert not possible[source == target].any()
    np.testing.assert_allclose(population_shares(moved), population_shares(values), atol=1e-10)
    back, of_back = move_option(moved, target, source, MODEL.ability, LAYOUT)
    both = possible & np.isfinite(of_back)
    assert both.any()
    np.testing.assert_array_equal(back["rank"][both[LAYOUT.question]], values["rank"][both[LAYOUT.question]])
    np.testing.assert_allclose(back["alpha"][both], values["alpha"][both], atol=1e-6)
    np.testing.assert_allclose(of_back[both], -log_jacobian[both], atol=1e-6)
    for j, (a, b) in enumerate(zip(source, target, strict=True)):
        own = slice(LAYOUT.first[j], LAYOUT.first[j + 1])
        before, after = np.argsort(values["rank"][own]).tolist(), np.argsort(moved["rank"][own]).tolist()
        if possible[j]:
            before.insert(b, before.pop(a))
        assert after == before


def test_jacobian_is_that_of_the_bounds():
    """By differences, in the question of five options: alpha and its three bounds."""
    rng = np.random.default_rng(3)
    j = int(np.flatnonzero(LAYOUT.n_options == 5)[0])
    values = MODEL.sample(LAYOUT, "exam", rng)
    question = next(p for p in MODEL.parameters(LAYOUT) if p.name == "gamma").question
    bounds = {"alpha": np.arange(7) == j, "gamma": question == j}
    source, target = np.full(7, 3), np.full(7, 0)

    def image(step):
        shifted = dict(values)
        for name, at in bounds.items():
            part, step = np.split(step, [at.sum()])
            shifted[name] = values[name].copy()
            shifted[name][at] += part
        moved, log_jacobian = move_option(shifted, source, target, MODEL.ability, LAYOUT)
        return np.concatenate([moved[name][at] for name, at in bounds.items()]), log_jacobian[j]

    size = 1e-5
    steps = size * np.eye(4)
    matrix = np.array([(image(step)[0] - image(-step)[0]) / (2 * size) for step in steps])
    assert image(np.zeros(4))[1] == pytest.approx(np.linalg.slogdet(matrix)[1], abs=1e-6)
    assert abs(image(np.zeros(4))[1]) > 0.01  # a Jacobian of 1 would show nothing
