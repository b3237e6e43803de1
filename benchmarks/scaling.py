"""Do time and memory an answer stay flat as tests grow?

Run as ``python -m benchmarks.scaling [--answers 1e4 1e5 ...] [--engines em gibbs] [--threads T]``. SPRITE is fitted to
answers that it made, 30 questions with 4 options: by EM() as it stands (three starts, standard errors) and by a few
sweeps of Gibbs, enough to see what a sweep takes. Every fit has a process of its own. Peak is its largest resident size
less what it held after imports and compilation, so it includes the answers themselves (4 bytes each, and the names of
the respondents). Sizes that would need more memory than is free are left out and named.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

from benchmarks.environment import free_memory, with_threads

QUESTIONS, OPTIONS = 30, 4
SWEEPS, CHAINS = 20, 2
SIZES = (1e4, 1e5, 1e6, 1e7, 1e8)
MOST = {"em": 24, "gibbs": 24}
"""Bytes an answer that a fit is known to stay below; sizes are chosen by it."""


def write_answers(path: str, respondents: int) -> None:
    """Rows of the chosen options, respondent after respondent, made in blocks so that any size can be made."""
    import numpy as np

    from sprite.data.responses import from_codes
    from sprite.models.sprite import Sprite
    from sprite.simulation import draw_codes

    rng = np.random.default_rng(0)
    correct = np.tile(np.arange(OPTIONS) == OPTIONS - 1, QUESTIONS)
    layout = from_codes(np.zeros((1, QUESTIONS), int), [tuple("ABCD")] * QUESTIONS, correct=correct).layout
    values = Sprite().sample(layout, "exam", rng)
    out = np.lib.format.open_memmap(path, "w+", np.int32, (respondents * QUESTIONS,))
    block = 20_000
    for low in range(0, respondents, block):
        codes = draw_codes(Sprite(), values, rng.normal(size=min(block, respondents - low)), layout, rng)
        out[low * QUESTIONS : low * QUESTIONS + codes.size] = (codes + layout.first[:-1]).ravel()
    out.flush()


def fit_one(path: str, engine: str) -> None:
    """Fit the answers of a file and print what it took."""
    import resource
    import time

    import numpy as np

    from sprite import EM, Gibbs, Responses, Sprite, fit

    engines = {"em": EM(), "gibbs": Gibbs(chains=CHAINS, draws=SWEEPS // 2, warmup=SWEEPS // 2, starts=1)}

    def read(limit: int | None = None) -> Responses:
        row = np.load(path)[:limit]
        respondents = len(row) // QUESTIONS
        return Responses(
            respondents=np.arange(respondents).astype(np.dtypes.StringDType()),
            questions=tuple(f"Q{j + 1}" for j in range(QUESTIONS)),
            options=(tuple("ABCD"),) * QUESTIONS,
            start=np.arange(respondents + 1) * QUESTIONS,
            row=row,
            correct=np.tile(np.arange(OPTIONS) == OPTIONS - 1, QUESTIONS),
        )

    fit(read(300 * QUESTIONS), Sprite(), engines[engine])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    responses = read()
    began = time.perf_counter()
    found = fit(responses, Sprite(), engines[engine])
    seconds = time.perf_counter() - began
    peak = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    print(json.dumps([responses.n_answers, seconds, peak, found.n_nodes]))


def child(function: str, *arguments: object, threads: int = 1) -> str:
    """Call a function of this module in a process of its own, so that this one stays small; what it prints."""
    call = f"from benchmarks.scaling import {function}; {function}(*{arguments!r})"
    command = [sys.executable, "-c", call]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=with_threads(threads)).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=float, nargs="+", default=SIZES)
    parser.add_argument("--engines", nargs="+", default=["em", "gibbs"], choices=["em", "gibbs"])
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    print(
        f"SPRITE, {QUESTIONS} questions x {OPTIONS} options, {asked.threads} threads; {free_memory() / 1e9:.1f} GB free"
    )
    print(f"gibbs: {SWEEPS} sweeps of {CHAINS} chains after one search for modes")
    print(f"{'engine':8}{'answers':>13}{'seconds':>10}{'µs/answer':>11}{'peak MB':>9}{'bytes/answer':>14}{'nodes':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for size in asked.answers:
            respondents = max(1, round(size / QUESTIONS))
            path = f"{folder}/row.npy"
            if size * 4 > free_memory():
                print(f"{'':8}{size:>13,.0f}  left out: not enough free memory")
                continue
            child("write_answers", path, respondents)
            for engine in asked.engines:
                if size * MOST[engine] > free_memory():
                    print(f"{engine:8}{size:>13,.0f}  left out: not enough free memory")
                    continue
                answers, seconds, peak, nodes = json.loads(child("fit_one", path, engine, threads=asked.threads))
                each = f"{1e6 * seconds / answers:>11.3f}{peak / 1e6:>9.0f}{peak / answers:>14.1f}"
                print(f"{engine:8}{answers:>13,}{seconds:>10.2f}{each}{nodes:>7}", flush=True)


if __name__ == "__main__":
    main()
