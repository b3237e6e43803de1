"""Models against each other on hidden answers: the units of two experiments, and the table of what they found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from sprite.engines.base import Engine
from sprite.experiments.compare import BASELINE, score_table
from sprite.experiments.puncture import Task, Trial
from sprite.experiments.reproduce.material import AnyTest
from sprite.experiments.reproduce.outputs import markdown
from sprite.experiments.reproduce.parts import Part
from sprite.experiments.reproduce.settings import Settings
from sprite.experiments.work import Result
from sprite.models.base import Model
from sprite.models.gpcm import GPCM
from sprite.models.registry import model_of

if TYPE_CHECKING:
    import pandas as pd

OWN: dict[str, Model] = {"gpcm-empirical": GPCM(order="empirical")}
"""Contestants that have no name in the registry of models."""
SEED = 0
_ENOUGH = 3
"""Patterns from which on a standard error is shown."""
_PER_ANSWER = {"sprite": 1.5e-4, "nrm": 1e-4, "lord": 4e-4}
_GIBBS = 15.0
"""By which time is guessed before any is known: seconds an answer by EM, and how many times as long Gibbs takes."""

ENGINES = {"em": "posterior mode by EM", "gibbs": "full posterior by Gibbs"}
"""As tables and figures call them."""
DIFFERENCE = "the difference to it ± its standard error, above 0 worse"
Columns: TypeAlias = Sequence[tuple[str, Sequence[str]]]
"""Titles, each with the contestants of whom it shows the one that took part."""
Line: TypeAlias = Mapping[Any, Any]
Shown: TypeAlias = Callable[[Line, int], str]
"""How a line of a contestant is shown in a column of this number."""


@dataclass(frozen=True, eq=False)
class Contest(Trial):
    """One contestant on one pattern of a test."""

    contestant: str

    @property
    def of(self) -> AnyTest:
        """The test."""
        return cast(AnyTest, self.test)

    @property
    def test_name(self) -> str:
        """The test."""
        return self.of.name

    @property
    def model_name(self) -> str:
        """The contestant; nothing for the baseline, which every table needs."""
        return self.contestant if self.task.model else ""

    @property
    def engine_name(self) -> str:
        """How it is fitted; nothing for the baseline."""
        return self.task.engine.name if self.task.model else ""

    @property
    def repeat(self) -> int:
        """The pattern."""
        return self.task.repeat

    @property
    def kind(self) -> str:
        """Test, contestant and engine."""
        return f"{self.test_name}|{self.contestant}|{self.engine_name}"

    @property
    def expected(self) -> float:
        """A first guess at its seconds."""
        if self.task.model is None:
            return 0.1
        by_em = 0.3 + _PER_ANSWER.get(self.task.model.name, 1e-4) * self.of.cells
        learning = 4.0 if self.task.model.prior == "learned" else 1.0
        return learning * (by_em if self.engine_name == "em" else _GIBBS * by_em)

    @property
    def words(self) -> str:
        """What it is."""
        by = f" by {self.engine_name}" if self.engine_name else ""
        return f"{self.test_name}: {self.contestant}{by}, pattern {self.repeat + 1}"


def contests(tests: Iterable[AnyTest], names: Callable[[AnyTest], Sequence[str]], settings: Settings) -> list[Part]:
    """Every pattern of every test with EM, with the full posterior, and the baseline.

    What takes long has fewer patterns: learned priors, and the full posterior on large tests. A learned prior meets
    real tests by EM and simulated ones, where respondents are few and the mode predicts badly, by the full posterior.
    Of simulated tests there are many more than of real ones: contestants of our own meet them with EM alone.
    """
    out: list[Part] = []
    for test in tests:
        by_gibbs = settings.patterns_of_large if test.cells >= settings.large else settings.patterns
        with_learned = min(by_gibbs, settings.few if test.fresh else settings.patterns_of_learned)
        for repeat in range(settings.patterns):
            drawn = test.at(repeat)

            def on(model: Model | None, engine: Engine, name: str, test: AnyTest = drawn, k: int = repeat) -> Contest:
                return Contest(test, Task(model, engine, settings.share, SEED, k), name)

            for name in names(test):
                model = model_called(name)
                learned = model.prior == "learned"
                if learned and repeat < with_learned:
                    out.append(on(model, settings.predicting if test.fresh else settings.em, name))
                if not learned:
                    out.append(on(model, settings.em, name))
                if not learned and repeat < by_gibbs and not (test.fresh and name in OWN):
                    out.append(on(model, settings.predicting, name))
            out.append(on(None, settings.em, BASELINE))
    return out


def model_called(name: str) -> Model:
    """The contestant of this name."""
    return OWN[name] if name in OWN else model_of(name)


def standings(found: Sequence[tuple[Part, Result]], names: Sequence[str]) -> pd.DataFrame:
    """One row a test, engine and contestant, as `compare` has them, with the first of `names` as the one compared to.

    Only patterns that every contestant of the test has been through count, so that all are judged by the same answers.
    """
    import pandas as pd

    tests: dict[str, AnyTest] = {}
    scores: dict[tuple[str, str, str], dict[int, Result]] = {}
    for part, result in found:
        if isinstance(part, Contest):
            tests[part.test_name] = part.of
            scores.setdefault((part.test_name, part.engine_name, part.contestant), {})[part.repeat] = result
    frames = []
    for name, test in tests.items():
        for engine in dict.fromkeys(by for of, by, _ in scores if of == name and by):
            present = [who for who in names if (name, engine, who) in scores]
            lines = [scores[name, engine, who] for who in present] + [scores.get((name, "", BASELINE), {})]
            repeats = sorted(set.intersection(*(set(line) for line in lines)))
            if present[:1] != [names[0]] or not repeats:
                continue
            by_pattern = [[line[repeat] for line in lines] for repeat in repeats]
            frame = score_table([*present, BASELINE], by_pattern, independent=test.fresh)
            frame.insert(0, "test", name)
            frame.insert(1, "engine", engine)
            frames.append(frame)
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def shown(frame: pd.DataFrame, columns: Columns, engine: str, measure: Shown) -> str:
    """A Markdown table of one engine, a line a test."""
    rows = [
        [str(test), str(int(group["repeats"].iloc[0])), *cells(group, columns, measure)]
        for test, group in frame[frame["engine"] == engine].groupby("test", sort=False)
    ]
    return markdown(["test", "patterns", *(title for title, _ in columns)], rows)


def cells(group: pd.DataFrame, columns: Columns, measure: Shown) -> list[str]:
    """One line: a cell a column, which shows whichever of the column's contestants is there."""
    lines = {str(line["model"]): line for line in group.to_dict("records")}
    there = [next((lines[name] for name in names if name in lines), None) for _, names in columns]
    return ["" if line is None else measure(line, column) for column, line in enumerate(there)]


def with_deviation(name: str) -> Shown:
    """A score with its deviation over patterns, as the paper prints it."""

    def cell(line: Line, column: int) -> str:
        spread = line[f"{name}_sd"]
        return f"{line[name]:.3f}" + (f" ({spread:.3f})" if spread == spread else "")

    return cell


def with_difference(name: str) -> Shown:
    """The score of the first column; in the others the difference to it and, of three patterns or more, its error."""

    def cell(line: Line, column: int) -> str:
        if column == 0:
            return f"{line[name]:.4f}"
        error = line[f"diff_{name}_se"]
        return f"{line[f'diff_{name}']:+.4f}" + (f" ± {error:.4f}" if line["repeats"] >= _ENOUGH else "")

    return cell


def change(name: str) -> Shown:
    """The difference to the first contestant of the table alone, and its standard error."""
    difference = with_difference(name)
    return lambda line, column: difference(line, 1)


def plain(name: str) -> Shown:
    """The score alone."""
    return lambda line, column: f"{line[name]:.3f}"
