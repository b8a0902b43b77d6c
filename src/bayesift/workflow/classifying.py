"""Classify texts as they come, a block of lines at a time, in constant memory."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesift.datasets import TextFormat, TextRow, TextStream, open_texts
from bayesift.workflow._addition import Addition
from bayesift.workflow._sinks import CsvSink, JsonSink, RawSink, Sink, SinkFormat, open_stream, sink_format
from bayesift.workflow.text_classifier import TextClassifier

_DELIMITERS = {"csv": ",", "tsv": "\t"}


@dataclass(frozen=True)
class Classified:
    """What became of the texts.

    Parameters
    ----------
    n_texts : int
        How many there were.
    counts : dict of str to int
        Texts by label given, the most frequent first; ``""`` counts those without a label.
    format : str
        How they were read.
    text : str or None
        The column of the texts.
    added : list of str
        The columns added.
    """

    n_texts: int
    counts: dict[str, int]
    format: str
    text: str | None
    added: list[str]

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
    brief: bool = False,
    format: SinkFormat | None = None,
    text: str | None = None,
    prefer: str | None = None,
    label_separator: str = ";",
    source_format: TextFormat | None = None,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    quotes: bool = True,
    opened: Callable[[TextStream], None] = lambda source: None,
    progress: Callable[[int], None] = lambda n_texts: None,
) -> Classified:
    r"""Add the labels to the rows of a file; memory does not depend on its length.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted.
    data : path or "-"
        CSV, TSV, JSON lines, plain lines, Parquet or a folder of files; ``-`` is standard input.
    output : path or "-"
        Where to; appears when all is written. ``-`` is standard output.
    proba : bool, default=False
        Add the probability of every label.
    explain : int, default=0
        Add so many words that speak for and against each label given.
    brief : bool, default=False
        Leave out the columns that were read, but for the identifier or, where there is none, the number of the row.
    format : {"csv", "tsv", "jsonl"}, optional
        What to write; by default what the name of the output says, or like the input.
    text, prefer, source_format, encoding, delimiter, quotes
        How to read, as in :func:`bayesift.datasets.open_texts`; ``prefer`` is the column to take where it is there.
    label_separator : str, default=";"
        What to put between several labels in a cell.
    opened : callable, optional
        Told the source, with its format and column, before the first text.
    progress : callable, optional
        Called with the number of texts after every block.

    Returns
    -------
    Classified

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
    if target != "-" and str(data) != "-" and Path(target).exists() and Path(target).samefile(data):
        raise ValueError(f"output is {target}, the data themselves; expected another file")
    # Quotes are no part of words, unless the user has said what a word is.
    exact = classifier.vectorizer_.token_pattern is not None or classifier.vectorizer_.tokenizer is not None
    reading: dict[str, Any] = {"encoding": encoding, "delimiter": delimiter, "quotes": quotes, "exact": exact}
    with open_texts(data, text, prefer=prefer, format=source_format, **reading) as source:
        opened(source)
        written = sink_format(target, format, source.format)
        table = Addition(classifier, written, proba, explain > 0, label_separator)
        counts: Counter[str] = Counter()
        n_texts = 0
        with open_stream(target) as stream:
            sink: Sink | None = None
            for block in source.blocks:
                texts = block.texts
                raw = block.lines is not None and not brief and _DELIMITERS.get(written) == source.delimiter
                rows: list[Any] = block.lines if raw and block.lines is not None else block.rows
                columns = source.columns or list(rows[0])
                if brief:
                    columns, rows = _brief(columns, rows, n_texts)
                if sink is None:
                    sink = _sink(stream, written, columns, table.name(columns), raw)
                found = classifier.judge(texts, proba=proba)
                why = classifier.explain(texts, explain) if explain else None
                sink.write(rows, table.values(found, why))
                counts.update(table.counts(found))
                n_texts += len(texts)
                progress(n_texts)
            if sink is None and source.columns is not None:
                _sink(stream, written, [] if brief else source.columns, table.name(source.columns), False)
    return Classified(n_texts, dict(counts.most_common()), source.format, source.text, table.added)


def _sink(stream: Any, format: SinkFormat, columns: list[str], added: list[str], raw: bool) -> Sink:
    if format == "jsonl":
        return JsonSink(stream, columns, added)
    return (RawSink if raw else CsvSink)(stream, columns, added, _DELIMITERS[format])


def _brief(columns: list[str], rows: list[TextRow], before: int) -> tuple[list[str], list[TextRow]]:
    """Keep the identifiers only, or, where there are none, number the rows."""
    place = next((place for place, name in enumerate(columns) if name.lower() == "id"), None)
    if place is None:
        return ["row"], [[number] for number in range(before + 1, before + len(rows) + 1)]
    name = columns[place]
    return [name], [[row.get(name) if isinstance(row, dict) else row[place]] for row in rows]
