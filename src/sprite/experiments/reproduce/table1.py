"""The paper's two tables: prediction error of the models, and what the tests are like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sprite.experiments.compare import BASELINE
from sprite.experiments.reproduce import published
from sprite.experiments.reproduce.contest import (
    DIFFERENCE,
    ENGINES,
    Columns,
    Contest,
    cells,
    change,
    contests,
    plain,
    shown,
    standings,
    with_deviation,
    with_difference,
)
from sprite.experiments.reproduce.material import AnyTest, SimulatedTest, simulated_tests
from sprite.experiments.reproduce.outputs import Table, folded, markdown
from sprite.experiments.reproduce.parts import Part
from sprite.experiments.reproduce.published import PaperTest
from sprite.experiments.reproduce.settings import Settings
from sprite.experiments.work import Result

if TYPE_CHECKING:
    import pandas as pd

ORDERED = ("sprite", "ord", "nrm", "gpcm")
UNORDERED = ("sprite", "lord", "nrm", "gpcm", "gpcm-empirical")
"""Who takes part: GPCM in the given or else in label order, as in the paper; by mean rest score beside it."""
LEARNED = ("sprite", "ord", "lord", "nrm", "gpcm")
"""Who takes part a second time with a prior learned from the answers."""
_COLUMNS: Columns = (
    ("SPRITE", ("sprite",)),
    ("(L)ORD", ("ord", "lord")),
    ("NRM", ("nrm",)),
    ("GPCM", ("gpcm",)),
    ("GPCM, empirical order", ("gpcm-empirical",)),
    ("answer shares", (BASELINE,)),
)
"""The paper's columns first."""
_ABOUT = ("test", "questions", "respondents", "options", "ordered", "observed")
_MEASURES = {
    "table1_real": ("error", "log_loss", "brier"),
    "table1_simulated": ("log_loss", "brier"),
    "table1_prior": ("log_loss",),
}
"""Tables of contests, and the scores that are shown of each; the files have all of them.

Errors on simulated exams stand in a table of their own, beside the paper's.
"""


def parts(tests: Sequence[AnyTest], settings: Settings) -> list[Part]:
    """The contests on the tests given and on simulated ones of the paper's shapes: exams, and draws from priors.

    Under a draw from a model's prior nothing predicts better, on average, than that model's full posterior: there the
    engines are on trial as well as the models, and a learned prior has nothing to learn.
    """

    def usual(test: AnyTest) -> Sequence[str]:
        return ORDERED if test.ordered else UNORDERED

    def twice(test: AnyTest) -> Sequence[str]:
        return (*usual(test), *(f"{name}-learned" for name in usual(test) if name in LEARNED))

    exams = contests([*tests, *simulated_tests(settings.shapes)], twice, settings)
    from_priors = simulated_tests(settings.shapes, "prior")
    return exams + contests(from_priors, usual, replace(settings, patterns=settings.few))


def tables(everything: Sequence[Part], found: Sequence[tuple[Part, Result]]) -> dict[str, Table]:
    """Both tables, the first apart for the tests given, for simulated exams and for draws from priors."""
    out = {"table2": _description(everything)}
    usual = list(dict.fromkeys((*ORDERED, *UNORDERED)))
    own = {name: [pair for pair in found if _table_of(pair[0]) == name] for name in _MEASURES}
    for name, measures in _MEASURES.items():
        frame = standings(own[name], usual)
        if len(frame):
            out[name] = Table(frame, _text(frame, measures))
    out |= _learned("table1", own["table1_real"], "em")
    out |= _learned("table1_simulated", own["table1_simulated"], "gibbs")
    if "table1_simulated" in out:
        simulated = [part.of for part in everything if isinstance(part, Contest)]
        shapes = dict.fromkeys(test.shape for test in simulated if isinstance(test, SimulatedTest) and test.fresh)
        out["table1_paper"] = Table(_published(), _beside(out["table1_simulated"].frame, list(shapes)))
    return out


def _table_of(part: Part) -> str:
    """The table that shows it."""
    if not (isinstance(part, Contest) and isinstance(part.of, SimulatedTest) and part.of.fresh):
        return "table1_real"
    return "table1_simulated" if part.of.kind == "exam" else "table1_prior"


