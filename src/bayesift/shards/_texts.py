"""From texts, or files of any size, to shards: the terms are learnt in a first pass, and written in a second."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bayesift import progress
from bayesift._files import AnyPath, atomic_path
from bayesift.datasets import iter_records
from bayesift.shards._writing import DEFAULT_ENTRIES, DEFAULT_ROWS, Labels, ShardWriter
from bayesift.text import MOST_TERMS, TextVectorizer, fit_in_batches, set_terms

#: Texts that are in memory at a time.
_BATCH = 20_000

#: Texts with their labels, if they have any.
Batch = tuple[list[str], list[Any] | None]


def write(
    source: Any,
    vectorizer: TextVectorizer,
    folder: AnyPath,
    *,
    labels: Labels | None = None,
    rows: int = DEFAULT_ROWS,
    entries: int = DEFAULT_ENTRIES,
    dtype: str = "float64",
    max_terms: int = MOST_TERMS,
    **reading: Any,
) -> None:
    """Write the term weights of texts as a folder of shards, in bounded memory.

    A vectorizer that is not fitted learns the terms in a first pass (:func:`bayesift.text.fit_in_batches`); the second
    writes. Where the source is files, a process that was killed leaves what it has finished in a hidden folder beside
    ``folder``, and the same call goes on from there.

    Parameters
    ----------
    source : path, sequence of Path, or sequence of str
        A CSV, TSV, JSONL, JSON, Parquet or Excel file, or several as ``Path`` objects; or the texts themselves.
    vectorizer : TextVectorizer
        Says what a term is; fitted afterwards.
    folder : path
        The folder to make; must not exist.
    labels : sequence, optional
        Of texts, one label for each, or for each a sequence of labels.
    rows, entries : int
        A shard ends with this number of rows or, before, with this number of entries.
    dtype : {"float64", "float32"}
        Type of the values.
    max_terms : int
        Most terms that are remembered while they are learnt; beyond it rare ones are forgotten, with a warning.
    **reading
        How files are read: ``text``, ``labels_column``, ``label_separator``, ``encoding``, ``delimiter``, ``quotes``,
        ``header``, ``format`` and ``max_cell``, as in :func:`bayesift.datasets.iter_records`. Rows with exactly one
        label each have single labels; else rows have sets of labels.

    Examples
    --------
    >>> import tempfile
    >>> from bayesift import shards
    >>> from bayesift.text import TextVectorizer
    >>> with tempfile.TemporaryDirectory() as place:
    ...     shards.write(["wheat and corn", "gold", "corn"], TextVectorizer(), f"{place}/news", labels=[1, 0, 1])
    ...     found = shards.open(f"{place}/news")
    ...     print(found, found.terms, found.labels)
    Shards(3 rows, 4 columns, 5 entries, 1 shards) ['and', 'corn', 'gold', 'wheat'] [1 0 1]
    """
    texts = _source_of(source, labels, reading)
    target = Path(folder)
    if target.exists():
        raise FileExistsError(f"{target} exists; expected the name of a new folder")
    plan = texts.plan(vectorizer, rows, entries, dtype, max_terms)
    kept = target.with_name(f".{target.name}.terms")
    if not hasattr(vectorizer, "n_documents_") and not _take_terms(kept, plan, vectorizer):
        fit_in_batches(vectorizer, (batch for batch, _ in texts), max_terms=max_terms)
        if plan is not None:
            _keep_terms(kept, plan, vectorizer)
    n_columns = vectorizer.n_features or len(vectorizer.vocabulary_)
    single = texts.has_single_labels()
    with ShardWriter(target, n_columns, dtype=dtype, rows=rows, entries=entries, plan=plan) as writer:
        if vectorizer.n_features is None:
            writer.terms = vectorizer.get_feature_names_out().tolist()
        done = writer.n_done
        for batch, own in texts.batches(done):
            found = None if own is None else ([label[0] for label in own] if single else own)
            writer.add(vectorizer.transform(batch), found)
            done += len(batch)
            progress.report(done, vectorizer.n_documents_ if hasattr(vectorizer, "n_documents_") else done)
    kept.unlink(missing_ok=True)


class _Texts:
    """Texts in memory."""

    def __init__(self, texts: Sequence[str], labels: Labels | None) -> None:
        if labels is not None and len(labels) != len(texts):
            raise ValueError(f"there are {len(texts)} texts and {len(labels)} labels; expected one for each")
        self._texts, self._labels = texts, labels

    def plan(self, *settings: Any) -> dict[str, Any] | None:
        return None

    def has_single_labels(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Batch]:
        return self.batches(0)

    def batches(self, first: int) -> Iterator[Batch]:
        for place in range(first, len(self._texts), _BATCH):
            part = slice(place, place + _BATCH)
            yield list(self._texts[part]), None if self._labels is None else list(self._labels[part])


class _Files:
    """Texts in files, which are read anew in every pass."""

    def __init__(self, paths: Sequence[Path], reading: dict[str, Any]) -> None:
        options = {"labels" if name == "labels_column" else name: value for name, value in reading.items()}
        self._paths, self._reading = paths, reading
        self._records = [iter_records(path, **options) for path in paths]
        named = {records.origin.labels is not None for records in self._records}
        if len(named) > 1:
            raise ValueError("some of the files have a column of labels and others none; expected all or none")
        self._has_labels = named == {True}
        #: Whether every row has one label, when all rows have been seen.
        self._single: bool | None = None

    def plan(self, vectorizer: TextVectorizer, *settings: Any) -> dict[str, Any]:
        """Return what tells this work from any other: the files as they are, and everything that was asked for."""
        states = [os.stat(path) for path in self._paths]
        files = [
            [str(path.resolve()), state.st_size, state.st_mtime_ns]
            for path, state in zip(self._paths, states, strict=True)
        ]
        own = [repr(vectorizer.get_params()), sorted(getattr(vectorizer, "vocabulary_", {}).items())]
        known = hashlib.sha256(json.dumps(own).encode()).hexdigest()
        return {"files": files, "reading": repr(sorted(self._reading.items())), "terms": known, "settings": settings}

    def has_single_labels(self) -> bool:
        """Tell whether every row has exactly one label."""
        if self._single is None:
            self._single = all(len(record.labels) == 1 for records in self._records for record in records)
        return self._has_labels and self._single

    def __iter__(self) -> Iterator[Batch]:
        return self.batches(0)

    def batches(self, first: int) -> Iterator[Batch]:
        found = islice((record for records in self._records for record in records), first, None)
        single = True
        while batch := list(islice(found, _BATCH)):
            single = single and all(len(record.labels) == 1 for record in batch)
            yield [record.text for record in batch], [record.labels for record in batch] if self._has_labels else None
        if first == 0:
            self._single = single


def _source_of(source: Any, labels: Labels | None, reading: dict[str, Any]) -> _Texts | _Files:
    """Tell texts from files: a single string or path, or paths in a sequence, are files."""
    if isinstance(source, str | os.PathLike):
        source = [Path(source)]
    if not isinstance(source, Sequence):
        raise ValueError(
            f"source is {type(source).__name__}; expected a path, a list of Path objects or a list of texts, which can "
            f"be read twice"
        )
    paths = [isinstance(one, os.PathLike) for one in source]
    if not source or any(paths) != all(paths):
        raise ValueError("source is empty, or mixes paths and texts; expected either")
    if not paths[0]:
        if reading:
            raise ValueError(f"{next(iter(reading))} is for files, and source holds texts")
        return _Texts(source, labels)
    if labels is not None:
        raise ValueError("labels are for texts; name the column of the files by labels_column")
    return _Files([Path(one) for one in source], reading)


def _keep_terms(path: Path, plan: dict[str, Any], vectorizer: TextVectorizer) -> None:
    """Keep what was learnt for a process that may have to go on."""
    content = {
        "plan": plan,
        "terms": None if vectorizer.n_features is not None else vectorizer.get_feature_names_out().tolist(),
        "documents": vectorizer.document_frequency_.tolist(),
        "n_documents": vectorizer.n_documents_,
    }
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(content), encoding="utf-8")


def _take_terms(path: Path, plan: dict[str, Any] | None, vectorizer: TextVectorizer) -> bool:
    """Take what a killed process has learnt for the same plan; return whether there was something."""
    if plan is None or not path.is_file():
        return False
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["plan"] != json.loads(json.dumps(plan)):
            return False
        frequency = np.array(content["documents"], dtype=np.int64)
        terms, n_documents = content["terms"], int(content["n_documents"])
    except (ValueError, KeyError, TypeError):
        return False
    set_terms(vectorizer, terms, frequency, n_documents)
    return True
