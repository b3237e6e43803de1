"""The command `sprite`, also as `python -m sprite`. Nothing is imported before Ctrl-C is seen to."""

from __future__ import annotations

import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command; Ctrl-C while libraries are being imported ends it as Ctrl-C does later."""
    stopped = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where it is to be ignored
        signal.signal(signal.SIGINT, stop)
    try:
        from sprite.cli import main as run

        run()
    except (Exception, KeyboardInterrupt):
        # Compiled modules that are interrupted while being imported fail in ways of their own.
        if not stopped or "--debug" in sys.argv:
            raise
        print("sprite: stopped", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
