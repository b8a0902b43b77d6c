"""Write the page of all estimators: which parameter and which attribute each has, from the estimators themselves."""

from __future__ import annotations

import inspect
from collections import defaultdict
from pathlib import Path
from typing import Any

from rooms import write_if_changed

from bayesift._registry import estimators
from bayesift.filtering import AdaptiveFilter

HEAD = """# All estimators

What the estimators have in common has one name, one meaning and, where sense allows, one default. This page is made
from their signatures and docstrings.

"""


def public_estimators() -> dict[str, type]:
    """Return every estimator by its full name; the filter keeps its state in a folder and in no model file."""
    return {**estimators(), "bayesift.filtering.AdaptiveFilter": AdaptiveFilter}


def defaults(estimator: type) -> dict[str, Any]:
    """Return the parameters of an estimator and their defaults."""
    parameters = list(inspect.signature(estimator).parameters.values())
    return {each.name: each.default for each in parameters}


def fitted_attributes(estimator: type) -> dict[str, str]:
    """Return the attributes that a fitted estimator has and what they are, as its docstring says."""
    from numpydoc.docscrape import ClassDoc

    found = {}
    for base in reversed(inspect.getmro(estimator)):
        if base.__module__.startswith("bayesift"):
            # Several attributes may stand in one line: ``coef_, intercept_``.
            for entry in ClassDoc(base, config={"show_class_members": False})["Attributes"]:
                found.update(dict.fromkeys((name.strip() for name in entry.name.split(",")), entry.type))
    return found


def _shown(value: Any) -> str:
    return "no default" if value is inspect.Parameter.empty else f"`{value!r}`"


def _rows(of_each: dict[str, dict[str, Any]], shown: Any) -> list[str]:
    """Return a row for each name: the values it has, and which estimators have which."""
    holders: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for estimator, members in of_each.items():
        for name, value in members.items():
            holders[name][shown(value)].append(estimator.rpartition(".")[2])
    by_use = sorted(holders, key=lambda name: (-sum(map(len, holders[name].values())), name))
    rows = []
    for name in by_use:
        cells = [f"{value}: {', '.join(who)}" for value, who in holders[name].items()]
        rows.append(f"| `{name}` | {'<br>'.join(cells)} |")
    return rows


def page() -> str:
    """Return the text of the page."""
    found = public_estimators()
    lines = ["## Parameters", "", "| parameter | default: estimators |", "|---|---|"]
    lines += _rows({name: defaults(each) for name, each in found.items()}, _shown)
    lines += ["", "## Attributes after `fit`", "", "| attribute | what it is: estimators |", "|---|---|"]
    lines += _rows(
        {name: fitted_attributes(each) for name, each in found.items()},
        lambda value: (value or "see there").replace("|", "\\|"),
    )
    lines += ["", "## Estimators", ""]
    lines += [f"- `{name}`: {inspect.getdoc(each).splitlines()[0]}" for name, each in found.items()]
    return HEAD + "\n".join(lines) + "\n"


def write_page(folder: Path) -> None:
    """Write the page into a folder if it has changed."""
    write_if_changed(folder / "estimators.md", page())
