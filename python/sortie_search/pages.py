"""How results show themselves in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .games import MatchResult
    from .solving import Result

#: Moves of a sequence that are shown.
MOVES_SHOWN = 40


def table(rows: list[tuple[str, Any]]) -> str:
    """Names and values."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{value}</td></tr>"
        for name, value in rows
    )
    return f"<table>{cells}</table>"


def number(value: float | None) -> str:
    """A number for people."""
    return "none" if value is None else f"{value:,.10g}"


def moves(words: list[str]) -> str:
    """A sequence, the beginning of a long one."""
    shown = " ".join(words[:MOVES_SHOWN])
    more = f" and {len(words) - MOVES_SHOWN} more" if len(words) > MOVES_SHOWN else ""
    return html.escape(shown + more)


def result(of: Result) -> str:
    """What a search found."""
    rows = [
        ("score", number(of.score)),
        *((name, number(value)) for name, value in of.facts.items()),
        ("moves", moves(of.words)),
        ("search", html.escape(describe(of.search))),
        ("playouts", f"{of.playouts:,} in {of.seconds:.1f} s ({of.playouts_per_second:,.0f}/s)"),
        ("ended", html.escape(of.reason)),
    ]
    if of.folder is not None:
        rows.append(("folder", html.escape(of.folder)))
    return table(rows) + curve([(s, score) for s, _, score in of.history], of.seconds) + (of.picture or "")


def describe(search: dict[str, Any]) -> str:
    """A search in a line."""
    shown = ", ".join(f"{key} {value}" for key, value in search.items() if key in ("level", "iterations", "width", "beam"))
    return f"{search['name']} {shown}".strip()


def curve(points: list[tuple[float, float]], end: float, width: int = 420, height: int = 120) -> str:
    """The best score over time, as SVG."""
    if len(points) < 2:
        return ""
    low, high = points[0][1], points[-1][1]
    end = max(end, points[-1][0], 1e-9)
    span = (high - low) or 1.0

    def at(seconds: float, score: float) -> str:
        return f"{40 + (width - 50) * seconds / end:.1f},{10 + (height - 30) * (1 - (score - low) / span):.1f}"

    path = [at(*points[0])]
    for (_, before), (seconds, score) in zip(points, points[1:]):
        path += [at(seconds, before), at(seconds, score)]
    path.append(at(end, high))
    labels = (
        f'<text x="36" y="14" text-anchor="end">{high:g}</text>'
        f'<text x="36" y="{height - 18}" text-anchor="end">{low:g}</text>'
        f'<text x="{width - 10}" y="{height - 4}" text-anchor="end">{end:.3g} s</text>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-size="10" font-family="sans-serif">'
        f'<polyline points="{" ".join(path)}" fill="none" stroke="#1f6feb" stroke-width="1.5"/>{labels}</svg>'
    )


def match(of: MatchResult) -> str:
    """The result of a match."""
    low, high = of.interval
    return table(
        [
            ("games", str(of.games)),
            ("wins, draws, losses", f"{of.wins}, {of.draws}, {of.losses}"),
            ("score of the first", f"{100 * of.score:.1f} % ({100 * low:.1f} to {100 * high:.1f})"),
        ]
    )
