"""`write_report`: one self-contained HTML page that needs no network, no server and no other file."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from sprite.core.errors import InputError
from sprite.data.writing import replacing
from sprite.plots.saving import script_json

if TYPE_CHECKING:
    from sprite.result.fit import Fit


def report_html(fit: Fit, title: str | None = None) -> str:
    """The page as text.

    Names and wordings from the data are escaped by the template. As a second line of defence the page's own policy lets
    no script run but the one it came with, and nothing be loaded from anywhere.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    from sprite.report.content import content

    folder = files("sprite.report") / "page"
    template, style, script = (
        (folder / name).read_text(encoding="utf-8") for name in ("page.html.j2", "page.css", "page.js")
    )
    page = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    shown = content(fit, title)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return page.from_string(template).render(
        shown,
        style=Markup(style),
        script=Markup(script),
        script_hash=f"sha256-{digest}",
        data=Markup(script_json(shown["downloads"])),
    )


def write_report(fit: Fit, path: str | os.PathLike[str], title: str | None = None) -> None:
    """Write the page to a file; all of it or nothing."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError("the report is an HTML page", file=str(target), remedy="End the name in .html")
    text = report_html(fit, title)
    with replacing(target) as temporary:
        temporary.write_text(text, encoding="utf-8")
