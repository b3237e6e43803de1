"""`save_chart`: a chart as a page, a picture or a document, by the ending of the file's name."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from sprite.core.errors import InputError
from sprite.data.writing import replacing
from sprite.plots.drawing import Chart

ENDINGS = (".html", ".png", ".svg", ".pdf")
_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Chart</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<script>{bundle}</script></head>
<body><div id="chart"></div>
<script>vegaEmbed("#chart", {spec}, {{renderer: "svg", actions: {{export: true, source: false, compiled: false,
editor: false}}}});</script></body></html>
"""


def save_chart(chart: Chart, path: str | os.PathLike[str]) -> None:
    """Write a chart as ``.html`` (interactive, works offline), ``.png``, ``.svg`` or ``.pdf``; all of it or nothing."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            "charts are saved as .html, .png, .svg or .pdf", file=str(target), remedy="Choose one of these endings"
        )
    content = _rendered(chart.to_dict(), ending)
    with replacing(target) as temporary:
        temporary.write_bytes(content)


def _rendered(spec: dict[str, Any], ending: str) -> bytes:
    import vl_convert

    if ending == ".html":
        return _PAGE.format(bundle=_bundle(), spec=script_json(spec)).encode()
    if ending == ".svg":
        return vl_convert.vegalite_to_svg(spec).encode()
    if ending == ".png":
        return vl_convert.vegalite_to_png(spec, scale=2)
    return vl_convert.vegalite_to_pdf(spec)


@cache
def _bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, so that a page needs no network."""
    import vl_convert

    return vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")


def script_json(content: object) -> str:
    """JSON that may stand inside a script element: nothing in it can end the element or open another."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
