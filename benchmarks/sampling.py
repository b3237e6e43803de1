"""How many effective draws a second, beside the NUTS of NumPyro or PyStan on the same posterior of the same answers?

Run as ``python -m benchmarks.sampling [--quick] [--engine gibbs|nuts] [--peer numpyro|pystan] [--only TEST]``. The peer
samples the uncollapsed posterior (every ability a parameter) in an environment of its own, made here from
`peers/requirements.txt` or `peers/requirements-pystan.txt`, and starts at our mode. Both sides run one after the
other, so that neither disturbs the other; the ESS of every free mean and log variance is computed here for both with
the same code. A run with an R-hat of 1.05 or more does not count.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.environment import ROOT, peer_python

SAT12 = ROOT.parent.parent / "shared" / "data" / "sat12"
CHAINS, WARMUP, DRAWS = 4, 500, 1000
SIZES = {"500 x 30 x 4": (500, 30, 4), "1567 x 60 x 4": (1567, 60, 4)}
RHAT_LIMIT = 1.05
TARGET_MEDIAN, TARGET_MINIMUM = 20.0, 10.0
PEERS = {"numpyro": "NumPyro NUTS", "pystan": "PyStan NUTS"}


@dataclass(frozen=True)
class Side:
    """What one side achieved on one test."""

    name: str
    draw_seconds: float
    total_seconds: float
    """Search, warm-up and draws; compilation apart."""
    compile_seconds: float
    ess: Any
    rhat: float
    threads: str

    @property
    def counts(self) -> bool:
        return self.rhat < RHAT_LIMIT

    def rates(self) -> tuple[float, float, float, float]:
        """ESS/s: median and minimum over the draws alone, then with all that went before."""
        low, middle = float(self.ess.min()), float(np.median(self.ess))
        return (
            middle / self.draw_seconds,
            low / self.draw_seconds,
            middle / self.total_seconds,
            low / self.total_seconds,
        )


def side(name: str, draws: Any, seconds: tuple[float, float, float], threads: str) -> Side:
    """Bulk ESS and R-hat of draws (chain, draw, parameter)."""
    from arviz_stats.base import array_stats

    by_parameter = np.moveaxis(draws, -1, 0)
    ess = array_stats.ess(by_parameter, method="bulk")
    return Side(name, *seconds, ess, float(np.max(array_stats.rhat(by_parameter, method="rank"))), threads)


def write_problem(path: Path, problem: Any, run: Any) -> Any:
    """The answers as NumPyro takes them and our mode with the abilities there; which rows are free."""
    from sprite.kernels.passes import moments

    responses, layout, posterior = problem.responses, problem.responses.layout, problem.posterior(run.n_nodes)
    possible = np.zeros((layout.n_questions, int(layout.n_options.max())), dtype=bool)
    possible[layout.question, layout.position] = True
    free = possible.copy()
    free[np.arange(layout.n_questions), layout.position[layout.reference]] = False
    codes = np.full((responses.n_respondents, layout.n_questions), -1)
    codes[responses.respondent_of_answer, responses.question_of_row[responses.row]] = layout.position[responses.row]
    rows = free[layout.question, layout.position]
    values = posterior.packing.unpack(run.mode.x)
    table, grid = posterior.table(run.mode.x), posterior.grid
    z = moments(responses.start, responses.row, table, grid.log_weight, grid.nodes)[1]
    start = {"mu": values["mu"][rows], "log_nu": np.log(values["nu"][rows]), "z": z}
    np.savez(path, codes=codes, possible=possible, free=free, **start)
    return rows


def peer_side(peer: str, problem_path: Path, warmup: int, draws: int) -> Side:
    """NumPyro or PyStan in its own process."""
    settings = {"warmup": warmup, "draws": draws, "chains": CHAINS, "seed": 0, "chain_method": "parallel"}
    out = problem_path.with_name("draws.npz")
    python = peer_python("-pystan" if peer == "pystan" else "")
    command = [python, ROOT / "peers" / f"{peer}_sprite.py", problem_path, out, json.dumps(settings)]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    told = json.loads(printed.splitlines()[-1])
    saved = np.load(out)
    seconds = (told["draw_seconds"], told["warmup_seconds"] + told["draw_seconds"], told["compile_seconds"])
    threads = f"{CHAINS} devices" if peer == "numpyro" else f"{CHAINS} processes"
    return side(PEERS[peer], np.concatenate([saved["mu"], saved["log_nu"]], axis=-1), seconds, threads)


def engine_of(name: str, draws: int | None) -> Any:
    """Our engine, its own defaults unless the number of draws is given, which is then that of its warm-up too."""
    if name == "nuts":
        from sprite.engines.nuts import NUTS as Chosen  # noqa: N811
    else:
        from sprite.engines.gibbs import Gibbs as Chosen
    return Chosen(chains=CHAINS) if draws is None else Chosen(chains=CHAINS, draws=draws, warmup=draws)


def our_side(name: str, problem: Any, rows: Any, draws: int | None) -> Side:
    """One small run to compile, then the one that counts.

    The time of the draws alone is taken from the share of draws among all steps where the engine has a warm-up.
    """
    from sprite.engines.base import Problem, silent
    from sprite.kernels.threads import get_threads
    from sprite.simulation import simulate

    engine = engine_of(name, draws)
    began = time.perf_counter()
    small = Problem(simulate("sprite", 40, 4, 4, seed=9).responses, problem.model)
    engine_of(name, 20).run(small, np.random.default_rng(0), silent)
    compiling = time.perf_counter() - began
    first: list[float] = []

    def progress(done: int, total: int, text: str) -> None:
        if done > 0 and not first:
            first.append(time.perf_counter())

    began = time.perf_counter()
    run = engine.run(problem, np.random.default_rng(1), progress)
    ended = time.perf_counter()
    warmup = getattr(engine, "warmup", 0)
    sampling = ended - (first[0] if first else began)
    alone = sampling * engine.draws / (engine.draws + warmup)
    values = problem.posterior(run.n_nodes).packing.unpack(run.x)
    parameters = np.concatenate([values["mu"][..., rows], np.log(values["nu"][..., rows])], axis=-1)
    return side(f"sprite {name}", parameters, (alone, ended - began, compiling), f"{get_threads()} threads")


def tests(quick: bool, sat12: Path) -> dict[str, Any]:
    """The answers to fit, by name."""
    from sprite.data.reading import read
    from sprite.simulation import simulate

    sizes = {"200 x 10 x 4": (200, 10, 4)} if quick else SIZES
    found = {name: simulate("sprite", *size, seed=1).responses for name, size in sizes.items()}
    if not quick and (sat12 / "responses.csv").exists():
        found["SAT12"] = read(sat12 / "responses.csv", key=sat12 / "key.csv")
    return found


def show(test: str, ours: Side, theirs: Side) -> bool:
    """Print a test's table; whether both runs count and the targets are met."""
    print(f"\n{test} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)")
    print(
        f"{'':<16}{'median':>9}{'minimum':>9}{'median*':>9}{'minimum*':>9}{'R-hat':>8}{'compile s':>11}{'total s':>9}"
    )
    for one in (ours, theirs):
        rates = "".join(f"{rate:>9.1f}" for rate in one.rates())
        print(
            f"{one.name:<16}{rates}{one.rhat:>8.3f}{one.compile_seconds:>11.1f}{one.total_seconds:>9.1f}  {one.threads}"
        )
    ratio = np.divide(ours.rates(), theirs.rates())
    print(f"{'ratio':<16}{''.join(f'{value:>9.1f}' for value in ratio)}")
    if not (ours.counts and theirs.counts):
        print(f"does not count: R-hat {RHAT_LIMIT} or more")
        return False
    return bool(ratio[2] >= TARGET_MEDIAN and ratio[3] >= TARGET_MINIMUM)


