"""Naive Bayes for features that take one of several values."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from scipy.special import rel_entr
from sklearn.utils._param_validation import Interval

from bayesift._checks import NOT_NEGATIVE, number
from bayesift._special import log_rising
from bayesift._state import State, check_table
from bayesift._typing import FloatArray, Int64Array
from bayesift.generative._groups import Layout, Members
from bayesift.generative._kernels import add_categories
from bayesift.generative.base import shares
from bayesift.generative.naive_bayes import Estimate, Likelihood, NaiveBayes, pseudo_counts, with_new_classes

#: Values of a feature are numbered from 0 to below this.
MOST_VALUES = 2**24
#: Most counts of values in classes that a model keeps, of all features together: a quarter of a gigabyte.
MOST_COUNTS = 2**25


@dataclass(eq=False, repr=False)
class CategoricalNB(NaiveBayes):
    """Naive Bayes for features that take one of several values, written as whole numbers.

    p(x_j = k | c) = θ_jck with θ_jc ~ Dirichlet(α, …, α) over the values of feature j seen in any class. A value that
    occurs for the first time in prediction gets the probability of a value that the class has not seen.

    Missing values are allowed in training and prediction. They are integrated out exactly, that is, left out.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default=1.0
        Pseudo count of every value of a feature.
    min_categories : int, array of shape (n_features,) or None, default=None
        Minimum number of values of each feature, seen or not.
    class_prior : float, array, "uniform" or None, default=1.0
        Pseudo counts of the classes; ``"uniform"``: equal probabilities for any data; None: the shares in the data.
    estimate : {"posterior", "map", "mle"}, default="posterior"
        Integrate the parameters out (here equal to the posterior mean), or plug in their posterior mode or maximum
        likelihood estimate.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray
        The labels (column numbers for an indicator matrix), their numbers of documents and their log probabilities (for
        an indicator matrix, without and with each category).
    feature_log_prob_ : list of ndarray of shape (n_classes, n_values)
        Log probability of every value, for each feature.
    n_categories_ : ndarray of shape (n_features,)
        Number of values of each feature.
    log_evidence_ : float
        Log probability of the training data, with the parameters integrated out.
    mutual_information_ : ndarray of shape (n_features,)
        Mutual information of each feature with the class (3.75), in nats.
    n_parameters_ : int
        Number of free parameters: for each feature and class, one fewer than the feature's values.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.generative import CategoricalNB
    >>> X = np.array([[0, 2], [0, 1], [1, 0], [1, 2]])
    >>> model = CategoricalNB().fit(X, ["a", "a", "b", "b"])
    >>> model.predict_proba([[0, 1], [np.nan, 1], [7, np.nan]]).round(3)
    array([[0.857, 0.143],
           [0.667, 0.333],
           [0.5  , 0.5  ]])
    """

    _takes_sparse = False
    _takes_amounts = True
    _poor_for_points = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NaiveBayes._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "min_categories": [Interval(Integral, 1, None, closed="left"), "array-like", None],
    }

    alpha: Any = 1.0
    _: KW_ONLY
    min_categories: Any = None

    def _new_likelihood(self, n_features: int, layout: Layout) -> CategoricalLikelihood:
        if self.min_categories is None:
            at_least = np.zeros(n_features, dtype=np.int64)
        else:
            found = pseudo_counts("min_categories", self.min_categories, n_features)
            if np.any(found != np.floor(found)):
                raise ValueError(f"min_categories is {self.min_categories!r}; expected whole numbers of at least 1")
            at_least = found.astype(np.int64)
        return CategoricalLikelihood(
            n_features, layout, self.estimate, pseudo_counts("alpha", self.alpha, n_features), at_least
        )

    def _check_values(self, X: FloatArray, *, learning: bool) -> None:
        if np.any(X < 0):
            found = X[X < 0][0]
            raise ValueError(
                f"Negative values in data passed to {type(self).__name__}: X holds {found:g}; expected values numbered "
                f"0, 1, 2, …"
            )
        broken = (np.floor(X) != X) & ~np.isnan(X)
        if broken.any():
            raise ValueError(f"X holds {X[broken][0]:g}; expected values numbered 0, 1, 2, …")
        highest = np.fmax.reduce(X, axis=None, initial=0.0)
        if learning and highest >= MOST_VALUES:
            raise ValueError(
                f"X holds {highest:g}; expected values numbered 0, 1, 2, … below {MOST_VALUES:,}, since each has a "
                f"count: number only the values that occur, as sklearn.preprocessing.OrdinalEncoder does"
            )

    @property
    def feature_log_prob_(self) -> list[FloatArray]:
        """Log probability of every value of each feature, classes × values."""
        likelihood = self._fitted()
        with np.errstate(divide="ignore"):
            return [self._layout.by_class(np.log(likelihood.probabilities(j)[:-1])) for j in range(self.n_features_in_)]

    @property
    def n_categories_(self) -> Int64Array:
        """Number of values of each feature."""
        return np.array([len(counts) for counts in self._fitted().counts])

    @property
    def n_parameters_(self) -> int:
        """Number of free parameters of the distributions of features."""
        return int(np.sum(self.n_categories_ - 1)) * self._layout.n_groups

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


def pattern_numbers(X: Any, binarize: float = 0.0) -> FloatArray:
    """Number documents by the set of their features, for a model of all features together.

    A naive model of D features that are present or absent has D parameters for each class. The *full* model, which lets
    them depend on each other in any way, has a probability for each of the 2ᴰ sets, so 2ᴰ − 1 parameters (exercise 3.20
    of Murphy 2012). It is :class:`CategoricalNB` with a single feature, the number of the set.

    Parameters
    ----------
    X : sparse matrix or array of shape (n_documents, n_features)
        At most 24 features, without missing values.
    binarize : float, default=0.0
        A feature is present if its value is above this number, which must be at least 0.

    Returns
    -------
    numbers : ndarray of shape (n_documents, 1)
        Σ_j 2ʲ over the features j that are present.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.generative import BernoulliNB, CategoricalNB, pattern_numbers
    >>> X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    >>> differ = X[:, 0] != X[:, 1]   # neither feature alone says anything
    >>> float(BernoulliNB().fit(X, differ).score(X, differ))
    0.5
    >>> full = CategoricalNB(min_categories=2**2).fit(pattern_numbers(X), differ)
    >>> float(full.score(pattern_numbers(X), differ)), full.n_parameters_
    (1.0, 6)
    """
    level = number("binarize", binarize, NOT_NEGATIVE)
    documents = sp.csr_matrix(X, dtype=np.float64, copy=True)
    most = MOST_VALUES.bit_length() - 1
    if not 1 <= documents.shape[1] <= most:
        raise ValueError(f"X has {documents.shape[1]} features; expected 1 to {most}, since each set gets a number")
    if np.isnan(documents.data).any():
        raise ValueError("X holds NaN; expected no missing values, since sets must be complete")
    documents.sum_duplicates()
    present = sp.csr_matrix(
        ((documents.data > level).astype(np.float64), documents.indices, documents.indptr), shape=documents.shape
    )
    return np.asarray(present @ np.exp2(np.arange(documents.shape[1]))).reshape(-1, 1)


def check_table_size(n_values: int, n_sums: int) -> None:
    """Refuse tables of counts that would take too much memory."""
    if n_values * n_sums > MOST_COUNTS:
        raise ValueError(
            f"X has {n_values:,} values of features in {n_sums:,} classes or categories; expected at most "
            f"{MOST_COUNTS:,} counts in all"
        )


class CategoricalLikelihood(Likelihood):
    """One of K_j values for every feature, x_j | c ~ Cat(θ_jc)."""

    _model: ClassVar[type[NaiveBayes]] = CategoricalNB
    _caches: ClassVar[dict[str, type]] = {"_logs": list}

    def __init__(
        self, n_features: int, layout: Layout, estimate: Estimate, alpha: FloatArray, at_least: Int64Array
    ) -> None:
        super().__init__(n_features, layout, estimate)
        self.alpha = alpha
        check_table_size(int(at_least.sum()), layout.n_sums)
        # Documents with each value of a feature, values × sums.
        self.counts = [np.zeros((k, layout.n_sums)) for k in at_least]
        self._logs: list[FloatArray] = []

    def _check_sums(self, state: State, n_features: int, layout: Layout) -> None:
        state.array("alpha", (n_features,), least=0.0)
        for table in state.entries("counts", n_features):
            check_table(table, (None, layout.n_sums), "f", "counts", least=0.0)

    def add(self, X: FloatArray, members: Members, weights: FloatArray) -> None:
        """Count the documents of each sum that have each value."""
        columns = _codes(X)
        wanted = [max(codes.max(initial=-1) + 1, len(own)) for codes, own in zip(columns, self.counts, strict=True)]
        check_table_size(sum(wanted), self.layout.n_sums)
        for j, codes in enumerate(columns):
            more = wanted[j] - len(self.counts[j])
            if more > 0:
                self.counts[j] = np.vstack([self.counts[j], np.zeros((more, self.layout.n_sums))])
            add_categories(codes, members.start, members.sums, weights, self.counts[j])
        self._logs.clear()

    def extend(self, places: Int64Array, layout: Layout) -> None:
        """Make room for new classes."""
        self.layout = layout
        self.counts = [with_new_classes(counts, places, layout.n_sums) for counts in self.counts]
        self._logs.clear()

    def probabilities(self, j: int) -> FloatArray:
        """Return the probability of each value of a feature, and of one not seen yet: (values + 1) × groups.

        A value that no class has seen is as probable as one that only other classes have seen.
        """
        counts = self.layout.groups(self.counts[j]).T
        pseudo = {"posterior": self.alpha[j], "map": self.alpha[j] - 1.0, "mle": 0.0}[self.estimate]
        weights = np.maximum(counts + pseudo, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        new = np.where(total > 0, max(pseudo, 0.0) / np.where(total > 0, total, 1.0), 1.0)
        return np.hstack([shares(weights), new]).T

    def log_likelihood(self, X: FloatArray) -> FloatArray:
        """Return Σ_j ln θ_jc(x_j), missing values left out."""
        if not self._logs:
            nothing = np.zeros(self.layout.n_groups)
            with np.errstate(divide="ignore"):
                # A last row of zeros stands for missing values.
                tables = [np.vstack([np.log(self.probabilities(j)), nothing]) for j in range(self.n_features)]
            self._logs.extend(tables)
        scores = np.zeros((len(X), self.layout.n_groups))
        for logs, codes in zip(self._logs, _codes(X), strict=True):
            scores += logs[np.where(codes < 0, len(logs) - 1, np.minimum(codes, len(logs) - 2))]
        return scores

    def log_evidence(self) -> FloatArray:
        """Return Σ_j ln B(α_j + N_j) − ln B(α_j), B that of the Dirichlet distribution."""
        total = np.zeros(self.layout.n_groups)
        for alpha, sums in zip(self.alpha, self.counts, strict=True):
            counts = self.layout.groups(sums)
            total += log_rising(alpha, counts).sum(axis=0) - log_rising(alpha * max(len(counts), 1), counts.sum(axis=0))
        return total

    def mutual_information(self, shares: FloatArray) -> FloatArray:
        """Return Σ_c p(c) Σ_k θ_jck ln(θ_jck/Σ_c′ p(c′) θ_jc′k), for each feature."""
        result = np.zeros((self.layout.tasks[0], self.n_features))
        for j in range(self.n_features):
            theta = self.layout.by_task(self.probabilities(j)[:-1])
            overall = (theta * shares).sum(axis=-1, keepdims=True)
            result[:, j] = (shares * rel_entr(theta, overall)).sum(axis=(0, -1))  # (3.75)
        return result

    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> FloatArray:
        """Draw every feature on its own."""
        columns = [
            rng.choice(len(self.counts[j]), size=n, p=self.probabilities(j)[:-1, group]) for j in range(self.n_features)
        ]
        return np.stack(columns, axis=1).astype(np.float64)


def _codes(X: FloatArray) -> list[Int64Array]:
    """Return the values of each column as numbers, −1 where they are missing."""
    known = np.where(np.isnan(X), -1, np.minimum(X, MOST_VALUES))
    return list(np.ascontiguousarray(known.T.astype(np.int64)))
