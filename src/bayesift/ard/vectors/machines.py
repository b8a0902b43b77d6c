"""Relevance vector machines for two classes and for real targets."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import SelectorMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift._documents import usable_values, validated
from bayesift._state import State
from bayesift._typing import BoolArray, FloatArray
from bayesift.ard._fitting import Attained, RelevanceClassifier, RelevanceModel
from bayesift.ard.vectors._basis import Basis
from bayesift.ard.vectors._fast import largest_slope, select
from bayesift.ard.vectors._likelihoods import Gaussian, Likelihood, Logistic
from bayesift.ard.vectors._reestimation import Relevance, reestimate
from bayesift.linear import Certificate

Kernel = str | Callable[..., Any] | None

#: Shares of the variance of the targets at which the noise starts, and below which it never falls.
_FIRST_NOISE, _LEAST_NOISE = 0.1, 1e-10


@dataclass(eq=False, repr=False)
class RelevanceVectors(RelevanceModel, SelectorMixin, BaseEstimator):
    """Weights of basis functions, each with a prior precision chosen by the evidence; see the two estimators."""

    solver: Literal["fast", "mackay"] = "fast"
    _: KW_ONLY
    kernel: Kernel = None
    gamma: float | None = None
    degree: float = 3
    coef0: float = 1.0
    fit_intercept: bool = True
    initial_alpha: float = 1.0
    max_iter: int = 1000
    tol: float = 1e-6

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"fast", "mackay"})],
        "kernel": [str, callable, None],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "initial_alpha": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
    }

    def _choose(self, X: Any, likelihood: Likelihood) -> tuple[Relevance, FloatArray, Attained]:
        """Choose the relevant functions and keep what both estimators have; return them, all weights, how far it came.

        The weight of the intercept is the last, 0 where there is none.
        """
        functions = X if self.kernel is None else self._kernel_of(X, X)
        n_functions = functions.shape[1]
        if self.fit_intercept:
            functions = _with_constant(functions)
        basis = Basis(functions)
        found = self._relevance(basis, likelihood)
        order = np.argsort(found.kept)
        kept, alpha, mean = found.kept[order], found.alpha[order], found.posterior.mean[order]
        all_alpha, weights = np.full(n_functions + 1, np.inf), np.zeros(n_functions + 1)
        all_alpha[kept], weights[kept] = alpha, mean
        self.alpha_, self.intercept_alpha_ = all_alpha[:-1], float(all_alpha[-1])
        self.relevant_ = np.isfinite(self.alpha_)
        self.sigma_ = found.posterior.curvature.inverse()[np.ix_(order, order)]
        self.log_evidence_, self.log_evidence_path_ = float(found.evidence[-1]), found.evidence
        self.n_iter_ = max(found.evidence.size - 1, 1)
        self._weights = weights
        if self.kernel is not None:
            self.relevance_vectors_ = X[np.flatnonzero(self.relevant_)]
        residual = largest_slope(basis, found)
        return found, weights, Attained(self.log_evidence_, residual, self.n_iter_, found.converged)

    def _relevance(self, basis: Basis, likelihood: Likelihood) -> Relevance:
        if self.solver == "fast":
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
                f"kernel={self.kernel!r} makes basis functions of objects, so no features are selected; "
                f"expected kernel=None, or see relevance_vectors_"
            )
        return self.relevant_

    def _check_state(self, state: State) -> None:
        n_features = state.features()
        relevant = state.array("relevant_", (n_features if self.kernel is None else None,), "b")
        n_functions, n_kept = relevant.size, int(relevant.sum())
        state.array("alpha_", (n_functions,))
        state.array("_weights", (n_functions + 1,))
        size = n_kept + bool(np.isfinite(state.number("intercept_alpha_")))
        state.array("sigma_", (size, size))
        if self.kernel is not None:
            state.matrix("relevance_vectors_", (n_kept, n_features))
        state.number("log_evidence_")
        state.array("log_evidence_path_", (None,))
        state.count("n_iter_")
        state.instance("certificate_", Certificate)
        self._check_outcome(state, n_functions)

    def _check_outcome(self, state: State, n_functions: int) -> None:
        """Refuse, in a model file, what the classifier or the regressor keeps beside, if it does not fit."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(eq=False, repr=False)
