"""Small charts as inline SVG: no library in the page, a few kilobytes each, sharp on screen and paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from sprite.core.readable import MINUS
from sprite.core.types import Floats
from sprite.plots.palette import Look

_WIDTH, _HEIGHT = 520, 290
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 74, 24, 38
_LINE = 14  # pixels between two labels at the end of curves
_SHORT = 9  # signs of a label that fit there


@dataclass(frozen=True)
class Frame:
    """A plotting area: from data to pixels."""

    x: tuple[float, float]
    y: tuple[float, float]
    width: int = _WIDTH
    height: int = _HEIGHT
    right: int = 16

    def at(self, x: float) -> float:
        """Pixels across."""
        return _LEFT + (x - self.x[0]) / (self.x[1] - self.x[0]) * (self.width - _LEFT - self.right)

    def up(self, y: float) -> float:
        """Pixels down."""
        share = (y - self.y[0]) / (self.y[1] - self.y[0])
        return self.height - _BOTTOM - share * (self.height - _TOP - _BOTTOM)

    def path(self, x: Iterable[float], y: Iterable[float]) -> str:
        """A line through points."""
        return "M" + "L".join(f"{self.at(a):.1f} {self.up(b):.1f}" for a, b in zip(x, y, strict=True))

    def band(self, x: Floats, low: Floats, high: Floats) -> str:
        """The area between two lines."""
        return self.path(np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]])) + "Z"

    def drawing(self, parts: Sequence[str], x_title: str, y_title: str, words: str, percent: bool = False) -> str:
        """The whole chart: axes, then the parts; `words` say to those who cannot see it what it shows."""
        ticks = []
        for value in _ticks(*self.x, 7):
            at = self.at(value)
            ticks.append(f'<path class="g" d="M{at:.1f} {_TOP}V{self.height - _BOTTOM}"/>')
            ticks.append(
                f'<text x="{at:.1f}" y="{self.height - _BOTTOM + 16}" text-anchor="middle">{_short(value)}</text>'
            )
        for value in _ticks(*self.y, 5):
            up = self.up(value)
            name = f"{value:.0%}" if percent else _short(value)
            ticks.append(f'<path class="g" d="M{_LEFT} {up:.1f}H{self.width - self.right}"/>')
            ticks.append(f'<text x="{_LEFT - 6}" y="{up + 4:.1f}" text-anchor="end">{name}</text>')
        middle = (_LEFT + self.width - self.right) / 2
        titles = (
            f'<text x="{middle:.0f}" y="{self.height - 5}" text-anchor="middle">{escape(x_title)}</text>'
            f'<text x="{_LEFT - 40}" y="{_TOP - 11}">{escape(y_title)}</text>'
        )
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{escape(words)}">'
            f"{''.join(ticks)}{titles}{''.join(parts)}</svg>"
        )


def option_curves(
    looks: Sequence[Look],
    at: Floats,
    middle: Floats,
    low: Floats,
    high: Floats,
    points: Sequence[Sequence[tuple[float, float]]],
    words: str,
) -> str:
    """Curves of a question's options, (options, abilities) each; `points` are observed (ability, share) by option."""
    frame = Frame((float(at[0]), float(at[-1])), (0.0, 1.0), right=_RIGHT)
    bands, lines, dots = [], [], []
    for k, look in enumerate(looks):
        if np.isfinite(low[k]).all():
            bands.append(f'<path fill="{look.colour}" opacity=".11" d="{frame.band(at, low[k], high[k])}"/>')
        dash = f' stroke-dasharray="{" ".join(map(str, look.dash))}"' if look.dash else ""
        lines.append(
            f'<path fill="none" stroke="{look.colour}" stroke-width="{look.width:g}"{dash} '
            f'd="{frame.path(at, middle[k])}"/>'
        )
        for x, y in points[k]:
            if at[0] <= x <= at[-1]:
                dots.append(_mark(look, frame.at(x), frame.up(y)))
    names = []
    ends = [frame.up(float(middle[k, -1])) for k in range(len(looks))]
    for look, y in zip(looks, spread(ends, _LINE, _TOP, frame.height - _BOTTOM), strict=True):
        text = look.option if len(look.option) <= _SHORT else look.option[: _SHORT - 1] + "…"
        weight = ' class="k"' if look.correct else ""
        end = frame.width - _RIGHT
        names.append(
            f'<path stroke="{look.colour}" stroke-width="{look.width:g}" d="M{end + 3} {y:.1f}h8"/>'
            f'<text x="{end + 14}" y="{y + 4:.1f}"{weight}>{escape(text)}{" ✓" if look.correct else ""}</text>'
        )
    return frame.drawing([*bands, *lines, *dots, *names], "ability", "share who choose it", words, percent=True)


