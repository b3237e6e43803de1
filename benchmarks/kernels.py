"""How fast is the compiled pass, beside a NumPy matrix product doing the same work, and what bounds it?

    python -m benchmarks.kernels

The reference multiplies one-hot answers by the table, takes a softmax and multiplies back, in chunks that stay in
cache; making the one-hot matrices is not timed. All take turns and the best of several counts. One thread is timed by
its processor time, which other work on the machine disturbs little; two by the clock, which wants a quiet machine. Each
number of threads has its own process, because BLAS reads it at the start.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from numba import njit

N, Q, M, K = 20_000, 60, 5, 64
CHUNK = 500
ROUNDS = 15


def make_test(n: int, q: int = Q, m: int = M, k: int = K, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Complete answers under a nominal model: start, row, table, log weights."""
    rng = np.random.default_rng(seed)
    nodes = np.linspace(-6, 6, k)
    slope, intercept = rng.normal(size=(2, q, m, 1))

    def log_probability(z: np.ndarray) -> np.ndarray:
        logits = slope * z + intercept
        return logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)

    row = np.empty((n, q), dtype=np.int32)
    for low in range(0, n, 5000):
        z = rng.normal(size=min(5000, n - low))
        cumulated = np.exp(log_probability(z)).cumsum(axis=1)[:, :-1]
        row[low : low + 5000] = (cumulated < rng.random((q, 1, len(z)))).sum(axis=1).T + m * np.arange(q)
    log_weight = -0.5 * nodes**2
    log_weight -= np.logaddexp.reduce(log_weight)
    return np.arange(n + 1) * q, row.ravel(), log_probability(nodes).reshape(q * m, k), log_weight


def best_of(tasks: dict[str, Callable[[], object]], threads: int, rounds: int = ROUNDS) -> dict[str, float]:
    """Best time of each task in seconds, the tasks taking turns."""
    clock = time.process_time if threads == 1 else time.perf_counter
    best = dict.fromkeys(tasks, np.inf)
    for task in tasks.values():
        task()
    for _ in range(rounds):
        for name, task in tasks.items():
            begin = clock()
            task()
            best[name] = min(best[name], clock() - begin)
    return best


def one_hot_reference(row: np.ndarray, table: np.ndarray, log_weight: np.ndarray) -> Callable[[], tuple]:
    """Log likelihoods and expected counts by matrix products."""
    answers = row.reshape(N, Q)
    one_hot = []
    for low in range(0, N, CHUNK):
        chunk = np.zeros((len(answers[low : low + CHUNK]), len(table)))
        np.put_along_axis(chunk, answers[low : low + CHUNK], 1.0, axis=1)
        one_hot.append(chunk)

    def reference() -> tuple[np.ndarray, np.ndarray]:
        loglik, counts = [], np.zeros_like(table)
        for chunk in one_hot:
            level = chunk @ table
            level += log_weight
            top = level.max(axis=1, keepdims=True)
            level -= top
            np.exp(level, out=level)
            total = level.sum(axis=1, keepdims=True)
            level /= total
            loglik.append((top + np.log(total))[:, 0])
            counts += chunk.T @ level
        return np.concatenate(loglik), counts

    return reference


@njit(error_model="numpy", fastmath={"reassoc"})
def stream(values: np.ndarray, times: int) -> float:
    """Sum the same memory again and again: as fast as loads go, for nothing else is done."""
    total = 0.0
    for _ in range(times):
        for k in range(values.shape[0]):
            total += values[k]
        total = -total  # or the compiler would sum only once
    return total


