"""Small pictures for a page, drawn without any library."""

from __future__ import annotations

from html import escape

from bayesift.workflow._reasons import WeightedWords
from bayesift.workflow.evaluation import ProbabilityGroup

_LINE = 20


def word_bars(words: WeightedWords, title: str) -> str:
    """Draw words with bars to the right (for) and to the left (against)."""
    ordered = sorted(words, key=lambda pair: -pair[1])
    most = max((abs(weight) for _, weight in ordered), default=1.0) or 1.0
    # The axis stands in the middle only where there are words on both sides.
    middle, half = (250, 110) if any(weight < 0 for _, weight in ordered) else (140, 220)
    parts = []
    for place, (word, weight) in enumerate(ordered):
        y = place * _LINE
        length = abs(weight) / most * half
        x = middle if weight > 0 else middle - length
        parts.append(
            f'<text x="130" y="{y + 14}" text-anchor="end">{escape(_cut(word))}</text>'
            f'<rect class="{"for" if weight > 0 else "against"}" x="{x:.1f}" y="{y + 3}" width="{length:.1f}" '
            f'height="{_LINE - 7}"/><text x="372" y="{y + 14}">{weight:+.2f}</text>'
        )
    height = max(len(ordered), 1) * _LINE
    axis = f'<line class="axis" x1="{middle}" x2="{middle}" y1="0" y2="{height}"/>'
    return _drawn(430, height, title, "".join(parts) + axis)


def reliability(groups: list[ProbabilityGroup], title: str) -> str:
    """Draw the observed share against the probability; points on the diagonal are right."""
    left, size = 56, 240

    def place(group: ProbabilityGroup) -> tuple[float, float]:
        return left + group.predicted * size, 8 + (1 - group.observed) * size

    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, groups))
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{group.n:,} decisions: probability {group.predicted:.2f}, '
        f"right {group.observed:.2f}</title></circle>"
        for group, (x, y) in zip(groups, map(place, groups), strict=True)
    )
    marks = "".join(
        f'<text x="{left + value * size:.0f}" y="{size + 26}" text-anchor="middle">{value:g}</text>'
        f'<text x="{left - 6}" y="{12 + (1 - value) * size:.0f}" text-anchor="end">{value:g}</text>'
        for value in (0.0, 0.5, 1.0)
    )
    frame = (
        f'<rect class="frame" x="{left}" y="8" width="{size}" height="{size}"/>'
        f'<line class="axis" x1="{left}" y1="{8 + size}" x2="{left + size}" y2="8"/>'
        f'<polyline points="{points}"/>'
    )
    names = (
        f'<text x="{left + size / 2:.0f}" y="{size + 44}" text-anchor="middle">probability given</text>'
        f'<text transform="translate(14 {8 + size / 2:.0f}) rotate(-90)" text-anchor="middle">share right</text>'
    )
    return _drawn(left + size + 12, size + 50, title, frame + dots + marks + names)


def _drawn(width: int, height: int, title: str, content: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(title)}"><title>{escape(title)}</title>{content}</svg>'
    )


def _cut(word: str, limit: int = 18) -> str:
    return word if len(word) <= limit else word[: limit - 1] + "…"
