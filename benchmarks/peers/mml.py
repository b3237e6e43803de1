"""GPCM and NRM by marginal maximum likelihood in the Python packages mirt and girth.

Run as ``python mml.py problem.npz fit.npz '{"package": "mirt", "model": "gpcm", "nodes": 21}'`` in the peers'
environment. Reads the answers, writes every option's slope and intercept, and prints one line of JSON. Everything that
is not named is left at the package's defaults; standard errors are not asked for.
"""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np

SETTINGS = json.loads(sys.argv[3])


def by_mirt(codes: np.ndarray, options: int) -> tuple[np.ndarray, np.ndarray, str]:
    """GPCM: adjacent log odds are discrimination (z - step). NRM: logits are slope z + intercept."""
    import mirt

    asked = {"n_quadpts": SETTINGS["nodes"]} if SETTINGS["nodes"] else {}
    fit = mirt.fit_mirt(
        codes, model=SETTINGS["model"].upper(), n_categories=options, compute_standard_errors=False, **asked
    )
    said = f"{fit.n_iterations} iterations{'' if fit.converged else ', not converged'}"
    if SETTINGS["model"] == "nrm":
        return fit.model.slopes, fit.model.intercepts, said
    return *lines(fit.model.discrimination, fit.model.steps), said


def by_girth(codes: np.ndarray, options: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Its partial credit model has a discrimination for each question, which makes it a GPCM."""
    import girth

    fit = girth.pcm_mml(codes.T)
    return *lines(fit["Discrimination"], fit["Difficulty"]), "does not say whether it converged"


def lines(discrimination: np.ndarray, steps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Slope and intercept of every option from adjacent log odds discrimination (z - step)."""
    rank = np.arange(steps.shape[1] + 1)
    below = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(steps, axis=1)], axis=1)
    return discrimination[:, None] * rank, -discrimination[:, None] * below


def main() -> None:
    problem = np.load(sys.argv[1])
    codes, options = problem["codes"].astype(np.int64), int(problem["options"])
    fit = {"mirt": by_mirt, "girth": by_girth}[SETTINGS["package"]]
    began = time.perf_counter()
    fit(codes[:100, :3], options)  # imports what it needs
    ready = time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    slope, intercept, said = fit(codes, options)
    seconds = time.perf_counter() - ready
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    np.savez(sys.argv[2], slope=slope, intercept=intercept)
    print(json.dumps({"seconds": seconds, "apart": ready - began, "peak": 1024 * peak, "said": said}))


if __name__ == "__main__":
    main()
