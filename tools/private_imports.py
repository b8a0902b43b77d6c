"""Refuse imports of a room's private modules and names from outside the room; ``make lint`` runs this.

A room is a package below ``bayesift``. What another room needs is public there, or stands on the ground floor: modules
such as ``bayesift._labels``, which the whole package may use. Programs beside the package use what is public only.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "bayesift"
TOP = Path(__file__).resolve().parent.parent
#: Folders whose files are checked; tests and benchmarks may look behind the doors.
FOLDERS = (TOP / "src" / PACKAGE, TOP / "reproduction", TOP / "docs" / "gallery")


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Return the line and the full name of everything that is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)


def is_private(name: str) -> bool:
    """Tell whether a name begins with an underscore and is none of Python's own."""
    return name.startswith("_") and not name.endswith("__")


def foreign_and_private(name: str, room: str | None) -> bool:
    """Tell whether an import reaches into a room that is not its own; ``room`` is None outside the package."""
    package, _, rest = name.partition(".")
    parts = rest.split(".")
    if package != PACKAGE or not any(map(is_private, parts)):
        return False
    return room is None or not (parts[0] == room or is_private(parts[0]))


def main() -> int:
    """Print every import that is not allowed; return 1 if there is one."""
    found = 0
    for folder in FOLDERS:
        for path in sorted(folder.rglob("*.py")):
            inside = folder.name == PACKAGE
            room = path.relative_to(folder).parts[0].removesuffix(".py") if inside else None
            for line, name in imports(ast.parse(path.read_text(encoding="utf-8"))):
                if foreign_and_private(name, room):
                    print(f"{path.relative_to(TOP)}:{line}: {name} is private to its room")
                    found += 1
    if found:
        print(
            f"{found} imports of private modules or names; make public what is needed, or move it to the ground floor"
        )
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
