"""Question parameters by maximum likelihood: ours beside the Python packages mirt and girth, on the same answers.

Run as ``python -m benchmarks.peers [--respondents N ...] [--limit SECONDS] [--threads T]``. Answers are simulated from
the model that is fitted, 30 questions with 4 options; every side fits in a process of its own, one after the other,
with the same number of threads allowed, and is stopped at the limit. Whatever a side says of itself, its parameters
are judged by one and the same plain NumPy evaluator on a fine grid: marginal log likelihood, the direction of ability,
and how near parameters and abilities come to the truth. This process itself stays small: a child's largest size
starts at that of its parent.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np
from benchmarks.environment import ROOT, peer_python, with_threads

QUESTIONS, OPTIONS = 30, 4
NODES = np.linspace(-7.0, 7.0, 281)
BLOCK = 2000


def write_test(path: str, model: str, respondents: int) -> None:
    """Answers as an exam has them, drawn from our model; the options of GPCM in their order, the key last."""
    from sprite.models.gpcm import GPCM
    from sprite.models.nrm import NRM
    from sprite.simulation import simulate

    kind = GPCM(order="label") if model == "gpcm" else NRM()
    responses, truth = simulate(kind, respondents, QUESTIONS, OPTIONS, seed=1)
    codes = (responses.row.reshape(respondents, QUESTIONS) - responses.first[:-1]).astype(np.int8)
    key = np.flatnonzero(responses.correct) - responses.first[:-1]
    slope, intercept = lines_of(kind, truth.values, responses.layout)
    np.savez(path, codes=codes, options=OPTIONS, key=key, abilities=truth.abilities, slope=slope, intercept=intercept)


def lines_of(model: Any, values: Any, layout: Any) -> tuple[np.ndarray, np.ndarray]:
    """Slope and intercept of every option, (questions, options) each: the form that GPCM and NRM share."""
    curves = model.curves(values, layout)
    return curves.slope.reshape(QUESTIONS, OPTIONS), curves.height.reshape(QUESTIONS, OPTIONS)


def fit_ours(problem: str, out: str, settings: dict[str, Any]) -> None:
    """Our side, in a process of its own: one small fit to compile, then the one that counts."""
    import resource
    import time

    from sprite import EM, GPCM, NRM, fit
    from sprite.data.responses import from_codes

    model = GPCM(order="label", prior=None) if settings["model"] == "gpcm" else NRM(prior=None)
    engine = EM(starts=1, standard_errors=False) if settings["starts"] == 1 else EM()
    loaded = np.load(problem)
    codes, correct = loaded["codes"], np.zeros((QUESTIONS, OPTIONS), dtype=bool)
    correct[np.arange(QUESTIONS), loaded["key"]] = True
    labels = [tuple("ABCD")] * QUESTIONS
    began = time.perf_counter()
    fit(from_codes(codes[:200], labels, correct=correct.ravel()), model, engine)
    compiled = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = fit(from_codes(codes, labels, correct=correct.ravel()), model, engine)
    seconds = time.perf_counter() - compiled
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    slope, intercept = lines_of(model, found.values, found.responses.layout)
    np.savez(out, slope=slope, intercept=intercept)
    said = f"{found.n_nodes} nodes{'' if found.diagnostics.converged else ', not converged'}"
    print(json.dumps({"seconds": seconds, "apart": compiled - began, "peak": 1024 * peak, "said": said}))


def sides(model: str) -> dict[str, list[Any]]:
    """The commands of every side, by name; each takes the problem, the fit and its settings."""
    call = "import json, sys; from benchmarks.peers import fit_ours; fit_ours(*sys.argv[1:3], json.loads(sys.argv[3]))"
    ours: list[Any] = [sys.executable, "-c", call]
    peer: list[Any] = [peer_python(), ROOT / "peers" / "mml.py"]
    return {
        "sprite EM, one start": [ours, {"model": model, "starts": 1}],
        "sprite EM(), three starts, errors": [ours, {"model": model, "starts": 3}],
        "mirt 1.2.0, its 21 nodes": [peer, {"package": "mirt", "model": model, "nodes": None}],
        "mirt 1.2.0, 61 nodes": [peer, {"package": "mirt", "model": model, "nodes": 61}],
        "girth 0.8.0": [peer, {"package": "girth", "model": model, "nodes": None}],
    }


def judge(problem: str, fit: str) -> None:
    """Log likelihood and abilities by brute force, parameters against the truth after turning the scale upright."""
    test, found = np.load(problem), np.load(fit)
    codes, slope = test["codes"], found["slope"]
    logits = slope[..., None] * NODES + found["intercept"][..., None]
    table = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    log_weight = -0.5 * NODES**2 - np.log(np.exp(-0.5 * NODES**2).sum())
    total, eap = 0.0, np.empty(len(codes))
    for low in range(0, len(codes), BLOCK):
        block = codes[low : low + BLOCK]
        level = np.tile(log_weight, (len(block), 1))
        for j in range(QUESTIONS):
            level += table[j, block[:, j]]
        top = level.max(axis=1, keepdims=True)
        level = np.exp(level - top)
        mass = level.sum(axis=1)
        total += float(np.sum(np.log(mass) + top[:, 0]))
        eap[low : low + BLOCK] = level @ NODES / mass
    upright = bool(np.corrcoef(eap, (codes == test["key"]).sum(axis=1))[0, 1] > 0)
    turn = 1.0 if upright else -1.0

    def against(estimate: np.ndarray, true: np.ndarray) -> list[float]:
        a, b = (part - part.mean(axis=1, keepdims=True) for part in (estimate, true))
        return [float(np.sqrt(np.mean((a - b) ** 2))), float(np.corrcoef(a.ravel(), b.ravel())[0, 1])]

    slopes, intercepts = against(turn * slope, test["slope"]), against(found["intercept"], test["intercept"])
    near = float(np.corrcoef(turn * eap, test["abilities"])[0, 1])
    print(json.dumps([total, upright, *slopes, *intercepts, near]))


def run(model: str, respondents: int, limit: float, threads: int) -> None:
    """Fit with every side and print the table."""
    print(f"\n{model.upper()}, {respondents:,} x {QUESTIONS} x {OPTIONS}, {threads} threads allowed to each")
    print(
        f"{'':36}{'seconds':>9}{'to ours':>9}{'apart':>7}{'peak MB':>9}{'log likelihood':>16}{'ability':>10}"
        f"{'slopes':>16}{'intercepts':>16}{'abilities':>10}"
    )
    reference = None
    with tempfile.TemporaryDirectory() as folder:
        problem, out = f"{folder}/problem.npz", f"{folder}/fit.npz"
        child("write_test", problem, model, respondents)
        for name, (command, settings) in sides(model).items():
            if model == "nrm" and settings.get("package") == "girth":
                print(f"{name:36}has no nominal model", flush=True)
                continue
            whole = [*command, problem, out, json.dumps(settings)]
            try:
                done = subprocess.run(
                    whole, capture_output=True, text=True, timeout=limit, env=with_threads(threads), check=True
                )
            except subprocess.TimeoutExpired:
                print(f"{name:36}{f'> {limit:.0f}':>9}  stopped at the limit", flush=True)
                continue
            except subprocess.CalledProcessError as error:
                print(f"{name:36}failed: {(error.stderr.strip().splitlines() or ['no message'])[-1]}", flush=True)
                continue
            told = json.loads(done.stdout.splitlines()[-1])
            reference = reference or told["seconds"]
            times = f"{told['seconds']:>9.2f}{told['seconds'] / reference:>9.1f}{told['apart']:>7.1f}"
            print(f"{name:36}{times}{told['peak'] / 1e6:>9.0f}{judged(problem, out)}  {told['said']}", flush=True)
        print(f"{'the truth':36}{'':34}{judged(problem, problem)}", flush=True)


def judged(problem: str, fit: str) -> str:
    """What the evaluator finds, as columns."""
    total, upright, *recovered, near = json.loads(child("judge", problem, fit))
    pairs = "".join(f"{value:>8.{3 + k % 2}f}" for k, value in enumerate(recovered))
    return f"{total:>16.2f}{'up' if upright else 'REVERSED':>10}{pairs}{near:>10.4f}"


def child(function: str, *arguments: object) -> str:
    """Call a function of this module in a process of its own; what it prints."""
    call = f"from benchmarks.peers import {function}; {function}(*{arguments!r})"
    return subprocess.run([sys.executable, "-c", call], check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--respondents", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--models", nargs="+", default=["gpcm", "nrm"], choices=["gpcm", "nrm"])
    parser.add_argument("--limit", type=float, default=600.0, help="seconds after which a side is stopped")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    print(
        "Seconds are of the fit alone, after a small one; apart: that small one, with imports and compilation. Slopes "
        "and intercepts: root mean\nsquare error and correlation with the truth, centred within each question and the "
        "scale turned upright. Abilities: correlation of the\nposterior mean with the truth. Ability is up where it "
        "rises with the number of correct answers."
    )
    for model in asked.models:
        for respondents in asked.respondents:
            run(model, respondents, asked.limit, asked.threads)


if __name__ == "__main__":
    main()
