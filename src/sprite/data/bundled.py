"""The bundled example: an algebra test whose answers our own simulator made (see `scripts/make_example.py`)."""

from __future__ import annotations

from importlib.resources import files

from sprite.data.reading import read
from sprite.data.responses import Responses


def example() -> Responses:
    """34 algebra questions, 99 simulated respondents, 5 options, with texts and three planted faults.

    Nobody sat this test. The key of Q17 is wrong, Q25 has a second defensible answer, and an option of Q11 is dead.
    """
    folder = files("sprite.data") / "example"
    return read(
        str(folder / "responses.csv"),
        key=str(folder / "key.csv"),
        texts=str(folder / "texts.csv"),
        options=list("ABCDE"),
    )