class RelevanceVectorMachine(RelevanceClassifier, RelevanceVectors):
    """Classify with a few basis functions chosen by the evidence (Tipping 2001; Tipping & Faul 2003).

    The log odds of the second class are Σ_j w_j φ_j(x), each weight with the prior N(0, 1/α_j). The α_j maximise the
    evidence in Laplace's approximation,

        ln P(t | w) − ½ wᵀAw − ½ ln det(I + A^−½ Φᵀ B Φ A^−½),  B = p(1−p), at the mode w.

    Most of them grow without limit, and their functions leave the model. The functions are the features themselves or,
    with a kernel, its values at the training objects; the intercept is one more function, with its own α.

    Parameters
    ----------
    solver : {"fast", "mackay"}, default="fast"
        ``"fast"``: start from nothing, then add, re-estimate or delete one function at a time, never lowering the
        evidence. ``"mackay"``: start from all functions and re-estimate every α_j ← (1 − α_j Σ_jj) / w_j² in each
        round, for thousands of functions at most. It removes functions slowly, and keeps more if stopped early.
    kernel : str, callable or None, default=None
        None: the features are the basis functions. Else a kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`
        ("rbf", "polynomial", "linear", ...), or a function of two objects.
    gamma, degree, coef0 : float, default=None, 3 and 1.0
        Parameters of the kernel, if it has them, as in scikit-learn; with None, γ is 1 / (number of features).
    fit_intercept : bool, default=True
        Whether a constant is among the basis functions.
    initial_alpha : float, default=1.0
        Initial value of all α_j, for ``"mackay"``.
    max_iter : int, default=1000
        Maximum number of changes (``"fast"``) or rounds (``"mackay"``); reaching it warns.
    tol : float, default=1e-6
        ``"fast"`` stops when no change raises the log evidence by this share of it, ``"mackay"`` when no ln α_j moves
        by more than this.
    moderated : bool, default=True
        Let the uncertainty of the weights pull probabilities towards ½: the log odds at the mean of the weights are
        divided by √(1 + πv/8), where v is their variance.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; probabilities and weights refer to the second.
    target_type_ : {"binary"}
        Kind of the labels.
    coef_ : ndarray or csr_matrix of shape (1, n_functions)
        Mean of the weights; 0 for functions that left. Sparse after :meth:`sparsify`.
    intercept_ : ndarray of shape (1,)
    alpha_ : ndarray of shape (n_functions,)
        Precisions of the priors; infinite for functions that left.
    intercept_alpha_ : float
        Precision of the prior of the intercept.
    relevant_ : bool ndarray of shape (n_functions,)
        Which functions were kept.
    sigma_ : ndarray of shape (n_kept, n_kept)
        Covariance of the weights that were kept, with the intercept (if kept) last.
    relevance_vectors_ : array or sparse matrix of shape (n_relevant, n_features)
        With a kernel, the training objects whose functions were kept.
    log_evidence_ : float
        Final log evidence.
    log_evidence_path_ : ndarray
        Log evidence after each change or round.
    n_iter_ : int
        Number of changes or rounds.
    certificate_ : bayesift.linear.Certificate
        The objective is the negative log evidence. ``kkt_residual`` is the largest slope of the log evidence with
        respect to any ln α_j (to 1/(s α_j) for a function that left, if it would gain; s is its sparsity). It need not
        vanish here: both solvers look for a fixed point with B held constant, while the slope includes the change of B
        with α. The evidence is not concave in α, so there is no dual, and ``gap`` is infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.ard import RelevanceVectorMachine
    >>> word, noise = np.tile([1, 0], 40), np.tile([1, 1, 0], 27)[:80]
    >>> machine = RelevanceVectorMachine().fit(np.column_stack([word, noise]), np.where(word, "yes", "no"))
    >>> machine.relevant_, machine.predict([[1, 0], [0, 1]])
    (array([ True, False]), array(['yes', 'no'], dtype='<U3'))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RelevanceVectors._parameter_constraints,
        "moderated": ["boolean"],
    }

    _: KW_ONLY
    moderated: bool = True

    def _check_outcome(self, state: State, n_functions: int) -> None:
        self._check_scores(state, n_functions)

    def _learn(self, X: Any, targets: FloatArray, weights: FloatArray) -> Attained:
        _, w, attained = self._choose(X, Logistic(targets, weights))
        self.coef_, self.intercept_ = w[None, :-1].copy(), w[-1:].copy()
        return attained

    def log_odds(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return the posterior of the log odds of the second class: mean and standard deviation.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)

        Returns
        -------
        mean, deviation : ndarrays of shape (n_objects,)
        """
        mean, variance = self._moments(self._checked(X))
        return mean, np.sqrt(variance)

    def word_weights(self) -> Any:
        """Return the coefficients of the features, or None with a kernel, whose functions belong to objects."""
        return super().word_weights() if self.kernel is None else None

    def _score_documents(self, X: Any) -> FloatArray:
        mean, variance = self._moments(self._checked(X))
        return mean / np.sqrt(1.0 + 0.125 * np.pi * variance) if self.moderated else mean


