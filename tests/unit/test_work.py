"""Units of work: computed once, stored at once, and no process is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from sprite.experiments.store import Store
from sprite.experiments.work import arrivals

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Noted:
    """Leaves a file with the number of its process, then takes its time."""

    number: int
    folder: str
    seconds: float = 0.0
    fails: bool = False

    @property
    def settings(self):
        return {"number": self.number}

    @property
    def words(self):
        return str(self.number)

    def compute(self):
        (Path(self.folder) / f"{self.number}-{os.getpid()}").touch()
        time.sleep(self.seconds)
        if self.fails:
            raise ValueError(f"unit {self.number} fails")
        return {"square": self.number**2}


def begun(folder: Path) -> dict[int, int]:
    """The units that were begun, each with its process."""
    return dict(map(int, name.name.split("-")) for name in folder.iterdir())


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def soon(true, seconds: float = 30.0) -> bool:
    until = time.monotonic() + seconds
    while not true() and time.monotonic() < until:
        time.sleep(0.05)
    return bool(true())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failure_is_told_and_not_stored(jobs, tmp_path):
    notes = tmp_path / "notes"
    notes.mkdir()
    units = [Noted(k, str(notes), fails=k == 1) for k in range(3)]
    found = {a.number: a for a in arrivals(units, jobs, Store.at(tmp_path / "store"))}
    assert [found[k].result for k in range(3)] == [{"square": 0}, None, {"square": 4}]
    assert "unit 1 fails" in str(found[1].error)
    assert len(list((tmp_path / "store").iterdir())) == 2
    again = [a for a in arrivals(units, jobs, Store.at(tmp_path / "store")) if a.stored]
    assert sorted(a.number for a in again) == [0, 2]


def test_whoever_stops_listening_leaves_no_process_behind(tmp_path):
    units = [Noted(k, str(tmp_path), seconds=0.0 if k == 0 else 60.0) for k in range(4)]
    with closing(arrivals(units, 2, Store(None))) as coming:
        assert next(coming).number == 0
        assert soon(lambda: len(begun(tmp_path)) >= 2)
    assert soon(lambda: not any(map(is_running, begun(tmp_path).values())))


SCRIPT = """
import sys
from tests.unit.test_work import Noted
from sprite.experiments.store import Store
from sprite.experiments.work import arrivals
if __name__ == "__main__":
    for arrival in arrivals([Noted(k, sys.argv[1], seconds=60.0) for k in range(4)], 2, Store(None)):
        pass
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_workers_end_with_their_parent(how, tmp_path):
    """SIGKILL gives nobody a chance to tidy up, and SIGINT here reaches the parent alone."""
    script, notes = tmp_path / "script.py", tmp_path / "notes"
    script.write_text(SCRIPT)
    notes.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen(
        [sys.executable, str(script), str(notes)], env=environment, start_new_session=True, stderr=subprocess.DEVNULL
    )
    try:
        assert soon(lambda: len(begun(notes)) == 2, 60.0)
        process.send_signal(how)
        assert process.wait(30) != 0
        assert soon(lambda: not any(map(is_running, begun(notes).values())))
    finally:
        process.kill()
