"""The peers' environment, apart from ours, and processes whose time, memory and threads are known."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent
REQUIREMENTS = {"": ROOT / "peers" / "requirements.txt", "-pystan": ROOT / "peers" / "requirements-pystan.txt"}
"""PyStan apart, for it does not build everywhere."""
THREADS = ("SPRITE_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")


def peer_python(which: str = "") -> Path:
    """The interpreter of the peers' environment, made or brought up to date with its requirements."""
    folder, requirements = ROOT.parent / f".venv-peers{which}", REQUIREMENTS[which]
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / "requirements.txt"
    wanted = requirements.read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        print("making the peers' environment ...", file=sys.stderr)
        if not python.exists():
            venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", requirements], check=True)
        stamp.write_text(wanted)
    return python


def with_threads(threads: int) -> dict[str, str]:
    """The environment of a process that may use this many threads, whatever library counts them."""
    return os.environ | dict.fromkeys(THREADS, str(threads))


def free_memory() -> int:
    """Bytes that a new process can have; all of it where the system does not say."""
    try:
        with open("/proc/meminfo") as file:
            said = dict(line.split(":") for line in file)
        return 1024 * int(said["MemAvailable"].split()[0])
    except (OSError, KeyError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
