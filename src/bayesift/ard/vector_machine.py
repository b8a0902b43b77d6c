"""The relevance vector machine for two classes."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from bayesift._typing import FloatArray
from bayesift.ard._binary import BinaryClassifier, read_two_classes
from bayesift.ard._likelihoods import Logistic
from bayesift.ard._vectors import Kernel, RelevanceVectors


class RelevanceVectorMachine(BinaryClassifier, RelevanceVectors):
    """Classify with few basis functions, chosen by the evidence (Tipping 2001; Tipping & Faul 2003).

    The log odds of the second class are Σ_j w_j φ_j(x), each weight with the prior N(0, 1/α_j). The α_j maximise the
    evidence in Laplace's approximation,

        ln P(t | w) − ½ wᵀAw − ½ ln det(I + A^−½ Φᵀ B Φ A^−½),  B = p(1−p), at the mode w;

    most of them grow without limit, and their functions leave the model. The functions are the features themselves, or
    with a kernel its values at the training objects; the intercept is one more function, with an α of its own.

    Parameters
    ----------
    method : {"fast", "mackay"}, default="fast"
        ``"fast"``: start from nothing, then add, re-estimate or delete one function at a time, never lowering the
        evidence. ``"mackay"``: start from all functions and re-estimate every α_j ← (1 − α_j Σ_jj) / w_j² in each
        round, for thousands of functions at most. The latter removes functions slowly; stopped early it keeps more.
    kernel : str, callable or None, default=None
        None: the features are the basis functions. Else a kernel of :func:`sklearn.metrics.pairwise.pairwise_kernels`
        ("rbf", "polynomial", "linear", ...), or a function of two objects.
    gamma, degree, coef0 : float, default=None, 3 and 1.0
        Parameters of the kernel, where it has them.
    fit_intercept : bool, default=True
        Whether a constant is among the basis functions.
    initial_alpha : float, default=1.0
        Where all α_j start, for ``"mackay"``.
    max_iter : int, default=1000
        Limit of changes (``"fast"``) or rounds (``"mackay"``); reaching it warns.
    tol : float, default=1e-6
        ``"fast"`` stops when no change raises the log evidence by this share of it, ``"mackay"`` when no ln α_j moves
        by more.
    moderated : bool, default=True
        Let the uncertainty of the weights draw probabilities towards ½: the log odds are divided by √(1 + πv/8), v
        their variance.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; probabilities and weights speak of the second.
    coef_ : ndarray or csr_matrix of shape (1, n_functions)
        Mean of the weights; 0 for functions that left. Sparse after :meth:`sparsify`.
    intercept_ : ndarray of shape (1,)
    alpha_ : ndarray of shape (n_functions,)
        Precisions of the priors; infinite for functions that left.
    intercept_alpha_ : float
        That of the intercept.
    relevant_ : bool ndarray of shape (n_functions,)
        Which functions were kept.
    sigma_ : ndarray of shape (n_kept, n_kept)
        Covariance of the weights that were kept, the intercept (if kept) last.
    relevance_vectors_ : array or sparse matrix of shape (n_relevant, n_features)
        With a kernel: the training objects whose functions were kept.
    evidence_ : float
        Log evidence.
    evidence_path_ : ndarray
        Log evidence after each change or round.
    n_iter_ : int
        Changes or rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.ard import RelevanceVectorMachine
    >>> love, hate, film = np.tile([1, 0], 40), np.tile([0, 1], 40), np.tile([1, 1, 0], 27)[:80]
    >>> machine = RelevanceVectorMachine().fit(np.column_stack([love, hate, film]), love)
    >>> machine.get_feature_names_out(["love", "hate", "film"]).tolist()
    ['love', 'hate']
    >>> bool(machine.coef_[0, 0] > 2 > -2 > machine.coef_[0, 1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RelevanceVectors._parameter_constraints,
        "moderated": ["boolean"],
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
        moderated: bool = True,
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
        self.moderated = moderated

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the relevant functions and the posterior of their weights.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)
        y : array of shape (n_objects,)
            Labels of two classes, of any type.
        sample_weight : array of shape (n_objects,), optional
            How often each object counts.

        Returns
        -------
        self
        """
        self._validate_params()
        X, self.classes_, signs = read_two_classes(self, X, y)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self._learn(X, Logistic(signs, weights))
        self.coef_, self.intercept_ = self._weights[None, :-1].copy(), self._weights[-1:].copy()
        return self

    def log_odds(self, X: Any) -> tuple[FloatArray, FloatArray]:
        """Return the posterior of the log odds of the second class: mean and standard deviation.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)

        Returns
        -------
        mean, deviation : ndarrays of shape (n_objects,)
        """
        mean, variance = self._moments(X)
        return mean, np.sqrt(variance)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the log odds of the second class, moderated or at the mean of the weights.

        Parameters
        ----------
        X : sparse matrix, array or data frame of shape (n_objects, n_features)

        Returns
        -------
        scores : ndarray of shape (n_objects,)
        """
        mean, variance = self._moments(X)
        return mean / np.sqrt(1.0 + 0.125 * np.pi * variance) if self.moderated else mean

    def sparsify(self) -> Self:
        """Keep ``coef_`` as a sparse matrix, which is smaller where most functions left."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self