def _learned(name: str, found: Sequence[tuple[Part, Result]], engine: str) -> dict[str, Table]:
    """What a learned prior changes for each model, and how the models compare when all have learned theirs."""
    import pandas as pd

    frames = [standings(found, (model, f"{model}-learned")) for model in LEARNED]
    both = [f[f["engine"] == engine] for f in frames if len(f) and f["model"].str.endswith("-learned").any()]
    if not both:
        return {}
    frame = pd.concat(both, ignore_index=True)
    columns = [
        (title, [f"{model}-learned" for model in models]) for title, models in _COLUMNS[: len(published.CONTESTANTS)]
    ]
    lines = frame[frame["model"].str.endswith("-learned")]
    out = {f"{name}_learned": Table(frame, shown(lines, columns, engine, change("log_loss")))}
    all_learned = standings(found, [f"{model}-learned" for model in LEARNED])
    if len(all_learned):
        text = shown(all_learned, [*columns, _COLUMNS[-1]], engine, with_difference("log_loss"))
        out[f"{name}_all_learned"] = Table(all_learned, text)
    return out


def _present(frame: pd.DataFrame) -> Columns:
    """The columns of those who took part."""
    return [(title, names) for title, names in _COLUMNS if set(frame["model"]) & set(names)]


def _text(frame: pd.DataFrame, measures: Sequence[str]) -> str:
    """Engine by engine; the Brier score, which ranks much as the log loss does, only when asked for."""
    columns = _present(frame)
    ways = {
        "error": ("**Error, {}** (deviation over patterns)", with_deviation("error")),
        "log_loss": (f"**Log loss, {{}}**, of SPRITE; for the others {DIFFERENCE}", with_difference("log_loss")),
        "brier": ("Brier score, {}", plain("brier")),
    }
    out = []
    for engine, words in ENGINES.items():
        if engine in set(frame["engine"]):
            for measure in measures:
                title, way = ways[measure]
                table = shown(frame, columns, engine, way)
                named = title.format(words)
                out.append(folded(named, table) if measure == "brier" else f"{named}\n\n{table}")
    return "\n".join(out)


def _description(everything: Sequence[Part]) -> Table:
    import pandas as pd

    lines: list[dict[str, Any]] = []
    for test in {part.test_name: part.of for part in everything if isinstance(part, Contest)}.values():
        if not test.fresh:
            data = test.responses
            few, many = data.layout.n_options.min(), data.layout.n_options.max()
            options = f"{few}" if few == many else f"{few} to {many}"
            about = (
                test.name,
                data.n_questions,
                data.n_respondents,
                options,
                test.ordered,
                data.n_answers / test.cells,
            )
            lines.append(dict(zip(_ABOUT, about, strict=True)))
    for shape in published.TESTS:
        name = f"{shape.name} (the paper's)"
        about = (name, shape.questions, shape.respondents, f"{shape.options}", shape.ordered, shape.observed)
        lines.append(dict(zip(_ABOUT, about, strict=True)))
    rows = [
        [
            line["test"],
            f"{line['questions']} x {line['respondents']}",
            line["options"],
            "yes" if line["ordered"] else "no",
            f"{line['observed']:.1%}",
        ]
        for line in lines
    ]
    text = markdown(["test", "questions x respondents", "options", "ordered", "observed"], rows)
    return Table(pd.DataFrame(lines), text)


def _published() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        [
            {"test": test.name, "model": name, "error": error, "error_sd": sd}
            for test in published.TESTS
            for name, (error, sd) in test.error.items()
        ]
    )


def _beside(frame: pd.DataFrame, shapes: Sequence[PaperTest]) -> str:
    """Errors on simulated tests of the paper's shapes, below the line that the paper printed for its own test."""
    columns = _present(frame)
    header = ["shape", "answers drawn from", *(title for title, _ in columns)]
    rows = []
    for shape in shapes:
        printed = {
            title: f"{error:.2f} ({sd:.2f})"
            for (title, _), (error, sd) in zip(_COLUMNS, shape.error.values(), strict=False)
        }
        if printed:
            rows.append([shape.name, "the paper's own test", *(printed.get(title, "") for title, _ in columns)])
        for engine, words in ENGINES.items():
            of_shape = frame[(frame["engine"] == engine) & frame["test"].str.startswith(f"{shape.name}, ")]
            for name, group in of_shape.groupby("test", sort=False):
                truth = str(name).removeprefix(f"{shape.name}, ").upper()
                line = cells(group, columns, with_deviation("error"))
                rows.append([shape.name, f"{truth}; {words}", *line])
    return markdown(header, rows)
