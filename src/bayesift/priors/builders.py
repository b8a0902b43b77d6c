"""Priors from what people know: a description, keywords, yesterday's model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array, issparse

from bayesift._typing import FloatArray
from bayesift.priors._values import is_number, is_whole
from bayesift.priors.base import Prior
from bayesift.priors.families import Gaussian, Laplace

Unknown = Literal["error", "ignore"]


def from_description(
    text: str,
    vectorizer: Any,
    *,
    relative: float = 10.0,
    mode: float = 0.0,
    weighted: bool = False,
    family: type[Prior] = Laplace,
    variance: float | None = None,
    unknown: Unknown = "error",
) -> Prior:
    """Build a prior that expects the terms in a category's description to matter.

    Parameters
    ----------
    text : str
        Description of the category.
    vectorizer : fitted vectorizer
        The vectorizer that made the matrix; its tokens, stop words and stems decide which columns are meant.
    relative : float, default=10
        Variance of the description's terms, as a multiple of the common variance.
    mode : float, default=0
        Mode of their coefficients.
    weighted : bool, default=False
        Give the term with the greatest weight in the description all of ``relative`` and ``mode``, and the others a
        share in proportion to their weights.
    family : {Laplace, Gaussian}, default=Laplace
        Class of the prior.
    variance : float, optional
        Common variance; without it the model chooses.
    unknown : {"error", "ignore"}, default="error"
        What to do if no term of the description is known or, later, if the matrix lacks one of them.

    Examples
    --------
    >>> from bayesift.priors import from_description
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> vectorizer = CountVectorizer().fit(["wheat harvest", "gold mine"])
    >>> from_description("Trade in wheat", vectorizer, relative=5)
    Laplace(relative={'wheat': 5.0})
    """
    if not isinstance(text, str):
        raise TypeError(f"text is {type(text).__name__}; expected the description as a str")
    terms = _terms(text, vectorizer)
    if not terms and unknown == "error":
        raise ValueError(
            f"text {text[:60]!r} has no term that the vectorizer knows; use unknown='ignore' to allow this"
        )
    greatest = max(terms.values(), default=1.0)
    share = {term: weight / greatest if weighted else 1.0 for term, weight in terms.items()}
    return family(
        variance,
        mode={term: mode * part for term, part in share.items()} if mode else 0.0,
        relative={term: 1.0 + (relative - 1.0) * part for term, part in share.items()},
        unknown=unknown,
    )


def from_keywords(
    keywords: Mapping[str, float],
    vectorizer: Any = None,
    *,
    relative: float = 1.0,
    family: type[Prior] = Laplace,
    variance: float | None = None,
    unknown: Unknown = "error",
) -> Prior:
    """Build a prior whose modes are the coefficients that a person expects.

    ``family`` and ``variance`` are as in :func:`from_description`.

    Parameters
    ----------
    keywords : mapping from str to float
        Expected coefficients: positive for terms that are evidence for the category, negative for evidence against it.
    vectorizer : fitted vectorizer, optional
        Turns each keyword into its columns (stems, n-grams). Without it, keywords are feature names.
    relative : float, default=1
        Variance of these terms, as a multiple of the common variance: below 1 for firm knowledge, above 1 for vague.
    unknown : {"error", "ignore"}, default="error"
        What to do with keywords that are not features.

    Examples
    --------
    >>> from bayesift.priors import from_keywords
    >>> from_keywords({"wheat": +2, "spacecraft": -1}, variance=0.5)
    Laplace(variance=0.5, mode={'wheat': 2.0, 'spacecraft': -1.0})
    """
    if not isinstance(keywords, Mapping):
        raise TypeError(f"keywords is {type(keywords).__name__}; expected a mapping from term to coefficient")
    modes: dict[Any, float] = dict(keywords)
    if vectorizer is not None:
        modes = {}
        for keyword, value in keywords.items():
            terms = _terms(keyword, vectorizer)
            if not terms and unknown == "error":
                raise ValueError(f"keywords name {keyword!r}, which has no term that the vectorizer knows")
            for term in terms:
                if modes.setdefault(term, value) != value:
                    raise ValueError(f"keywords give the term {term!r} two modes, {modes[term]:g} and {value:g}")
    factors = dict.fromkeys(modes, relative) if relative != 1.0 else 1.0
    return family(variance, mode=modes, relative=factors, unknown=unknown)


def from_model(
    previous: Any,
    *,
    strength: float = 1.0,
    precision: Any = None,
    category: int | None = None,
    feature_names: Iterable[str] | None = None,
    new_variance: float = 1.0,
    family: type[Prior] = Gaussian,
    unknown: Unknown = "error",
) -> Prior:
    """Build today's prior from yesterday's posterior.

    Modes are the earlier coefficients; variances are 1/(strength × precision), with the precision of the earlier
    posterior, or 1 if it is not known. Covariances are left out; a model that keeps its whole posterior can use them
    with its method ``update_posterior``.

    Parameters
    ----------
    previous : fitted model
        Anything with ``coef_`` of shape (n_features,) or (n_categories, n_features), array or sparse, and optionally
        ``intercept_``, ``precision_`` and ``feature_names_in_``. Softmax models give ``class_coef_`` and
        ``class_intercept_`` instead.
    strength : float, default=1
        How much the earlier posterior counts: 1 as if its data were still there, ½ as if half of them were.
    precision : array of shape (n_features,) or (n_features + 1,), or (n_categories, …), optional
        How firmly the coefficients are expected, as the inverse of prior variances, the intercept last. By default
        ``previous.precision_`` if it exists: the curvature in each coefficient, given the others.
    category : int, optional
        Which row of the coefficients to take; needed if there are several.
    feature_names : iterable of str, optional
        The terms of the earlier columns; by default ``previous.feature_names_in_`` if it exists. With names, today's
        matrix may have other columns; without names, it must have the same columns.
    new_variance : float, default=1
        Variance of terms that the earlier model did not have.
    family : {Gaussian, Laplace}, default=Gaussian
        Class of the prior.
    unknown : {"error", "ignore"}, default="error"
        What to do with earlier terms that are no longer features.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from bayesift.priors import from_model
    >>> yesterday = SimpleNamespace(coef_=[[1.5, 0.0]], intercept_=[-1.0], precision_=[[4.0, 1.0, 2.0]])
    >>> today = from_model(yesterday, strength=0.5)
    >>> today.variance, today.mode
    (array([0.5, 2. ]), array([1.5, 0. ]))
    >>> today.intercept_mode, today.intercept_variance
    (-1.0, 1.0)
    """
    if not (is_number(strength) and 0 < strength < np.inf):
        raise ValueError(f"strength is {strength!r}; expected a finite number greater than 0")
    if not hasattr(previous, "coef_"):
        raise TypeError(f"previous is {type(previous).__name__} without coef_; expected a fitted linear model")
    # A softmax model of two classes has priors for both.
    coef = _row("coef_", getattr(previous, "class_coef_", previous.coef_), category)
    options: dict[str, Any] = {"unknown": unknown, "default_variance": new_variance}
    given = precision if precision is not None else getattr(previous, "precision_", None)
    known = np.ones(len(coef)) if given is None else _row("precision", given, category)
    if len(known) not in (len(coef), len(coef) + 1) or not np.all(known >= 0):
        raise ValueError(
            f"precision has {len(known)} values, the least {known.min(initial=np.inf):g}; expected {len(coef)} "
            f"of at least 0, or one more for the intercept"
        )
    with np.errstate(divide="ignore"):
        variance = 1.0 / (strength * known)
    if len(known) > len(coef):
        options["intercept_variance"] = float(variance[-1])
    constants = getattr(previous, "class_intercept_", getattr(previous, "intercept_", None))
    if constants is not None:
        intercepts = np.atleast_1d(np.asarray(constants, dtype=np.float64))
        options["intercept_mode"] = float(intercepts[(category or 0) if len(intercepts) > 1 else 0])
    return _by_feature(family, coef, variance[: len(coef)], _names(previous, feature_names, len(coef)), options)


def from_frequencies(
    X: Any,
    *,
    power: float = 1.0,
    family: type[Prior] = Gaussian,
    variance: float | None = None,
) -> Prior:
    """Build a prior whose variances grow with the document frequencies of terms.

    Most words that occur in few texts, above all those in no labelled text, say nothing about a category. The variance
    of term j is multiplied by ((df_j + ½)/n)^power, and all variances by a constant, so that the mean prior variance of
    the scores of these documents stays what it is with equal variances.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_documents, n_features)
        Documents, labelled or not; more documents give better frequencies.
    power : float, default=1
        0 gives all terms the same variance.
    family : {Gaussian, Laplace}, default=Gaussian
        Class of the prior.
    variance : float, optional
        Common variance; without it the model chooses.

    Examples
    --------
    >>> from bayesift.priors import from_frequencies
    >>> from_frequencies([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]).relative.round(2)
    array([1.15, 0.69, 0.23])
    """
    if not (is_number(power) and 0 <= power < np.inf):
        raise ValueError(f"power is {power!r}; expected a finite number of at least 0")
    rows = csr_array(X) if issparse(X) else csr_array(np.asarray(X, dtype=np.float64))
    if rows.shape[0] == 0:
        raise ValueError("X has no documents; expected at least one")
    squares = np.asarray(rows.multiply(rows).sum(axis=0)).ravel()
    frequency = np.bincount(rows.indices[rows.data != 0], minlength=rows.shape[1])
    relative = ((frequency + 0.5) / rows.shape[0]) ** power
    total = float(squares @ relative)
    return family(variance, relative=relative * (float(squares.sum()) / total if total > 0 else 1.0))


def _by_feature(
    family: type[Prior], coef: FloatArray, variance: FloatArray, names: list[str] | None, options: dict[str, Any]
) -> Prior:
    if names is None:
        return family(variance, mode=coef, **options)
    by_name = dict(zip(names, variance.tolist(), strict=True))
    modes = {names[column]: float(coef[column]) for column in np.flatnonzero(coef)}
    return family(by_name, mode=modes, **options)


def _names(previous: Any, feature_names: Iterable[str] | None, n_features: int) -> list[str] | None:
    given = getattr(previous, "feature_names_in_", None) if feature_names is None else feature_names
    if given is None:
        return None
    names = [str(name) for name in given]
    if len(names) != n_features:
        raise ValueError(f"feature_names has {len(names)} names; expected {n_features}, one for each coefficient")
    return names


def _row(name: str, values: Any, category: int | None) -> FloatArray:
    """Return one category's row of an array or sparse matrix as a float array."""
    table: Any = csr_array(values) if issparse(values) else np.atleast_2d(np.asarray(values, dtype=np.float64))
    n_rows = table.shape[0]
    if category is None and n_rows > 1:
        raise ValueError(f"{name} has {n_rows} rows; say which category (0 to {n_rows - 1}) the prior is for")
    row = 0 if category is None or n_rows == 1 else category
    if not (is_whole(row) and 0 <= row < n_rows):
        raise ValueError(f"category is {category!r}; expected a row of {name}, 0 to {n_rows - 1}")
    return table[[row]].toarray().ravel() if issparse(table) else np.array(table[row])


def _terms(text: str, vectorizer: Any) -> dict[str | int, float]:
    """Return the terms of a text that are columns of the vectorizer, by name where it has names, with their weights."""
    row = csr_array(vectorizer.transform([text]))
    row.sum_duplicates()
    row.eliminate_zeros()
    weights = np.abs(row.data).tolist()
    if not hasattr(vectorizer, "get_feature_names_out"):
        return dict(zip(row.indices.tolist(), weights, strict=True))
    names = vectorizer.get_feature_names_out()
    return dict(zip((str(names[column]) for column in row.indices), weights, strict=True))
