"""LORD stays on one side: its posterior is restricted to one orientation of ability.

Its reflection keeps the likelihood but not the prior, so draws must not be flipped afterwards.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sprite.core.types import Bools, Floats, Ints
from sprite.density.grid import grid_for
from sprite.density.posterior import Posterior
from sprite.result.orientation import ENOUGH_FOR_A_SIGN, option_means
from sprite.result.run import Mode


def turned(posterior: Posterior, x: Floats, ranks: dict[str, Ints]) -> Bools:
    """Which chains stand outside the half to which learned orders are restricted; none where the order is given.

    LORD's reflection keeps the likelihood but not the prior, so draws must not be flipped; instead the posterior is
    restricted to one orientation, that in which options whose choosers score higher stand higher.
    """
    layout, model = posterior.layout, posterior.model
    if not ranks:
        return np.zeros(len(x), dtype=bool)
    means = option_means(x, ranks, model, layout, posterior.packing, grid_for(model.ability, ENOUGH_FOR_A_SIGN))
    return np.asarray(means @ (layout.count * layout.score) < 0)


def keep_upright(
    posterior: Posterior, before: tuple[Floats, dict[str, Ints]], after: tuple[Floats, dict[str, Ints]]
) -> tuple[Floats, dict[str, Ints]]:
    """Refuse a half-sweep that turned the ability scale round.

    A reversible move that is refused whenever it leaves a region leaves the restricted distribution invariant. Swap,
    HMC, swap is reversible as a whole; HMC and then swaps would not be.
    """
    over = turned(posterior, *after)[:, None]
    x = np.where(over, before[0], after[0])
    return x, {name: np.where(over, before[1][name], rank) for name, rank in after[1].items()}


def upright_start(posterior: Posterior, modes: list[Mode], rng: np.random.Generator) -> Mode:
    """The best mode that stands the right way up; where none does, the order of mean rest score."""
    for mode in modes:
        if not turned(posterior, mode.x[None], {name: rank[None] for name, rank in mode.ranks.items()})[0]:
            return mode
    values = posterior.model.start(posterior.layout, "score", rng)
    ranks = {name: np.asarray(values[name], np.int64) for name in modes[0].ranks}
    return replace(modes[0], x=posterior.packing.pack(values), ranks=ranks)
