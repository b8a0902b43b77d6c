"""Classifiers in model files, with a note of where they come from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from bayesift.datasets import Split
from bayesift.formats import ModelFileError, describe, load, save
from bayesift.workflow.text_classifier import TextClassifier


def save_classifier(
    classifier: TextClassifier, path: str | os.PathLike[str], provenance: Mapping[str, Any] | None = None
) -> None:
    """Write a classifier to a model file.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.
    path : path
        Where to; what stands there is replaced.
    provenance : mapping, optional
        Where it comes from, as :func:`provenance_of` says it.
    """
    save(classifier, path, provenance=provenance)


def load_classifier(path: str | os.PathLike[str]) -> tuple[TextClassifier, dict[str, Any]]:
    """Read a classifier and where it comes from.

    Parameters
    ----------
    path : path
        A model file with a :class:`TextClassifier`.

    Returns
    -------
    classifier : TextClassifier
    provenance : dict
    """
    found = load(path)
    if not isinstance(found, TextClassifier):
        raise ModelFileError(
            f"{path} holds a {type(found).__name__}, which does not take texts; expected a TextClassifier, as "
            f"'bayesift train' writes it"
        )
    return found, describe(path).provenance


def provenance_of(data: Split, label_separator: str | None = None) -> dict[str, Any]:
    """Say where texts come from, for the model that learned from them.

    Parameters
    ----------
    data : Split
        As read from a file.
    label_separator : str, optional
        Separator of several labels in a cell.

    Returns
    -------
    dict
        Name of the file (not of its folder), columns and separator.
    """
    origin = data.origin
    if origin is None:
        return {}
    return {
        "data": origin.path.name,
        "text": origin.text,
        "labels": origin.labels,
        "label_separator": label_separator,
    }
