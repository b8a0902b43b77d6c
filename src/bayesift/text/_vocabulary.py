"""Checks and choices about the columns of a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from bayesift._typing import Int64Array


def check_vocabulary(vocabulary: Mapping[str, int] | Iterable[str]) -> dict[str, int]:
    """Give a fixed vocabulary as a mapping from term to column, or say what is wrong with it."""
    if isinstance(vocabulary, str):
        raise TypeError(f"vocabulary must be a mapping or an iterable of terms, got the string {vocabulary!r}")
    if isinstance(vocabulary, Mapping):
        columns = dict(vocabulary)
        if sorted(columns.values()) != list(range(len(columns))):
            raise ValueError(
                f"vocabulary must map its {len(columns)} terms to the columns 0 to {len(columns) - 1}, each once"
            )
    else:
        terms = sorted(vocabulary) if isinstance(vocabulary, set | frozenset) else list(vocabulary)
        columns = dict(zip(terms, range(len(terms)), strict=True))
        if len(columns) != len(terms):
            repeated = next(term for place, term in enumerate(terms) if columns[term] != place)
            raise ValueError(f"vocabulary holds the term {repeated!r} more than once")
    if not columns:
        raise ValueError("vocabulary is empty; give at least one term, or None to learn the terms")
    for term in columns:
        if not isinstance(term, str):
            raise TypeError(f"vocabulary must hold strings, got {term!r} of type {type(term).__name__}")
    return columns


def _is_count(limit: int | float) -> bool:
    """Tell a number of documents from a share of them."""
    return isinstance(limit, int | np.integer)


def check_document_limits(min_df: int | float, max_df: int | float) -> None:
    """Refuse limits that no number of documents could meet."""
    if _is_count(min_df) == _is_count(max_df) and min_df > max_df:
        raise ValueError(f"min_df={min_df} is greater than max_df={max_df}: no term could be kept")


def select_columns(
    documents: Int64Array,
    occurrences: Int64Array,
    n_documents: int,
    min_df: int | float,
    max_df: int | float,
    max_features: int | None,
) -> Int64Array:
    """Choose the columns within the limits of document frequency, and of those the most frequent; in column order."""
    least = min_df if _is_count(min_df) else min_df * n_documents
    most = max_df if _is_count(max_df) else max_df * n_documents
    if most < least:
        raise ValueError(
            f"of {n_documents} documents, max_df={max_df} allows at most {most:g} and min_df={min_df} asks for at "
            f"least {least:g}: no term could be kept"
        )
    kept = np.flatnonzero((documents >= least) & (documents <= most))
    if kept.size == 0:
        raise ValueError(
            f"no term is left: none of {documents.size} stands in at least {least:g} and at most {most:g} of "
            f"{n_documents} documents; lower min_df={min_df} or raise max_df={max_df}"
        )
    if max_features is not None and kept.size > max_features:
        kept = np.sort(kept[np.argsort(-occurrences[kept], kind="stable")[:max_features]])
    return kept
