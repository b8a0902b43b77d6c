"""The sparse online Gaussian process classifier."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift._sparse import Compressed, compressed, squared_norms
from bayesift._state import State, shown
from bayesift._typing import FloatArray, Int64Array
from bayesift.online._classifier import SHARED_CONSTRAINTS, OnlineClassifier, Turns
from bayesift.online._gaussian_process import (
    KERNELS,
    REMOVALS,
    Inputs,
    KernelFunction,
    learn_process,
    process_fields,
)

#: Logarithm of the largest value of a kernel whose square is still finite.
_LARGEST_LOG = 340.0


class ProcessBelief(NamedTuple):
    """The belief about a function: Gaussian weights of the whitened features of the basis inputs.

    ``basis`` holds the inputs as rows, ``cholesky`` is L with LLᵀ their kernel matrix, ``inverse`` is L⁻¹, and the
    function at the inputs is N(L mean, L covariance Lᵀ). ``gamma`` is the γ of the kernel, which is fixed at the first
    document.
    """

    basis: sp.csr_matrix
    cholesky: FloatArray
    inverse: FloatArray
    mean: FloatArray
    covariance: FloatArray
    gamma: float
    log_evidence: float = 0.0


@dataclass(eq=False, repr=False)
class OnlineGaussianProcess(OnlineClassifier):
    """A Gaussian process classifier that learns one document at a time and keeps only a few of them.

    The function f has the prior covariance k(x, x′); labels come from it as from the field of a perceptron. Every
    document updates the belief about f to the exact mean and covariance of its posterior. A document that the basis
    inputs cannot represent is added to them. Beyond the budget the least important input is removed, and the belief
    about f at the others stays as it was (Csató & Opper 2002, in whitened form). With the linear kernel and no removal
    this is :class:`BayesianPerceptron`.

    Parameters
    ----------
    kernel : {"linear", "polynomial", "rbf", "cosine"}, default="linear"
        xᵀx′ + c, (γ xᵀx′ + coef0)^degree, exp(−γ abs(x − x′)²), or the cosine of the angle + c; c is the prior variance
        of the intercept.
    budget : int or None, default=100
        Maximum number of basis inputs of a category; None sets no limit. The time of an update grows with its square.
    gamma, degree, coef0 : float, default=None, 3 and 1.0
        Parameters of the polynomial and RBF kernels, as in scikit-learn; with None, γ is 1 / (number of features).
        ``degree`` is a whole number, and ``coef0`` is at least 0.
    fit_intercept : bool, default=True
        Whether the linear and the cosine kernel have an intercept; the others need none.
    intercept_variance : float, default=1
        Prior variance c of the intercept.
    min_novelty : float, default=1e-6
        A document joins the basis if the basis leaves more than this share of its prior variance k(x, x) unexplained.
    jitter : float, default=0
        Added to the diagonal of the kernel matrix of the basis.
    removal : {"project", "kl", "published"}, default="project"
        Which input is removed. ``"project"``: the one whose removal changes the mean function least in the norm of the
        kernel, with the least α²/Q. ``"kl"``: the one with the least relative entropy, which considers the variance too
        and takes time cubic in the budget. ``"published"``: the one with the least abs(α)/Q, the score of Csató & Opper
        (2002), by which the mean changes at the input itself. α are the coefficients of the mean function, Q is the
        diagonal of the inverse kernel matrix.
    likelihood, noise, kappa, passes, features, shuffle, n_jobs, random_state
        As for :class:`BayesianPerceptron`.

    Attributes
    ----------
    classes_ : ndarray
        The labels; column numbers for an indicator matrix.
    target_type_ : {"binary", "multiclass", "multilabel-indicator"}
        Kind of the labels.
    basis_ : list of csr_matrix
        The basis inputs of each category.
    log_evidence_ : ndarray of shape (n_categories,)
        Σ ln p(y | x), each document under the belief before it; only the first pass counts.
    states_ : list of ProcessBelief
        The belief of each category.
    columns_ : list of ndarray or None
        The columns that each category uses.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.online import OnlineGaussianProcess
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    >>> y = np.array(["same", "same", "other", "other"])
    >>> model = OnlineGaussianProcess("rbf", budget=4).fit(X, y)
    >>> model.predict([[0.1, 0.0], [0.9, 0.1]])
    array(['same', 'other'], dtype='<U5')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED_CONSTRAINTS,
        "kernel": [StrOptions(set(KERNELS))],
        "budget": [Interval(Integral, 1, None, closed="left"), None],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "intercept_variance": [Interval(Real, 0, None, closed="neither")],
        "min_novelty": [Interval(Real, 0, 1, closed="neither")],
        "jitter": [Interval(Real, 0, None, closed="left")],
        "removal": [StrOptions(set(REMOVALS))],
    }

    kernel: Literal["linear", "polynomial", "rbf", "cosine"] = "linear"
    budget: int | None = 100
    _: KW_ONLY
    gamma: float | None = None
    degree: int = 3
    coef0: float = 1.0
    fit_intercept: bool = True
    intercept_variance: float = 1.0
    min_novelty: float = 1e-6
    jitter: float = 0.0
    removal: Literal["project", "kl", "published"] = "project"

    @property
    def basis_(self) -> list[sp.csr_matrix]:
        """The basis inputs of each category, in the columns it uses."""
        check_is_fitted(self)
        return [state.basis for state in self.states_]

    def add_features(self, new: int | Sequence[str]) -> Self:
        """Add columns of X after the last, as if they had been zero in all documents so far.

        Parameters
        ----------
        new : int or sequence of str
            Their number, or their names if the model was fitted to a data frame.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        self._add_columns(new)
        self.states_ = [
            state._replace(
                basis=sp.csr_matrix(_arrays(state.basis), shape=(state.basis.shape[0], self._width(columns)))
            )
            for state, columns in zip(self.states_, self.columns_, strict=True)
        ]
        return self

    def _has_constant(self) -> bool:
        return False

    def _width(self, columns: Int64Array | None) -> int:
        return self.n_features_in_ if columns is None else columns.size

    def _begin(self, columns: Int64Array | None) -> ProcessBelief:
        none, width = np.empty((0, 0)), self._width(columns)
        gamma = 1.0 / max(width, 1) if self.gamma is None else float(self.gamma)
        return ProcessBelief(sp.csr_matrix((0, width)), none, none, np.empty(0), none, gamma)

    def _check_belief(self, belief: Any, n_features: int) -> None:
        if type(belief) is not ProcessBelief:
            raise ValueError(f"states_ holds {shown(belief)}; expected beliefs")
        state = State(belief)
        size = state.array("mean", (None,)).size
        for name in ("cholesky", "inverse", "covariance"):
            state.array(name, (size, size))
        state.require(sp.issparse(state.value("basis")), "inputs")
        state.matrix("basis", (size, n_features))
        state.require(0 < state.number("gamma") < np.inf, "gamma")
        state.number("log_evidence")

    def _learn(self, state: ProcessBelief, rows: Compressed, y: FloatArray, turns: Turns) -> ProcessBelief:
        size, n = state.mean.size, rows[0].size - 1
        inputs = self._inputs(state, rows)
        # There cannot be more inputs than documents and old inputs together.
        budget = size + n if self.budget is None else min(self.budget, size + n)
        L, inverse, C = (
            _padded(part, max(budget, size) + 1) for part in (state.cholesky, state.inverse, state.covariance)
        )
        mean, basis = np.zeros(L.shape[0]), np.zeros(L.shape[0], dtype=np.int64)
        mean[:size], basis[:size] = state.mean, np.arange(size)
        labels = np.append(np.zeros(size), y)
        rule = (float(self.min_novelty), float(self.jitter), budget, REMOVALS[self.removal])
        documents = (labels, turns.order + size, turns.shares)
        noise, belief = tuple(self._likelihood()), (L, inverse, mean, C)
        size, total = learn_process(inputs, self._function(state), documents, basis, size, belief, noise, rule)
        starts, columns, values = inputs[:3]
        kept = sp.csr_matrix((values, columns, starts), shape=(labels.size, state.basis.shape[1]))[basis[:size]]
        L, inverse, C = (np.ascontiguousarray(part[:size, :size]) for part in (L, inverse, C))
        total += state.log_evidence
        return ProcessBelief(kept, L, inverse, mean[:size].copy(), C, state.gamma, float(total))

    def _fields(self, state: ProcessBelief, rows: Compressed) -> tuple[FloatArray, FloatArray]:
        size = state.mean.size
        order, belief = np.arange(size, size + rows[0].size - 1), (state.cholesky, state.mean, state.covariance)
        means, variances = process_fields(
            self._inputs(state, rows), self._function(state), order, np.arange(size), belief
        )
        return means, variances

    def _inputs(self, state: ProcessBelief, rows: Compressed) -> Inputs:
        """Return the inputs of the basis and after them the documents, with what the kernels want beside them."""
        starts, columns, values = compressed(state.basis)
        stacked = (
            np.concatenate([starts[:-1], rows[0] + starts[-1]]),
            np.concatenate([columns, rows[1]]),
            np.concatenate([values, rows[2]]),
        )
        norms = squared_norms(stacked[0], stacked[2])
        if self.kernel == "polynomial":
            self._check_powers(float(norms.max(initial=0.0)), state.gamma)
        return (*stacked, norms, np.zeros(state.basis.shape[1]))

    def _check_powers(self, norm: float, gamma: float) -> None:
        """Refuse documents whose powers are too large to be computed with."""
        if self.degree * math.log(max(gamma * norm + self.coef0, 1.0)) > _LARGEST_LOG:
            raise ValueError(
                f"X has a row with the squared norm {norm:g}, too large for a polynomial kernel of degree "
                f"{self.degree}; scale the values, or choose a smaller gamma"
            )

    def _function(self, state: ProcessBelief) -> KernelFunction:
        constant = self.coef0 if self.kernel == "polynomial" else self.intercept_variance * self.fit_intercept
        return KERNELS[self.kernel], state.gamma, float(constant), float(self.degree)


def _arrays(matrix: sp.csr_matrix) -> tuple[Any, Any, Any]:
    return matrix.data, matrix.indices, matrix.indptr


def _padded(matrix: FloatArray, size: int) -> FloatArray:
    result = np.zeros((size, size))
    result[: matrix.shape[0], : matrix.shape[1]] = matrix
    return result
