"""A hook of mkdocs: formulas become MathML, which browsers draw themselves, so that the pages need no network."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from latex2mathml.converter import convert

_FORMULA = re.compile(r'<(span|div) class="arithmatex">(.*?)</\1>', flags=re.S)


def on_page_content(html: str, **_: Any) -> str:
    """Replace every formula of a page; one that cannot be converted stops the build."""
    return _FORMULA.sub(_mathml, html)


def _mathml(found: re.Match[str]) -> str:
    latex = unescape(found[2]).strip()[2:-2]  # within \( \) or \[ \]
    return f"<p>{convert(latex, display='block')}</p>" if found[1] == "div" else convert(latex)
