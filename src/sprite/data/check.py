"""`check`: what was understood of a set of answers, and what looks odd, before any fitting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sprite.data import findings as looks
from sprite.data import key_findings
from sprite.data.findings import Finding
from sprite.data.responses import Responses

if TYPE_CHECKING:
    import pandas as pd

CHECKS: tuple[Callable[[Responses], Iterator[Finding]], ...] = (
    looks.sizes,
    looks.questions,
    looks.labels,
    looks.missing,
    looks.connections,
    looks.duplicates,
    key_findings.key,
    key_findings.key_row,
)
# What the reader notes and the findings say again, with more.
_RESTATED = ("answered nothing", "differ only in case", "has no answers", "has only one option", "No key for")
_ORDER = {"warning": 0, "look": 1, "info": 2}


@dataclass(frozen=True)
class Check:
    """Sizes, notes of the reader, and findings, the gravest first."""

    n_respondents: int
    n_questions: int
    n_answers: int
    n_keyed: int
    options: dict[int, int]
    """How many questions have each number of options."""
    notes: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def observed(self) -> float:
        """Share of all cells that hold an answer."""
        return self.n_answers / max(self.n_respondents * self.n_questions, 1)

    def of(self, kind: str) -> tuple[Finding, ...]:
        """The findings of one kind."""
        return tuple(finding for finding in self.findings if finding.kind == kind)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {**asdict(self), "observed": self.observed}

    def to_frame(self) -> pd.DataFrame:
        """The findings as a pandas table."""
        import pandas as pd

        columns = ["severity", "kind", "question", "option", "message", "remedy"]
        return pd.DataFrame([asdict(finding) for finding in self.findings], columns=columns)

    def __str__(self) -> str:
        lines = [*self.summary(), ""]
        for finding in self.findings:
            lines.append(f"[{finding.severity}] {finding.message} {finding.remedy}".rstrip())
        return "\n".join(lines).rstrip()

    def summary(self) -> list[str]:
        """What was understood, in a few lines."""
        spread = ", ".join(
            f"{n} {'question' if n == 1 else 'questions'} with {m}" for m, n in sorted(self.options.items())
        )
        return [
            *self.notes,
            f"{self.n_respondents:,} respondents x {self.n_questions:,} questions; {self.n_answers:,} answers, "
            f"{1 - self.observed:.1%} missing.",
            f"Options: {spread}." if spread else "No options.",
            f"Key for {self.n_keyed} of {self.n_questions} questions.",
        ]


def check(responses: Responses) -> Check:
    """Look over the answers: what was understood, what looks odd, how to fix it."""
    findings = [finding for look in CHECKS for finding in look(responses)]
    return Check(
        n_respondents=responses.n_respondents,
        n_questions=responses.n_questions,
        n_answers=responses.n_answers,
        n_keyed=len(responses.key),
        options=dict(sorted(Counter(map(len, responses.options)).items())),
        notes=tuple(note for note in responses.notes if not any(words in note for words in _RESTATED)),
        findings=tuple(sorted(findings, key=lambda finding: _ORDER[finding.severity])),
    )
