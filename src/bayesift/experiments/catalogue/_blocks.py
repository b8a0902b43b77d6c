"""Reports as a list of blocks, and the same blocks as Markdown and as HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Heading(NamedTuple):
    """A heading of some level, 1 the highest."""

    level: int
    text: str


class Paragraph(NamedTuple):
    """Text; words between backquotes are code."""

    text: str


class Items(NamedTuple):
    """A list with a dot before each item."""

    items: tuple[str, ...]


class Matrix(NamedTuple):
    """Rows under a header; the first ``left`` columns are aligned to the left, the others to the right."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int = 1


class Picture(NamedTuple):
    """A picture in a file beside the report."""

    file: str
    caption: str


Block = Heading | Paragraph | Items | Matrix | Picture

_STYLE = """body { font: 15px/1.5 sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 14px; }
th, td { border-bottom: 1px solid #ddd; padding: 0.2rem 0.7rem; text-align: right; }
th.left, td.left { text-align: left; }
td.miss { background: #fbe3d6; }
img { max-width: 100%; }"""


def to_markdown(blocks: Iterable[Block]) -> str:
    """Write blocks as Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {block.text}"
    if isinstance(block, Paragraph):
        return block.text
    if isinstance(block, Items):
        return "\n".join(f"- {item}" for item in block.items)
    if isinstance(block, Picture):
        return f"![{block.caption}]({block.file})"
    rule = ["---" if place < block.left else "---:" for place in range(len(block.header))]
    return "\n".join(_bars(row) for row in (block.header, rule, *block.rows))


def _bars(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def to_html(blocks: Iterable[Block], title: str) -> str:
    """Write blocks as a page of HTML that needs nothing but its pictures."""
    head = f'<meta charset="utf-8">\n<title>{html.escape(title)}</title>\n<style>\n{_STYLE}\n</style>'
    body = "\n".join(_html(block) for block in blocks)
    return f'<!DOCTYPE html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body>\n{body}\n</body>\n</html>\n'


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_inline(block.text)}</h{block.level}>"
    if isinstance(block, Paragraph):
        return f"<p>{_inline(block.text)}</p>"
    if isinstance(block, Items):
        return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in block.items) + "</ul>"
    if isinstance(block, Picture):
        return f'<p><img src="{html.escape(block.file)}" alt="{html.escape(block.caption)}"></p>'
    rows = [_row(block.header, "th", block.left), *(_row(row, "td", block.left) for row in block.rows)]
    return "<table>\n" + "\n".join(rows) + "\n</table>"


def _row(cells: Sequence[str], tag: str, left: int) -> str:
    return "<tr>" + "".join(_cell(cell, tag, place < left) for place, cell in enumerate(cells)) + "</tr>"


def _cell(text: str, tag: str, left: bool) -> str:
    kinds = ["left"] * left + ["miss"] * text.endswith("✗")
    return f'<{tag} class="{" ".join(kinds)}">{_inline(text)}</{tag}>' if kinds else f"<{tag}>{_inline(text)}</{tag}>"


def _inline(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
