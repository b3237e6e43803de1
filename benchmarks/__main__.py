"""`make bench`: every benchmark in turn, each in a process of its own; its table is what it prints."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = ("kernels", "loading", "scoring", "reporting", "scaling", "verdicts", "peers", "sampling", "convergence")


def main() -> None:
    """Run all of them, or those named on the command line."""
    failed = []
    for name in sys.argv[1:] or BENCHMARKS:
        print(f"\n== {name} ==", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
