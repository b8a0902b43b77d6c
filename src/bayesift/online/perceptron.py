"""The Bayesian online perceptron."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift._sparse import Compressed
from bayesift._state import State, check_table, shown
from bayesift._typing import FloatArray, Int64Array
from bayesift.online import belief as beliefs
from bayesift.online._classifier import SHARED_CONSTRAINTS, OnlineClassifier, Turns, number_of
from bayesift.online._covariances import LowRank
from bayesift.online.belief import MOST_EXPONENT, Belief, CovarianceKind, Drift, Likelihood, LikelihoodName


@dataclass(eq=False, repr=False)
class BayesianPerceptron(OnlineClassifier):
    """A Gaussian belief about the weights of a perceptron, updated by every document as it arrives.

    The belief N(m, C) about the weights a of a category becomes, after a document x with the label y = ±1,

        m ← m + (yρ/λ) Cx,  C ← C − (ρ(u + ρ)/λ²) (Cx)(Cx)ᵀ,

    which are the exact mean and covariance of the posterior (Opper 1998; Chai, Ng & Chieu 2002). For the probit
    likelihood Φ(y aᵀx/σ₀): λ² = σ₀² + xᵀCx, u = y mᵀx/λ, ρ = φ(u)/Φ(u). For a step that is flipped with probability κ:
    λ² = xᵀCx, ρ = (1 − 2κ) φ(u)/(κ + (1 − 2κ) Φ(u)). Labels may be two classes, several classes (one belief for each,
    with probabilities scaled to sum to one) or indicator matrices. Earlier documents are never needed again. The score
    of a document is mᵀx/λ; under the probit likelihood its probability is Φ(score), with the weights integrated over
    the belief.

    Parameters
    ----------
    likelihood : {"probit", "flip"}, default="probit"
        How labels depend on the field aᵀx.
    noise : float, default=0.5
        σ₀ of the probit likelihood.
    kappa : float, default=0.05
        Probability of a flip under the flip likelihood; less than ½.
    passes : int, default=3
        How often :meth:`fit` goes through the documents. :meth:`partial_fit` goes through them once.
    covariance : {"full", "diagonal", "low-rank"}, default="full"
        What is kept of C: all of it, its diagonal, or an inverse that is diagonal plus low-rank. A full covariance of d
        features holds d² numbers for each category.
    rank : int, default=20
        Rank for ``covariance="low-rank"``.
    fit_intercept : bool, default=True
        Add a constant feature of 1, as the last one.
    prior_mean : float or array of shape (n_weights,), default=0
        Mean of the belief before any document, for all features and then the intercept.
    prior_covariance : float, array of shape (n_weights,) or (n_weights, n_weights), default=1
        Its variance, variances or covariance.
    intercept_variance : float or "same", default="same"
        Prior variance of the intercept; ``"same"`` takes it from ``prior_covariance``, which otherwise must be one
        number.
    forgetting : float, default=1
        How much of the past is kept from document to document. Below 1 the weights drift: before the next document,
        a ← m₀ + f (a − m₀) + noise, which leaves the prior N(m₀, C₀) unchanged, and the belief follows.
    features : sequence of arrays, or indicator of shape (n_categories, n_features), or None, default=None
        The columns that each category uses, as numbers or booleans; None uses all.
    shuffle : bool, default=False
        Take the documents of every pass in random order instead of row order.
    n_jobs : int or None, default=-1
        Number of threads, which share the categories; -1 uses all cores.
    random_state : int, RandomState or None, default=0
        Seeds the order of the documents with ``shuffle``.

    Attributes
    ----------
    classes_ : ndarray
        The labels; column numbers for an indicator matrix.
    target_type_ : {"binary", "multiclass", "multilabel-indicator"}
        Kind of the labels.
    mean_ : ndarray of shape (n_categories, n_weights)
        m, the intercept last; 0 for columns that a category does not use. One row for two classes.
    covariance_ : ndarray of shape (n_categories, n_weights, n_weights) or (n_categories, n_weights), or list
        C or its diagonal. A list of arrays, one for each category, if each uses its own columns, and a list of
        :class:`LowRank` for a low-rank covariance.
    log_evidence_ : ndarray of shape (n_categories,)
        Σ ln p(y | x), each document under the belief before it; only the first pass counts.
    states_ : list of Belief
        The belief of each category, for :func:`bayesift.online.update`. Further learning overwrites its arrays.
    columns_ : list of ndarray or None
        The columns that each category uses.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.online import BayesianPerceptron
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> y = np.array(["yes", "yes", "no", "no"])
    >>> model = BayesianPerceptron().fit(X, y)
    >>> model.predict(X)
    array(['yes', 'yes', 'no', 'no'], dtype='<U3')
    >>> model.partial_fit([[0.0, 2.0]], ["no"]).predict_proba([[1.0, 0.5]]).round(3)
    array([[0.052, 0.948]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **SHARED_CONSTRAINTS,
        "covariance": [StrOptions({"full", "diagonal", "low-rank"})],
        "rank": [Interval(Integral, 1, None, closed="left")],
        "fit_intercept": ["boolean"],
        "prior_mean": [Real, "array-like"],
        "prior_covariance": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "intercept_variance": [Interval(Real, 0, None, closed="neither"), StrOptions({"same"})],
        "forgetting": [Interval(Real, 0, 1, closed="right")],
    }

    likelihood: LikelihoodName = "probit"
    _: KW_ONLY
    covariance: CovarianceKind = "full"
    rank: int = 20
    fit_intercept: bool = True
    prior_mean: Any = 0.0
    prior_covariance: Any = 1.0
    intercept_variance: float | Literal["same"] = "same"
    forgetting: float = 1.0

    @property
    def mean_(self) -> FloatArray:
        """Mean of the belief of each category, the intercept last."""
        check_is_fitted(self)
        result = np.zeros((len(self.states_), self.n_features_in_ + self.fit_intercept))
        for row, state, columns in zip(result, self.states_, self.columns_, strict=True):
            row[self._weights(columns)] = beliefs.unscaled(state).mean
        return result

    @property
    def covariance_(self) -> FloatArray | list[FloatArray] | list[LowRank]:
        """Covariance of the belief of each category, the intercept last."""
        check_is_fitted(self)
        found: Any = [beliefs.unscaled(state).covariance for state in self.states_]
        if self.covariance == "low-rank" or any(columns is not None for columns in self.columns_):
            return found
        return np.stack(found)

    def add_features(self, new: int | Sequence[str], *, mean: Any = 0.0, variance: Any = 1.0) -> Self:
        """Add columns of X after the last; the belief grows by their prior.

        The result is the same as if the columns had been there from the start, with zeros in all documents.

        Parameters
        ----------
        new : int or sequence of str
            Their number, or their names if the model was fitted to a data frame.
        mean, variance : float or array with one for each new feature, default=0 and 1
            Prior mean and variance of their weights.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        wider = [
            beliefs.grow(state, number_of(new), mean=mean, variance=variance, at=state.mean.size - self.fit_intercept)
            for state in self.states_
        ]
        self._add_columns(new)
        self.states_ = wider
        return self

    def word_weights(self) -> FloatArray:
        """Return the mean weight of each feature in the belief of each category.

        Returns
        -------
        weights : ndarray of shape (n_categories, n_features)
            One row for two classes.
        """
        return self.mean_[:, : self.n_features_in_]

    def _has_constant(self) -> bool:
        return self.fit_intercept

    def _weights(self, columns: Int64Array | None) -> Int64Array:
        """Return the places of a category's weights among those of all columns and the constant."""
        own = np.arange(self.n_features_in_) if columns is None else columns
        return np.append(own, self.n_features_in_) if self.fit_intercept else own

    def _begin(self, columns: Int64Array | None) -> Belief:
        n_weights = self.n_features_in_ + self.fit_intercept
        mean, covariance = beliefs.prior_of(n_weights, self.prior_mean, self.prior_covariance)
        if self.intercept_variance != "same" and self.fit_intercept:
            if np.ndim(self.prior_covariance):
                raise ValueError(
                    f"intercept_variance is {self.intercept_variance!r}; expected 'same' with a prior_covariance of "
                    f"several numbers, the last of which belongs to the intercept"
                )
            covariance[-1] = self.intercept_variance
        own = self._weights(columns)
        return beliefs.prior_belief(
            own.size,
            likelihood=self.likelihood,
            noise=self.noise,
            kappa=self.kappa,
            covariance=self.covariance,
            rank=self.rank,
            prior_mean=mean[own],
            prior_covariance=covariance[np.ix_(*[own] * covariance.ndim)],
            forgetting=self.forgetting,
        )

    def _check_belief(self, belief: Any, n_features: int) -> None:
        if type(belief) is not Belief:
            raise ValueError(f"states_ holds {shown(belief)}; expected beliefs")
        state, size = State(belief), n_features + bool(self.fit_intercept)
        state.array("mean", (size,))
        likelihood = state.value("likelihood")
        state.require(type(likelihood) is Likelihood, "noises")
        noise = State(likelihood)
        state.require(0 <= noise.number("sigma") < np.inf and 0 <= noise.number("kappa") < 0.5, "noises")
        state.number("log_evidence")
        drift, C = state.value("drift"), state.value("covariance")
        if state.value("exponents") is not None:
            exponents = state.array("exponents", (size,), "i")
            state.require(bool(np.all(np.abs(exponents) < MOST_EXPONENT)), "exponents")
        if type(C) is LowRank:
            state.require(drift is None, "drifts")
            _check_low_rank(State(C), size)
            return
        shape = (size,) * getattr(C, "ndim", 0)
        state.require(len(shape) in (1, 2), "weights")
        check_table(C, shape, "f", "covariance")
        state.require(drift is None or type(drift) is Drift, "drifts")
        if drift is not None:
            drift_state = State(drift)
            drift_state.number("keep")
            drift_state.array("mean", (size,))
            drift_state.array("covariance", shape)

    def _learn(self, state: Belief, rows: Compressed, y: FloatArray, turns: Turns) -> Belief:
        return beliefs.learn(state, rows, y, turns.order, shares=turns.shares, own=True)

    def _fields(self, state: Belief, rows: Compressed) -> tuple[FloatArray, FloatArray]:
        return beliefs.fields(state, rows)


def _check_low_rank(state: State, size: int) -> None:
    """Refuse, in a model file, a covariance of low rank whose parts do not fit together."""
    state.array("precision", (size,))
    width = state.array("factor", (size, None)).shape[1]
    state.array("cholesky", (width, width))
    # There is always room for the column that the next document adds.
    state.count("used", 0, width - 1)
