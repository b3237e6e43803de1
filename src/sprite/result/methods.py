"""What a fit can be asked, as methods: each hands over to the function of the same name in `sprite.analysis`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from sprite.data.responses import Responses

# Analysis stands above results and sees only the finished fit, so it is looked up by name when asked for.
_HOME = {
    "abilities": "scores",
    "plausible_values": "scores",
    "score": "scores",
    "predict": "predict",
    "options": "options",
    "option_order": "order",
    "questions": "questions",
    "information": "information",
    "short_form": "short_form",
    "verdicts": "verdicts",
    "rescore": "rescore",
    "classical": "classical",
    "fit_statistics": "fit_statistics",
}


def _ask(name: str, *args: Any, **kwargs: Any) -> pd.DataFrame:
    answer: pd.DataFrame = getattr(import_module(f"sprite.analysis.{_HOME[name]}"), name)(*args, **kwargs)
    return answer


class Analyses:
    """The questions a fit answers; every answer is a tidy frame, intervals are central 90 % ones."""

    def abilities(self) -> pd.DataFrame:
        """One row a respondent: ability (EAP), map, sd, lower, upper, n_answered, n_correct."""
        return _ask("abilities", self)

    def plausible_values(self, n: int = 10, seed: int = 0) -> pd.DataFrame:
        """`n` draws of every respondent's ability: respondent, draw, ability."""
        return _ask("plausible_values", self, n, seed)

    def score(self, responses: Responses, *, plug_in: bool = False) -> pd.DataFrame:
        """Abilities of respondents who were not in the fit; `plug_in` uses the estimate alone, for speed."""
        return _ask("score", self, responses, plug_in=plug_in)

    def predict(
        self, cells: Sequence[tuple[str, str]] | None = None, *, chunk: int | None = None
    ) -> pd.DataFrame | Iterator[pd.DataFrame]:
        """Probabilities of every answer that was not observed, or of chosen (respondent, question) cells."""
        return _ask("predict", self, cells, chunk=chunk)

    def options(self, groups: int = 3) -> pd.DataFrame:
        """One row an option: how often, by whom and how informatively it was chosen."""
        return _ask("options", self, groups)

    def option_order(self, level: float = 0.9) -> pd.DataFrame:
        """For each pair of options the probability that one stands above the other, and whether that is settled."""
        return _ask("option_order", self, level)

    def questions(self) -> pd.DataFrame:
        """One row a question: how many answered, how many correctly, and the bits it tells about ability."""
        return _ask("questions", self)

    def information(self, abilities: Sequence[float] | None = None) -> pd.DataFrame:
        """Fisher information of each question and of the test over ability, and the marginal reliability."""
        return _ask("information", self, abilities)

    def short_form(self, n: int) -> pd.DataFrame:
        """The `n` questions that together tell most about ability, in the order in which they were chosen."""
        return _ask("short_form", self, n)

    def verdicts(self, level: float = 0.9) -> pd.DataFrame:
        """What is probably wrong with the test, in plain words, each with its probability."""
        return _ask("verdicts", self, level)

    def rescore(self, key: Mapping[str, str | Sequence[str]] | None = None, drop: Sequence[str] = ()) -> pd.DataFrame:
        """Marks and abilities before and after a changed key or dropped questions."""
        return _ask("rescore", self, key, drop)

    def classical(self, groups: int = 3) -> pd.DataFrame:
        """The usual item analysis: difficulty, item-rest correlation, alpha if dropped."""
        return _ask("classical", self, groups)

    def fit_statistics(self) -> pd.DataFrame:
        """How well the model reproduces each option's observed shares along ability."""
        return _ask("fit_statistics", self)
