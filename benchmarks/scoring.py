"""How many new respondents can be scored in a second, beside plain NumPy?

Run as ``python -m benchmarks.scoring [respondents]``. Both score the same 60-question test with the estimate of the
parameters alone. Ours is `score(fit, responses, plug_in=True)` from loaded `Responses` to the finished frame: matching
by name, mean, mode, deviation, 90 % interval and the frame are all in the time. NumPy computes mean and deviation only,
on the same grid, in blocks, from a dense table of option numbers, with no names and no frame.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from sprite.analysis.scores import score
from sprite.density.grid import grid_for
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.kernels.threads import get_threads
from sprite.result.fit import Fit
from sprite.simulation import simulate

QUESTIONS = 60
OPTIONS = 4
BLOCK = 2000
TIMES = 5


def by_numpy(fitted: Fit, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Posterior means and deviations: gather the rows of all answers, add up, normalise."""
    grid = grid_for(fitted.model.ability, fitted.n_nodes)
    table = fitted.table()
    rows = codes + fitted.responses.first[:-1]
    mean, sd = np.empty(len(rows)), np.empty(len(rows))
    for low in range(0, len(rows), BLOCK):
        block = rows[low : low + BLOCK]
        level = np.tile(grid.log_weight, (len(block), 1))
        for j in range(block.shape[1]):
            level += table[block[:, j]]
        level = np.exp(level - level.max(axis=1, keepdims=True))
        level /= level.sum(axis=1, keepdims=True)
        mean[low : low + BLOCK] = level @ grid.nodes
        sd[low : low + BLOCK] = np.sqrt(level @ grid.nodes**2 - mean[low : low + BLOCK] ** 2)
    return mean, sd


def main(people: int) -> None:
    fitted = fit(simulate("sprite", 1000, QUESTIONS, OPTIONS, seed=1).responses, "sprite", EM(starts=1, draws=50))
    new = simulate("sprite", people, QUESTIONS, OPTIONS, seed=2).responses
    codes = (new.row.reshape(people, QUESTIONS) - new.first[:-1]).astype(np.int64)
    warm = simulate("sprite", 3 * BLOCK, QUESTIONS, OPTIONS, seed=3).responses
    score(fitted, warm, plug_in=True)  # compile, or load what was compiled
    ours, theirs = [], []
    for _ in range(TIMES):  # in turn, so that a busy machine is busy for both
        began = time.perf_counter()
        frame = score(fitted, new, plug_in=True)
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        mean, sd = by_numpy(fitted, codes)
        theirs.append(time.perf_counter() - began)
    np.testing.assert_allclose(frame.ability, mean, atol=1e-9)
    np.testing.assert_allclose(frame.sd, sd, atol=1e-7)
    print(f"{people:,} respondents x {QUESTIONS} questions, {fitted.n_nodes} nodes, {get_threads()} threads")
    for name, seconds in (("sprite", ours), ("NumPy", theirs)):
        print(
            f"{name:>8}: best {people / min(seconds):>10,.0f} respondents/s, "
            f"median {people / float(np.median(seconds)):>10,.0f}"
        )
    print(f"   ratio: {min(theirs) / min(ours):.1f} (best), {np.median(theirs) / np.median(ours):.1f} (median)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
