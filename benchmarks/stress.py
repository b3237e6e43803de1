"""Awkward tests by every model and engine: finite numbers, or a reason in words; see docs/robustness.md for a run.

    python -m benchmarks.stress [--quick] [--seconds 20] [--engines em,gibbs] [--models sprite] [--only "one question"]

Each cell gives the state of the fit and the processor's seconds that it took. `converged` is what the fit says of
itself; where it does not, and says why, there is its largest R-hat. All numbers in such fits are finite. `stopped` is a
run that Ctrl-C ended when the time was over, and which gave what it had; `refused` is a message, listed below the
table. Anything else is a fault, and so is the exit code.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from tests.awkward import AWKWARD

from sprite.core.errors import SpriteError
from sprite.data.responses import Responses
from sprite.engines.base import Engine
from sprite.engines.em import EM
from sprite.engines.gibbs import Gibbs
from sprite.engines.metropolis import Metropolis
from sprite.engines.nuts import NUTS
from sprite.fitting import fit
from sprite.models.registry import MODELS
from sprite.result.fit import Fit

ENGINES: dict[str, Engine] = {
    "em": EM(),
    "gibbs": Gibbs(chains=2, draws=100, warmup=100, starts=2),
    "nuts": NUTS(chains=2, draws=100, warmup=100, starts=2),
    "metropolis": Metropolis(chains=2, warmup=1000, draws=1000, thin=5),
}
"""Fewer draws than one would ask for: what is looked for here is not precision."""
RESPONDENTS, QUESTIONS = 100, 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="30 respondents and 4 questions")
    parser.add_argument("--seconds", type=float, default=20.0, help="when a run is interrupted")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--only", default="", help="tests whose name has these words")
    given = parser.parse_args()
    size = (30, 4) if given.quick else (RESPONDENTS, QUESTIONS)
    engines = given.engines.split(",")
    print(
        f"{size[0]} respondents x {size[1]} questions where a test leaves it free; Ctrl-C after {given.seconds:g} s\n"
    )
    print("| test | model |", " | ".join(engines), "|")
    print("|" + "---|" * (len(engines) + 2))
    reasons: dict[str, list[str]] = {}
    outcomes: dict[tuple[str, str], list[tuple[str, float]]] = {}
    for kind in (kind for kind in AWKWARD if given.only in kind):
        responses = AWKWARD[kind](*size)
        for model in given.models.split(","):
            cells = []
            for engine in engines:
                state, reason, seconds = outcome(responses, model, ENGINES[engine], given.seconds)
                cells.append(f"{state} · {seconds:.1f} s")
                outcomes.setdefault((kind, engine), []).append((state, seconds))
                if reason:
                    reasons.setdefault(reason, []).append(f"{kind}, {model} by {engine}")
            print(f"| {kind} | {model} |", " | ".join(cells), "|", flush=True)
    print("\nAll models together:\n")
    print_summary(outcomes)
    print("\nReasons, and where they were given:\n")
    for reason, places in reasons.items():
        print(f"- {reason} ({places[0]}" + (f", and {len(places) - 1} more)" if len(places) > 1 else ")"))
    faults = sum(state == "FAULT" for each in outcomes.values() for state, _ in each)
    sys.exit(f"{faults} faults" if faults else 0)


def print_summary(outcomes: dict[tuple[str, str], list[tuple[str, float]]]) -> None:
    """One line a test, one column an engine: how many models ended how, and the longest time."""
    engines = list(dict.fromkeys(engine for _, engine in outcomes))
    print("| test |", " | ".join(engines), "|")
    print("|" + "---|" * (len(engines) + 1))
    for kind in dict.fromkeys(kind for kind, _ in outcomes):
        cells = []
        for engine in engines:
            found = outcomes[kind, engine]
            apart = Counter(state for state, _ in found if state in ("stopped", "refused", "FAULT"))
            parts = [f"{len(found) - apart.total()} finite", *(f"{n} {state}" for state, n in apart.items())]
            cells.append(f"{', '.join(parts)} · {max(seconds for _, seconds in found):.1f} s")
        print(f"| {kind} |", " | ".join(cells), "|")


def outcome(responses: Responses, model: str, engine: Engine, seconds: float) -> tuple[str, str, float]:
    """State, reason and time of one fit."""
    began = time.process_time()  # of all threads: other work on the machine does not count
    try:
        with ctrl_c_after(seconds):
            found = fit(responses, model, engine, seed=1)
        state, reason = judged(found)
    except SpriteError as error:
        state, reason = "refused", str(error)
    except KeyboardInterrupt:
        state, reason = "stopped", ""
    except Exception as error:
        state, reason = "FAULT", f"{type(error).__name__}: {error}"
    return state, reason, time.process_time() - began


def judged(found: Fit) -> tuple[str, str]:
    """What the fit says of itself; a fault where a number is not finite or a lack of convergence goes unexplained."""
    mean, sd, _ = found.ability_moments()
    numbers = (found.x, found.point, mean, sd, *found.values.values(), found.log_likelihood)
    said = found.diagnostics
    if not all(np.isfinite(each).all() for each in numbers) or not (sd > 0).all():
        return "FAULT", "numbers that are not finite"
    if found.interrupted:
        return "stopped", ""
    if not said.converged and not said.messages:
        return "FAULT", "not converged, and no word about it"
    if said.converged:
        return "converged", ""
    if said.max_rhat is None:
        return "not converged", ""
    return (f"R-hat {said.max_rhat:.2f}" if said.max_rhat < 100 else "R-hat above 100"), ""


@contextmanager
def ctrl_c_after(seconds: float) -> Iterator[None]:
    """What a user would do who has waited long enough."""
    before = signal.signal(signal.SIGPROF, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


if __name__ == "__main__":
    main()