@dataclass(eq=False, repr=False)
class RelevanceVectorRegressor(RegressorMixin, RelevanceVectors):
    """Predict a real target with a few basis functions chosen by the evidence (Tipping 2001; Tipping & Faul 2003).

    The target is Σ_j w_j φ_j(x) plus Gaussian noise of variance σ², each weight with the prior N(0, 1/α_j). The α_j and
    σ² maximise the evidence N(t | 0, σ²I + Φ A⁻¹ Φᵀ); most α_j grow without limit, and their functions leave the model.

    Parameters
    ----------
    solver, kernel, gamma, degree, coef0, fit_intercept, initial_alpha, max_iter, tol
        As in :class:`RelevanceVectorMachine`.
    noise_variance : float or None, default=None
        σ², or None to estimate it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_functions,)
        Mean of the weights; 0 for functions that left.
    intercept_ : float
    noise_variance_ : float
        σ².
    alpha_, intercept_alpha_, relevant_, sigma_, relevance_vectors_, log_evidence_, log_evidence_path_, n_iter_
        As in :class:`RelevanceVectorMachine`; the evidence is exact.
    certificate_ : bayesift.linear.Certificate
        As in :class:`RelevanceVectorMachine`, with σ² held constant; here the solvers make the slope vanish.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.ard import RelevanceVectorRegressor
    >>> x = np.linspace(-10, 10, 100)[:, None]
    >>> y = np.sinc(x[:, 0] / np.pi) + np.random.default_rng(0).normal(0, 0.1, 100)
    >>> regressor = RelevanceVectorRegressor(kernel="rbf", gamma=0.1).fit(x, y)
    >>> len(regressor.relevance_vectors_) < 15
    True
    >>> mean, deviation = regressor.predict([[0.0]], return_std=True)
    >>> bool(abs(mean[0] - 1) < 2 * deviation[0])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RelevanceVectors._parameter_constraints,
        "noise_variance": [Interval(Real, 0, None, closed="neither"), None],
    }

    _: KW_ONLY
    noise_variance: float | None = None

    def _read(self, X: Any, y: Any) -> tuple[Any, FloatArray]:
        X, y = validated(self, X, y, accept_sparse=("csr", "csc"), y_numeric=True)
        return X, usable_values(np.asarray(y, dtype=np.float64), "y", estimator=self)

    def _check_outcome(self, state: State, n_functions: int) -> None:
        state.array("coef_", (n_functions,))
        state.number("intercept_")
        state.number("noise_variance_")

    def _learn(self, X: Any, targets: FloatArray, weights: FloatArray) -> Attained:
        if self.noise_variance is None:
            mean = np.average(targets, weights=weights)
            spread = max(float(np.average((targets - mean) ** 2, weights=weights)), 1e-20)
            likelihood = Gaussian(targets, weights, _FIRST_NOISE * spread, _LEAST_NOISE * spread)
        else:
            likelihood = Gaussian(targets, weights, float(self.noise_variance), None)
        found, w, attained = self._choose(X, likelihood)
        assert isinstance(found.likelihood, Gaussian)
        self.noise_variance_ = found.likelihood.variance
        self.coef_, self.intercept_ = w[:-1].copy(), float(w[-1])
        return attained

    def predict(self, X: Any, return_std: bool = False) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return the expected target and, with ``return_std``, its standard deviation.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)
        return_std : bool, default=False
            Whether to return the standard deviation too, including that of the noise.

        Returns
        -------
        mean : ndarray of shape (n_objects,)
        deviation : ndarray of shape (n_objects,)
            With ``return_std``.
        """
        mean, variance = self._moments(self._checked(X))
        return (mean, np.sqrt(variance + self.noise_variance_)) if return_std else mean


def _with_constant(functions: Any) -> Any:
    """Return the functions and one more that is 1 everywhere."""
    ones = np.ones((functions.shape[0], 1))
    return sp.hstack([functions, ones]) if sp.issparse(functions) else np.hstack([functions, ones])
