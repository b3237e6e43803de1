"""A folder of small results that survives an interruption, and never gives back a stale one.

One JSON file a result, named by a hash of everything that the result depends on: the answers, the model and engine with
all their settings, the pattern, the seed, and the versions of this format and of the package. Many results, to be kept
for good, go into one CSV file under the same names: an archive, which a store can begin from.
"""

from __future__ import annotations

import csv
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sprite.core.errors import InputError
from sprite.data.responses import Responses
from sprite.data.writing import replacing, write_csv

FORMAT = 1
"""To be raised whenever what is stored, or how it is computed, changes its meaning."""
_ARCHIVE = ("unit", "words", "result")


def fingerprint(responses: Responses) -> str:
    """A hash of the answers, option sets, key and order; names of respondents and texts do not enter."""
    digest = hashlib.sha256()
    digest.update(json.dumps([responses.questions, responses.options]).encode())
    for array in (responses.start, responses.row, responses.correct, responses.rank):
        digest.update(b"|" if array is None else f"|{array.dtype.str}{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Store:
    """Results by their settings; `folder=None` keeps nothing."""

    folder: Path | None
    archived: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Results by their names that need not be in the folder."""

    @classmethod
    def at(cls, folder: str | os.PathLike[str] | None, archive: Path | None = None) -> Store:
        """The store in a folder, which is made if need be, with what an archive holds if there is one."""
        if folder is None:
            return cls(None)
        path = Path(folder)
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"the store cannot be made: {error.strerror}",
                file=str(path),
                remedy="Name a folder that can be written",
            ) from None
        return cls(path, _read_archive(archive) if archive is not None and archive.exists() else {})

    def get(self, settings: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result stored for exactly these settings, if there is one."""
        if self.folder is None:
            return None
        try:
            found = json.loads(self._path(settings).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return self.archived.get(_name(settings))
        same = isinstance(found, dict) and found.get("settings") == _complete(settings)
        return found["result"] if same and isinstance(found.get("result"), dict) else None

    def put(self, settings: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        """Store a result, all or nothing."""
        if self.folder is None:
            return
        content = json.dumps({"settings": _complete(settings), "result": dict(result)}, indent=1)
        with replacing(self._path(settings)) as temporary:
            temporary.write_text(content + "\n", encoding="utf-8")

    def _path(self, settings: Mapping[str, Any]) -> Path:
        assert self.folder is not None
        return self.folder / f"{_name(settings)}.json"


def write_archive(path: Path, results: Iterable[tuple[Mapping[str, Any], str, Mapping[str, Any]]]) -> None:
    """Settings, words and result of each unit as one line, so that a store elsewhere can go on from here."""
    rows = [[_name(settings), words, json.dumps(dict(result))] for settings, words, result in results]
    write_csv(path, [list(_ARCHIVE), *sorted(rows, key=lambda row: (row[1], row[0]))])


def _read_archive(path: Path) -> dict[str, dict[str, Any]]:
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            header, *rows = csv.reader(lines)
        if tuple(header) != _ARCHIVE:
            raise ValueError
        return {name: json.loads(result) for name, _, result in rows}
    except (OSError, ValueError, csv.Error):
        raise InputError(
            "this is not an archive of results, or it is damaged",
            file=str(path),
            remedy="Restore it, or remove it to compute its results anew",
        ) from None


def _name(settings: Mapping[str, Any]) -> str:
    text = json.dumps(_complete(settings), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def _complete(settings: Mapping[str, Any]) -> dict[str, Any]:
    try:
        package = version("sprite-irt")
    except PackageNotFoundError:
        package = "unknown"
    return {**settings, "format": FORMAT, "package": package}
