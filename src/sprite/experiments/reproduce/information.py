"""What questions tell: their ranking in bits, the two extreme ones, and short forms."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sprite.analysis.curves import populated
from sprite.engines.base import Engine
from sprite.experiments.reproduce import published
from sprite.experiments.reproduce.material import AnyTest
from sprite.experiments.reproduce.outputs import Table, markdown
from sprite.experiments.reproduce.parts import OnTest, Part
from sprite.experiments.reproduce.settings import Settings
from sprite.experiments.reproduce.short_form import ShortForm, form_text
from sprite.experiments.work import Result, whole
from sprite.fitting import fit
from sprite.models.sprite import Sprite
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Ranking(OnTest):
    """The bits of every question of a test."""

    @property
    def settings(self) -> dict[str, Any]:
        """All that the result depends on."""
        return {"experiment": "information", "data": self.test.identity, "engine": repr(self.engine)}

    @property
    def words(self) -> str:
        """What it is."""
        return f"{self.test_name}: bits, {self.engine_name}"

    def compute(self) -> Result:
        """Fit, rank, and keep what it takes to draw the two extreme questions."""
        began = time.perf_counter()
        fitted = whole(fit(self.test.responses, Sprite(), self.engine))
        columns = ["question", "bits", "bits_lower", "bits_upper", "bits_right_wrong"]
        ranked = fitted.questions()[columns].sort_values("bits", ascending=False, kind="stable")
        questions = [{k: _number(v) for k, v in line.items()} for line in ranked.to_dict("records")]
        low, high = populated(fitted)
        return {
            "questions": questions,
            "extremes": [sprites_of(fitted, str(line["question"])) for line in (questions[0], questions[-1])],
            "low": low,
            "high": high,
            "converged": fitted.diagnostics.converged,
            "seconds": time.perf_counter() - began,
        }


def sprites_of(fitted: Fit, question: str) -> dict[str, Any]:
    """Options, key and sprites of a question."""
    data = fitted.responses
    j = data.questions.index(question)
    rows = slice(data.first[j], data.first[j + 1])
    return {
        "question": question,
        "option": list(data.options[j]),
        "correct": data.correct[rows].tolist(),
        **{name: np.asarray(fitted.values[name], float)[rows].tolist() for name in ("mu", "nu")},
    }


def parts(tests: Sequence[AnyTest], settings: Settings) -> list[Part]:
    """A ranking of every test by EM and by the full posterior, and short forms by EM."""
    out: list[Part] = []
    for test in tests:
        engines: tuple[Engine, ...] = (settings.em, settings.predicting)
        out += [Ranking(test, engine, 0) for engine in engines]
        out += [
            ShortForm(test, settings.em, repeat, settings.form, settings.random_forms)
            for repeat in range(settings.splits)
        ]
    return out


def tables(found: Sequence[tuple[Part, Result]]) -> dict[str, Table]:
    """The ranking, the extreme questions of each test (by the full posterior where it was run), and short forms."""
    import pandas as pd

    rankings = [(part, result) for part, result in found if isinstance(part, Ranking)]
    forms = [{"test": part.test_name, "split": part.repeat, **r} for part, r in found if isinstance(part, ShortForm)]
    out: dict[str, Table] = {}
    if rankings:
        ranked = [
            {"test": part.test_name, "engine": part.engine_name, **line}
            for part, result in rankings
            for line in result["questions"]
        ]
        frame = pd.DataFrame(ranked)
        out["information"] = Table(frame, _ranking_text(frame))
        best = {part.test_name: (part, result) for part, result in rankings}  # Gibbs comes after EM
        frame = pd.DataFrame([line for part, result in best.values() for line in _extremes(part, result)])
        out["information_extremes"] = Table(frame, _extremes_text(frame))
    if forms:
        frame = pd.DataFrame(forms)
        out["short_form"] = Table(frame, form_text(frame))
    return out


def _extremes(part: Ranking, result: Result) -> Iterator[dict[str, Any]]:
    """The options of the first and of the last question of a ranking, with their sprites."""
    for line, one in zip((result["questions"][0], result["questions"][-1]), result["extremes"], strict=True):
        bits = {name: line[name] for name in ("question", "bits", "bits_lower", "bits_upper")}
        about = {"test": part.test_name, "engine": part.engine_name, **bits}
        for option, correct, mu, nu in zip(*(one[k] for k in ("option", "correct", "mu", "nu")), strict=True):
            sprite = {"option": option, "correct": correct, "mu": mu, "nu": nu}
            yield {**about, **sprite, "low": result["low"], "high": result["high"]}


def _ranking_text(frame: pd.DataFrame) -> str:
    rows = []
    for (test, engine), group in frame.groupby(["test", "engine"], sort=False):
        lost = 1.0 - group["bits_right_wrong"].astype(float).sum() / group["bits"].sum()
        keyed = group["bits_right_wrong"].notna().all()
        rows.append(
            [
                str(test),
                str(engine),
                str(len(group)),
                f"{group['bits'].max():.2f}",
                f"{group['bits'].median():.2f}",
                f"{group['bits'].min():.2f}",
                f"{(group['bits'] < 0.05).sum()}",
                f"{lost:.0%}" if keyed else "",
            ]
        )
    rows.append(
        [
            "algebra test (the paper's)",
            "",
            "34",
            f"{published.MOST_BITS:.2f}",
            "",
            f"{published.LEAST_BITS:.2f}",
            "",
            "",
        ]
    )
    return markdown(
        ["test", "engine", "questions", "most bits", "median", "least bits", "below 0.05", "lost by right/wrong"], rows
    )


def _extremes_text(frame: pd.DataFrame) -> str:
    rows = []
    for (test, question), group in frame.groupby(["test", "question"], sort=False):
        line = group.iloc[0]
        known = line["bits_lower"] == line["bits_lower"] and line["bits_lower"] is not None
        interval = f"{line['bits_lower']:.2f} to {line['bits_upper']:.2f}" if known else ""
        rows.append([str(test), str(question), str(line["engine"]), f"{line['bits']:.3f}", interval])
    return markdown(["test", "question", "engine", "bits", "90 % interval"], rows)


def _number(value: Any) -> Any:
    """What JSON can hold; nothing where there is no number."""
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not np.isfinite(value) else value
