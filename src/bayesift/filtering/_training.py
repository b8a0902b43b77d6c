"""What a filter is trained on: reading topics and labels, and the batch phase of all topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._sparse import compressed
from bayesift._threads import map_threads
from bayesift._typing import Int64Array
from bayesift.filtering import topic as topics
from bayesift.filtering._documents import Document, TermWeights
from bayesift.filtering.topic import FilterRules, TopicState


def statements_of(given: Any) -> dict[str, str]:
    """Read topics: names with statements, or names alone."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise TypeError(f"topics is {given!r}; expected a mapping from names to statements, or a sequence of names")
    found = dict(given) if isinstance(given, Mapping) else None
    names = list(given)
    result = {name: (found or {}).get(name) or "" for name in names}
    if not result:
        raise ValueError("topics is empty; expected at least one topic")
    if len(result) < len(names):
        repeated = next(name for place, name in enumerate(names) if name in names[:place])
        raise ValueError(f"topics has {repeated!r} more than once; expected different names")
    for name, statement in result.items():
        if not isinstance(name, str) or not isinstance(statement, str):
            raise TypeError(f"topics holds {name!r} with {statement!r}; expected names and statements as strings")
    return result


def texts_of(documents: Any) -> list[str]:
    """Read the training documents."""
    if isinstance(documents, str):
        raise TypeError("documents is one string; expected a list of texts")
    texts = list(documents)
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"document {place} is {type(text).__name__}; expected a text")
    return texts


def relevant_rows(labels: Any, names: Sequence[str], n_documents: int) -> list[Int64Array]:
    """Return for each topic the rows of its relevant documents, from an indicator matrix or from label sets."""
    if not sp.issparse(labels) and not isinstance(labels, np.ndarray):
        sets = [labels] if isinstance(labels, str) else list(labels)
        if any(isinstance(found, str) or not isinstance(found, Iterable) for found in sets):
            raise TypeError("labels must list for each document the topics it is relevant to, such as ('wheat',) or ()")
        _check_rows(len(sets), n_documents)
        rows: dict[str, list[int]] = {name: [] for name in names}
        for row, found in enumerate(sets):
            for name in dict.fromkeys(found):
                if name in rows:
                    rows[name].append(row)
        return [np.array(rows[name], dtype=np.int64) for name in names]
    if labels.ndim != 2 or labels.shape[1] != len(names):
        raise ValueError(f"labels has shape {labels.shape}; expected a row for each document and {len(names)} columns")
    _check_rows(labels.shape[0], n_documents)
    indicator = sp.csc_matrix(labels, copy=True)
    indicator.eliminate_zeros()
    odd = indicator.data[indicator.data != 1]
    if odd.size:
        raise ValueError(f"labels holds {odd[0]}; expected zeros and ones")
    columns = np.split(indicator.indices, indicator.indptr[1:-1])
    return [np.sort(rows).astype(np.int64) for rows in columns]


def _check_rows(found: int, expected: int) -> None:
    if found != expected:
        raise ValueError(f"labels has {found} rows; expected {expected}, one for each document")


def train(
    weights: TermWeights,
    texts: list[str],
    relevant: Sequence[Int64Array],
    statements: Mapping[str, str],
    rules: FilterRules,
    n_jobs: int | None,
) -> list[TopicState]:
    """Run the batch phase of all topics, on several threads that share the documents."""
    X = weights.train(texts)
    block = weights.block([Document(name, statement) for name, statement in statements.items()])
    rows = [weights.row(block.terms(k)) if statement else None for k, statement in enumerate(statements.values())]
    n_terms = len(weights.terms)
    frequency = np.bincount(X.indices, minlength=n_terms).astype(np.int32)
    documents = compressed(X)

    def one(k: int) -> TopicState:
        entries = X[relevant[k]].indices
        inside = np.bincount(entries, minlength=n_terms).astype(np.int32)
        return topics.begin(documents, relevant[k], rows[k], inside, frequency, weights.terms, rules)

    return map_threads(one, range(len(relevant)), n_jobs)
