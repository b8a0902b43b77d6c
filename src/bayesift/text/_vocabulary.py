"""Check and choose the columns of a vocabulary."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._typing import AnyArray, BoolArray, Int64Array
from bayesift.text import _count, _pipeline
from bayesift.text._terms import check_strings


def check_vocabulary(vocabulary: Mapping[str, int] | Iterable[str], lowercase: bool) -> dict[str, int]:
    """Return a fixed vocabulary as a mapping from term to column, or say what is wrong with it."""
    if isinstance(vocabulary, str):
        raise TypeError(f"vocabulary must be a mapping or an iterable of terms, got the string {vocabulary!r}")
    terms = list(vocabulary)
    check_strings(terms, "vocabulary must hold")
    capital = next((term for term in terms if lowercase and term != term.lower()), None)
    if capital is not None:
        warnings.warn(
            f"vocabulary holds {capital!r}, which no lower-cased text contains; lower-case it or use lowercase=False",
            UserWarning,
            stacklevel=4,
        )
    if not terms:
        raise ValueError("vocabulary is empty; give at least one term, or None to learn the terms")
    if isinstance(vocabulary, Mapping):
        columns = dict(vocabulary)
        if set(columns.values()) != set(range(len(columns))) or not all(map(_is_count, columns.values())):
            raise ValueError(
                f"vocabulary must map its {len(columns)} terms to the columns 0 to {len(columns) - 1}, each once"
            )
    else:
        terms = sorted(terms) if isinstance(vocabulary, set | frozenset) else terms
        columns = dict(zip(terms, range(len(terms)), strict=True))
        if len(columns) != len(terms):
            repeated = next(term for place, term in enumerate(terms) if columns[term] != place)
            raise ValueError(f"vocabulary holds the term {repeated!r} more than once")
    return columns


def _is_count(value: Any) -> bool:
    """Tell a whole number (of documents, of a column) from other values."""
    return isinstance(value, int | np.integer)


def check_document_limits(min_df: int | float, max_df: int | float) -> None:
    """Refuse limits that no number of documents could meet."""
    if _is_count(min_df) == _is_count(max_df) and min_df > max_df:
        raise ValueError(f"min_df={min_df} is greater than max_df={max_df}: no term could be kept")


def no_vocabulary_error(n_features: int) -> ValueError:
    """Return the error about limits on the terms of a vocabulary where terms are hashed."""
    return ValueError(
        f"n_features={n_features} hashes terms, which leaves no vocabulary: vocabulary, min_df, max_df and "
        "max_features must have their default values"
    )


def names_by_column(vocabulary: Mapping[str, int]) -> AnyArray:
    """List the terms of a vocabulary by column, in an array of objects."""
    names = np.empty(len(vocabulary), dtype=object)
    names[list(vocabulary.values())] = list(vocabulary)
    return names


def limit_columns(
    counts: sp.csr_matrix,
    vocabulary: dict[str, int],
    min_df: int | float,
    max_df: int | float,
    max_features: int | None,
) -> tuple[sp.csr_matrix, dict[str, int]]:
    """Drop the columns outside the limits; works in the arrays of ``counts``. Terms are in the order of columns."""
    n_terms = counts.shape[1]
    documents = _count.document_frequencies(n_terms, counts.indices)
    occurrences = np.bincount(counts.indices, weights=counts.data, minlength=n_terms)
    kept = select_columns(documents, occurrences, counts.shape[0], min_df, max_df, max_features)
    if kept.size == n_terms:
        return counts, vocabulary
    terms = list(vocabulary)
    return _pipeline.keep_columns(counts, kept), {terms[column]: place for place, column in enumerate(kept.tolist())}


def within_limits(documents: Int64Array, n_documents: int, min_df: int | float, max_df: int | float) -> BoolArray:
    """Tell which terms are in enough and not in too many documents."""
    return (documents >= _absolute(min_df, n_documents)) & (documents <= _absolute(max_df, n_documents))


def _absolute(limit: int | float, n_documents: int) -> int | float:
    return limit if _is_count(limit) else limit * n_documents


def select_columns(
    documents: Int64Array,
    occurrences: Int64Array,
    n_documents: int,
    min_df: int | float,
    max_df: int | float,
    max_features: int | None,
) -> Int64Array:
    """Choose the columns within the limits of document frequency, and of those the most frequent; in column order."""
    least, most = _absolute(min_df, n_documents), _absolute(max_df, n_documents)
    if most < least:
        raise ValueError(
            f"min_df={min_df} asks for at least {least:g} documents and max_df={max_df} allows at most {most:g} of "
            f"{n_documents}: no term could be kept"
        )
    kept = np.flatnonzero(within_limits(documents, n_documents, min_df, max_df))
    if kept.size == 0:
        raise ValueError(
            f"no term is left: none of {documents.size} is in at least {least:g} and at most {most:g} of "
            f"{n_documents} documents; lower min_df={min_df} or raise max_df={max_df}"
        )
    if max_features is not None and kept.size > max_features:
        kept = np.sort(kept[np.argsort(-occurrences[kept], kind="stable")[:max_features]])
    return kept
