"""Write the kept tables of the benchmarks into the README and the documentation: ``python -m benchmarks.pages``.

A table in a page that follows a line ``<!-- results: NAME K -->`` is table K of ``benchmarks/results/NAME.json``, which
``--keep`` wrote; ``<!-- results: -->`` is the list of all these runs. ``--check`` writes
nothing and tells which pages differ.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring import RESULTS

TOP = Path(__file__).resolve().parents[1]

_MARK = re.compile(r"^<!-- results:(?: (?P<name>\w+) (?P<number>[1-9]\d*))? -->\n\n?(?P<table>(?:^\|.*\n)*)", re.M)


def result(name: str) -> dict[str, Any]:
    """Return what a benchmark kept: its command, date, versions, load, minutes and tables."""
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown, its numbers to the right."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |\n" for line in lines)


def runs() -> str:
    """Return the list of all runs that were kept."""
    rows = []
    for path in sorted(RESULTS.glob("*.json")):
        found = result(path.stem)
        # Hyphens at which no line is broken.
        date = found["date"].replace("-", "\N{NON-BREAKING HYPHEN}")
        rows.append([f"`{found['command']}`", date, f"{found['minutes']:.1f}", f"{found['load']:.1f}"])
    return markdown(["command", "date", "minutes", "load"], rows)


def written(text: str) -> str:
    """Return a page with the tables that its marks ask for."""
    if text.count("\n<!-- results:") + text.startswith("<!-- results:") != len(_MARK.findall(text)):
        raise ValueError("a line begins with <!-- results: and is no mark; expected <!-- results: NAME K -->, K from 1")

    def table(found: re.Match[str]) -> str:
        if found["name"] is None:
            mark, own = "<!-- results: -->", runs()
        else:
            mark = f"<!-- results: {found['name']} {found['number']} -->"
            chosen = result(found["name"])["tables"][int(found["number"]) - 1]
            own = markdown(chosen["header"], chosen["rows"])
        old = found["table"].partition("\n")[0]
        if old and old != own.partition("\n")[0]:
            raise ValueError(
                f"{mark} is followed by the table {old}; expected its own, or none: remove it if it is old"
            )
        # A line that follows a table at once would be part of it.
        is_followed = text[found.end() : found.end() + 1] not in ("", "\n")
        return f"{mark}\n\n{own}" + "\n" * is_followed

    return _MARK.sub(table, text)


def pages() -> Iterator[Path]:
    """List the pages that may have marks."""
    yield TOP / "README.md"
    yield from sorted(path for path in (TOP / "docs").rglob("*.md") if "_build" not in path.parts)


def main() -> None:
    """Write all pages, or tell which are old."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a page differs")
    check = parser.parse_args().check
    old = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        new = written(text)
        if new != text:
            old.append(str(page.relative_to(TOP)))
            if not check:
                page.write_text(new, encoding="utf-8")
    print(*old, sep="\n", end="\n" if old else "")
    sys.exit(check and bool(old))


if __name__ == "__main__":
    main()