def histogram(edges: Floats, counts: Sequence[int], words: str) -> str:
    """Bars between edges."""
    frame = Frame((float(edges[0]), float(edges[-1])), (0.0, max(1.0, max(counts, default=1) * 1.05)), height=200)
    base = frame.up(0.0)
    bars = [
        f'<rect class="b" x="{frame.at(a) + 0.5:.1f}" y="{frame.up(n):.1f}" '
        f'width="{frame.at(b) - frame.at(a) - 1:.1f}" height="{base - frame.up(n):.1f}"/>'
        for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True)
        if n
    ]
    return frame.drawing(bars, "ability", "respondents", words)


def line(at: Floats, curve: Sequence[Floats], y_title: str, words: str) -> str:
    """One line with its band: `curve` is the line, its lower and its upper end."""
    middle, low, high = curve
    tallest = float(np.nanmax(np.concatenate([middle, high]))) if len(at) else 1.0
    frame = Frame((float(at[0]), float(at[-1])), (0.0, max(tallest * 1.05, 1e-6)), height=200)
    parts = [f'<path class="l" d="{frame.path(at, middle)}"/>']
    if np.isfinite(low).all():
        parts.insert(0, f'<path class="a" d="{frame.band(at, low, high)}"/>')
    return frame.drawing(parts, "ability", y_title, words)


def swatch(look: Look) -> str:
    """The line of an option, for tables that serve as legends."""
    dash = f' stroke-dasharray="{" ".join(map(str, look.dash))}"' if look.dash else ""
    return (
        f'<svg class="s" viewBox="0 0 30 10" aria-hidden="true"><path stroke="{look.colour}" '
        f'stroke-width="{look.width:g}"{dash} d="M0 5h30"/>{_mark(look, 15, 5)}</svg>'
    )


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The same places, moved apart by at least `gap` and kept between the ends where there is room."""
    order = np.argsort(places, kind="stable")
    out = np.array(places, dtype=float)[order]
    for k in range(1, len(out)):
        out[k] = max(out[k], out[k - 1] + gap)
    if len(out) and out[-1] > high:
        out[-1] = high
        for k in range(len(out) - 2, -1, -1):
            out[k] = min(out[k], out[k + 1] - gap)
    moved = np.empty_like(out)
    moved[order] = np.maximum(out, low)
    return [float(value) for value in moved]


def _mark(look: Look, x: float, y: float) -> str:
    """A point in the option's shape."""
    paths = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{look.colour}"/>',
        "square": "m-3.2-3.2h6.4v6.4h-6.4z",
        "triangle-up": "m0-4l4 7h-8z",
        "triangle-down": "m0 4l4-7h-8z",
        "diamond": "m0-4.4l4.4 4.4-4.4 4.4-4.4-4.4z",
        "cross": "m-1.3-4h2.6v2.7h2.7v2.6h-2.7v2.7h-2.6v-2.7h-2.7v-2.6h2.7z",
        "triangle-right": "m4 0l-7 4v-8z",
        "triangle-left": "m-4 0l7 4v-8z",
    }
    drawn = paths[look.shape]
    return drawn if look.shape == "circle" else f'<path fill="{look.colour}" d="M{x:.1f} {y:.1f}{drawn}"/>'


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    """Round numbers between two ends."""
    raw = (high - low) / max(1, wanted)
    power = 10.0 ** np.floor(np.log10(raw))
    step = next(power * m for m in (1.0, 2.0, 2.5, 5.0, 10.0) if power * m >= raw * 0.999)
    first = np.ceil(low / step - 1e-9) * step
    return [float(v) + 0.0 for v in np.arange(first, high + step * 1e-6, step)]


def _short(value: float) -> str:
    return f"{0.0 if abs(value) < 1e-12 else value:g}".replace("-", MINUS)
