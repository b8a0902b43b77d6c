"""The relevance vector machine for real targets."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import _check_sample_weight, validate_data

from bayesift._typing import FloatArray
from bayesift.ard._likelihoods import Gaussian
from bayesift.ard._vectors import Kernel, RelevanceVectors

#: The noise starts at this share of the variance of the targets, and never falls below the second.
_FIRST_NOISE, _LEAST_NOISE = 0.1, 1e-10


class RelevanceVectorRegressor(RegressorMixin, RelevanceVectors):
    """Predict a real target with few basis functions, chosen by the evidence (Tipping 2001; Tipping & Faul 2003).

    The target is Σ_j w_j φ_j(x) plus Gaussian noise of variance σ², each weight with the prior N(0, 1/α_j). The α_j and
    σ² maximise the evidence N(t | 0, σ²I + Φ A⁻¹ Φᵀ); most α_j grow without limit, and their functions leave the model.

    Parameters
    ----------
    method, kernel, gamma, degree, coef0, fit_intercept, initial_alpha, max_iter, tol
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
    alpha_, intercept_alpha_, relevant_, sigma_, relevance_vectors_, evidence_, evidence_path_, n_iter_
        As in :class:`RelevanceVectorMachine`; the evidence is exact.

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
        noise_variance: float | None = None,
    ) -> None:
        super().__init__(
            method,
            kernel=kernel,
            gamma=gamma,
            degree=degree,
            coef0=coef0,
            fit_intercept=fit_intercept,
            initial_alpha=initial_alpha,
            max_iter=max_iter,
            tol=tol,
        )
        self.noise_variance = noise_variance

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the relevant functions, the posterior of their weights and the noise.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)
        y : array of shape (n_objects,)
            Real targets.
        sample_weight : array of shape (n_objects,), optional
            How often each object counts.

        Returns
        -------
        self
        """
        self._validate_params()
        X, y = validate_data(self, X, y, accept_sparse=("csr", "csc"), dtype=np.float64, y_numeric=True)
        targets = np.asarray(y, dtype=np.float64)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        if self.noise_variance is None:
            mean = np.average(targets, weights=weights)
            spread = max(float(np.average((targets - mean) ** 2, weights=weights)), 1e-20)
            likelihood = Gaussian(targets, weights, _FIRST_NOISE * spread, _LEAST_NOISE * spread)
        else:
            likelihood = Gaussian(targets, weights, float(self.noise_variance), None)
        found = self._learn(X, likelihood).likelihood
        assert isinstance(found, Gaussian)
        self.noise_variance_ = found.variance
        self.coef_, self.intercept_ = self._weights[:-1].copy(), float(self._weights[-1])
        return self

    def predict(self, X: Any, return_std: bool = False) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return the expected target, and on request its standard deviation.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)
        return_std : bool, default=False
            Whether to give the deviation too, that of the noise included.

        Returns
        -------
        mean : ndarray of shape (n_objects,)
        deviation : ndarray of shape (n_objects,)
            With ``return_std``.
        """
        mean, variance = self._moments(X)
        return (mean, np.sqrt(variance + self.noise_variance_)) if return_std else mean
