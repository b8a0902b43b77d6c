"""Small drawings as SVG within the page; colours come from the style sheet by class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor, log10
from typing import NamedTuple

from markupsafe import Markup, escape

#: Size of a plot and of its margins, in the units of the drawing.
WIDTH, HEIGHT = 460, 270
LEFT, RIGHT, TOP, BOTTOM = 56, 20, 14, 46


def tag(name: str, *inside: str | Markup, **attributes: object) -> Markup:
    """Write an element; texts and values are escaped, and ``_`` in names stands for ``-``."""
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    content = "".join(escape(part) for part in inside)
    # Names are those of the code; everything else is escaped.
    return Markup(f"<{name}{written}>{content}</{name}>")  # noqa: S704


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


class Axis(NamedTuple):
    """One direction of a plot.

    Parameters
    ----------
    label : str
        What it counts.
    top : float
        The value at its end; it begins at 0.
    marks : tuple of (float, str)
        Where it is labelled, and how.
    """

    label: str
    top: float
    marks: tuple[tuple[float, str], ...]


def counting_axis(label: str, top: float) -> Axis:
    """Mark an axis at round numbers.

    Examples
    --------
    >>> from bayesift.review.web.svg import counting_axis
    >>> [text for _, text in counting_axis("read", 230).marks]
    ['0', '50', '100', '150', '200']
    """
    top = max(float(top), 1.0)
    rough = top / 5
    unit = 10.0 ** floor(log10(rough))
    step = max(next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough), 1.0)
    marks = tuple(
        (number * step, f"{number * step:,.0f}".replace(",", "\u202f")) for number in range(int(top / step) + 1)
    )
    return Axis(label, top, marks)


class Frame:
    """A plot under construction: axes, and a place for every value.

    Parameters
    ----------
    x, y : Axis
        The axes.
    """

    def __init__(self, x: Axis, y: Axis) -> None:
        self._x, self._y = x, y
        self._parts: list[Markup] = []

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return the place of a value in the drawing."""
        across = LEFT + (WIDTH - LEFT - RIGHT) * x / self._x.top
        return across, HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / self._y.top

    def line(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """Draw a line through values."""
        places = " ".join(",".join(map(_short, self.place(*point))) for point in points)
        self._parts.append(tag("polyline", points=places, class_=kind))

    def box(self, left: float, right: float, low: float, high: float, kind: str) -> None:
        """Draw a rectangle between values."""
        (x0, y0), (x1, y1) = self.place(left, high), self.place(right, low)
        size = {"width": _short(max(x1 - x0, 0.5)), "height": _short(max(y1 - y0, 0))}
        self._parts.append(tag("rect", x=_short(x0), y=_short(y0), class_=kind, **size))

    def text(self, x: float, y: float, words: str, anchor: str = "end") -> None:
        """Write words above a value."""
        across, down = self.place(x, y)
        self._parts.append(tag("text", words, x=_short(across), y=_short(down - 6), text_anchor=anchor, class_="note"))

    def drawing(self, title: str, description: str) -> Markup:
        """Return the plot; the description is what a screen reader says instead of it."""
        x0, y0 = self.place(0, 0)
        x1, y1 = self.place(self._x.top, self._y.top)
        axes = [tag("line", x1=x0, y1=y0, x2=x1, y2=y0, class_="axis")]
        for value, words in self._x.marks:
            across = _short(self.place(value, 0)[0])
            axes.append(tag("text", words, x=across, y=y0 + 18, text_anchor="middle", class_="mark"))
        for value, words in self._y.marks:
            down = self.place(0, value)[1]
            axes.append(tag("line", x1=x0, y1=_short(down), x2=x1, y2=_short(down), class_="grid"))
            axes.append(tag("text", words, x=x0 - 8, y=_short(down + 4), text_anchor="end", class_="mark"))
        axes.append(tag("text", self._x.label, x=(x0 + x1) / 2, y=HEIGHT - 6, text_anchor="middle", class_="label"))
        axes.append(
            tag("text", self._y.label, x=14, y=(y0 + y1) / 2, text_anchor="middle", class_="label",
                transform=f"rotate(-90 14 {(y0 + y1) / 2:g})")
        )  # fmt: skip
        return tag(
            "svg", *axes, *self._parts,
            viewBox=f"0 0 {WIDTH} {HEIGHT}", class_="plot", role="img", aria_label=f"{title}. {description}",
        )  # fmt: skip


def stacked(frame: Frame, left: float, right: float, layers: Sequence[tuple[float, str]]) -> None:
    """Draw boxes on top of each other."""
    low = 0.0
    for height, kind in layers:
        if height:
            frame.box(left, right, low, low + height, kind)
            low += height
