"""Whether draws can be trusted, and what to do where they cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sprite.density.refinement import TOLERANCE
from sprite.result.mixing import Mixing

if TYPE_CHECKING:
    import pandas as pd

    from sprite.result.fit import Fit

MAX_RHAT = 1.01
NEAR_MODE = 3.0
"""A mode this near to the best in log posterior holds a share of the posterior that matters."""
MIN_ESS = 400.0
"""Of all chains together, in the bulk and in the tails."""


@dataclass(frozen=True)
class Diagnostics:
    """How far a fit can be trusted.

    Draws of a posterior count as converged with every R-hat below 1.01, bulk and tail ESS of at least 400 over all
    chains, no divergences and no interruption; an estimate with a gradient of practically 0.
    """

    converged: bool
    messages: tuple[str, ...]
    """What to do, in sentences."""
    max_rhat: float | None
    """Largest rank-normalised R-hat over the free parameters (variances as logarithms); None for an estimate."""
    min_ess_bulk: float | None
    min_ess_tail: float | None
    gradient_norm: float | None
    """At the best mode, where there was a search for modes."""
    n_modes: int
    divergences: int
    acceptance: float | None
    """Mean acceptance rate over the engine's kinds of moves, where it has any."""
    grid_error: float
    interrupted: bool


def diagnose(fit: Fit) -> Diagnostics:
    """The numbers, the verdict and the words."""
    best = fit.modes[0] if fit.modes else None
    divergences = int(np.sum(fit.stats["divergent"])) if "divergent" in fit.stats else 0
    accepted = [np.mean(value) for name, value in fit.stats.items() if name.startswith("acceptance") and value.size]
    said = " ".join(fit.messages)
    found = fit.mixing
    rhat, bulk, tail = (_worst(found, name) for name in ("rhat", "ess_bulk", "ess_tail"))
    if fit.kind == "laplace":
        converged, messages = bool(best and best.converged), list(fit.messages) + _other_modes(fit)
    else:
        messages = list(fit.messages) + _advice(fit, found, rhat, bulk, tail)
        good = rhat is not None and bulk is not None and rhat < MAX_RHAT and bulk >= MIN_ESS
        converged = good and (tail is None or tail >= MIN_ESS) and not any(m.stuck.any() for m in found)
    if divergences and "diverge" not in said:
        messages.append(
            f"{divergences:,} of {fit.n_chains * fit.n_draws:,} steps diverged, so parts of the posterior may be "
            "missed: use Gibbs(), or a longer warm-up."
        )
    if fit.interrupted and "interrupted" not in said:
        messages.append("It was interrupted: what had been drawn until then is here. Run it again for all of it.")
    if fit.grid_error > TOLERANCE:
        messages.append(
            f"The grid of {fit.n_nodes:,} ability values is too coarse or too narrow: one of twice as many moves "
            f"the log likelihood by {fit.grid_error:.2g}."
        )
    if fit.refusal and fit.kind == "laplace":
        messages.append(f"No standard errors: {fit.refusal}.")
    return Diagnostics(
        converged=converged and not divergences and not fit.interrupted,
        messages=tuple(dict.fromkeys(messages)),
        max_rhat=rhat,
        min_ess_bulk=bulk,
        min_ess_tail=tail,
        gradient_norm=None if best is None else best.gradient_norm,
        n_modes=len(fit.modes),
        divergences=divergences,
        acceptance=float(np.mean(accepted)) if accepted else None,
        grid_error=fit.grid_error,
        interrupted=fit.interrupted,
    )


def _other_modes(fit: Fit) -> list[str]:
    """Say where a second answer is nearly as good as the first."""
    close = [m for m in fit.modes[1:] if m.converged and fit.modes[0].log_posterior - m.log_posterior < NEAR_MODE]
    if not close:
        return []
    below = fit.modes[0].log_posterior - close[0].log_posterior
    return [
        f"Another mode lies only {below:.1f} below the best in log posterior, so the estimate is one of "
        f"{len(close) + 1} that fit about as well (see fit.modes): draw the posterior with Gibbs() to see them all."
    ]


def diagnostics_frame(fit: Fit) -> pd.DataFrame:
    """One line a free parameter."""
    import pandas as pd

    parts = []
    for m in fit.mixing:
        e = m.entries
        part = pd.DataFrame(
            {
                "question": e.questions,
                "option": pd.array(e.options, dtype="string"),
                "step": pd.array(e.steps, dtype="Int64"),
                "parameter": m.name,
                "rhat": m.rhat,
                "ess_bulk": m.ess_bulk,
                "ess_tail": m.ess_tail,
                "mcse": m.mcse,
            }
        )
        parts.append(part[~e.fixed])
    columns = ["question", "option", "step", "parameter", "rhat", "ess_bulk", "ess_tail", "mcse"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _worst(found: list[Mixing], name: str) -> float | None:
    numbers = np.concatenate([getattr(m, name) for m in found]) if found else np.zeros(0)
    numbers = numbers[~np.isnan(numbers)]
    if not len(numbers):
        return None
    return float(numbers.max() if name == "rhat" else numbers.min())


def _advice(fit: Fit, found: list[Mixing], rhat: float | None, bulk: float | None, tail: float | None) -> list[str]:
    if not found:
        return [f"{fit.n_draws} draws a chain are too few to judge: ask for more draws."]
    out = []
    if rhat is not None and rhat >= MAX_RHAT:
        out.append(
            f"The chains disagree most about {_where(found, 'rhat')} (R-hat {rhat:.3g}, wanted below {MAX_RHAT}): "
            "ask for more warm-up and more draws; if that does not help, the data do not decide between two answers."
        )
    for value, name, words in ((bulk, "ess_bulk", "bulk"), (tail, "ess_tail", "tail")):
        if value is not None and value < MIN_ESS:
            times = MIN_ESS / max(value, 1.0)
            out.append(
                f"Too few independent draws of {_where(found, name)} ({words} ESS {value:.0f}, wanted {MIN_ESS:.0f}): "
                f"ask for about {np.ceil(times):.0f} times as many draws."
            )
    stuck = [f"{m.name} of {m.entries.words()[int(np.argmax(m.stuck))]}" for m in found if m.stuck.any()]
    if stuck:
        out.append(f"{stuck[0]} never moved: the sampler does not work here; use another engine or other step sizes.")
    return out


def _where(found: list[Mixing], name: str) -> str:
    """The parameter with the worst number, in words."""
    worst = _worst(found, name)
    for m in found:
        (at,) = np.nonzero(getattr(m, name) == worst)
        if len(at):
            return f"{m.name} of {m.entries.words()[int(at[0])]}"
    return "the parameters"
