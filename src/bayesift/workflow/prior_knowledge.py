"""Turn what a person knows about the categories into priors of the words."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesift.priors import Prior, from_description, from_keywords
from bayesift.workflow._label_sets import Targets
from bayesift.workflow.errors import UnknownCategoryError

_KEYS = ("description", "keywords", "relative", "mode")


def read_prior_knowledge(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what is known about each category from a TOML file.

    A category has a string, its description, or a table with ``description``, ``keywords`` (a list of words, or a table
    from word to expected coefficient), ``relative`` (the variance of these words as a multiple of the common one, 10 by
    default) and ``mode`` (the expected coefficient of the words of the description, 0 by default).

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict
        From category to string or table.
    """
    with Path(path).open("rb") as stream:
        try:
            found = tomllib.load(stream)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path} is not a TOML file: {error}") from error
    if not found:
        raise ValueError(f'{path} is empty; expected a line such as agriculture = "farming, crops, wheat"')
    try:
        for category, entry in found.items():
            _checked(category, entry)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return found


def build_priors(
    knowledge: Mapping[Any, Any], targets: Targets, vectorizer: Any, family: type[Prior]
) -> tuple[list[Prior], list[str]]:
    """Return a prior for every category, and notes about what could not be used.

    Parameters
    ----------
    knowledge : mapping
        From category to a string or a table, as :func:`read_prior_knowledge` returns it.
    targets : Targets
        The labels; for two classes there is one prior, that of the second.
    vectorizer : TextVectorizer
        Fitted to the training texts.
    family : {Laplace, Gaussian}
        Class of the priors.

    Returns
    -------
    priors : list of Prior
        Their common variance is open.
    remarks : list of str
    """
    classes = targets.classes.tolist()
    by_name = {str(label): label for label in classes}
    unknown = [str(name) for name in knowledge if str(name) not in by_name]
    if unknown:
        raise UnknownCategoryError(
            f"prior_knowledge names the category {unknown[0]!r}, which no text has; the labels are {', '.join(by_name)}"
        )
    remarks: list[str] = []
    words: dict[Any, tuple[dict[Any, float], dict[Any, float]]] = {}
    for name, entry in knowledge.items():
        modes, relative = _words_of(str(name), _checked(str(name), entry), vectorizer, family)
        if not modes and not relative:
            remarks.append(f"no word of what is known about {str(name)!r} occurs in the texts")
        words[by_name[str(name)]] = modes, relative
    if targets.target_type == "binary":
        against, towards = (words.get(label, ({}, {})) for label in classes)
        modes = {**{word: -value for word, value in against[0].items()}, **towards[0]}
        return [_prior(family, modes, {**against[1], **towards[1]})], remarks
    return [_prior(family, *words.get(label, ({}, {}))) for label in classes], remarks


def _prior(family: type[Prior], modes: dict[Any, float], relative: dict[Any, float]) -> Prior:
    return family(mode=modes or 0.0, relative=relative or 1.0, unknown="ignore")


def _words_of(
    name: str, entry: dict[str, Any], vectorizer: Any, family: type[Prior]
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Return the modes and relative variances of the words that describe a category."""
    keywords = entry.get("keywords", {})
    text = entry.get("description", "")
    expected: dict[str, float] = {}
    if isinstance(keywords, Mapping):
        expected = {str(word): float(value) for word, value in keywords.items()}
    else:
        text = " ".join([text, *map(str, keywords)])
    factor = float(entry.get("relative", 10.0))
    found = from_description(
        text, vectorizer, relative=factor, mode=float(entry.get("mode", 0.0)), family=family, unknown="ignore"
    )
    modes: dict[Any, float] = dict(found.mode) if isinstance(found.mode, Mapping) else {}
    relative: dict[Any, float] = dict(found.relative) if isinstance(found.relative, Mapping) else {}
    if expected:
        told = from_keywords(expected, vectorizer, relative=factor, family=family, unknown="ignore")
        modes |= told.mode if isinstance(told.mode, Mapping) else {}
        relative |= told.relative if isinstance(told.relative, Mapping) else {}
    return modes, relative


def _checked(category: str, entry: Any) -> dict[str, Any]:
    """Return the table of a category, or say what is wrong with it."""
    if isinstance(entry, str):
        return {"description": entry}
    if not isinstance(entry, Mapping):
        raise ValueError(f"{category} is {entry!r}; expected a description in quotes, or a table with {_list()}")
    odd = [key for key in entry if key not in _KEYS]
    if odd:
        raise ValueError(f"{category} has the key {odd[0]!r}; expected {_list()}")
    for key in ("relative", "mode"):
        if not isinstance(entry.get(key, 1.0), int | float):
            raise ValueError(f"{category}: {key} is {entry[key]!r}; expected a number")
    keywords = entry.get("keywords", {})
    if not isinstance(keywords, Mapping | list):
        raise ValueError(f"{category}: keywords is {keywords!r}; expected a list of words, or a table word = number")
    if isinstance(keywords, Mapping) and not all(isinstance(value, int | float) for value in keywords.values()):
        raise ValueError(f"{category}: keywords must give each word a number, such as wheat = 2.0")
    if not isinstance(entry.get("description", ""), str):
        raise ValueError(f"{category}: description is {entry['description']!r}; expected a text in quotes")
    return dict(entry)


def _list() -> str:
    return ", ".join(_KEYS)