def compare(threads: int) -> None:
    """Print nanoseconds per answer and the ratio to the reference, for one number of threads."""
    from sprite.kernels import draws, passes

    start, row, table, log_weight = make_test(N)
    uniform = np.random.default_rng(1).random(N)
    data = start, row, table, log_weight
    reference = one_hot_reference(row, table, log_weight)
    flat = table.ravel()
    times = best_of(
        {
            "expected_counts": lambda: passes.expected_counts(*data, threads=threads),
            "log_likelihood": lambda: passes.log_likelihood(*data, threads=threads),
            "draw_counts": lambda: draws.draw_counts(*data, uniform, threads=threads),
            "NumPy one-hot": reference,
            "stream": lambda: stream(flat, 100),
        },
        threads,
    )
    per_answer = {name: 1e9 * seconds / len(row) for name, seconds in times.items()}
    print(f"\n{threads} thread{'s' * (threads > 1)}: N = {N:,}, Q = {Q}, M = {M}, {K} nodes, float64")
    for name in ("expected_counts", "log_likelihood", "draw_counts", "NumPy one-hot"):
        print(f"  {name:16} {per_answer[name]:6.2f} ns per answer")
    ratio = per_answer["NumPy one-hot"] / per_answer["expected_counts"]
    ours, theirs = passes.expected_counts(*data, threads=threads), reference()
    differences = [np.abs(a - b).max() for a, b in zip(ours, theirs, strict=True)]
    print(
        f"  expected_counts is {ratio:.1f} times as fast as the reference; largest differences: "
        f"log likelihood {differences[0]:.1e}, counts {differences[1]:.1e} of {theirs[1].max():.0f}"
    )
    if threads == 1:
        bound(start, row, table, log_weight, times["stream"] / (100 * flat.nbytes), per_answer)


def bound(
    start: np.ndarray,
    row: np.ndarray,
    table: np.ndarray,
    log_weight: np.ndarray,
    seconds_per_byte: float,
    per_answer: dict[str, float],
) -> None:
    """Print the bytes that an answer moves, beside what the cache delivers to a plain sum over as much memory."""
    from sprite.kernels import passes

    post = passes.posterior(start, row, table, log_weight, 0, 2000)
    nodes = (post.reshape(2000, -1, 8).max(axis=2) > 1e-17).sum(axis=1).mean() * 8
    rate = 1e-9 / seconds_per_byte
    print(f"  bound: loads at {rate:.0f} GB/s (a plain sum over {table.nbytes // 1024} KB, the table's size)")
    loaded = 8 * K
    moved = {"log_likelihood": loaded, "expected_counts": loaded + 2 * 8 * nodes}
    for name, size in moved.items():
        share = size / rate / per_answer[name]
        print(f"    {name:16} {size:5.0f} bytes per answer: {size / rate:.2f} ns, {share:.0%} of the time taken")
    print(
        f"    (counts: read and write at {nodes:.0f} of {K} nodes, the window in which a posterior is not negligible)"
    )


def growth() -> None:
    """Print time and memory per answer from ten thousand to ten million answers."""
    from sprite.kernels import passes

    print(f"\ngrowth of expected_counts, Q = {Q}, M = {M}, {K} nodes, one thread")
    print("     answers   ns per answer   bytes per answer: data   peak of the pass")
    for answers in (10**4, 10**5, 10**6, 10**7):
        data = make_test(answers // Q)
        n = len(data[1])
        seconds = best_of({"pass": lambda data=data: passes.expected_counts(*data, threads=1)}, 1, rounds=5)["pass"]
        held = data[0].nbytes + data[1].nbytes
        print(f"  {n:10,} {1e9 * seconds / n:15.2f} {held / n:24.2f} {peak_memory(data) / n:18.2f}")
    print("  (the pass itself: a copy of the table and two of the counts, and one number a respondent)")


def peak_memory(data: tuple[np.ndarray, ...]) -> int:
    """Peak of the memory that one pass allocates, in a thread of its own so that nothing is there to be used again."""
    from sprite.kernels import passes

    tracemalloc.start()
    thread = threading.Thread(target=lambda: passes.expected_counts(*data, threads=1))
    thread.start()
    thread.join()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, help="only compare, on this many threads (BLAS set from outside)")
    threads = parser.parse_args().threads
    if threads:
        compare(threads)
        return
    for n in (1, 2):
        pinned = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(n))
        subprocess.run(
            [sys.executable, "-m", "benchmarks.kernels", "--threads", str(n)], env=os.environ | pinned, check=True
        )
    growth()


if __name__ == "__main__":
    main()
