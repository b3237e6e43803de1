"""A fit in a few lines, for the prompt and for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sprite.result.fit import Fit


def lines(fit: Fit) -> list[tuple[str, str]]:
    """Heading and content of each line."""
    data, drawn = fit.responses, fit.n_chains * fit.n_draws
    draws = f"{fit.n_chains} chains x {fit.n_draws} draws" if fit.kind == "posterior" else "estimate"
    if fit.kind == "laplace":
        draws += f" with {drawn} draws around it" if drawn else ", no standard errors"
    diagnostics = fit.diagnostics
    state = "converged" if diagnostics.converged else "NOT converged"
    if diagnostics.max_rhat is not None:
        state += f" (largest R-hat {diagnostics.max_rhat:.3f}, smallest bulk ESS {diagnostics.min_ess_bulk:.0f})"
    elif diagnostics.gradient_norm is not None:
        state += f" (gradient {diagnostics.gradient_norm:.1g}, modes found: {diagnostics.n_modes})"
    out = [
        ("model", repr(fit.model)),
        *([("prior", f"learned from the answers: {learned_prior(fit)}")] if fit.learned else []),
        ("engine", f"{fit.engine}, seed {fit.seed}: {draws}"),
        (
            "data",
            f"{data.n_respondents:,} respondents, {data.n_questions:,} questions, {data.n_answers:,} answers",
        ),
        ("log likelihood", f"{fit.log_likelihood:.2f} with {fit.n_parameters:,} parameters"),
        ("state", state),
        ("time", f"{fit.seconds:.2g} s"),
    ]
    return out + [("note", message) for message in diagnostics.messages]


def learned_prior(fit: Fit) -> str:
    """The hyperparameters that were learned, in one line."""
    return ", ".join(f"{name} {value:.4g}" for name, value in fit.learned.items())


def as_text(fit: Fit) -> str:
    """Lines for the prompt."""
    return "Fit\n" + "\n".join(f"  {heading + ':':<16}{content}" for heading, content in lines(fit))


def as_html(fit: Fit) -> str:
    """The same as a table; everything a user may have written is escaped."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(heading)}</th><td style='text-align:left'>{escape(content)}</td></tr>"
        for heading, content in lines(fit)
    )
    return f"<table><caption>Fit</caption>{rows}</table>"
