"""`Run`: what every engine hands over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sprite.core.types import Floats, Ints
from sprite.density.grid import REACH


@dataclass(frozen=True, eq=False)
class Mode:
    """A mode that a search found."""

    start: str
    """Where the search began: keyed, score, random 1, ..."""
    log_posterior: float
    log_likelihood: float
    gradient_norm: float
    """Largest entry of the gradient in the coordinates in which each question's curvature is 1."""
    converged: bool
    x: Floats
    ranks: Mapping[str, Ints] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Run:
    """Draws, or an estimate with its covariance, on the unconstrained scale of `Packing`."""

    x: Floats
    """Draws, (chain, draw, n_free): of the posterior, or of the Laplace approximation at a mode (none if refused)."""
    ranks: Mapping[str, Ints] = field(default_factory=dict)
    """Draws of the orders that are free, (chain, draw, rows)."""
    kind: str = "posterior"
    """`posterior` or `laplace`."""
    mode: Mode | None = None
    """The best mode found, where there was a search; for `laplace` it is the estimate."""
    modes: tuple[Mode, ...] = ()
    """The other modes found, best first."""
    covariance: Floats | None = None
    """Of x at the estimate."""
    refusal: str = ""
    """Why there is no covariance."""
    stats: Mapping[str, Floats] = field(default_factory=dict)
    """Per chain and draw: acceptance, divergent, log_posterior, whatever the engine knows."""
    messages: tuple[str, ...] = ()
    interrupted: bool = False
    n_nodes: int = 0
    """Nodes of the grid that passed its own check."""
    reach: float = REACH
    """Standard deviations of ability that it spans to either side."""
    grid_error: float = np.nan
    """By how much the log likelihood moved on a finer or wider one."""
