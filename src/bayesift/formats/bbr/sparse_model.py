"""Sparse model files of BXRtrain: ``MODEL CLASS FEATURE COEFFICIENT`` a line."""

from __future__ import annotations

import os
from collections.abc import Iterable

from bayesift.formats.bbr._errors import FormatError
from bayesift.formats.bbr._files import Source, name_of, read_lines, write_text
from bayesift.formats.bbr._words import Words, one_word, split, written
from bayesift.formats.bbr.class_coefficients import Entry, collected, looks_symbolic
from bayesift.formats.bbr.polytomous_model import PolytomousModel
from bayesift.formats.bbr.priors import CONSTANT

SPARSE_TITLE = "Sparse Model File ver"
_VERSION = "1"
_REFERENCE = "@reference"


def read_sparse_models(source: Source, *, symbolic: bool | None = None) -> tuple[PolytomousModel, ...]:
    r"""Read a sparse model file of BXRtrain, which may hold several models.

    A line of three words, one of which begins with ``@ref`` in any case, names a model's reference class.

    Parameters
    ----------
    source : str, path or binary stream
    symbolic : bool, optional
        Whether features are words; found out by default: they are if any is not a whole number.

    Returns
    -------
    tuple of PolytomousModel
        In the order of the file.

    Raises
    ------
    FormatError
        With file and line.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.formats.bbr import read_sparse_models
    >>> [model] = read_sparse_models(BytesIO(b"Sparse Model File ver 1\ngrain wheat 12 1.25\ngrain corn 0 0\n"))
    >>> model.name, model.class_names
    ('grain', ('wheat', 'corn'))
    """
    name, lines = name_of(source), read_lines(source)
    first = next(number for number, line in enumerate(lines) if split(line))
    if " ".join(split(lines[first])) != f"{SPARSE_TITLE} {_VERSION}":
        raise FormatError(name, first + 1, repr(lines[first][:60]), f"the title '{SPARSE_TITLE} {_VERSION}'")
    models: dict[str, dict[str, list[Entry]]] = {}
    references: dict[str, str] = {}
    words = Words(name, [])
    for number, line in enumerate(lines[first + 1 :], first + 2):
        words = Words(name, [line], number)
        if words.peek() is None:
            continue
        model, class_name, feature, *rest = words.rest_of_at_least(3, "MODEL CLASS FEATURE COEFFICIENT")
        classes = models.setdefault(str(model), {})
        if not rest:
            marks = [word for word in (class_name, feature) if word.lower().startswith("@ref")]
            if len(marks) != 1 or str(model) in references:
                words.fail(feature, "MODEL CLASS FEATURE COEFFICIENT, or one reference class")
            reference = str(feature if class_name == marks[0] else class_name)
            references[str(model)] = reference
            classes.setdefault(reference, [])
        elif len(rest) == 1:
            classes.setdefault(str(class_name), []).append((feature, words.number(rest[0])))
        else:
            words.fail(rest[1], "the end of the line")
    if not models:
        raise FormatError(name, len(lines), "the end of the file", "MODEL CLASS FEATURE COEFFICIENT")
    if symbolic is None:
        symbolic = any(looks_symbolic(entries) for classes in models.values() for entries in classes.values())
    return tuple(
        PolytomousModel(
            tuple(collected(words, class_name, entries, symbolic) for class_name, entries in classes.items()),
            model,
            references.get(model),
            symbolic,
        )
        for model, classes in models.items()
    )


def write_sparse_models(
    target: str | os.PathLike[str], models: Iterable[PolytomousModel], *, digits: int | None = None
) -> None:
    """Write a sparse model file, whole or not at all.

    A class without coefficients gets a line for its constant, 0, or it would be lost.

    Parameters
    ----------
    target : str or path
    models : iterable of PolytomousModel
        Their names must differ.
    digits : int, optional
        Significant digits; BXRtrain writes 6. As many as bring every number back by default.
    """
    lines = [f"{SPARSE_TITLE} {_VERSION}"]
    seen: set[str] = set()
    for model in models:
        name = one_word("name", model.name)
        if name in seen:
            raise ValueError(f"models holds two of the name {name!r}; expected different names")
        seen.add(name)
        if model.reference_class is not None:
            lines.append(f"{name} {_REFERENCE} {one_word('reference_class', model.reference_class)}")
        for coefficients in model.classes:
            class_name = one_word("class_name", coefficients.class_name)
            named = coefficients.named(model.symbolic)
            if not named and class_name != model.reference_class:
                named = [(CONSTANT if model.symbolic else 0, 0.0)]
            for feature, value in named:
                word = one_word("features", str(feature))
                lines.append(f"{name} {class_name} {word} {written(value, digits, 'g')}")
    write_text(target, "".join(f"{line}\n" for line in lines))
