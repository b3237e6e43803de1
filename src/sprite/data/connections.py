"""Which questions hang together through respondents: parts of a test that share nobody have no common scale."""

from __future__ import annotations

import numpy as np

from sprite.core.types import Ints
from sprite.data.answers import listing
from sprite.data.responses import Responses

_CHUNK = 1 << 22  # answers at a time: the graph of all of them would take several times their memory

INCOMPARABLE = "Abilities cannot be compared between them: analyse each alone, or add common questions or respondents"
"""What it means, and what to do."""


def parts(r: Responses) -> list[Ints]:
    """The questions of each part, the part with the most answers first; questions that nobody answered are in none.

    Two questions are in one part if some respondent answered both, or if a chain of such pairs leads from one to the
    other. Within a respondent's answers, neighbours are enough.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    questions = np.arange(r.n_questions)
    leader = questions  # the first question of each one's part, as far as it is known
    for begin in range(0, r.n_answers - 1, _CHUNK):
        question = r.question_of_row[r.row[begin : begin + _CHUNK + 1]]
        linked = np.ones(len(question) - 1, dtype=bool)
        low, high = np.searchsorted(r.start, [begin + 1, begin + len(question)])
        linked[r.start[low:high] - begin - 1] = False  # where one respondent ends and the next begins
        a = np.concatenate([question[:-1][linked], questions])
        b = np.concatenate([question[1:][linked], leader])
        links = coo_array((np.ones(len(a), dtype=bool), (a, b)), shape=(r.n_questions, r.n_questions))
        part = connected_components(links, directed=False)[1]
        leader = np.unique(part, return_index=True)[1][part]
    answered = np.bincount(r.question_of_row, r.count, minlength=r.n_questions)
    total = np.bincount(leader, answered, minlength=r.n_questions)
    leaders = np.argsort(-total, kind="stable")[: np.count_nonzero(total)]
    return [np.flatnonzero((leader == first) & (answered > 0)) for first in leaders]


def disconnected(r: Responses) -> str:
    """A sentence that says how the test falls apart; empty if it does not."""
    found = parts(r)
    if len(found) < 2:
        return ""
    shown = [f"{len(own)} questions ({listing([r.questions[j] for j in own], 2)})" for own in found[:4]]
    more = f"; and {len(found) - 4} more" if len(found) > 4 else ""
    return f"The test falls into {len(found)} parts that share no respondent: {'; '.join(shown)}{more}."
