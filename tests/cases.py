"""One row a model and one an engine: contract tests run over these tables, so that a new one's tests come for free."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from sprite.core.layout import Layout
from sprite.engines.base import Engine
from sprite.engines.em import EM
from sprite.engines.gibbs import Gibbs
from sprite.engines.metropolis import Metropolis
from sprite.engines.nuts import NUTS
from sprite.models.base import Model
from sprite.models.gpcm import GPCM
from sprite.models.lord import LORD
from sprite.models.nrm import NRM
from sprite.models.ord import ORD
from sprite.models.sprite import Sprite

MODELS: dict[str, Model] = {
    "sprite-correct": Sprite(),
    "sprite-scale": Sprite(anchor="scale", nu_mu=2.0, alpha=3.0, beta=2.0),
    "sprite-none": Sprite(anchor="none", mu_z=0.3, nu_z=1.5),
    "nrm": NRM(),
    "gpcm-given": GPCM(),
    "gpcm-label-positive": GPCM(order="label", sign="positive", nu_slope=0.5),
    "gpcm-empirical": GPCM(order="empirical"),
    "ord-given": ORD(),
    "ord-empirical": ORD(order="empirical", nu_theta=2.0),
    "lord": LORD(),
}

WITHOUT_MIRROR = {"sprite-none", "gpcm-label-positive", "ord-given", "ord-empirical", "lord"}
"""Models that no reflection of ability leaves as they are."""
ORDER_IS_INPUT = {"gpcm-given", "gpcm-label-positive", "ord-given"}


def ragged_layout(seed: int = 0, sizes: tuple[int, ...] = (2, 15, 4, 3, 1, 5, 2)) -> Layout:
    """A test with 2 and with 15 options, a question with one option, keys, orders and unequal counts."""
    rng = np.random.default_rng(seed)
    first = np.concatenate([[0], np.cumsum(sizes)])
    rows = int(first[-1])
    correct = np.zeros(rows, dtype=bool)
    correct[[rng.integers(a, b) for a, b in itertools.pairwise(first)]] = True
    rank = np.concatenate([rng.permutation(m) for m in sizes]).astype(np.int32)
    return Layout(
        first=first.astype(np.int64),
        correct=correct,
        rank=rank,
        count=rng.integers(0, 50, rows).astype(np.int64),
        score=rng.normal(size=rows),
    )


def permuted(layout: Layout, rng: np.random.Generator) -> tuple[Layout, np.ndarray]:
    """The same test with the options of every question in another order; row r becomes row `to[r]`."""
    order = np.lexsort((rng.random(layout.n_rows), layout.question))
    to = np.empty(layout.n_rows, dtype=np.int64)
    to[order] = np.arange(layout.n_rows)
    moved = {name: getattr(layout, name)[order] for name in ("correct", "rank", "count", "score")}
    return replace(layout, **moved), to


def python_blocks(page: Path) -> list[str]:
    """The Python code that a page of the documentation shows."""
    return re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def documented_model() -> Model:
    """The model that `docs/extending.md` writes as an example: what it shows must keep the contract, too."""
    names: dict[str, type[Model]] = {}
    page = Path(__file__).parents[1] / "docs" / "extending.md"
    exec(compile(python_blocks(page)[0], page.name, "exec", dont_inherit=True), names)
    return names["RightWrong"]()


ENGINES: dict[str, Engine] = {
    "em": EM(starts=2, draws=40),
    "gibbs": Gibbs(chains=2, draws=20, warmup=20, starts=1),
    "nuts": NUTS(chains=1, draws=15, warmup=15, starts=1),
    "metropolis": Metropolis(chains=1, warmup=100, draws=100, thin=5),
}
"""One row an engine, with as little work as a test can see."""
