"""How long does it take to load a long table, and how much memory, beside pandas?

Run as ``python -m benchmarks.loading [answers]``. Each reader has a process of its own; the peak is its largest
resident size less what it held after its imports.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

N_QUESTIONS = 100
READERS = ("sprite", "pandas")


def run(call: str) -> str:
    """Call a function of this module in a process of its own; what it prints."""
    command = [sys.executable, "-c", f"from benchmarks.loading import *; {call}"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def write_tables(folder: Path, n_answers: int) -> None:
    """Write the same answers as CSV and Parquet, in order and shuffled."""
    import pyarrow as pa
    import pyarrow.csv as pacsv
    import pyarrow.parquet as pq

    rng = np.random.default_rng(1)
    n = n_answers // N_QUESTIONS
    names = pa.array([f"student{i:06d}" for i in range(n)])
    questions = pa.array([f"Q{j + 1}" for j in range(N_QUESTIONS)])
    for name, cell in (("sorted", np.arange(n * N_QUESTIONS)), ("shuffled", rng.permutation(n * N_QUESTIONS))):
        table = pa.table(
            {
                "respondent": names.take(pa.array(cell // N_QUESTIONS)),
                "question": questions.take(pa.array(cell % N_QUESTIONS)),
                "response": pa.array(list("ABCDE")).take(pa.array(rng.integers(0, 5, len(cell)))),
            }
        )
        pacsv.write_csv(table, folder / f"{name}.csv", pacsv.WriteOptions(quoting_style="none"))
        pq.write_table(table, folder / f"{name}.parquet")


def measure(reader: str, path: str) -> None:
    """Read one file and print seconds, peak bytes and resident bytes."""
    import pandas as pd
    import pyarrow.parquet  # noqa: F401 - so that imports are not counted

    import sprite

    load = sprite.read if reader == "sprite" else pd.read_csv if path.endswith(".csv") else pd.read_parquet
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    loaded = load(path)
    seconds = time.perf_counter() - began
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    if reader == "sprite":
        kept = (loaded.respondents, loaded.start, loaded.row, loaded.correct)
        resident = sum(array.nbytes for array in kept)
    else:
        resident = int(loaded.memory_usage(deep=True).sum())
    print(seconds, peak, resident)


def main() -> None:
    """Make the tables, read each with each reader, print what it took."""
    n_answers = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    print(f"{n_answers:,} answers, {n_answers // N_QUESTIONS:,} respondents x {N_QUESTIONS} questions, long")
    print(f"{'file':20}{'MB':>6}{'reader':>9}{'seconds':>9}{'to pandas':>11}{'peak B/answer':>15}{'kept B/answer':>15}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # A process of its own too: a child's largest size starts at that of its parent, which must stay small.
        run(f"write_tables(Path({name!r}), {n_answers})")
        for path in sorted(folder.iterdir()):
            taken: dict[str, list[float]] = {}
            for reader in READERS:
                said = run(f"measure({reader!r}, {str(path)!r})")
                taken[reader] = [float(part) for part in said.split()]
            for reader in READERS:
                seconds, peak, resident = taken[reader]
                ratio = seconds / taken["pandas"][0]
                print(
                    f"{path.name:20}{path.stat().st_size / 1e6:6.0f}{reader:>9}{seconds:9.2f}{ratio:11.2f}"
                    f"{peak / n_answers:15.1f}{resident / n_answers:15.2f}"
                )


if __name__ == "__main__":
    main()
