"""What the paper's sampler achieves: one joint decision beside half-sweeps, on the shape of the algebra test.

    python benchmarks/metropolis.py [iterations]

`iterations` are the draws after the warm-up (default 10,000), the warm-up half as many, of 2 chains each. Prints a
Markdown table.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from arviz_stats.base.array import BaseArray

from sprite.engines.base import Problem
from sprite.engines.metropolis import Metropolis
from sprite.models.sprite import Sprite
from sprite.simulation import simulate

RESPONDENTS, QUESTIONS, OPTIONS = 99, 34, 5
UNIT = {"step_z": 1.0, "step_mu": 1.0, "shape_nu": 2.0}
SMALL = {"step_z": 0.2, "step_mu": 0.05, "shape_nu": 20.0}
ROWS = {
    "joint, steps 1, 1, 2": {"joint": True} | UNIT,
    "joint, steps 0.2, 0.05, 20": {"joint": True} | SMALL,
    "joint, steps adapted": {"joint": True},
    "half-sweeps, steps 1, 1, 2": UNIT,
    "half-sweeps, steps 0.2, 0.05, 20": SMALL,
    "half-sweeps, steps adapted": {},
}


def measured(settings: dict, iterations: int) -> list[str]:
    """Acceptance, effective draws of the question parameters, and processor time."""
    responses, _ = simulate(Sprite(), RESPONDENTS, QUESTIONS, OPTIONS, seed=1)
    problem = Problem(responses, Sprite())
    engine = Metropolis(chains=2, warmup=iterations // 2, draws=iterations, thin=5, **settings)
    Metropolis(chains=1, warmup=1, draws=1, thin=1, start="prior").sample(problem, np.random.default_rng(0))  # compiles
    began = []
    sample = engine.sample(problem, np.random.default_rng(1), lambda *_: began.append(time.process_time()))
    seconds = began[-1] - began[1]
    draws = np.moveaxis(sample.x, -1, 0)
    moved = (np.ptp(draws, axis=2) > 0).all(axis=1)  # a chain that stands still has no effective draws
    stats = BaseArray()
    ess = np.zeros(len(draws))
    rhat = np.full(len(draws), np.inf)
    if moved.any():
        ess[moved] = stats.ess(draws[moved], method="bulk", chain_axis=1, draw_axis=2)
        rhat[moved] = stats.rhat(draws[moved], chain_axis=1, draw_axis=2)
    done = 2 * (iterations + iterations // 2 - 200)
    return [
        f"{sample.stats['acceptance_abilities'].mean():.2%}",
        f"{sample.stats['acceptance_questions'].mean():.2%}",
        f"{ess.min():.0f}",
        f"{np.median(ess):.0f}",
        f"{np.median(rhat):.2f}",
        f"{seconds / done * 1e3:.2f}",
    ]


def main() -> None:
    iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    head = [
        "",
        "abilities accepted",
        "questions accepted",
        "least ESS",
        "median ESS",
        "median R-hat",
        "CPU ms/iteration",
    ]
    print("| " + " | ".join(head) + " |", "|" + "---|" * len(head), sep="\n")
    for name, settings in ROWS.items():
        print("| " + " | ".join([name, *measured(settings, iterations)]) + " |", flush=True)


if __name__ == "__main__":
    main()
