"""Result files, with the decision about each document, and label files, with the truth.

By default, numbers are written with as many significant digits as are needed to restore them; see ``digits``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from bayesift.bbr._files import FormatError, Source, name_of, quoted, read_lines, write_text
from bayesift.bbr._words import Words, one_word, written

#: Written if the truth is not known.
UNKNOWN = "@unknown"


@dataclass(frozen=True)
class BinaryResult:
    """A line of BBRclassify: ``[rowid] probability prediction``."""

    probability: float
    prediction: Literal[-1, 1]
    row_id: str | None = None


@dataclass(frozen=True)
class DenseResult:
    """A line of BMRclassify, or of BXRclassify with ``-k``: ``truelabel p1 … pK predicted``."""

    true_class: str
    probabilities: tuple[float, ...]
    predicted: str


@dataclass(frozen=True)
class ScoreResult:
    """A line of BXRclassify: ``DOCID MODEL CLASS SCORE [pred:CLASS] [true:CLASS]``, or five scores.

    A document without a name has an empty one.
    """

    document: str
    model: str
    class_name: str
    scores: tuple[float, ...]
    predicted: str | None = None
    true_class: str | None = None


def read_binary_results(source: Source) -> tuple[BinaryResult, ...]:
    r"""Return the results in a file of BBRclassify.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.bbr import read_binary_results
    >>> read_binary_results(BytesIO(b"0.27 -1\n"))
    (BinaryResult(probability=0.27, prediction=-1, row_id=None),)
    """
    results = []
    for words in _lines(source):
        found = words.rest_of_at_least(2, "a probability and a prediction")
        if len(found) > 3:
            words.fail(found[3], "the end of the line")
        *row_id, probability, prediction = found
        value = words.number(probability, "a probability")
        if not 0.0 <= value <= 1.0:
            words.fail(probability, "a probability")
        if prediction not in ("1", "-1"):
            words.fail(prediction, "the prediction 1 or -1")
        results.append(BinaryResult(value, 1 if prediction == "1" else -1, str(row_id[0]) if row_id else None))
    return tuple(results)


def write_binary_results(
    target: str | os.PathLike[str], results: Iterable[BinaryResult], *, digits: int | None = None
) -> None:
    """Write a result file of BBRclassify, which itself writes 12 digits."""
    lines = []
    for result in results:
        row_id = [] if result.row_id is None else [one_word("row_id", result.row_id)]
        lines.append(" ".join([*row_id, written(result.probability, digits, "g"), str(result.prediction)]))
    _write(target, lines)


def read_dense_results(source: Source) -> tuple[DenseResult, ...]:
    """Return the results in a file of BMRclassify, or of BXRclassify with ``-k``."""
    results: list[DenseResult] = []
    for words in _lines(source):
        true_class, *values, predicted = words.rest_of_at_least(3, "a label, probabilities and a prediction")
        if results and len(values) != len(results[0].probabilities):
            words.fail(predicted, f"{len(results[0].probabilities)} numbers between the labels, as in the first line")
        numbers = tuple(words.number(value) for value in values)
        results.append(DenseResult(str(true_class), numbers, str(predicted)))
    return tuple(results)


def write_dense_results(
    target: str | os.PathLike[str], results: Iterable[DenseResult], *, digits: int | None = None
) -> None:
    """Write a result file of BMRclassify."""
    lines = []
    for result in results:
        numbers = [written(value, digits, "g") for value in result.probabilities]
        words = (one_word("true_class", result.true_class), *numbers, one_word("predicted", result.predicted))
        lines.append(" ".join(words))
    _write(target, lines)


def read_score_results(source: Source) -> tuple[ScoreResult, ...]:
    """Return the results in a file of BXRclassify; a line that begins with a blank has no document name."""
    name = name_of(source)
    results: list[ScoreResult] = []
    for number, line in enumerate(read_lines(source), start=1):
        words = Words(name, [line], number)
        if words.peek() is None:
            continue
        document = "" if line[0] in " \t" else str(words.take("a document"))
        model, class_name = str(words.take("a model")), str(words.take("a class"))
        marks: dict[str, str] = {}
        scores: list[float] = []
        for word in words.rest():
            mark, colon, value = word.partition(":")
            if colon and mark in ("pred", "true") and mark not in marks:
                marks[mark] = value
            else:
                scores.append(words.number(word, "a finite score, 'pred:CLASS' or 'true:CLASS'"))
        expected = (1, 5) if not results else (len(results[0].scores),)
        if len(scores) not in expected:
            shown = " or ".join(map(str, expected))
            raise FormatError(name, number, f"{len(scores)} scores", f"{shown}, the same in every line")
        results.append(ScoreResult(document, model, class_name, tuple(scores), marks.get("pred"), marks.get("true")))
    return tuple(results)


def write_score_results(
    target: str | os.PathLike[str], results: Iterable[ScoreResult], *, digits: int | None = None
) -> None:
    """Write a result file of BXRclassify, which itself writes 8 digits."""
    lines = []
    for result in results:
        words = [result.document and one_word("document", result.document)]
        words += [one_word("model", result.model), one_word("class_name", result.class_name)]
        words += [written(score, digits, "g") for score in result.scores]
        words += [] if result.predicted is None else [one_word("predicted", f"pred:{result.predicted}")]
        words += [] if result.true_class is None else [one_word("true_class", f"true:{result.true_class}")]
        # A blank ends every line of BXRclassify.
        lines.append(" ".join([*words, ""]))
    _write(target, lines)


def _lines(source: Source) -> Iterator[Words]:
    name = name_of(source)
    for number, line in enumerate(read_lines(source), start=1):
        words = Words(name, [line], number)
        if words.peek() is not None:
            yield words


def _write(target: str | os.PathLike[str], lines: list[str]) -> None:
    write_text(target, "".join(f"{line}\n" for line in lines))


#: Instead of a model name: applies to every model that the document has no line for.
ALL_OTHER_MODELS = "@allothermodels"


@dataclass(frozen=True)
class Label:
    """A line ``DOCID MODEL CLASS``."""

    document: str
    model: str
    class_name: str


def read_labels(source: Source) -> tuple[Label, ...]:
    r"""Return the labels in a file, in which a document has one class in each model.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.bbr import read_labels
    >>> read_labels(BytesIO(b"d1 grain wheat\n"))
    (Label(document='d1', model='grain', class_name='wheat'),)
    """
    name = name_of(source)
    found: dict[tuple[str, str], Label] = {}
    for number, line in enumerate(read_lines(source), start=1):
        words = Words(name, [line], number)
        if words.peek() is None:
            continue
        document, model, class_name = (str(words.take("DOCID MODEL CLASS")) for _ in range(3))
        words.end("the end of the line")
        key = (document.upper(), model.upper())
        if key in found:
            raise FormatError(name, number, f"a second class of {quoted(document)}", "one class for each model")
        found[key] = Label(document, model, class_name)
    return tuple(found.values())


def write_labels(target: str | os.PathLike[str], labels: Iterable[Label]) -> None:
    """Write a label file."""
    lines = []
    for label in labels:
        words = (label.document, label.model, label.class_name)
        lines.append(" ".join(one_word("labels", word) for word in words))
    _write(target, lines)


def true_class(labels: Iterable[Label]) -> dict[tuple[str, str], str]:
    """Return a table from (document, model) to class, with names in capitals because case is ignored.

    Parameters
    ----------
    labels : iterable of Label

    Returns
    -------
    dict
        Look up (document, model) first, then (document, ``"@ALLOTHERMODELS"``).
    """
    return {(label.document.upper(), label.model.upper()): label.class_name for label in labels}
