"""The words of the page explained, with and without a key."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A word and what it means."""

    name: str
    meaning: str
    keyless: str | None = None
    """What it means where there is no key, if that differs; empty where the word then does not occur."""


def glossary(keyed: bool) -> list[tuple[str, str]]:
    """The words that occur on a page of a test with or without a key."""
    return [(t.name, t.meaning) for t in GLOSSARY] if keyed else _keyless()


def _keyless() -> list[tuple[str, str]]:
    said = [(t.name, t.meaning if t.keyless is None else t.keyless) for t in GLOSSARY]
    return [(_KEYLESS_NAMES.get(name, name), meaning) for name, meaning in said if meaning]


_SCALE = (
    "What the test measures, on a scale where the model's population has mean 0 and standard deviation 1 unless its "
    "settings say otherwise."
)
_CHOOSERS = "The mean ability of those of these respondents who choose the option, with its 90 % interval."
_NARROW = "Where no bar shows, the interval is narrower than the point; an arrow says that it goes on beyond the axis."
_KEYLESS_NAMES = {"Weak, middle, strong third": "Low, middle, high third"}

GLOSSARY = (
    Term(
        "Ability",
        f"{_SCALE} Estimated from which options somebody chose, not only from how many were right.",
        f"{_SCALE} Estimated from which options somebody chose.",
    ),
    Term("90 % interval", "Where the true value lies with a probability of 90 %, given the answers and the model."),
    Term(
        "Bits",
        "How much the answer to a question tells about ability. 0: nothing; 1: as much as knowing for sure in which "
        "half of the class somebody is. Most good questions tell 0.1 to 0.5.",
    ),
    Term(
        "Right or wrong",
        "What remains of the bits when only right or wrong is looked at. The rest is in which wrong option is chosen.",
        "",
    ),
    Term(
        "Correlation with the rest",
        "Whether those who get this question right do well on the others. Below 0.2 is weak.",
        "",
    ),
    Term(
        "Weak, middle, strong third",
        "Respondents in three groups of about equal size, by their share of right answers.",
        "Respondents in three groups of about equal size, by their estimated ability.",
    ),
    Term(
        "Ability of its choosers",
        f"{_CHOOSERS} The correct option's, a diamond, should lie farthest to the right. {_NARROW}",
        f"{_CHOOSERS} {_NARROW}",
    ),
    Term(
        "Settled order",
        "Which options are chosen by abler people than others, as far as the answers settle it: A > {B, C} says A "
        "stands above both, and nothing about B and C. Of several chains, B > D > A, D > C, each is read by itself: "
        "between options that none of them joins nothing is settled.",
    ),
    Term("Dead option", "A wrong option that fewer than 1 in 20 choose.", "An option that fewer than 1 in 20 choose."),
    Term(
        "Cronbach's alpha", "How consistently the questions, scored right or wrong, rank the respondents: 0 to 1.", ""
    ),
    Term(
        "Reliability",
        "Which part of the differences in ability the answers have explained. It uses the choice of wrong options too.",
        "Which part of the differences in ability the answers have explained.",
    ),
    Term(
        "Test information",
        "How sharply the whole test measures at each ability: the higher, the smaller the error there.",
    ),
    Term(
        "Standard error in marks",
        "By how much the number right would typically differ if the same person sat an equivalent test.",
        "",
    ),
    Term(
        "R-hat, effective draws",
        "Whether independent runs of the sampler agree, and how many independent draws they are worth.",
    ),
)
