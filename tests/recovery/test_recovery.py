"""More respondents and more questions bring every model's estimates nearer to the truth."""

from __future__ import annotations

import numpy as np
import pytest

from sprite.density.packing import Packing
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.registry import MODELS
from sprite.simulation import simulate

SIZES = (16, 64)
ABILITIES = np.linspace(-2.0, 2.0, 21)


def errors(name: str, size: int, seed: int, starts: int = 2) -> dict[str, float]:
    """Root mean square errors of abilities, of P(option | ability), of the unconstrained parameters; wrong ranks."""
    responses, truth = simulate(name, size, size, 3, seed=seed)
    found = fit(responses, name, EM(starts=starts, standard_errors=False), seed=seed)
    layout = responses.layout
    curves = [np.exp(found.model.log_table(values, ABILITIES, layout)) for values in (truth.values, found.values)]
    out = {
        "ability": rms(found.ability_moments()[0] - truth.abilities),
        "curve": rms(curves[1] - curves[0]),
        "parameter": rms(found.point - Packing(truth.model, layout).pack(truth.values)),
    }
    if found.point_ranks:
        out["rank"] = float(np.mean(found.point_ranks["rank"] != truth.values["rank"]))
    return out


def rms(gap: np.ndarray) -> float:
    return float(np.sqrt(np.mean(gap**2)))


@pytest.mark.parametrize("name", MODELS)
def test_errors_shrink_as_the_test_grows(name: str) -> None:
    few, many = ([errors(name, size, seed) for seed in (1, 2)] for size in SIZES)
    for what in few[0]:
        before, after = (np.mean([found[what] for found in each]) for each in (few, many))
        print(f"{name} {what}: {before:.3f} -> {after:.3f}")
        assert after < 0.85 * before, what


def test_lord_stands_upright_whatever_the_start() -> None:
    assert errors("lord", 64, seed=1, starts=3)["ability"] < 1.0
