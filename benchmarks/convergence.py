"""Do chains that begin in different modes come together? The largest R-hat of Gibbs with its defaults, over many seeds.

    python -m benchmarks.convergence [--seeds 20] [--only SAT12]

Real posteriors of SPRITE have several modes: an option that few chose may stand far out and narrow or be almost flat.
Chains begin scattered over both. A seed passes where R-hat is below 1.01 for every mean and log variance.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks.sampling import SAT12, tests

LIMIT, WANTED = 1.01, 0.95


def main() -> None:
    """Fit every test with every seed."""
    from arviz_stats.base import array_stats

    from sprite.engines.base import Problem, silent
    from sprite.engines.gibbs import Gibbs
    from sprite.models.sprite import Sprite

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sat12", type=Path, default=SAT12, help="folder with SAT12's responses.csv and key.csv")
    parser.add_argument("--only", help="run only the test of this name")
    options = parser.parse_args()
    enough = True
    for name, responses in tests(False, options.sat12).items():
        if options.only not in (None, name):
            continue
        problem, passed = Problem(responses, Sprite()), 0
        for seed in range(1, options.seeds + 1):
            began = time.process_time()
            x = Gibbs().run(problem, np.random.default_rng(seed), silent).x
            spent = time.process_time() - began
            by_parameter = np.moveaxis(x, -1, 0)
            rhat = float(np.max(array_stats.rhat(by_parameter, method="rank")))
            ess = array_stats.ess(by_parameter, method="bulk")
            passed += rhat < LIMIT
            print(
                f"{name}, seed {seed}: R-hat {rhat:.4f}, bulk ESS {ess.min():.0f} at the least and "
                f"{np.median(ess):.0f} at the median, {spent:.0f} s of processor time",
                flush=True,
            )
        print(f"{name}: R-hat below {LIMIT} with {passed} of {options.seeds} seeds")
        enough &= passed >= WANTED * options.seeds
    if not enough:
        sys.exit(f"fewer than {WANTED:.0%} of the seeds passed")


if __name__ == "__main__":
    main()
