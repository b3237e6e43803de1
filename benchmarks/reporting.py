"""How long does a report of 100,000 respondents take, and where does the time go?

Run as ``python -m benchmarks.reporting [respondents]``. One process fits (by EM, not timed), saves and ends. Another
loads the fit and writes the page, as `sprite report` does; then it loads the fit anew for each table and asks for that
table alone. Peak is its largest resident size while the page was made, less what it held after its imports.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile

QUESTIONS, OPTIONS = 30, 4
TABLES = (
    "abilities",
    "questions",
    "options",
    "option_order",
    "verdicts",
    "classical",
    "information",
    "fit_statistics",
)


def write_fit(path: str, respondents: int) -> None:
    """Fit a simulated exam."""
    import sprite

    responses = sprite.simulate("sprite", respondents, QUESTIONS, OPTIONS, seed=1).responses
    sprite.fit(responses, sprite.Sprite(), sprite.EM(starts=1)).save(path)


def measure(path: str, page: str) -> None:
    """Load, ask for every table, write the page; print what each took."""
    import os
    import resource
    import time

    import sprite
    from sprite.kernels.threads import get_threads
    from sprite.report import write_report

    small = sprite.fit(sprite.example(), "sprite", sprite.EM(starts=1))
    write_report(small, page)  # imports and compiles what the large one needs
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    fit = sprite.load(path)
    loaded = time.perf_counter()
    write_report(fit, page)
    written = time.perf_counter()
    peak = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    print(f"{'load the fit':20}{loaded - began:>9.2f} s\n{'write the page':20}{written - loaded:>9.2f} s", end="")
    print(
        f", {get_threads()} threads, {peak / 1e6:.0f} MB at most, {peak / fit.responses.n_answers:.0f} bytes an answer"
    )
    print(f"{os.path.getsize(path) / 1e6:.1f} MB fit file, {os.path.getsize(page) / 1e6:.1f} MB page; one table alone:")
    for name in TABLES:
        fit = sprite.load(path)
        began = time.perf_counter()
        getattr(fit, name)()
        print(f"{name:20}{time.perf_counter() - began:>9.2f} s", flush=True)


def main() -> None:
    respondents = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000
    print(f"{respondents:,} respondents x {QUESTIONS} questions x {OPTIONS} options", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        fit, page = f"{folder}/fit.nc", f"{folder}/report.html"
        for call in (f"write_fit({fit!r}, {respondents})", f"measure({fit!r}, {page!r})"):
            subprocess.run([sys.executable, "-c", f"from benchmarks.reporting import *; {call}"], check=True)


if __name__ == "__main__":
    main()
