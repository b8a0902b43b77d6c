"""What classification and regression with relevance vectors have in common."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesift._typing import BoolArray, FloatArray
from bayesift.ard._basis import Basis
from bayesift.ard._fast import select
from bayesift.ard._likelihoods import Likelihood
from bayesift.ard._reestimation import Relevance, reestimate

Kernel = str | Callable[..., Any] | None


class RelevanceVectors(SelectorMixin, BaseEstimator):
    """Weights of basis functions with a prior precision each, chosen by the evidence; see the two estimators."""

    coef_: Any
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "method": [StrOptions({"fast", "mackay"})],
        "kernel": [str, callable, None],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "initial_alpha": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        method: Literal["fast", "mackay"] = "fast",
        *,
        kernel: Kernel = None,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        fit_intercept: bool = True,
        initial_alpha: float = 1.0,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        self.method = method
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.initial_alpha = initial_alpha
        self.max_iter = max_iter
        self.tol = tol

    def _learn(self, X: Any, likelihood: Likelihood) -> Relevance:
        """Choose the relevant functions and keep everything that both estimators have."""
        functions = X if self.kernel is None else self._kernel_of(X, X)
        n_functions = functions.shape[1]
        if self.fit_intercept:
            functions = _with_constant(functions)
        found = self._relevance(Basis(functions), likelihood)
        order = np.argsort(found.kept)
        kept, alpha, mean = found.kept[order], found.alpha[order], found.posterior.mean[order]
        all_alpha, weights = np.full(n_functions + 1, np.inf), np.zeros(n_functions + 1)
        all_alpha[kept], weights[kept] = alpha, mean
        self.alpha_, self.intercept_alpha_ = all_alpha[:-1], float(all_alpha[-1])
        self.relevant_ = np.isfinite(self.alpha_)
        self.sigma_ = found.posterior.curvature.inverse()[np.ix_(order, order)]
        self.evidence_, self.evidence_path_ = float(found.evidence[-1]), found.evidence
        self.n_iter_ = max(found.evidence.size - 1, 1)
        self._weights = weights
        if self.kernel is not None:
            self.relevance_vectors_ = X[np.flatnonzero(self.relevant_)]
        return found

    def _relevance(self, basis: Basis, likelihood: Likelihood) -> Relevance:
        if self.method == "fast":
            found = select(basis, likelihood, self.max_iter, self.tol)
        else:
            found = reestimate(basis, likelihood, self.initial_alpha, self.max_iter, self.tol)
        if not found.converged:
            change = found.evidence[-1] - found.evidence[-2]
            warnings.warn(
                f"{type(self).__name__} reached max_iter={self.max_iter} with {found.kept.size} functions left and a "
                f"log evidence of {found.evidence[-1]:.6g}, which last changed by {change:.1e}. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found

    def _moments(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of Φw for every object; only functions that were kept are computed."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), dtype=np.float64, reset=False)
        kept = np.flatnonzero(self.relevant_)
        if self.kernel is None:
            functions = X[:, kept]
        else:
            functions = self._kernel_of(X, self.relevance_vectors_) if kept.size else np.empty((X.shape[0], 0))
        mean = np.asarray(functions @ self._weights[kept]) + self._weights[-1]
        if np.isfinite(self.intercept_alpha_):
            functions = _with_constant(functions)
        return mean, Basis(functions).spread(self.sigma_)

    def _kernel_of(self, X: Any, vectors: Any) -> FloatArray:
        options: dict[str, Any] = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        options = {} if callable(self.kernel) else {"filter_params": True, **options}
        values = pairwise_kernels(X, vectors, metric=self.kernel, **options)
        return values.toarray() if sp.issparse(values) else values

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        if self.kernel is not None:
            raise ValueError(
                f"kernel={self.kernel!r} makes the basis functions of objects, so that no features are selected; "
                f"expected kernel=None, or look at relevance_vectors_"
            )
        return self.relevant_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _with_constant(functions: Any) -> Any:
    """Return the functions and one more that is 1 everywhere."""
    ones = np.ones((functions.shape[0], 1))
    return sp.hstack([functions, ones]) if sp.issparse(functions) else np.hstack([functions, ones])
