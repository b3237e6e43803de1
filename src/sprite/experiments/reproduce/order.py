"""Learned against given order, on tests whose options have a known order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sprite.analysis.curves import curves
from sprite.core.errors import InputError
from sprite.engines.base import Engine
from sprite.experiments.compare import BASELINE
from sprite.experiments.reproduce.contest import (
    DIFFERENCE,
    ENGINES,
    contests,
    model_called,
    shown,
    standings,
    with_difference,
)
from sprite.experiments.reproduce.material import AnyTest
from sprite.experiments.reproduce.outputs import Table, markdown
from sprite.experiments.reproduce.parts import OnTest, Part
from sprite.experiments.reproduce.settings import Settings
from sprite.experiments.work import Result, whole
from sprite.fitting import fit
from sprite.result.fit import Fit

if TYPE_CHECKING:
    import pandas as pd

GIVEN, LEARNED = "ord", ("lord", "sprite")
SETTLED = 0.9
"""Probability from which on the order of two options counts as settled."""


@dataclass(frozen=True, eq=False)
class Agreement(OnTest):
    """The order that a model learns from all answers of a test, beside the given one."""

    contestant: str

    @property
    def settings(self) -> dict[str, Any]:
        """All that the result depends on."""
        model, engine = repr(model_called(self.contestant)), repr(self.engine)
        return {"experiment": "order", "data": self.test.identity, "model": model, "engine": engine}

    @property
    def model_name(self) -> str:
        """Whose order it is."""
        return self.contestant

    @property
    def words(self) -> str:
        """What it is."""
        return f"{self.test_name}: order by {self.contestant}, {self.engine_name}"

    def compute(self) -> Result:
        """Fit, then compare the order of the options' mean abilities with the given one."""
        began = time.perf_counter()
        fitted = whole(fit(self.test.responses, model_called(self.contestant), self.engine))
        return {**agreement(fitted), "seconds": time.perf_counter() - began}


def agreement(fitted: Fit) -> Result:
    """Kendall's tau of each question, over options that somebody chose, and how settled pairs agree.

    Which end of the scale is up cannot be learned without a key, so the learned scale is turned, as a whole, to the
    side on which it agrees better.
    """
    from scipy.stats import kendalltau

    layout = fitted.responses.layout
    found = curves(fitted)
    mean, drawn = found.estimate.mean, found.evidence.mean
    taus: list[float | None] = []
    pairs = settled = agree = 0
    for j in range(layout.n_questions):
        rows = np.flatnonzero((layout.question == j) & (layout.count > 0))
        if len(rows) < 2:
            taus.append(None)
            continue
        taus.append(float(kendalltau(mean[rows], layout.rank[rows]).statistic))
        for a in range(len(rows)):
            for b in range(a):
                above = float((drawn[:, rows[a]] > drawn[:, rows[b]]).mean())
                pairs += 1
                if max(above, 1.0 - above) >= SETTLED:
                    settled += 1
                    agree += int((above > 0.5) == (layout.rank[rows[a]] > layout.rank[rows[b]]))
    known = [tau for tau in taus if tau is not None]
    turned = sum(known) < 0
    return {
        "tau": [None if tau is None else -tau if turned else tau for tau in taus],
        "turned": turned,
        "pairs": pairs,
        "settled": settled,
        "agree": settled - agree if turned else agree,
    }


def parts(tests: Sequence[AnyTest], settings: Settings) -> list[Part]:
    """The contests that `table1` has on the same tests are the same units, and are not computed again."""
    ordered = [test for test in tests if test.ordered]
    if not ordered:
        raise InputError(
            "no test has a known order of its options",
            remedy="Give a test an order.csv, or write `- kind: ordinal` into its SOURCE.md where labels are in order",
        )
    out = contests(ordered, lambda test: (GIVEN, *LEARNED), settings)
    for test in ordered:
        # How settled a pair is takes draws.
        engines: tuple[Engine, ...] = (replace(settings.em, standard_errors=True), settings.predicting)
        out += [Agreement(test, engine, 0, name) for engine in engines for name in LEARNED]
    return out


def tables(found: Sequence[tuple[Part, Result]]) -> dict[str, Table]:
    """Held-out loss with the given order and with learned ones, and how these agree with it."""
    import pandas as pd

    out: dict[str, Table] = {}
    loss = standings(found, (GIVEN, *LEARNED))
    if len(loss):
        columns = [
            ("ORD, order given", ("ord",)),
            ("LORD", ("lord",)),
            ("SPRITE", ("sprite",)),
            ("answer shares", (BASELINE,)),
        ]
        text = [
            f"**Log loss, {ENGINES[engine]}**, of ORD; for the others {DIFFERENCE}\n\n"
            + shown(loss, columns, engine, with_difference("log_loss"))
            for engine in dict.fromkeys(loss["engine"])
        ]
        out["order_loss"] = Table(loss, "\n".join(text))
    lines = [
        {
            "test": part.test_name,
            "model": part.contestant,
            "engine": part.engine_name,
            "question": question,
            "tau": tau,
            **{name: result[name] for name in ("pairs", "settled", "agree")},
        }
        for part, result in found
        if isinstance(part, Agreement)
        for question, tau in zip(part.test.responses.questions, result["tau"], strict=True)
    ]
    if lines:
        frame = pd.DataFrame(lines)
        out["order_agreement"] = Table(frame, _agreement_text(frame))
    return out


def _agreement_text(frame: pd.DataFrame) -> str:
    header = ["test", "model", "engine", "questions", "mean tau", "same order", "settled pairs", "of these as given"]
    rows = []
    for (test, model, engine), group in frame.groupby(["test", "model", "engine"], sort=False):
        tau = group["tau"].dropna()
        pairs, settled, agree = (int(group[name].iloc[0]) for name in ("pairs", "settled", "agree"))
        # LORD's order does not vary over the draws of a normal approximation.
        fixed = not settled or (model, engine) == ("lord", "em")
        rows.append(
            [
                str(test),
                str(model).upper(),
                str(engine),
                str(len(tau)),
                f"{tau.mean():.2f}",
                f"{(tau > 1 - 1e-9).mean():.0%}",
                *(["", ""] if fixed else [f"{settled:,} of {pairs:,}", f"{agree / settled:.1%}"]),
            ]
        )
    return markdown(header, rows)
