"""The paper's two tables: prediction error of the models, and what the tests are like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sprite.experiments.compare import BASELINE
from sprite.experiments.reproduce import published
from sprite.experiments.reproduce.contest import (
    DIFFERENCE,
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
from sprite.experiments.reproduce.outputs import Table, markdown
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
"""Who takes part a second time, on real tests, with a prior learned from the answers."""
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
_ENGINES = {"em": "posterior mode by EM", "gibbs": "full posterior by Gibbs"}


def parts(tests: Sequence[AnyTest], settings: Settings) -> list[Part]:
    """The contests on the tests given, and on simulated ones of the paper's shapes."""

    def names(test: AnyTest) -> Sequence[str]:
        usual = ORDERED if test.ordered else UNORDERED
        return usual if test.fresh else (*usual, *(f"{name}-learned" for name in usual if name in LEARNED))

    return contests([*tests, *simulated_tests(settings.shapes)], names, settings)


def tables(everything: Sequence[Part], found: Sequence[tuple[Part, Result]]) -> dict[str, Table]:
    """Both tables, the first apart for the tests given and for simulated ones."""
    out = {"table2": _description(everything)}
    simulated = {part.of.name: part.of for part in everything if isinstance(part, Contest) and part.of.fresh}
    usual = list(dict.fromkeys((*ORDERED, *UNORDERED)))
    for name, fresh in (("table1_real", False), ("table1_simulated", True)):
        frame = standings([pair for pair in found if (pair[0].test_name in simulated) == fresh], usual)
        if len(frame):
            out[name] = Table(frame, _text(frame))
    out |= _learned(found)
    if "table1_simulated" in out:
        shapes = dict.fromkeys(test.shape for test in simulated.values() if isinstance(test, SimulatedTest))
        out["table1_paper"] = Table(_published(), _beside(out["table1_simulated"].frame, list(shapes)))
    return out


def _learned(found: Sequence[tuple[Part, Result]]) -> dict[str, Table]:
    """What a learned prior changes for each model, and how the models compare when all have learned theirs."""
    import pandas as pd

    frames = [standings(found, (name, f"{name}-learned")) for name in LEARNED]
    both = [f[f["engine"] == "em"] for f in frames if len(f) and f["model"].str.endswith("-learned").any()]
    if not both:
        return {}
    frame = pd.concat(both, ignore_index=True)
    columns = [
        (title, [f"{name}-learned" for name in names]) for title, names in _COLUMNS[: len(published.CONTESTANTS)]
    ]
    lines = frame[frame["model"].str.endswith("-learned")]
    out = {"table1_learned": Table(frame, shown(lines, columns, "em", change("log_loss")))}
    all_learned = standings(found, [f"{name}-learned" for name in LEARNED])
    if len(all_learned):
        text = shown(all_learned, [*columns, _COLUMNS[-1]], "em", with_difference("log_loss"))
        out["table1_all_learned"] = Table(all_learned, text)
    return out


def _present(frame: pd.DataFrame) -> Columns:
    """The columns of those who took part."""
    return [(title, names) for title, names in _COLUMNS if set(frame["model"]) & set(names)]


def _text(frame: pd.DataFrame) -> str:
    columns = _present(frame)
    out = []
    for engine, words in _ENGINES.items():
        if engine in set(frame["engine"]):
            out += [
                f"**Error, {words}** (deviation over patterns)\n",
                shown(frame, columns, engine, with_deviation("error")),
                f"**Log loss, {words}**, of SPRITE; for the others {DIFFERENCE}\n",
                shown(frame, columns, engine, with_difference("log_loss")),
                f"**Brier score, {words}**\n",
                shown(frame, columns, engine, plain("brier")),
            ]
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
        for engine, words in _ENGINES.items():
            of_shape = frame[(frame["engine"] == engine) & frame["test"].str.startswith(f"{shape.name}, ")]
            for name, group in of_shape.groupby("test", sort=False):
                truth = str(name).removeprefix(f"{shape.name}, ").upper()
                line = cells(group, columns, with_deviation("error"))
                rows.append([shape.name, f"{truth}; {words}", *line])
    return markdown(header, rows)
