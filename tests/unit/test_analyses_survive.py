"""Every analysis, page and chart on fits of awkward tests: no traceback, no warning, no NaN that is not explained."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.registry import MODELS
from sprite.plots.kinds import KINDS, plot
from sprite.report.build import report_html
from sprite.result.fit import Fit
from sprite.result.methods import _HOME
from tests.awkward import AWKWARD, MANY

SMALL = [kind for kind in AWKWARD if kind != MANY]
OTHERS = [name for name in MODELS if name != "sprite"]
# SPRITE on every test and the other models in turn; all on all where the environment asks for more.
PAIRS = [
    (kind, model)
    for k, kind in enumerate(SMALL)
    for model in MODELS
    if "SPRITE_FUZZ" in os.environ or model in ("sprite", OTHERS[k % len(OTHERS)])
]
DRAWN = ("all equal answers", "one respondent", "one question", "two disconnected groups")


@cache
def fitted(kind: str, model: str) -> Fit:
    return fit(AWKWARD[kind](12, 3), model, EM(starts=1, draws=20))


def tables(found: Fit) -> Iterator[tuple[str, pd.DataFrame]]:
    questions, label = found.responses.questions, found.responses.options[0][0]
    asked = {
        "plausible_values": (3,),
        "score": (found.responses,),
        "short_form": (min(2, len(questions)),),
        "rescore": ({questions[0]: label}, questions[1:2]),
    }
    for name in _HOME:
        answer = getattr(found, name)(*asked.get(name, ()))
        yield name, answer if isinstance(answer, pd.DataFrame) else pd.concat(answer)


def explained(name: str, column: str) -> bool:
    """Whether the documentation of the analysis says, where it describes the column, when it is NaN."""
    text = getattr(import_module(f"sprite.analysis.{_HOME[name]}"), name).__doc__
    for heading, content in re.findall(r"^    (\w[^\n]*)\n((?: {8}[^\n]*\n)+)", text, flags=re.M):
        names = re.findall(r"\w+", heading)
        among = column in names or any(re.sub(r"\d+$", "", column) == re.sub(r"\d+$", "", each) for each in names)
        if among and "NaN" in content:
            return True
    return False


@pytest.mark.parametrize(("kind", "model"), PAIRS)
def test_tables(kind: str, model: str) -> None:
    found = fitted(kind, model)
    for name, frame in tables(found):
        numbers = frame.select_dtypes("floating")
        bad = [column for column in numbers if not np.isfinite(numbers[column]).all()]
        assert not np.isinf(numbers.to_numpy()).any(), name
        assert not [column for column in bad if not explained(name, column)], name
    summary = found.summary()
    assert np.isfinite(summary["estimate"].astype(float)).all()
    if not np.isfinite(summary["sd"].astype(float)).all():
        assert found.refusal or any("rank" in parameter for parameter in summary["parameter"])
    assert len(repr(found)) > 100


@pytest.mark.parametrize("kind", SMALL)
def test_report(kind: str) -> None:
    page = report_html(fitted(kind, "sprite"))
    assert "</html>" in page
    assert not re.search(
        r"\b(nan|NaN|inf|None)\b", re.sub(r"<script.*?</script>|<style.*?</style>", "", page, flags=re.S)
    )
    assert ("share no respondent" in page) == (kind in ("two disconnected groups", "95 % missing"))


@pytest.mark.parametrize("name", [name for name in KINDS if name not in ("chains", "ordinal", "overview")])
@pytest.mark.parametrize("kind", DRAWN)
def test_charts(kind: str, name: str) -> None:
    found = fitted(kind, "sprite")
    if name == "two-questions" and found.responses.n_questions < 2:
        pytest.skip("there is only one")
    question = found.responses.questions[0] if KINDS[name].question == "needed" else None
    assert plot(found, name, question).to_json()
