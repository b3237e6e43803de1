"""Commands that ask a fit for one of its tables: the same names as the methods of `Fit`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sprite.cli.options import FitFile, Ignore, Missing, Seed, prints_table
from sprite.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from sprite.result.fit import Fit

Level = Annotated[float, typer.Option(min=0.5, max=1.0, help="How sure is sure enough.")]
Groups = Annotated[int, typer.Option(min=2, help="Number of score groups.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (
        summary,
        abilities,
        questions,
        options,
        option_order,
        verdicts,
        predict,
        information,
        plausible_values,
        classical,
        fit_statistics,
        diagnose,
        score,
        rescore,
        short_form,
    ):
        app.command(name=command.__name__.replace("_", "-"))(prints_table(command))


def summary(fit: FitFile) -> pd.DataFrame:
    """Every parameter with its uncertainty."""
    return _load(fit).summary()


def abilities(fit: FitFile) -> pd.DataFrame:
    """How able each respondent is."""
    return _load(fit).abilities()


def questions(fit: FitFile) -> pd.DataFrame:
    """How many bits each question tells, and what is wrong with it."""
    return _load(fit).questions()


def options(fit: FitFile, groups: Groups = 3) -> pd.DataFrame:
    """Who chose each option, and what it tells."""
    return _load(fit).options(groups)


def option_order(fit: FitFile, level: Level = 0.9) -> pd.DataFrame:
    """How the options order themselves, pair by pair."""
    return _load(fit).option_order(level)


def verdicts(fit: FitFile, level: Level = 0.9) -> pd.DataFrame:
    """What is probably wrong with the test, in plain words."""
    found = _load(fit).verdicts(level)
    found.attrs["closing"] = _how_many(found)
    return found


def predict(fit: FitFile) -> pd.DataFrame:
    """Probabilities of the answers that are missing."""
    import pandas as pd

    found = _load(fit).predict()
    return found if isinstance(found, pd.DataFrame) else pd.concat(found)


def information(fit: FitFile) -> pd.DataFrame:
    """Fisher information of questions and test over ability."""
    return _load(fit).information()


def plausible_values(
    fit: FitFile, n: Annotated[int, typer.Option("-n", min=1, help="Draws a respondent.")] = 10, seed: Seed = 0
) -> pd.DataFrame:
    """Draws of every respondent's ability."""
    return _load(fit).plausible_values(n, seed)


def classical(fit: FitFile, groups: Groups = 3) -> pd.DataFrame:
    """The usual item analysis."""
    return _load(fit).classical(groups)


def fit_statistics(fit: FitFile) -> pd.DataFrame:
    """How well the model reproduces each question's answers."""
    return _load(fit).fit_statistics()


def diagnose(fit: FitFile) -> pd.DataFrame:
    """Whether to trust the fit: R-hat and effective sample sizes."""
    found = _load(fit)
    typer.echo(
        "\n".join(
            [
                "Converged." if found.diagnostics.converged else "NOT converged.",
                *found.messages,
                *found.diagnostics.messages,
            ]
        ),
        err=True,
    )
    return found.diagnostics_table()


def score(
    fit: FitFile,
    new: Annotated[Path, typer.Argument(metavar="NEW.csv", help="Answers of respondents who were not in the fit.")],
    missing: Missing = None,
    ignore: Ignore = None,
    plug_in: Annotated[bool, typer.Option("--plug-in", help="Use the estimate alone, for speed.")] = False,
) -> pd.DataFrame:
    """How able respondents are who were not in the fit."""
    from sprite.data.reading import read

    return _load(fit).score(read(new, missing_codes=missing or (), ignore=ignore or ()), plug_in=plug_in)


def rescore(
    fit: FitFile,
    key: Annotated[list[str] | None, typer.Option(help="A corrected key, such as Q7=B.", metavar="QUESTION=B")] = None,
    drop: Annotated[list[str] | None, typer.Option(help="A question to drop.", metavar="QUESTION")] = None,
) -> pd.DataFrame:
    """Marks and abilities before and after a changed key or dropped question."""
    changed: dict[str, list[str]] = {}
    for entry in key or []:
        question, sign, labels = entry.rpartition("=")
        if not sign:
            raise InputError("a corrected key is written QUESTION=OPTION", found=entry, remedy="For example --key Q7=B")
        changed[question] = labels.split(";")
    if not changed and not drop:
        raise InputError("there is nothing to change", remedy="Give a corrected key, --key Q7=B, or --drop QUESTION")
    return _load(fit).rescore(changed, drop or [])


def short_form(
    fit: FitFile, n: Annotated[int, typer.Option("-n", min=1, help="Number of questions to keep.")]
) -> pd.DataFrame:
    """The questions that together tell most about ability."""
    return _load(fit).short_form(n)


def _load(path: Path) -> Fit:
    from sprite.result.storage import load

    return load(path)


def _how_many(found: pd.DataFrame) -> list[str]:
    """What there is of each verdict, the most pressing first: the table may be longer than the screen."""
    about: dict[str, list[str]] = {}
    for line in found.to_dict("records"):
        who = line["question"] or line["respondent"]
        about.setdefault(str(line["verdict"]), []).append(who)
    named = {verdict: list(dict.fromkeys(names)) for verdict, names in about.items()}
    return [
        f"{verdict}: {', '.join(names[:6])}" + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        for verdict, names in named.items()
    ]
