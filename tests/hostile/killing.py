"""Run in a process of its own: commands that are killed with SIGKILL at chosen moments, one child process each.

    python -m tests.hostile.killing

reads lines of JSON, `{"words": [...], "after": n}` or `{"words": [...], "seconds": t}`, and answers each with the exit
code of the command (-9 where it was killed) and the number of calls it made. `after` counts calls of functions,
Python's and C's alike, so that the moment does not depend on the machine; `seconds` is by the clock, within whatever
is under way. The children are forked from a process that has everything loaded, so that a kill costs little.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import sprite
from sprite.data.responses import from_codes
from sprite.fitting import fit
from tests.hostile.limited import run


class Clock:
    """Counts calls, and ends the process at the chosen one."""

    def __init__(self, after: float) -> None:
        self.calls, self.after = 0, after

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        if event in ("call", "c_call"):
            self.calls += 1
            if self.calls >= self.after:
                os.kill(os.getpid(), signal.SIGKILL)


def child(words: list[str], after: float, answer: int) -> None:
    clock = Clock(after)
    sys.setprofile(clock)
    code, said = run(words)
    sys.setprofile(None)
    os.write(answer, json.dumps({"code": code, "calls": clock.calls, "said": said}).encode())
    os._exit(0)


def killed(words: list[str], after: float = np.inf, seconds: float = np.inf) -> dict[str, Any]:
    """What became of the command."""
    reading, writing = os.pipe()
    process = os.fork()
    if not process:
        os.close(reading)
        child(words, after, writing)
    os.close(writing)
    if seconds < np.inf:
        time.sleep(seconds)
        os.kill(process, signal.SIGKILL)
    with open(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        return {"code": -os.WTERMSIG(status)}
    return dict(json.loads(answer))


def load_everything() -> None:
    """All that the children will need, compiled code too; nothing that starts threads, which do not survive a fork."""
    for module in walk_packages(sprite.__path__, "sprite."):
        if module.name != "sprite.__main__":
            import_module(module.name)
    responses = from_codes(np.random.default_rng(0).integers(0, 3, (20, 3)), [("A", "B", "C")] * 3)
    with TemporaryDirectory() as folder:
        for model in ("sprite", "nrm"):
            fit(responses, model, "em").save(Path(folder) / "fit.nc")
        sprite.load(Path(folder) / "fit.nc").predict()


def main() -> None:
    load_everything()
    for line in sys.stdin:
        print(json.dumps(killed(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
