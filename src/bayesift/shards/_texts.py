"""From texts, or files of any size, to shards: terms are learned in a first pass and written in a second."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from bayesift import progress
from bayesift._files import AnyPath, atomic_path
from bayesift.datasets import iter_records
from bayesift.shards._layout import MANIFEST, ShardError
from bayesift.shards._writing import DEFAULT_ENTRIES, DEFAULT_ROWS, Labels, ShardWriter
from bayesift.shards.shards import Shards
from bayesift.text import MOST_TERMS, TextVectorizer, fit_in_batches, set_terms

#: Number of texts in memory at a time.
_BATCH = 20_000

#: Number of labels that are distinguished: all that matters is whether there are several.
_DIFFERENT = 2

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
    unlabelled: Literal["keep", "drop"] = "keep",
    reuse: bool = False,
    **reading: Any,
) -> None:
    """Write the term weights of texts as a folder of shards, in bounded memory.

    A vectorizer that is not fitted learns the terms in a first pass (:func:`bayesift.text.fit_in_batches`); a second
    pass writes the shards. If the source is files, a killed process leaves what it has finished in a hidden folder
    beside ``folder``, and the same call continues from there.

    Parameters
    ----------
    source : path, sequence of Path, or sequence of str
        A CSV, TSV, JSONL, JSON, Parquet or Excel file, several files as ``Path`` objects, or the texts themselves.
    vectorizer : TextVectorizer
        Defines the terms; it is fitted afterwards.
    folder : path
        The folder to make; it must not exist, unless ``reuse`` is true.
    labels : sequence, optional
        For texts, one label for each, or a sequence of labels for each: strings or whole numbers, all of one type.
    rows, entries : int
        A shard ends after this number of rows or this number of entries, whichever comes first.
    dtype : {"float64", "float32"}
        Type of the values.
    max_terms : int
        Maximum number of terms that are remembered during learning; beyond it, rare ones are forgotten, with a warning.
    unlabelled : {"keep", "drop"}, default="keep"
        What to do with rows without a label in files where every other row has exactly one of two or more labels.
        ``"keep"``: write them, so that rows have sets of labels. ``"drop"``: leave them out after counting their words.
    reuse : bool, default=False
        Use an existing folder as the result if it was written from the same files with the same settings, and give the
        vectorizer its terms.
    **reading
        How files are read: ``text``, ``labels_column``, ``label_separator``, ``encoding``, ``delimiter``, ``quotes``,
        ``header``, ``format`` and ``max_cell``, as in :func:`bayesift.datasets.iter_records`. Rows with exactly one
        label each have single labels; otherwise rows have sets of labels.

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
    if unlabelled not in ("keep", "drop"):
        raise ValueError(f"unlabelled is {unlabelled!r}; expected 'keep' or 'drop'")
    texts = _source_of(source, labels, reading)
    target = Path(folder)
    plan = texts.plan(vectorizer, rows, entries, dtype, max_terms, unlabelled)
    if target.exists():
        if not reuse:
            raise FileExistsError(f"{target} exists; expected the name of a new folder")
        _take_written(target, plan, vectorizer)
        return
    kept = target.with_name(f".{target.name}.terms")
    if not hasattr(vectorizer, "n_documents_") and not _take_terms(kept, plan, vectorizer):
        fit_in_batches(vectorizer, (batch for batch, _ in texts), max_terms=max_terms)
        if plan is not None:
            _keep_terms(kept, plan, vectorizer)
    n_columns = vectorizer.n_features or len(vectorizer.vocabulary_)
    seen = texts.labels_seen()
    drop = unlabelled == "drop" and seen.most == 1 and seen.different > 1
    single = seen.most == 1 and (drop or not seen.without)
    with ShardWriter(target, n_columns, dtype=dtype, rows=rows, entries=entries, plan=plan) as writer:
        if vectorizer.n_features is None:
            writer.terms = vectorizer.get_feature_names_out().tolist()
        if plan is not None:
            writer.source = _learnt(plan, vectorizer)
        done = writer.n_done
        for batch, own in texts.batches(done, drop=drop):
            found = None if own is None else ([label[0] for label in own] if single else own)
            writer.add(vectorizer.transform(batch), found)
            done += len(batch)
            progress.report(done, vectorizer.n_documents_ if hasattr(vectorizer, "n_documents_") else done)
    kept.unlink(missing_ok=True)


class _LabelsSeen(NamedTuple):
    """The most labels of a row, the rows without any, and how many different ones there are (two, if more)."""

    most: int = 0
    without: int = 0
    different: int = 0


