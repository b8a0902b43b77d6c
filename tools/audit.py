"""What can be checked about the dependencies without a network: run as ``python tools/audit.py`` in the checkout.

Holds the oldest versions that ``pyproject.toml`` allows and the tested ones of ``constraints.txt`` against the list of
known vulnerabilities in ``advisories.toml``, and finds packages that are no longer kept where they may not be used.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]

#: Packages that their makers have given up, and the one group of development that may have them.
GIVEN_UP = {"fasttext-wheel": "peers"}


def requirements(project: dict[str, Any]) -> Iterator[tuple[str, Requirement]]:
    """Return what the package needs, with the extra or group that needs it."""
    package = project["project"]
    places = {"dependencies": package["dependencies"], **package.get("optional-dependencies", {})}
    for place, lines in [*places.items(), *project.get("dependency-groups", {}).items()]:
        for line in lines:
            yield place, Requirement(line)


def lower_bound(requirement: Requirement) -> Version | None:
    """Return the oldest version that a requirement allows; None where it allows any."""
    bounds = [Version(each.version) for each in requirement.specifier if each.operator in (">=", "==", "~=")]
    return max(bounds, default=None)


def problems(project: dict[str, Any], tested: str, advisories: dict[str, Any]) -> Iterator[str]:
    """Return what is wrong, in a sentence each.

    Parameters
    ----------
    project : dict
        The content of ``pyproject.toml``.
    tested : str
        The content of ``constraints.txt``.
    advisories : dict
        For each package ``safe``, the first version without known vulnerabilities, and ``known``, those before it.
    """
    for place, requirement in requirements(project):
        name = canonicalize_name(requirement.name)
        oldest = lower_bound(requirement)
        if oldest is None:
            yield f"{place}: {requirement.name} has no oldest version; expected one, such as {requirement.name}>=1.0"
        elif name in advisories and oldest < Version(advisories[name]["safe"]):
            safe, known = advisories[name]["safe"], advisories[name]["known"]
            yield f"{place}: {requirement} allows versions with {known}; expected at least {safe}"
        if name in GIVEN_UP and place != GIVEN_UP[name]:
            yield f"{place}: {requirement.name} is no longer kept by its makers; it may only be in {GIVEN_UP[name]}"
    for line in tested.splitlines():
        name, _, version = line.partition("==")
        known = advisories.get(canonicalize_name(name))
        if version and known and Version(version) < Version(known["safe"]):
            yield f"constraints.txt: {line} has {known['known']}; expected at least {known['safe']}"


def main() -> int:
    """Print the problems; returns 1 if there are any."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    tested = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    advisories = tomllib.loads((ROOT / "tools" / "advisories.toml").read_text(encoding="utf-8"))
    found = list(problems(project, tested, advisories))
    for problem in found:
        print(problem)
    n_requirements = len(list(requirements(project)))
    print(f"{n_requirements} requirements, {len(advisories)} packages with advisories: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
