"""Files that went wrong on the way: sound bytes with flips, cuts, insertions, repetitions and exchanged lines.

`SPRITE_FUZZ=10000 pytest tests/hostile` tries that many a test instead of a few dozen, with seeds that move.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

PIECES = (
    *(b"\0", b"\xef\xbb\xbf", b"\xff\xfe", b"\xff", b"\x80", b"\x85", b"\x0b", b"\x1b[2J", "١".encode()),
    *(b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\n\n\n", b" ", b"<", b"=", b"@", b"-1"),
    *(b"9" * 400, b"1e999", b"nan", b"inf", b"1.0", b"1,0", b"x" * 140_000, b"sep=;\n", b"PAR1", b"PK\x03\x04", b"[{"),
    *(b"Q1", b"Q2,", b"student", b"response", "é".encode("utf-16"), "\u2028".encode()),
)
ENCODINGS = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7", "cp037")


def fuzzed(examples: int) -> Callable[[Any], Any]:
    """Settings of a test: always the same few examples, or as many as the environment asks for."""
    wanted = int(os.environ.get("SPRITE_FUZZ", "0"))
    return settings(
        derandomize=not wanted,
        deadline=None,
        database=None,
        max_examples=wanted or examples,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
    )


seeds = st.integers(0, 2**32 - 1)
"""Of a mutation: hypothesis draws the seed, so that an example is one number to report and repeat."""


def mutated(content: bytes, seed: int) -> bytes:
    """Content with one to eight things wrong."""
    rng = random.Random(seed)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        content = rng.choice(_WAYS)(content, rng)
    if rng.random() < 0.1:
        content = _recoded(content, rng)
    return content


def _flip(content: bytes, rng: random.Random) -> bytes:
    if not content:
        return content
    at = rng.randrange(len(content))
    return content[:at] + bytes([rng.choice((0, 127, 128, 255, rng.randrange(256)))]) + content[at + 1 :]


def _cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content) + 1)]


def _insert(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + rng.choice(PIECES) + content[at:]


def _drop(content: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(content) + 1)
    return content[:at] + content[at + rng.randrange(1, 30) :]


def _repeat(content: bytes, rng: random.Random) -> bytes:
    a, b = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    return content[:b] + content[a:b] + content[b:]


def _lines(content: bytes, rng: random.Random) -> bytes:
    lines = content.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    if rng.random() < 0.5:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines.insert(i, lines[j])
    return b"\n".join(lines)


def _recoded(content: bytes, rng: random.Random) -> bytes:
    return content.decode("utf-8", "ignore").encode(rng.choice(ENCODINGS), "ignore")


_WAYS = (_flip, _flip, _cut, _insert, _insert, _drop, _repeat, _lines)
