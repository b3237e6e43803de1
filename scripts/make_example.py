"""Make the bundled example test: simulated answers to the questions in `src/sprite/data/example`.

Run `python scripts/make_example.py`; it writes responses.csv and key.csv beside texts.csv and answers.csv, always the
same. Nobody sat this test: 99 abilities are drawn from N(0, 1), each option is a sprite whose place follows from how
tempting the option is (answers.csv), and three faults are planted. The seed is one at which all three can be
seen: with 99 respondents a second correct answer does not always show.
"""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from sprite.data.responses import from_codes
from sprite.data.writing import write_csv
from sprite.models.sprite import Sprite
from sprite.simulation import draw_codes

FOLDER = Path(__file__).parents[1] / "src" / "sprite" / "data" / "example"
SEED = 12
N_RESPONDENTS = 99
LABELS = "ABCDE"
WRONG_KEY = ("Q17", "B")
SECOND_ANSWER = ("Q25", "C")
DEAD = ("Q11", "E")
PLACES = np.array([-0.9, -1.3, -1.6, -1.9])
"""Means of the distractors' sprites, from the most tempting to the least; the key's is at 0."""


def main() -> None:
    """Draw the answers and write the two files."""
    rng = np.random.default_rng(SEED)
    with (FOLDER / "answers.csv").open(encoding="utf-8") as file:
        answers = list(csv.DictReader(file))
    questions = [line["question"] for line in answers]
    correct = np.array([[label == line["correct"] for label in LABELS] for line in answers])
    layout = from_codes(np.zeros((1, len(questions)), int), [LABELS] * len(questions), correct=correct.ravel()).layout
    mu, nu = np.zeros(correct.shape), np.ones(correct.shape)
    for j, line in enumerate(answers):
        difficulty = rng.uniform(-1.1, 0.3)
        for place, label in zip(PLACES, line["plausibility"].split(">"), strict=True):
            mu[j, LABELS.index(label)] = place + difficulty + rng.normal(0.0, 0.15)
            nu[j, LABELS.index(label)] = np.exp(rng.normal(-0.2, 0.2))
        if line["question"] == SECOND_ANSWER[0]:
            mu[j, LABELS.index(SECOND_ANSWER[1])], nu[j, LABELS.index(SECOND_ANSWER[1])] = 0.2, 0.9
        if line["question"] == DEAD[0]:
            mu[j, LABELS.index(DEAD[1])], nu[j, LABELS.index(DEAD[1])] = -5.0, 0.5
    abilities = rng.normal(size=N_RESPONDENTS)
    codes = draw_codes(Sprite(), {"mu": mu.ravel(), "nu": nu.ravel()}, abilities, layout, rng)
    rows = [[f"S{i + 1:02d}", *(LABELS[k] for k in line)] for i, line in enumerate(codes)]
    write_csv(FOLDER / "responses.csv", [["respondent", *questions], *rows])
    published = {line["question"]: line["correct"] for line in answers} | dict([WRONG_KEY])
    write_csv(FOLDER / "key.csv", [["question", "correct"], *published.items()])


if __name__ == "__main__":
    main()
