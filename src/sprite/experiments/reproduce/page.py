"""Puts stored tables into a page between markers, and leaves what people wrote around them alone.

<!-- table: synthetic -->
... replaced by synthetic.md of the folder ...
<!-- end -->
"""

from __future__ import annotations

import re
from pathlib import Path

from sprite.core.errors import InputError
from sprite.data.writing import replacing

_PLACE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", flags=re.S)
MISSING = "*Not run yet.*\n"


def filled(text: str, folder: Path) -> str:
    """The page with its tables as they are in the folder now."""

    def put(place: re.Match[str]) -> str:
        stored = folder / f"{place[2]}.md"
        table = stored.read_text(encoding="utf-8") if stored.exists() else MISSING
        return f"{place[1]}\n{table.strip()}\n\n{place[3]}"

    if text.count("<!-- table: ") != len(_PLACE.findall(text)):
        raise InputError("a marker `<!-- table: NAME -->` of the page has no `<!-- end -->`", remedy="Add it")
    return _PLACE.sub(put, text)


def fill(page: Path, folder: Path) -> None:
    """Bring the tables of a page up to date."""
    text = filled(page.read_text(encoding="utf-8"), folder)
    with replacing(page) as temporary:
        temporary.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser(prog="python -m sprite.experiments.reproduce.page", description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    fill(given.page, given.folder)
