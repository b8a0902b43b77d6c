"""Checks of the settings of a vectorizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from bayesift._files import check_encoding
from bayesift.text import _terms, _vocabulary
from bayesift.text.weighting import check_dtype, parse_weighting

#: The possible types and values of each parameter.
CONSTRAINTS: dict[str, Any] = {
    "weighting": [str],
    "stop_words": [str, "array-like", Iterable, None],
    "stemmer": [str, callable, None],
    "lowercase": ["boolean"],
    "token_pattern": [str, None],
    "tokenizer": [callable, None],
    "min_token_length": [Interval(Integral, 1, None, closed="left"), None],
    "max_token_length": [Interval(Integral, 1, None, closed="left"), None],
    "drop_numbers": ["boolean"],
    "unspaced": [StrOptions({"pairs", "whole"})],
    "analyzer": [StrOptions({"word", "char", "char_wb"})],
    "ngram_range": [tuple, list],
    "min_df": [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="both")],
    "max_df": [Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="both")],
    "max_features": [Interval(Integral, 1, None, closed="left"), None],
    "vocabulary": [Mapping, Iterable, None],
    "n_features": [Interval(Integral, 1, 2**29, closed="both"), None],
    "signed": ["boolean"],
    "unknown_terms": [StrOptions({"ignore", "normalize"})],
    "input": [StrOptions({"content", "filename"})],
    "encoding": [str],
    "decode_error": [StrOptions({"strict", "ignore", "replace"})],
    "dtype": "no_validation",
    "n_jobs": [Integral, None],
}


def limits_columns(vectorizer: Any) -> bool:
    """Tell whether some terms of the training documents get no column."""
    return vectorizer.min_df != 1 or vectorizer.max_df != 1.0 or vectorizer.max_features is not None


def check_settings(vectorizer: Any) -> None:
    """Refuse settings that have a valid type but are impossible, or do not fit together."""
    parse_weighting(vectorizer.weighting)
    check_dtype(vectorizer.dtype, vectorizer.weighting)
    check_encoding(vectorizer.encoding)
    _terms.resolve_stemmer(vectorizer.stemmer)
    _terms.check_ngram_range(vectorizer.ngram_range)
    _vocabulary.check_document_limits(vectorizer.min_df, vectorizer.max_df)
    _terms.check_token_rules(
        vectorizer.token_pattern, vectorizer.tokenizer, vectorizer.min_token_length, vectorizer.max_token_length
    )
    some_only = vectorizer.vocabulary is not None or limits_columns(vectorizer)
    if vectorizer.n_features is not None and some_only:
        raise _vocabulary.no_vocabulary_error(vectorizer.n_features)
    if vectorizer.unknown_terms == "normalize" and some_only:
        raise ValueError(
            "unknown_terms is 'normalize', for which every term of the training documents needs a column: expected "
            "min_df=1, max_df=1.0, max_features=None and vocabulary=None, or unknown_terms='ignore'"
        )