class _Texts:
    """Texts in memory."""

    def __init__(self, texts: Sequence[str], labels: Labels | None) -> None:
        if labels is not None and len(labels) != len(texts):
            raise ValueError(f"there are {len(texts)} texts and {len(labels)} labels; expected one for each")
        self._texts, self._labels = texts, labels

    def plan(self, *settings: Any) -> dict[str, Any] | None:
        return None

    def labels_seen(self) -> _LabelsSeen:
        return _LabelsSeen()

    def __iter__(self) -> Iterator[Batch]:
        return self.batches(0)

    def batches(self, first: int, *, drop: bool = False) -> Iterator[Batch]:
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
            raise ValueError(
                "some of the files have a column of labels and others have none; expected it in all or none"
            )
        self._has_labels = named == {True}
        #: When all rows have been seen.
        self._seen: _LabelsSeen | None = None

    def plan(self, vectorizer: TextVectorizer, *settings: Any) -> dict[str, Any]:
        """Return what distinguishes this work from any other: the state of the files, and all settings."""
        states = [os.stat(path) for path in self._paths]
        files = [
            [str(path.resolve()), state.st_size, state.st_mtime_ns]
            for path, state in zip(self._paths, states, strict=True)
        ]
        own = [repr(vectorizer.get_params()), sorted(getattr(vectorizer, "vocabulary_", {}).items())]
        known = hashlib.sha256(json.dumps(own).encode()).hexdigest()
        return {"files": files, "reading": repr(sorted(self._reading.items())), "terms": known, "settings": settings}

    def labels_seen(self) -> _LabelsSeen:
        """Return what the labels of all rows are like."""
        if self._seen is None:
            for _ in self.batches(0):
                pass
        return self._seen if self._has_labels and self._seen is not None else _LabelsSeen()

    def __iter__(self) -> Iterator[Batch]:
        return self.batches(0)

    def batches(self, first: int, *, drop: bool = False) -> Iterator[Batch]:
        """Read the rows from one on; with ``drop`` those without a label do not count."""
        records = (record for found in self._records for record in found if record.labels or not drop)
        wanted = islice(records, first, None)
        most, without, names = 0, 0, set[str]()
        while batch := list(islice(wanted, _BATCH)):
            labels = [record.labels for record in batch]
            most, without = max(most, *map(len, labels)), without + labels.count(())
            if len(names) < _DIFFERENT:
                names.update(name for found in labels for name in found)
            yield [record.text for record in batch], labels if self._has_labels else None
        if first == 0 and not drop:
            self._seen = _LabelsSeen(most, without, min(len(names), _DIFFERENT))


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
        raise ValueError("source is empty, or mixes paths and texts; expected only paths or only texts")
    if not paths[0]:
        if reading:
            raise ValueError(f"{next(iter(reading))} is for files, but source holds texts; leave it out")
        return _Texts(source, labels)
    if labels is not None:
        raise ValueError("labels are for texts, but source holds files; name their column of labels with labels_column")
    return _Files([Path(one) for one in source], reading)


def _learnt(plan: dict[str, Any], vectorizer: TextVectorizer) -> dict[str, Any]:
    """Return a plan, with what the vectorizer learned in addition to its terms."""
    return {
        "plan": plan,
        "documents": vectorizer.document_frequency_.tolist(),
        "n_documents": vectorizer.n_documents_,
    }


def _keep_terms(path: Path, plan: dict[str, Any], vectorizer: TextVectorizer) -> None:
    """Store what was learned, for a process that may have to continue."""
    terms = None if vectorizer.n_features is not None else vectorizer.get_feature_names_out().tolist()
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps({**_learnt(plan, vectorizer), "terms": terms}), encoding="utf-8")


def _take_terms(path: Path, plan: dict[str, Any] | None, vectorizer: TextVectorizer) -> bool:
    """Take over what a killed process learned for the same plan; return whether there was anything."""
    if plan is None or not path.is_file():
        return False
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return _set_learnt(content, content["terms"], plan, vectorizer)
    except (ValueError, KeyError, TypeError):
        return False


def _take_written(folder: Path, plan: dict[str, Any] | None, vectorizer: TextVectorizer) -> None:
    """Give a vectorizer the terms of a folder, or refuse one that was not written by the same plan."""
    if not (folder / MANIFEST).is_file():
        raise FileExistsError(f"{folder} exists and is not a folder of shards; expected a new name, or such a folder")
    opened = Shards(folder, memory=1)
    try:
        is_same = _set_learnt(opened.source or {}, opened.terms, plan, vectorizer)
    except (ValueError, KeyError, TypeError) as error:
        raise ShardError(f"{folder}: what it says about its source is not as it must be") from error
    if not is_same:
        raise FileExistsError(
            f"{folder} was written from other files, files that have changed since, or with other settings; "
            f"expected a new name, or remove the folder"
        )


def _set_learnt(
    content: dict[str, Any], terms: list[str] | None, plan: dict[str, Any] | None, vectorizer: TextVectorizer
) -> bool:
    """Give a vectorizer what was learned, if it was for the same plan."""
    if plan is None or content.get("plan") != json.loads(json.dumps(plan)):
        return False
    documents, n_documents = np.array(content["documents"]), content["n_documents"]
    is_right = type(n_documents) is int and documents.ndim == 1 and documents.dtype.kind == "i"
    if not is_right or (documents.size and not 0 <= documents.min() <= documents.max() <= n_documents):
        raise ValueError("document frequencies are not as they must be")
    set_terms(vectorizer, terms, documents, n_documents)
    return True
