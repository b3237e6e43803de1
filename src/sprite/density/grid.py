"""The grid of ability values on which ability is integrated out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sprite.core.types import Floats

REACH = 6.0
"""Standard deviations of ability that a grid spans to either side, to begin with: beyond lie, by the prior, 2
respondents in a thousand million."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Evenly spaced nodes with the log of their prior weights, which sum to one.

    On an even grid the trapezoidal rule converges faster than any power of the spacing once the spacing is below the
    width of the narrowest posterior.
    """

    nodes: Floats
    log_weight: Floats
    reach: float

    @property
    def spacing(self) -> float:
        """Distance between neighbouring nodes."""
        return float(self.nodes[1] - self.nodes[0])

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.nodes)


def grid_for(ability: tuple[float, float], n_nodes: int, reach: float = REACH) -> Grid:
    """A grid for ability ~ N(mean, variance)."""
    mean, variance = ability
    standard = np.linspace(-reach, reach, n_nodes)
    weight = np.exp(-0.5 * standard**2)
    return Grid(mean + np.sqrt(variance) * standard, -0.5 * standard**2 - np.log(weight.sum()), reach)


def doubled(grid: Grid, ability: tuple[float, float]) -> Grid:
    """The grid of half the spacing that holds every node of this one."""
    return grid_for(ability, 2 * grid.n_nodes - 1, grid.reach)


def wider(grid: Grid, ability: tuple[float, float]) -> Grid:
    """The grid of twice the reach that holds every node of this one."""
    return grid_for(ability, 2 * grid.n_nodes - 1, 2 * grid.reach)
