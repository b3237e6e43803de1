"""Run in a process of its own: every command that writes, with files limited to a few bytes as on a full disk.

    python -m tests.hostile.limited BYTES COMMANDS.json

prints what became of each, as JSON: exit code and what was said.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
from collections.abc import Sequence

from sprite import cli


def run(words: Sequence[str]) -> tuple[int, str]:
    """One command in this process: its exit code, and what it said on standard error."""
    before, said = sys.argv, io.StringIO()
    sys.argv = ["sprite", *words]
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            cli.main()
    except SystemExit as ended:
        return int(ended.code or 0), said.getvalue()
    finally:
        sys.argv = before
    return 0, said.getvalue()


def main() -> None:
    size, commands = int(sys.argv[1]), json.loads(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    print(json.dumps({name: run(words) for name, words in commands.items()}))


if __name__ == "__main__":
    main()
