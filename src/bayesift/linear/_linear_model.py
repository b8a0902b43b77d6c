"""What all linear models share: checks of the search, where a fit starts from, scores, the form of the coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesift._typing import FloatArray
from bayesift.priors import Prior

#: Fits that only serve to score a variance stop at this relative gap, or at a larger ``tol``.
SEARCH_TOLERANCE = 1e-3

#: What the parameters that all models have may be.
SHARED_CONSTRAINTS: dict[str, Any] = {
    "prior": [StrOptions({"laplace", "gaussian"}), Prior, Sequence, Mapping],
    "variance": [Interval(Real, 0, None, closed="both"), StrOptions({"cv", "norm", "auto"})],
    "intercept_variance": [Interval(Real, 0, None, closed="both"), StrOptions({"same"})],
    "tol": [Interval(Real, 0, 1, closed="neither")],
    "epsilon": [Interval(Real, 0, 1, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "grid": ["array-like", None],
    "folds": [Interval(Integral, 2, None, closed="left")],
    "runs": [Interval(Integral, 1, None, closed="left")],
    "one_standard_error": ["boolean"],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "warm_start": ["boolean"],
    "compute_precision": ["boolean"],
    "feature_names": ["array-like", None],
    "progress": [callable, None],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}


def search_message(late: int, max_iter: int) -> str:
    """Say that fits of a search did not converge, so that the variance may not be the best."""
    return (
        f"{late} fits of the search for a variance did not converge within max_iter={max_iter} rounds; the variance "
        f"chosen may not be the best. Raise max_iter, or loosen tol or epsilon."
    )


class LinearModel(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are linear: ``coef_`` has a row for each category or class, ``intercept_`` an entry."""

    coef_: Any
    intercept_: FloatArray
    tol: float
    grid: Sequence[float] | None
    folds: int
    runs: int
    warm_start: bool
    feature_names: Sequence[str] | None

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return log probabilities; every model has its own."""
        raise NotImplementedError

    def predict_proba(self, X: Any) -> FloatArray:
        """Return probabilities.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_classes)
            For an indicator matrix, that of each category on its own.
        """
        return np.exp(self.predict_log_proba(X))

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, which is smaller where most coefficients are zero."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _names(self) -> Any:
        """Return the names of the columns, if they have any."""
        return getattr(self, "feature_names_in_", self.feature_names)

    def _checked_grid(self) -> FloatArray | None:
        """Refuse impossible settings of a search; return the variances to try, if they are given."""
        if self.runs > self.folds:
            raise ValueError(f"runs={self.runs} must not exceed folds={self.folds}: a run leaves out one of the folds")
        if self.grid is None:
            return None
        grid = np.asarray(self.grid, dtype=np.float64)
        if grid.ndim != 1 or grid.size == 0 or not np.all(grid > 0):
            raise ValueError(f"grid must be a list of variances greater than 0, got {self.grid!r}")
        return grid

    def _search_tolerance(self, variance: Any) -> float:
        """Return the gap at which fits of a search stop; without a grid the variance itself moves with the scores."""
        return self.tol if variance == "auto" else max(self.tol, SEARCH_TOLERANCE)

    def _last_coefficients(self, n_rows: int, of: str) -> FloatArray | None:
        """Return the coefficients to start from, a row for each category or class, the intercept last."""
        if not (self.warm_start and hasattr(self, "coef_")):
            return None
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        if coef.shape != (n_rows, self.n_features_in_):
            raise ValueError(
                f"warm_start needs the same {of} and features as before: coef_ has shape {coef.shape}, "
                f"now there are {n_rows} {of} and {self.n_features_in_} features"
            )
        return np.column_stack([coef, self.intercept_])

    def _scores(self, X: Any) -> FloatArray:
        """Return the linear scores of documents that are checked already."""
        scores = X @ self.coef_.T
        return np.asarray(scores.toarray() if sp.issparse(scores) else scores) + self.intercept_

    def _checked_scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        return self._scores(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))
