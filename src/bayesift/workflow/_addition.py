"""What is added to the rows of texts: labels, probabilities, reasons."""

from __future__ import annotations

from typing import Any

from bayesift.workflow._judging import Judgement
from bayesift.workflow._reasons import Reason
from bayesift.workflow._sinks import SinkFormat
from bayesift.workflow.text_classifier import TextClassifier


class Addition:
    """Puts judgements into cells, or into values of JSON.

    Parameters
    ----------
    classifier : TextClassifier
    format : {"csv", "tsv", "jsonl"}
        What is written.
    proba, reasons : bool
        Whether to add probabilities and reasons.
    separator : str
        What to put between several labels in a cell.
    """

    def __init__(
        self, classifier: TextClassifier, format: SinkFormat, proba: bool, reasons: bool, separator: str
    ) -> None:
        self._classifier = classifier
        self._nested = format == "jsonl"
        self._proba = proba
        self._reasons = reasons
        self._separator = separator
        self._labels = [str(label) for label in classifier.classes_]
        self.added: list[str] = []

    def name(self, columns: list[str]) -> list[str]:
        """Name the columns added, so that none of those that are there is meant."""
        wanted = ["predicted"]
        if self._proba:
            wanted += ["probabilities"] if self._nested else [f"p({label})" for label in self._labels]
        if self._reasons:
            wanted.append("reasons")
        self.added = [_free(name, columns) for name in wanted]
        return self.added

    def values(self, found: Judgement, why: list[list[Reason]] | None) -> list[list[Any]]:
        """Return the values to add, a list for each column."""
        columns: list[list[Any]] = [self._given(found)]
        if self._proba:
            shares = found.probabilities.round(6)
            if self._nested:
                columns.append([dict(zip(self._labels, row, strict=True)) for row in shares.tolist()])
            else:
                columns += shares.T.tolist()
        if why is not None:
            columns.append([[reason._asdict() for reason in row] if self._nested else _line(row) for row in why])
        return columns

    def _given(self, found: Judgement) -> list[Any]:
        if self._classifier.kind_ != "multilabel":
            return [self._labels[place] for place in found.decisions.argmax(axis=1).tolist()]
        return [self._set(labels) for labels in self._classifier.labels_of(found.decisions).tolist()]

    def counts(self, found: Judgement) -> dict[str, int]:
        """Count the labels given; texts without any under an empty name."""
        counts = dict(zip(self._labels, found.decisions.sum(axis=0).tolist(), strict=True))
        without = int((~found.decisions.any(axis=1)).sum())
        return {name: n for name, n in {**counts, "": without}.items() if n}

    def _set(self, labels: tuple[Any, ...]) -> Any:
        names = list(map(str, labels))
        return names if self._nested else self._separator.join(names)


def _line(why: list[Reason]) -> str:
    said = [", ".join(f"{word} {added:+.2f}" for word, added in reason.words) for reason in why]
    if len(said) == 1:
        return said[0]
    return "; ".join(f"{reason.label}: {words}" for reason, words in zip(why, said, strict=True))


def _free(name: str, taken: list[str]) -> str:
    """Return the name, or the name with the first number that makes it new."""
    number = 2
    found = name
    while found in taken:
        found = f"{name}_{number}"
        number += 1
    return found
