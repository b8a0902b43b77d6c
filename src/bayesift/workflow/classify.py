"""Classify a stream of texts, a block of lines at a time, in constant memory."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bayesift._checks import INSIDE_UNIT, numbers
from bayesift._same_files import check_distinct
from bayesift._typing import BoolArray, FloatArray
from bayesift.datasets import TextColumns, TextFormat, TextRow, TextStream, open_texts
from bayesift.decide import mass_of_certainty
from bayesift.workflow._answers import Predictions
from bayesift.workflow._writers import (
    CsvWriter,
    JsonWriter,
    OutputFormat,
    ParquetWriter,
    RawCsvWriter,
    Writer,
    open_stream,
    output_format,
    parquet_types,
)
from bayesift.workflow.certainty import check_posterior, intervals_of, unsure_labels
from bayesift.workflow.errors import texts_without_words
from bayesift.workflow.explain import Explainer, Reason
from bayesift.workflow.text_classifier import TextClassifier

_DELIMITERS = {"csv": ",", "tsv": "\t"}

#: So many names of columns are listed in a message.
_LISTED = 10


@dataclass(frozen=True)
class Classified:
    """A summary of how texts were classified.

    Parameters
    ----------
    n_texts : int
    counts : dict of str to int
        Number of texts that got each label, the most frequent first; ``""`` counts those without a label.
    format : str
        The format that was read.
    text : str, tuple of str or None
        The column of the texts, or the columns that were joined.
    added : list of str
        The columns added.
    n_unsure : int or None
        Number of texts that are left to a person, at least in part; None unless ``abstain`` asked for it.
    notes : list of str
        What was detected in the file, such as its encoding, what was missing, how many texts have no words, and which
        values of features say nothing, a sentence each.
    """

    n_texts: int
    counts: dict[str, int]
    format: str
    text: str | tuple[str, ...] | None
    added: list[str]
    notes: list[str] = field(default_factory=list)
    n_unsure: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        return dict(vars(self))


def classify(
    classifier: TextClassifier,
    data: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    proba: bool = False,
    explain: int = 0,
    interval: float | None = None,
    abstain: bool = False,
    certainty: float = 0.9,
    brief: bool = False,
    format: OutputFormat | None = None,
    text: TextColumns | None = None,
    prefer: TextColumns | None = None,
    label_separator: str = ";",
    source_format: TextFormat | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    header: bool | None = None,
    opened: Callable[[TextStream], None] = lambda source: None,
    progress: Callable[[int], None] = lambda n_texts: None,
) -> Classified:
    r"""Add the labels to the rows of a file; memory does not depend on its length.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.
    data : path or "-"
        CSV, TSV, JSON, JSON lines, plain lines, Parquet, Excel or a folder of files; ``-`` is standard input.
    output : path or "-"
        Where to write; a file appears when it is complete. ``-`` is standard output.
    proba : bool, default=False
        Add the probability of every label.
    explain : int, default=0
        Add this many words that count for or against each label given.
    interval : float, optional
        Add the probability of every label, and the ends of an interval that contains it with this probability; for
        models that keep their posterior.
    abstain : bool, default=False
        Give only labels that are sure, and add a column with those among which a person should decide; for models
        that keep their posterior.
    certainty : float, default=0.9
        A decision is sure if the score is on its side of the threshold with at least this probability.
    brief : bool, default=False
        Leave out the columns that were read, except the identifier or, if there is none, the row number.
    format : {"csv", "tsv", "jsonl", "parquet"}, optional
        What to write; by default, what the name of the output says, or the format of the input.
    text, prefer, source_format, encoding, delimiter, quotes, header
        How to read, as in :func:`bayesift.datasets.open_texts`; ``prefer`` is the column to use if it exists.
    label_separator : str, default=";"
        The separator of several labels in a cell.
    opened : callable, optional
        Called before the first text with the source, which has its format and column.
    progress : callable, optional
        Called with the number of texts after every block.

    Returns
    -------
    Classified
        How many texts there were, and how many got each label.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesift.workflow import TextClassifier, classify
    >>> texts, labels = ["wheat", "corn", "sea", "ship"] * 3, ["farm", "farm", "sea", "sea"] * 3
    >>> classifier = TextClassifier("nb").fit(texts, labels)
    >>> with TemporaryDirectory() as folder:
    ...     data, out = Path(folder) / "new.csv", Path(folder) / "out.csv"
    ...     _ = data.write_text("id,text\n7,wheat and corn\n8,a ship at sea\n")
    ...     found = classify(classifier, data, out)
    ...     print(out.read_text())
    id,text,predicted
    7,wheat and corn,farm
    8,a ship at sea,sea
    <BLANKLINE>
    """
    target = os.fspath(output)
    if interval is not None:
        numbers("interval", interval, INSIDE_UNIT)
        check_posterior(classifier, "an interval")
        proba = True
    if abstain:
        mass_of_certainty(certainty)
        check_posterior(classifier, "a sure decision")
    check_distinct({"data": data}, {"output": target})
    # Quotes are not part of words, unless the user has said what a word is.
    exact = classifier.vectorizer_.token_pattern is not None or classifier.vectorizer_.tokenizer is not None
    reading: dict[str, Any] = {"encoding": encoding, "delimiter": delimiter, "quotes": quotes, "header": header}
    columns_beside = classifier.features_
    if columns_beside is not None:
        reading["features"] = columns_beside.names
    gaps: Counter[tuple[str, str]] = Counter()
    with open_texts(data, text, prefer=prefer, format=source_format, exact=exact, **reading) as source:
        opened(source)
        written = output_format(target, format, source.format)
        other_keys = _OtherKeys(data, source, written, brief)
        explainer = Explainer(classifier) if explain else None
        asked = Asked(proba, explain > 0, interval is not None, abstain)
        table = AddedColumns(classifier, written, asked, label_separator)
        types = parquet_types(os.fspath(data)) if written == source.format == "parquet" else None
        make = partial(_writer, written, types=types)
        counts: Counter[str] = Counter()
        n_texts = n_without_words = n_unsure = 0
        with open_stream(target) as stream:
            writer: Writer | None = None
            for block in source.blocks:
                texts = block.texts
                raw = block.lines is not None and not brief and _DELIMITERS.get(written) == source.delimiter
                rows: list[Any] = block.lines if raw and block.lines is not None else block.rows
                if writer is None:
                    columns = source.columns or list(rows[0])
                names = columns
                if brief:
                    names, rows = _brief(columns, rows, n_texts)
                if writer is None:
                    writer = make(stream, names, table.name(names), raw)
                other_keys.look(rows, columns, table.added, n_texts)
                found = classifier.predictions(texts, proba=proba or explain > 0)
                why = None if explainer is None else explainer.reasons(texts, explain, found)
                ends = None if interval is None else intervals_of(classifier, texts, interval)
                left = unsure_labels(classifier, texts, found.decisions, certainty) if abstain else None
                writer.write(rows, table.values(found, why, ends, left))
                counts.update(table.counts(found, left))
                n_unsure += 0 if left is None else int(left.any(axis=1).sum())
                n_texts += len(texts)
                n_without_words += classifier.count_without_words(texts)
                if columns_beside is not None:
                    gaps.update(columns_beside.gaps(texts))
                progress(n_texts)
            if writer is None and (source.columns is not None or written == "parquet"):
                columns = source.columns or list(types or ())
                writer = make(stream, [] if brief else columns, table.name(columns), False)
            if writer is not None:
                writer.close()
    source.notes.extend(other_keys.notes())
    if n_without_words:
        source.notes.append(texts_without_words(n_without_words))
    if columns_beside is not None:
        source.notes.extend(columns_beside.sentences(gaps))
    return Classified(
        n_texts,
        dict(counts.most_common()),
        source.format,
        source.text,
        table.added,
        source.notes,
        n_unsure if abstain else None,
    )


class Asked(NamedTuple):
    """Which columns to add to the label: probabilities, reasons, ends of intervals, what is left to a person."""

    proba: bool = False
    reasons: bool = False
    ends: bool = False
    unsure: bool = False


class AddedColumns:
    """Turns predictions into cells, or into values of JSON.

    Parameters
    ----------
    classifier : TextClassifier
    format : {"csv", "tsv", "jsonl", "parquet"}
        The format that is written.
    asked : Asked
        What to add.
    separator : str
        The separator of several labels in a cell.
    """

    def __init__(self, classifier: TextClassifier, format: OutputFormat, asked: Asked, separator: str) -> None:
        self._classifier = classifier
        self._nested = format == "jsonl"
        self._asked = asked
        self._separator = separator
        self._labels = [str(label) for label in classifier.classes_]
        self.added: list[str] = []

    def name(self, columns: list[str]) -> list[str]:
        """Name the columns that are added; no name is taken yet."""
        wanted = ["predicted"]
        if self._asked.unsure:
            wanted.append("unsure")
        if self._nested:
            wanted += ["probabilities"] * self._asked.proba + ["intervals"] * self._asked.ends
        elif self._asked.proba:
            parts = ("", " low", " high") if self._asked.ends else ("",)
            wanted += [f"p({label}){part}" for label in self._labels for part in parts]
        if self._asked.reasons:
            wanted.append("reasons")
        self.added = [_free(name, columns) for name in wanted]
        return self.added

    def values(
        self,
        found: Predictions,
        why: list[list[Reason]] | None = None,
        ends: FloatArray | None = None,
        unsure: BoolArray | None = None,
    ) -> list[list[Any]]:
        """Return the values to add, a list for each column."""
        columns: list[list[Any]] = [self._given(found.decisions, unsure)]
        if unsure is not None:
            columns.append([self._set(self._names(row)) for row in unsure])
        if self._asked.proba:
            columns += self._shares(found.probabilities, ends)
        if why is not None:
            columns.append([[reason._asdict() for reason in row] if self._nested else _line(row) for row in why])
        return columns

    def _shares(self, probabilities: FloatArray, ends: FloatArray | None) -> list[list[Any]]:
        """Return the columns of probabilities, each followed by those of its interval if there are any."""
        shares = probabilities.round(6)
        spans = None if ends is None else ends.round(6)
        if not self._nested:
            values = shares[:, :, None] if spans is None else np.dstack([shares, spans])
            return list(values.reshape(len(shares), -1).T.tolist())
        columns = [[dict(zip(self._labels, row, strict=True)) for row in shares.tolist()]]
        if spans is not None:
            columns.append([dict(zip(self._labels, row, strict=True)) for row in spans.tolist()])
        return columns

    def _given(self, decisions: BoolArray, unsure: BoolArray | None) -> list[Any]:
        sure = decisions if unsure is None else decisions & ~unsure
        if self._classifier.target_type_ == "multilabel-indicator":
            return [self._set(self._names(row)) for row in sure]
        given = [self._labels[place] for place in decisions.argmax(axis=1).tolist()]
        # A text that is left to a person has no label yet.
        nothing = None if self._nested else ""
        is_sure = sure.max(axis=1).tolist()
        return [label if known else nothing for label, known in zip(given, is_sure, strict=True)]

    def counts(self, found: Predictions, unsure: BoolArray | None = None) -> dict[str, int]:
        """Count the labels given; texts without any count under an empty name."""
        given = found.decisions if unsure is None else found.decisions & ~unsure
        counts = dict(zip(self._labels, given.sum(axis=0).tolist(), strict=True))
        without = int((~given.any(axis=1)).sum())
        return {name: n for name, n in {**counts, "": without}.items() if n}

    def _names(self, row: BoolArray) -> list[str]:
        return [self._labels[column] for column in np.flatnonzero(row).tolist()]

    def _set(self, names: list[str]) -> Any:
        return names if self._nested else self._separator.join(names)


def _line(why: list[Reason]) -> str:
    said = [", ".join(f"{word} {added:+.2f}" for word, added in reason.words) for reason in why]
    if len(said) == 1:
        return said[0]
    return "; ".join(f"{reason.label}: {words}" for reason, words in zip(why, said, strict=True))


def _free(name: str, taken: list[str]) -> str:
    """Return the name, or the name followed by the first number that makes it new."""
    number = 2
    found = name
    while found in taken:
        found = f"{name}_{number}"
        number += 1
    return found


class _OtherKeys:
    """Looks for what would be lost: columns of one name in JSON, and keys of objects that the first has not.

    Parameters
    ----------
    data : path
        The file, for messages.
    source : TextStream
        How it is read.
    written : {"csv", "tsv", "jsonl", "parquet"}
        The format that is written.
    brief : bool
        Whether no columns are kept.
    """

    def __init__(self, data: str | os.PathLike[str], source: TextStream, written: OutputFormat, brief: bool) -> None:
        self._data = data
        self._are_kept = written == "jsonl"
        self._looks = source.columns is None and not brief
        self._left_out: dict[str, None] = {}
        self._number = 0
        twice = [name for name, number in Counter(source.columns or ()).items() if number > 1]
        if twice and written in ("jsonl", "parquet") and not brief:
            listed = ", ".join(map(repr, twice[:_LISTED]))
            raise ValueError(
                f"{os.fspath(data)} has more than one column named {listed}, of which {written} can hold one; expected "
                "different names, or CSV as the format to write"
            )

    def look(self, rows: list[Any], columns: list[str], added: list[str], before: int) -> None:
        """Look at some rows; what is added must not take the place of what is there."""
        if not self._looks:
            return
        known = set(columns)
        for number, row in enumerate(rows, start=before + 1):
            if known.issuperset(row):
                continue
            if not self._are_kept:
                self._number += 1
                if len(self._left_out) < _LISTED:
                    self._left_out |= dict.fromkeys(name for name in row if name not in known)
            elif found := [name for name in added if name in row]:
                raise ValueError(
                    f"{os.fspath(self._data)}, object {number} has the key {found[0]!r}, which the first has not and "
                    "which is to be added; expected it in the first object as well, or nowhere"
                )

    def notes(self) -> list[str]:
        """Say how many objects lost something."""
        if not self._number:
            return []
        some, more = list(self._left_out)[:_LISTED], "…" if len(self._left_out) > _LISTED else ""
        objects = "1 object has" if self._number == 1 else f"{self._number:,} objects have"
        return [f"{objects} keys that the first has not, which are left out: {', '.join(map(repr, some))}{more}"]


def _writer(
    format: OutputFormat, stream: Any, columns: list[str], added: list[str], raw: bool, types: Any = None
) -> Writer:
    if format == "parquet":
        return ParquetWriter(stream, columns, added, types)
    if format == "jsonl":
        return JsonWriter(stream, columns, added)
    return (RawCsvWriter if raw else CsvWriter)(stream, columns, added, _DELIMITERS[format])


def _brief(columns: list[str], rows: list[TextRow], before: int) -> tuple[list[str], list[TextRow]]:
    """Keep only the identifiers or, if there are none, number the rows."""
    place = next((place for place, name in enumerate(columns) if name.lower() == "id"), None)
    if place is None:
        return ["row"], [[number] for number in range(before + 1, before + len(rows) + 1)]
    name = columns[place]
    return [name], [[row.get(name) if isinstance(row, dict) else row[place]] for row in rows]
