"""A folder of small results that survives an interruption, and never gives back a stale one.

One JSON file a result, named by a hash of everything that the result depends on: the answers, the model and engine with
all their settings, the pattern, the seed, and the versions of this format and of the package.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from sprite.core.errors import InputError
from sprite.data.responses import Responses
from sprite.data.writing import replacing

FORMAT = 1
"""To be raised whenever what is stored, or how it is computed, changes its meaning."""


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

    @classmethod
    def at(cls, folder: str | os.PathLike[str] | None) -> Store:
        """The store in a folder, which is made if need be."""
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
        return cls(path)

    def get(self, settings: Mapping[str, Any]) -> dict[str, Any] | None:
        """The result stored for exactly these settings, if there is one."""
        if self.folder is None:
            return None
        try:
            found = json.loads(self._path(settings).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
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
        text = json.dumps(_complete(settings), sort_keys=True)
        return self.folder / f"{hashlib.sha256(text.encode()).hexdigest()[:40]}.json"


def _complete(settings: Mapping[str, Any]) -> dict[str, Any]:
    try:
        package = version("sprite-irt")
    except PackageNotFoundError:
        package = "unknown"
    return {**settings, "format": FORMAT, "package": package}
