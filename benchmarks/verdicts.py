"""How often verdicts are wrong, and how often they find a fault that is there.

    python -m benchmarks.verdicts [--quick]

Simulated exams without faults give the false alarms. In the same exams a few keys are then moved to the most chosen
distractor: the share of them that is found is the power. docs/verdicts.md has what it printed.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from sprite.analysis.test_faults import person_fit
from sprite.analysis.verdicts import KINDS, verdicts
from sprite.data.responses import Responses
from sprite.engines.em import EM
from sprite.fitting import fit
from sprite.models.nrm import NRM
from sprite.models.sprite import Sprite
from sprite.simulation import simulate

QUESTIONS, OPTIONS, WRONG = 30, 4, 3
CASES = (("sprite", Sprite()), ("sprite", NRM()), ("nrm", Sprite()), ("nrm", NRM()))
"""The model that makes the exam, and the one that is fitted to it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="two exams a case instead of six")
    parser.add_argument("--exams", type=int, default=6)
    arguments = parser.parse_args()
    exams = 2 if arguments.quick else arguments.exams
    began = time.perf_counter()
    print(f"{exams} exams a line, {QUESTIONS} questions x {OPTIONS} options; wrong keys: {WRONG} an exam")
    print("Per 100 questions: questions with that verdict. Per exam: pairs. Per 1000 respondents: unusual ones.\n")
    kinds = [k for k in KINDS if k not in ("dead_distractor", "unusual_respondent")]
    print(
        "| made by | fitted | respondents |",
        " | ".join(kinds),
        "| unusual (of 1000) | wrong keys found | or second_correct | others suspected |",
    )
    print("|" + "---|" * (len(kinds) + 7))
    for maker, model in CASES:
        for n in (100, 500):
            clean, found, either, others = [], 0, 0, 0
            unusual: list[float] = []
            for seed in range(exams):
                data = simulate(maker, n, QUESTIONS, OPTIONS, seed=1000 + seed).responses
                clean.append(_counts(data, model, unusual))
                faulty, moved = _with_wrong_keys(data, seed)
                frame = verdicts(fit(faulty, model, EM()))
                suspects = set(frame.loc[frame.verdict == "key_suspect", "question"])
                found += len(suspects & moved)
                second = set(frame.loc[frame.verdict == "second_correct", "question"])
                either += len((suspects | second) & moved)
                others += len(suspects - moved)
            rates = [
                np.mean([c[k] for c in clean]) * (1.0 if k == "local_dependence" else 100.0 / QUESTIONS) for k in kinds
            ]
            print(
                f"| {maker} | {model.name} | {n} |",
                " | ".join(f"{r:.2f}" for r in rates),
                f"| {1000 * np.mean(unusual):.2f} | {found / (WRONG * exams):.0%}",
                f"| {either / (WRONG * exams):.0%}",
                f"| {100 * others / (exams * (QUESTIONS - WRONG)):.2f} |",
                flush=True,
            )
    print(f"\n{time.perf_counter() - began:.0f} s")


def _counts(data: Responses, model: Sprite | NRM, unusual: list[float]) -> dict[str, int]:
    """How many questions have each verdict in an exam without faults."""
    done = fit(data, model, EM())
    frame = verdicts(done)
    score = person_fit(done)
    unusual.append(float(np.sum(frame.verdict == "unusual_respondent") / np.isfinite(score).sum()))
    return {kind: frame.loc[frame.verdict == kind, "question"].nunique() for kind in KINDS}


def _with_wrong_keys(data: Responses, seed: int) -> tuple[Responses, set[str]]:
    """A few keys moved to the question's most chosen distractor, and the questions where."""
    moved = np.random.default_rng(seed).choice(data.n_questions, WRONG, replace=False)
    correct = data.correct.copy()
    for j in moved:
        rows = np.arange(data.first[j], data.first[j + 1])
        distractors = rows[~correct[rows]]
        correct[rows] = False
        correct[distractors[np.argmax(data.count[distractors])]] = True
    return replace(data, correct=correct), {data.questions[j] for j in moved}


if __name__ == "__main__":
    main()
