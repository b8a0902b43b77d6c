"""Sparse model files of BXRtrain (lines ``MODEL CLASS FEATURE COEFFICIENT``), and model files of any kind."""

from __future__ import annotations

import os
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Literal

from bayesift.bbr._files import FormatError, Source, name_of, read_buffer, read_lines, write_text
from bayesift.bbr._words import Words, one_word, split, written
from bayesift.bbr.binary_model import TITLE, BinaryModel, ThresholdUnit, read_binary_model
from bayesift.bbr.polytomous_model import (
    BMR_TITLE,
    BXR_TITLE,
    BMRHeader,
    ClassCoefficients,
    Entry,
    PolytomousModel,
    collected,
    looks_symbolic,
    read_polytomous_model,
)
from bayesift.bbr.prior_files import CONSTANT

SPARSE_TITLE = "Sparse Model File ver"
_VERSION = "1"
_REFERENCE = "@reference"


def read_sparse_models(source: Source, *, symbolic: bool | None = None) -> tuple[PolytomousModel, ...]:
    r"""Read a sparse model file of BXRtrain, which may hold several models.

    A line of three words, one of which begins with ``@ref`` in upper or lower case, names the one reference class that
    a model may have. Parameters are those of :func:`read_polytomous_model`.

    Returns
    -------
    tuple of PolytomousModel
        In the order of the file.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.bbr import read_sparse_models
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
    """Write a sparse model file, completely or not at all.

    A class without coefficients gets a line for its constant, 0; otherwise it would be lost.

    Parameters
    ----------
    target : str or path
    models : iterable of PolytomousModel
        Their names must differ.
    digits : int, optional
        Significant digits; BXRtrain writes 6. By default, as many as are needed to restore every number.
    """
    lines = [f"{SPARSE_TITLE} {_VERSION}"]
    seen: set[str] = set()
    for model in models:
        name = one_word("name", model.name)
        if name in seen:
            raise ValueError(f"models holds two with the name {name!r}; expected different names")
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


AnyModel = BinaryModel | PolytomousModel


class _Named(BytesIO):
    """Bytes that know the name of the file they come from."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def read_models(
    source: Source, *, threshold_unit: ThresholdUnit | Literal["auto"] = "auto", symbolic: bool | None = None
) -> tuple[AnyModel, ...]:
    """Read a model file of any of the programs; its first line tells which.

    Parameters
    ----------
    source : str, path or binary stream
    threshold_unit : {"auto", "log_odds", "probability"}, default="auto"
        See :func:`read_binary_model`.
    symbolic : bool, optional
        See :func:`read_polytomous_model`.

    Returns
    -------
    tuple of BinaryModel or PolytomousModel
        One, except for sparse files, which may hold several.
    """
    name = name_of(source)
    buffer, start = read_buffer(source)
    content = buffer[start:-1].tobytes()
    lines = content.split(b"\n")
    first = next(number for number, line in enumerate(lines) if line.strip())
    title = b" ".join(lines[first].split()).decode("utf-8", errors="replace")
    stream = _Named(content, name)
    if title.startswith(TITLE):
        return (read_binary_model(stream, threshold_unit=threshold_unit),)
    if title.startswith((BMR_TITLE, BXR_TITLE)):
        return (read_polytomous_model(stream, symbolic=symbolic),)
    if title.startswith(SPARSE_TITLE):
        return read_sparse_models(stream, symbolic=symbolic)
    raise FormatError(name, first + 1, repr(title[:60]), "the title of a model file of BBR, BMR or BXR")


def as_polytomous(model: AnyModel) -> PolytomousModel:
    """Return a yes/no model as a model of two classes, of which -1 has no coefficients."""
    if isinstance(model, PolytomousModel):
        return model
    topic = ClassCoefficients(model.class_name or "1", model.features, model.coefficients, model.intercept)
    trained_on = model.restricted_to or model.features
    header = BMRHeader(trained_on, model.restricted_to, cosine_normalize=model.cosine_normalize)
    return PolytomousModel((topic, ClassCoefficients("-1")), model.name, "-1", False, header)


def as_binary(model: PolytomousModel, *, negative: str, threshold: float, cosine_normalize: bool) -> BinaryModel:
    """Return a model of two classes in BBR's form, for the class that is not ``negative``.

    The threshold is a probability.
    """
    [topic] = [found for found in model.classes if found.class_name != negative]
    listed = sorted(zip(map(int, topic.features), topic.coefficients, strict=True))
    return BinaryModel(
        features=tuple(feature for feature, _ in listed),
        coefficients=tuple(value for _, value in listed),
        intercept=topic.intercept,
        threshold=threshold,
        threshold_unit="probability",
        restricted_to=None if model.header is None else model.header.trained_on,
        class_name=topic.class_name,
        cosine_normalize=cosine_normalize,
        name=model.name,
    )


def has_words(models: Iterable[AnyModel]) -> bool:
    """Return whether features or class names of any model are words rather than whole numbers."""
    return any(model.symbolic or not all(map(_is_whole, model.class_names)) for model in map(as_polytomous, models))


def _is_whole(name: str) -> bool:
    return name.lstrip("+-").isdigit() and name.isascii()


def models_at(path: str) -> list[AnyModel]:
    """Read one model file, or all files of a folder in the order of their names, except hidden ones."""
    place = Path(path)
    if not place.is_dir():
        return list(read_models(path))
    files = sorted(file for file in place.iterdir() if file.is_file() and not file.name.startswith("."))
    if not files:
        raise FormatError(path, 1, "an empty folder", "model files")
    return [model for file in files for model in read_models(file)]


def threshold_of(model: AnyModel) -> float | None:
    """Return the log odds from which a yes/no model accepts; None for other models."""
    return model.log_odds_threshold if isinstance(model, BinaryModel) else None
