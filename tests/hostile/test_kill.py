"""SIGKILL at many moments: the output is absent or whole, the store goes on, and the numbers come out the same."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sprite
from tests.hostile.limited import run

ROOT = Path(__file__).parents[2]
KILLED = -9
Kill = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def kill(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kill]:
    """Runs a command and kills it; see `tests.hostile.killing`."""
    with (tmp_path_factory.mktemp("kill") / "said").open("w") as said:
        server = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tests.hostile.killing"],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        )
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(words: tuple[str, ...], **when: float) -> dict[str, Any]:
            print(json.dumps({"words": words, **when}), file=server.stdin, flush=True)
            return dict(json.loads(server.stdout.readline()))

        yield ask
        server.stdin.close()
        server.wait()
        server.stdout.close()


@pytest.fixture(scope="module")
def exam(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("exam")
    assert run(("simulate", "-n", "25", "-q", "3", "-m", "2", "--quiet", "-o", str(place))) == (0, "")
    return place


def test_a_killed_fit_leaves_the_old_file_or_the_new_one(kill: Kill, exam: Path, tmp_path: Path) -> None:
    path = tmp_path / "fit.nc"
    answers = ("fit", str(exam / "responses.csv"), "--key", str(exam / "key.csv"), "--quiet", "--engine", "em")
    old = (*answers, "--model", "nrm", "-o", str(path))
    new = (*answers, "--model", "sprite", "-o", str(path))
    assert kill(old)["code"] == 0
    before = path.read_bytes()
    kill(new)  # compiles what is not compiled yet, which takes calls that later runs do not make
    whole = kill(new)
    expected = sprite.load(path)
    rng = random.Random(1)
    written = killed = 0
    for k in range(24):
        path.write_bytes(before)
        # Every second kill falls into the last tenth, where the file is made, and some into its very end.
        end = whole["calls"]
        after = rng.randint(1, end) if k % 2 else end - rng.randint(0, end // 10 if k % 4 else 60)
        code = kill(new, after=after)["code"]
        assert code in (KILLED, 0)  # a run may make a few calls less than another, and come to its end
        killed += code == KILLED
        found = sprite.load(path)
        written += found.model == expected.model
        assert code == KILLED or found.model == expected.model
        if path.read_bytes() != before:
            np.testing.assert_array_equal(found.x, expected.x)
    assert 0 < written < 24  # both have been seen
    assert killed > 18
    path.unlink()
    for seconds in (0.02, 0.05, 0.1, 0.15):
        assert kill(new, seconds=seconds)["code"] in (KILLED, 0)
        assert not path.exists() or sprite.load(path).model == expected.model
    assert kill(new)["code"] == 0  # what the killed ones left lying about is in nobody's way
    np.testing.assert_array_equal(sprite.load(path).x, expected.x)


def test_a_killed_comparison_goes_on(kill: Kill, exam: Path, tmp_path: Path) -> None:
    command = ("compare", str(exam / "responses.csv"), "--models", "nrm", "--repeats", "8")

    def compare(name: str, **when: float) -> dict[str, Any]:
        return kill((*command, "--store", str(tmp_path / name), "-o", str(tmp_path / f"{name}.csv")), **when)

    total = compare("alone")["calls"]
    rng = random.Random(2)
    kills, kept = 0, [0]
    while True:
        # The later, the longer, or the work might never end.
        after = rng.randint(total // 4, total // 2) + kills * total // 100
        if compare("again", after=after)["code"] != KILLED:
            break
        kills += 1
        kept.append(len(list((tmp_path / "again").glob("*.json"))))
        assert not (tmp_path / "again.csv").exists()
    assert kills >= 4
    assert kept == sorted(kept)
    assert 0 < kept[len(kept) // 2] < 16  # it was the store that went on, from the middle too
    assert sorted(path.name for path in (tmp_path / "again").glob("*.json")) == sorted(
        path.name for path in (tmp_path / "alone").glob("*.json")
    )
    alone, again = (pd.read_csv(tmp_path / f"{name}.csv").drop(columns="seconds") for name in ("alone", "again"))
    pd.testing.assert_frame_equal(alone, again, check_exact=True)
