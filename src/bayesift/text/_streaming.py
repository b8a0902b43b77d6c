"""Learn the terms of more documents than fit in memory, batch by batch."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bayesift._typing import Int64Array
from bayesift.text import _terms, _vocabulary
from bayesift.text._counter import EmptyVocabularyError
from bayesift.text._settings import limits_columns
from bayesift.text.vectorizer import TextVectorizer

#: How many different terms are remembered by default: about 2 GB of them.
MOST_TERMS = 10_000_000


def fit_in_batches(
    vectorizer: TextVectorizer, batches: Iterable[Sequence[Any]], *, max_terms: int = MOST_TERMS
) -> TextVectorizer:
    """Fit a vectorizer to documents that come in batches, in one pass and bounded memory.

    The result is that of ``vectorizer.fit`` on all documents, unless they have more than ``max_terms`` different terms.
    Then rare terms are forgotten on the way, as in the lossy counting of Manku & Motwani (2002). A warning gives the
    number f such that every term in more than f documents is kept, and document frequencies are too small by at most f.
    With ``min_df`` greater than f, no term is missing.

    Parameters
    ----------
    vectorizer : TextVectorizer
        Its parameters define what a term is; it is fitted in place.
    batches : iterable of sequences of str (or bytes, or paths)
        The documents; read once.
    max_terms : int
        The most terms that are remembered at a time, in addition to those of a batch.

    Returns
    -------
    vectorizer

    Examples
    --------
    >>> from bayesift.text import TextVectorizer, fit_in_batches
    >>> vectorizer = fit_in_batches(TextVectorizer(), [["wheat and corn"], ["gold", "wheat"]])
    >>> vectorizer.get_feature_names_out().tolist(), vectorizer.n_documents_
    (['and', 'corn', 'gold', 'wheat'], 3)
    """
    if max_terms < 1:
        raise ValueError(f"max_terms is {max_terms}; expected at least 1")
    vectorizer.check_parameters()
    for name in ("vocabulary_", "document_frequency_", "n_documents_", "stop_words_"):
        if hasattr(vectorizer, name):
            delattr(vectorizer, name)
    if vectorizer.n_features is not None or vectorizer.vocabulary is not None:
        for batch in batches:
            vectorizer.partial_fit(batch)
        return vectorizer
    vocabulary: dict[str, int] = {}
    documents = missed = np.empty(0, dtype=np.int64)
    occurrences = np.empty(0)
    n_documents = floor = 0
    for batch in batches:
        counts = vectorizer.count_terms(batch, vocabulary)
        size = len(vocabulary)
        missed = np.append(missed, np.full(size - missed.size, floor))
        own = np.bincount(counts.indices, minlength=size)
        own[: documents.size] += documents
        documents = own
        found = np.bincount(counts.indices, weights=counts.data, minlength=size).astype(np.float64)
        found[: occurrences.size] += occurrences
        occurrences = found
        n_documents += counts.shape[0]
        if size > max_terms:
            # A forgotten term may have been in as many documents as the floor says.
            most = documents + missed
            floor = int(np.partition(most, size - max_terms)[size - max_terms])
            kept = most > floor
            documents, occurrences, missed = documents[kept], occurrences[kept], missed[kept]
            names = _vocabulary.names_by_column(vocabulary)[kept].tolist()
            vocabulary = {term: place for place, term in enumerate(names)}
    if not vocabulary:
        raise EmptyVocabularyError("no term was found: the documents are empty, or hold only what is left out")
    terms = sorted(vocabulary)
    order = np.array([vocabulary[term] for term in terms], dtype=np.int64)
    documents, occurrences = documents[order], occurrences[order]
    if limits_columns(vectorizer):
        limits = (vectorizer.min_df, vectorizer.max_df, vectorizer.max_features)
        columns = _vocabulary.select_columns(documents, occurrences.astype(np.int64), n_documents, *limits)
        documents, terms = documents[columns], [terms[column] for column in columns.tolist()]
    if floor:
        warnings.warn(
            f"there are more than max_terms={max_terms} terms: those in at most {floor} documents may be missing, and "
            f"document frequencies may be too small by that; set min_df above it, or raise max_terms",
            UserWarning,
            stacklevel=2,
        )
    return set_terms(vectorizer, terms, documents, n_documents)


def set_terms(
    vectorizer: TextVectorizer, terms: Sequence[str] | None, document_frequency: Int64Array, n_documents: int
) -> TextVectorizer:
    """Give a vectorizer what a fit would have learned.

    Parameters
    ----------
    vectorizer : TextVectorizer
    terms : sequence of str or None
        The terms by column; None if they are hashed.
    document_frequency : int array of shape (n_columns,)
        Number of documents that contain each term.
    n_documents : int

    Returns
    -------
    vectorizer
    """
    expected = vectorizer.n_features if terms is None else len(terms)
    if expected != document_frequency.size:
        raise ValueError(
            f"document_frequency has {document_frequency.size} entries; expected {expected}, one for each column"
        )
    vectorizer.stop_words_ = _terms.resolve_stop_words(vectorizer.stop_words)
    if terms is not None:
        vectorizer.vocabulary_ = {term: place for place, term in enumerate(terms)}
    vectorizer.document_frequency_, vectorizer.n_documents_ = document_frequency.astype(np.int64), n_documents
    return vectorizer
