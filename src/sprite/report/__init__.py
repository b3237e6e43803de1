"""One self-contained HTML page about a test, made from a fit."""

from __future__ import annotations

from sprite.report.build import report_html, write_report

__all__ = ["report_html", "write_report"]
