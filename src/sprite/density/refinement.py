"""The grid checks itself: it is fine and wide enough when a better one moves the log likelihood by next to nothing."""

from __future__ import annotations

from collections.abc import Sequence

from sprite.core.types import Floats
from sprite.density.grid import doubled, wider
from sprite.density.posterior import Posterior, Ranks

TOLERANCE = 0.01
"""The log likelihood may move by this."""
MOST_NODES = 2000
"""A grid of more nodes is not refined again, whatever its error."""

Points = Sequence[tuple[Floats, Ranks]]


def refined(posterior: Posterior, points: Points) -> tuple[float, Posterior]:
    """The error of the grid, and the posterior on a better one.

    The error is by how much, at the worst of these points, the log likelihood moves on a grid of half the spacing or of
    twice the reach; the better grid is the one that moves it more.
    """
    here = [float(posterior.log_likelihoods(x, ranks).sum()) for x, ranks in points]
    best, found = -1.0, posterior
    for change in (doubled, wider):
        other = posterior.on(change(posterior.grid, posterior.model.ability))
        there = [float(other.log_likelihoods(x, ranks).sum()) for x, ranks in points]
        error = max((abs(a - b) for a, b in zip(here, there, strict=True)), default=0.0)
        if error > best:
            best, found = error, other
    return best, found


def good_enough(posterior: Posterior, error: float) -> bool:
    """Whether the grid stays as it is."""
    return error <= TOLERANCE or posterior.grid.n_nodes > MOST_NODES


def checked(posterior: Posterior, points: Points) -> tuple[Posterior, float]:
    """The posterior on a grid that is good enough for these points, and the error that is left."""
    while True:
        error, better = refined(posterior, points)
        if good_enough(posterior, error):
            return posterior, error
        posterior = better