def main() -> None:
    """Fit every test on both sides."""
    from sprite.engines.base import Problem, silent
    from sprite.engines.em import EM
    from sprite.models.sprite import Sprite

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one small test and few draws, to see that it runs")
    parser.add_argument("--engine", choices=("gibbs", "nuts"), default="gibbs")
    parser.add_argument("--peer", choices=tuple(PEERS), default="numpyro")
    parser.add_argument("--sat12", type=Path, default=SAT12, help="folder with SAT12's responses.csv and key.csv")
    parser.add_argument("--only", help="run only the test of this name")
    options = parser.parse_args()
    print("Bulk ESS per second over all free means and log variances; * with search and warm-up, compilation apart.")
    met = True
    for name, responses in tests(options.quick, options.sat12).items():
        if options.only not in (None, name):
            continue
        problem = Problem(responses, Sprite())
        run = EM(standard_errors=False).run(problem, np.random.default_rng(0), silent)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "problem.npz"
            rows = write_problem(path, problem, run)
            theirs = peer_side(options.peer, path, *((100, 100) if options.quick else (WARMUP, DRAWS)))
        ours = our_side(options.engine, problem, rows, 100 if options.quick else None)
        met &= show(name, ours, theirs)
    if options.quick:
        return  # so few draws show that it runs, not how fast
    target = f"{TARGET_MEDIAN:.0f} times at the median*, {TARGET_MINIMUM:.0f} times at the minimum*"
    print(f"\ntarget ({target}): {'met' if met else 'missed'}")


if __name__ == "__main__":
    main()
