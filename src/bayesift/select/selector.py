"""A scikit-learn selector that keeps the terms with the greatest scores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesift._labels import class_indicator, refuse_missing
from bayesift._state import State, unchanged_by_errors
from bayesift._typing import BoolArray, FloatArray
from bayesift.select import scores

_Score = Callable[[Any, Any], Any]

_TWO_CLASS: dict[str, _Score] = {
    "binormal_separation": scores.binormal_separation,
    "chi_square": scores.chi_square,
    "likelihood_ratio": scores.likelihood_ratio,
    "pearson": scores.pearson,
    "yules_q": scores.yules_q,
}
_NAMED = {**_TWO_CLASS, "mutual_information": scores.mutual_information}
_COMBINE: dict[str, Callable[..., FloatArray]] = {"max": np.max, "mean": np.mean}


@dataclass(eq=False, repr=False)
class TermSelector(SelectorMixin, BaseEstimator):
    """Keep the terms that score highest against the category.

    Terms are ranked by the absolute value of their score, ties by column order. In a pipeline inside
    :class:`sklearn.multiclass.OneVsRestClassifier` every category gets its own set; given several
    categories at once (more than two classes, or an indicator), one set serves them all.

    Parameters
    ----------
    score_func : str or callable, default="likelihood_ratio"
        ``"binormal_separation"``, ``"chi_square"``, ``"likelihood_ratio"``, ``"mutual_information"``,
        ``"pearson"`` or ``"yules_q"``, or a function of ``X`` and ``y`` that returns one number per column, or
        one row of them per category. From a pair ``(scores, p-values)``, as scikit-learn's own functions
        return, the scores are taken.
    k : int, optional
        Keep at most this many terms; no limit by default.
    threshold : float, optional
        Keep only terms whose absolute score is strictly greater than this; with ``k``, the best ``k`` of those.
    combine : {"max", "mean"}, default="max"
        How the scores of several categories are combined: the greatest absolute value (a term is as good as
        in its best category) or the mean. With more than two classes the two-class scores take each class
        against the rest; ``"mutual_information"`` handles them jointly.

    Attributes
    ----------
    scores_ : array of shape (n_features,)
        Absolute scores, combined over categories, by which terms are ranked.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features,)
        Their names, if ``X`` had names.

    Examples
    --------
    >>> from bayesift.select import TermSelector
    >>> selector = TermSelector("chi_square", k=1).fit([[1, 0], [2, 1], [0, 1], [0, 0]], [1, 1, 0, 0])
    >>> selector.scores_
    array([4., 0.])
    >>> selector.get_feature_names_out(["wheat", "the"])
    array(['wheat'], dtype=object)
    """

    score_func: str | _Score = "likelihood_ratio"
    k: int | None = None
    threshold: float | None = None
    combine: str = "max"

    def fit(self, X: Any, y: Any) -> Self:
        """Score every column of ``X`` against ``y``.

        Parameters
        ----------
        X : {sparse matrix, array, data frame} of shape (n_documents, n_terms)
            Term weights.
        y : array of shape (n_documents,) or {array, sparse matrix} of shape (n_documents, n_categories)
            Class labels, none of them missing, or a 0/1 indicator.

        Returns
        -------
        self
        """
        self._check_parameters()
        refuse_missing(y)
        score = _NAMED[self.score_func] if isinstance(self.score_func, str) else self.score_func
        with unchanged_by_errors(self):
            with np.errstate(over="ignore", invalid="ignore"):
                X, y = validate_data(self, X, y, accept_sparse=("csr", "csc"), dtype="numeric", multi_output=True)
            if score in _TWO_CLASS.values() and y.ndim == 1:
                classes = class_indicator(y, X.shape[0]).matrix
                y = classes if classes.shape[1] > 2 else y
            self.scores_ = self._combined(score(X, y), X.shape[1])
        return self

    def _check_parameters(self) -> None:
        named = isinstance(self.score_func, str) and self.score_func in _NAMED
        if not (named or callable(self.score_func)):
            raise ValueError(f"score_func is {self.score_func!r}; expected one of {sorted(_NAMED)} or a callable")
        if self.k is not None and (_not_a(Integral, self.k) or self.k < 1):
            raise ValueError(f"k is {self.k!r}; expected a whole number of at least 1, or None for no limit")
        if self.threshold is not None and (_not_a(Real, self.threshold) or np.isnan(self.threshold)):
            raise ValueError(f"threshold is {self.threshold!r}; expected a number, or None for no threshold")
        if self.combine not in _COMBINE:
            raise ValueError(f"combine is {self.combine!r}; expected one of {sorted(_COMBINE)}")

    def _combined(self, raw: Any, n_features: int) -> FloatArray:
        """Check what the function returned and reduce it to one absolute value per column."""
        if isinstance(raw, tuple):
            # As scikit-learn returns it; as an array it would look like the rows of two categories.
            if len(raw) != 2:
                raise ValueError(f"score_func returned a tuple of {len(raw)}; expected an array or (scores, p-values)")
            raw = raw[0]
        values = np.abs(np.asarray(raw, dtype=np.float64))
        if values.ndim not in (1, 2) or values.shape[-1] != n_features or len(values) == 0:
            raise ValueError(
                f"score_func returned an array of shape {values.shape}; expected ({n_features},) or "
                f"(n_categories, {n_features})"
            )
        if np.isnan(values).any():
            column = int(np.argwhere(np.isnan(values))[0, -1])
            raise ValueError(f"score_func returned NaN for column {column}; expected numbers")
        return values if values.ndim == 1 else _COMBINE[self.combine](values, axis=0)

    def transform(self, X: Any) -> Any:
        """Return only the columns that are kept.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_documents, n_features)

        Returns
        -------
        X : of the type given, of shape (n_documents, n_kept)
        """
        # Nothing is computed from the columns, so numbers of any size are fine.
        with np.errstate(over="ignore", invalid="ignore"):
            return super().transform(X)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        eligible = np.ones(len(self.scores_), dtype=bool)
        if self.threshold is not None:
            eligible = self.scores_ > self.threshold
        if self.k is None:
            return eligible
        # A stable sort leaves equal scores in column order.
        ranked = np.argsort(-self.scores_, kind="stable")
        kept = ranked[eligible[ranked]][: self.k]
        mask = np.zeros_like(eligible)
        mask[kept] = True
        return mask

    def _check_state(self, state: State) -> None:
        state.array("scores_", (state.features(),))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        tags.target_tags.two_d_labels = True
        return tags


def _not_a(kind: type, value: object) -> bool:
    """Tell whether a parameter is not a number of that kind; True and False are not numbers here."""
    return isinstance(value, bool) or not isinstance(value, kind)
