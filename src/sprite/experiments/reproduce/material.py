"""The tests that the experiments are made on: real ones from a folder, and simulated ones of the paper's shapes."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from sprite.core.errors import InputError, SpriteWarning
from sprite.core.types import Rows
from sprite.data.responses import Responses
from sprite.data.writing import read_folder
from sprite.density.grid import grid_for
from sprite.density.packing import Packing
from sprite.experiments.reproduce.published import PaperTest
from sprite.experiments.store import fingerprint
from sprite.models.base import Kind, Model
from sprite.models.gpcm import GPCM
from sprite.models.lord import LORD
from sprite.models.nrm import NRM
from sprite.models.ord import ORD
from sprite.models.sprite import Sprite
from sprite.result.orientation import option_means
from sprite.simulation import Simulation, simulate

_NODES = 121


@dataclass(frozen=True, eq=False)
class RealTest:
    """Answers that people gave."""

    name: str
    responses: Responses
    ordered: bool
    """Whether the order of the options is known; the responses carry it then."""
    identity: str

    @property
    def cells(self) -> int:
        """Respondents times questions."""
        return self.responses.n_respondents * self.responses.n_questions

    @property
    def fresh(self) -> bool:
        """Whether every pattern has a test of its own."""
        return False

    def at(self, repeat: int) -> RealTest:
        """The test for this pattern."""
        return self


@dataclass(frozen=True)
class SimulatedTest:
    """A test of one of the paper's shapes, drawn from a model such that it looks like an exam, or from its prior."""

    shape: PaperTest
    truth: Model
    kind: Kind = "exam"
    seed: int = 0
    fresh: bool = True

    @property
    def name(self) -> str:
        """The shape and whose truth it is; a test that stands for a real one goes by its own name."""
        if not self.fresh:
            return self.shape.name
        return f"{self.shape.name}, {self.truth.name}" + " prior" * (self.kind == "prior")

    @property
    def ordered(self) -> bool:
        """Whether the order of the options is known."""
        return self.shape.ordered

    @property
    def cells(self) -> int:
        """Respondents times questions."""
        return self.shape.respondents * self.shape.questions

    @property
    def identity(self) -> dict[str, Any]:
        """The recipe, which tells the answers before they are made."""
        shape = self.shape
        sizes = [shape.questions, shape.respondents, shape.options, shape.observed, shape.ordered]
        recipe = {"truth": repr(self.truth), "sizes": sizes, "seed": self.seed}
        return recipe if self.kind == "exam" else {**recipe, "kind": self.kind}

    @property
    def responses(self) -> Responses:
        """The answers, made when asked for."""
        return _drawn(self)

    def at(self, repeat: int) -> SimulatedTest:
        """The test for this pattern: another one for each, so that what is found does not hang on one test."""
        return replace(self, seed=repeat) if self.fresh else self


AnyTest: TypeAlias = RealTest | SimulatedTest


def real_tests(folder: Path) -> list[RealTest]:
    """Every test under a folder, by name: one subfolder each, with responses.csv and its companions.

    The order of the options is known where there is an order.csv, or where SOURCE.md says `kind: ordinal`, which
    means label order.
    """
    places = sorted(path.parent for path in folder.glob("*/responses.csv"))
    if not places:
        raise InputError(
            "there are no tests here",
            file=str(folder),
            remedy="Name a folder with one subfolder a test, which holds "
            "responses.csv and, where there is a key, key.csv: --data FOLDER",
        )
    return [_read(place) for place in places]


def stand_ins() -> list[SimulatedTest]:
    """Two small tests, an exam and a scale, for a study without real ones."""
    exam = PaperTest("exam (simulated)", 9, 70, 4, False, 0.95)
    scale = PaperTest("scale (simulated)", 6, 80, 4, True, 1.0)
    return [SimulatedTest(exam, Sprite(), fresh=False), SimulatedTest(scale, ORD(order="label"), fresh=False)]


def simulated_tests(shapes: tuple[PaperTest, ...], kind: Kind = "exam") -> list[SimulatedTest]:
    """Each shape under the truth of each model: ORD where the order is known, LORD where not; GPCM in label order."""
    truths: list[Model] = [Sprite(), NRM(), GPCM(order="label")]
    return [
        SimulatedTest(shape, truth, kind)
        for shape in shapes
        for truth in (truths[0], ORD() if shape.ordered else LORD(), *truths[1:])
    ]


def _read(place: Path) -> RealTest:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpriteWarning)  # what looks odd is said by `sprite check`
        responses = read_folder(place)
    source = place / "SOURCE.md"
    declared = source.exists() and re.search(r"^- kind: *ordinal\b", source.read_text(encoding="utf-8"), flags=re.M)
    if declared and responses.rank is None:
        responses = replace(responses, rank=responses.layout.position.astype(np.int32))
    return RealTest(place.name, responses, responses.rank is not None, fingerprint(responses))


@lru_cache(maxsize=4)
def _drawn(test: SimulatedTest) -> Responses:
    shape = test.shape
    sizes = (shape.respondents, shape.questions, shape.options)
    made = simulate(test.truth, *sizes, kind=test.kind, observed=shape.observed, seed=test.seed)
    return replace(made.responses, rank=true_order(made) if shape.ordered else None)


def true_order(made: Simulation) -> Rows:
    """The order of the options that an expert who knows the truth would give: by E[z | option chosen]."""
    responses, truth = made
    layout = responses.layout
    packing = Packing(truth.model, layout)
    mean = option_means(
        packing.pack(truth.values), None, truth.model, layout, packing, grid_for(truth.model.ability, _NODES)
    )
    rank = np.empty(layout.n_rows, dtype=np.int32)
    rank[np.lexsort((mean, layout.question))] = layout.position
    return rank
