"""Naive Bayes for features that are present or absent."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from bayesift._special import log_beta_ratio
from bayesift._state import State
from bayesift._typing import FloatArray, Int64Array
from bayesift.conjugate import BetaBinomial
from bayesift.generative._groups import Layout, Members
from bayesift.generative._kernels import add_rows, add_weights, dot, log_table, split_missing, with_values
from bayesift.generative.base import contrast, shares
from bayesift.generative.naive_bayes import (
    Estimate,
    Likelihood,
    NaiveBayes,
    event_information,
    pseudo_counts,
    with_new_classes,
)


@dataclass(eq=False, repr=False)
class BernoulliNB(NaiveBayes):
    """Naive Bayes for features that are present or absent: a document is the set of its words.

    p(x | c) = Π_j θ_jc^x_j (1−θ_jc)^(1−x_j) with θ_jc ~ Beta(a_j, b_j): absent words count too, but only the
    words that are present cost time.

    Missing values are allowed in training and prediction. They are integrated out exactly, that is, left out.

    Parameters
    ----------
    alpha : float, array of shape (n_features,) or BetaBinomial, default=1.0
        Prior of the probability that a feature is present: Beta(alpha, alpha), or any beta distribution; one for all
        features, or one for each.
    binarize : float or None, default=0.0
        A feature is present if its value is above this number (of at least 0); None: values must be 0 or 1.
    class_prior : float, array, "uniform" or None, default=1.0
        Pseudo counts of the classes; ``"uniform"``: equal probabilities for any data; None: the shares in the data.
    estimate : {"posterior", "map", "mle"}, default="posterior"
        Integrate the parameters out (here equal to the posterior mean), or plug in their posterior mode or maximum
        likelihood estimate.
    n_jobs : int or None, default=-1
        Number of threads for prediction; -1 uses all cores.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray
        The labels (column numbers for an indicator matrix), their numbers of documents and their log probabilities (for
        an indicator matrix, without and with each category).
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Log probability that a feature is present; categories × 2 × features for an indicator matrix.
    log_evidence_ : float
        Log probability of the training data, with the parameters integrated out.
    mutual_information_ : ndarray of shape (n_features,)
        Mutual information of each feature's presence with the class (3.76), in nats.
    n_parameters_ : int
        Number of probabilities in the model: one for each feature and class (3.112).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.generative import BernoulliNB
    >>> X = np.array([[1, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 1]])
    >>> model = BernoulliNB().fit(X, ["sea", "sea", "land", "land"])
    >>> model.predict_proba([[1, 0, 1]]).round(3)
    array([[0.818, 0.182]])
    >>> model.predict_proba([[np.nan, np.nan, 1]]).round(3)
    array([[0.75, 0.25]])
    >>> model.mutual_information_.round(3)
    array([0.   , 0.034, 0.131])
    """

    _poor_for_points = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NaiveBayes._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like", BetaBinomial],
        "binarize": [Interval(Real, 0, None, closed="left"), None],
        "n_jobs": [Integral, None],
    }

    alpha: Any = 1.0
    _: KW_ONLY
    binarize: float | None = 0.0
    n_jobs: int | None = -1

    def _new_likelihood(self, n_features: int, layout: Layout) -> BernoulliLikelihood:
        prior = self.alpha if isinstance(self.alpha, BetaBinomial) else None
        a, b = (prior.a, prior.b) if prior is not None else (self.alpha, self.alpha)
        present, absent = (pseudo_counts("alpha", value, n_features) for value in (a, b))
        return BernoulliLikelihood(n_features, layout, self.estimate, present, absent, self.binarize, self.n_jobs)

    def _check_values(self, X: sp.csr_matrix, *, learning: bool) -> None:
        if self.binarize is None:
            odd = (X.data != 0) & (X.data != 1) & ~np.isnan(X.data)
            if odd.any():
                raise ValueError(f"X holds {X.data[odd][0]:g}; expected 0 or 1 (or NaN), because binarize is None")

    @property
    def feature_log_prob_(self) -> FloatArray:
        """Log probability that a feature is present, classes × features."""
        with np.errstate(divide="ignore"):
            logs = np.log(self._fitted().probabilities()[..., 1])
        return self._layout.by_class(logs)

    @property
    def n_parameters_(self) -> int:
        """Number of probabilities in the model."""
        return int(self._fitted().n_features * self._layout.n_groups)

    def word_weights(self) -> FloatArray:
        """Return the log odds ln θ_jc/(1−θ_jc) of a feature's presence, minus those of the other classes together."""
        logs = self.feature_log_prob_
        return contrast(logs - np.log1p(-np.exp(np.minimum(logs, -1e-12))))


class BernoulliLikelihood(Likelihood):
    """Presence of every feature with a probability of its own, x_j | c ~ Ber(θ_jc) (3.77)."""

    _model: ClassVar[type[NaiveBayes]] = BernoulliNB
    _caches: ClassVar[dict[str, type]] = {"_tables": dict}

    def __init__(
        self,
        n_features: int,
        layout: Layout,
        estimate: Estimate,
        a: FloatArray,
        b: FloatArray,
        binarize: float | None,
        n_jobs: int | None,
    ) -> None:
        super().__init__(n_features, layout, estimate)
        self.a, self.b, self.binarize, self.n_jobs = a, b, binarize, n_jobs
        self.present = np.zeros((n_features, layout.n_sums))
        self.documents = np.zeros(layout.n_sums)
        self.missing: FloatArray | None = None
        self._tables: dict[str, Any] = {}

    def _check_sums(self, state: State, n_features: int, layout: Layout) -> None:
        for name in ("a", "b"):
            state.array(name, (n_features,), least=0.0)
        state.array("present", (n_features, layout.n_sums), least=0.0)
        state.array("documents", (layout.n_sums,), least=0.0)
        if state.value("missing") is not None:
            state.array("missing", (n_features, layout.n_sums), least=0.0)
        state.require(state.value("binarize") is None or isinstance(self.binarize, Real), "limits of presence")
        state.threads()

    def add(self, X: sp.csr_matrix, members: Members, weights: FloatArray) -> None:
        """Count the documents of each sum that have each feature, and those where it is missing."""
        present, missing = self._presence(X)
        add_weights(members.start, members.sums, weights, self.documents)
        add_rows(X.indptr, X.indices, present.data, members.start, members.sums, weights, self.present)
        if missing is not None:
            if self.missing is None:
                self.missing = np.zeros_like(self.present)
            add_rows(X.indptr, X.indices, missing.data, members.start, members.sums, weights, self.missing)
        self._tables.clear()

    def extend(self, places: Int64Array, layout: Layout) -> None:
        """Make room for new classes."""
        self.layout = layout
        self.present = with_new_classes(self.present, places, layout.n_sums)
        self.documents = with_new_classes(self.documents, places, layout.n_sums)
        if self.missing is not None:
            self.missing = with_new_classes(self.missing, places, layout.n_sums)
        self._tables.clear()

    def counts(self) -> tuple[FloatArray, FloatArray]:
        """Documents with and without each feature, features × groups; those where it is missing are neither."""
        present = self.layout.groups(self.present)
        seen = self.layout.groups(self.documents if self.missing is None else self.documents - self.missing)
        return present, np.maximum(seen - present, 0.0)

    def probabilities(self) -> FloatArray:
        """Return p(absent) and p(present), features × groups × 2."""
        present, absent = self.counts()
        both = np.stack([absent, present], axis=-1)
        prior = np.stack([self.b, self.a], axis=-1)[:, np.newaxis, :]
        if self.estimate == "mle":
            return shares(both)
        return shares(both + prior) if self.estimate == "posterior" else shares(np.maximum(both + prior - 1.0, 0.0))

    def log_likelihood(self, X: sp.csr_matrix) -> FloatArray:
        """Return Σ_j x_j ln θ_jc + (1−x_j) ln(1−θ_jc): the sum for an empty document, and what its features change."""
        if not self._tables:
            both = self.probabilities()
            absent, present = log_table(both[..., 0]), log_table(both[..., 1])
            self._tables.update(ratio=present.logs - absent.logs, absent=absent.logs, base=absent.logs.sum(axis=0))
            if absent.never is not None or present.never is not None:
                zero = np.zeros_like(absent.logs)
                lost = zero if absent.never is None else absent.never
                self._tables.update(never=(zero if present.never is None else present.never) - lost, lost=lost)
        present, missing = self._presence(X)
        tables = self._tables
        scores = dot(present, tables["ratio"], self.n_jobs) + tables["base"]  # (3.108)
        if missing is not None:
            scores -= missing @ tables["absent"]
        if "never" in tables:
            # How many features are there though they never are, or absent though they always are there.
            wrong = present @ tables["never"] + tables["lost"].sum(axis=0)
            if missing is not None:
                wrong -= missing @ tables["lost"]
            scores = np.where(wrong > 0.5, -np.inf, scores)
        return scores

    def log_evidence(self) -> FloatArray:
        """Return Σ_j ln B(a_j + N_j, b_j + N − N_j) − ln B(a_j, b_j)."""
        present, absent = self.counts()
        return log_beta_ratio(self.a[:, np.newaxis], self.b[:, np.newaxis], present, absent).sum(axis=0)

    def mutual_information(self, shares: FloatArray) -> FloatArray:
        """Return that of the class and the presence of each feature."""
        return event_information(self.layout.by_task(self.probabilities()[..., 1]), shares).T

    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> sp.csr_matrix:
        """Draw every feature on its own."""
        theta = self.probabilities()[:, group, 1]
        rows = [np.flatnonzero(rng.random(theta.size) < theta) for _ in range(n)]
        start = np.concatenate([[0], np.cumsum([row.size for row in rows])])
        columns = np.concatenate([*rows, np.empty(0, dtype=np.int64)])
        return sp.csr_matrix((np.ones(columns.size), columns, start), shape=(n, theta.size))

    def _presence(self, X: sp.csr_matrix) -> tuple[sp.csr_matrix, sp.csr_matrix | None]:
        """Return what is there, and what is missing."""
        values, missing = split_missing(X)
        threshold = 0.0 if self.binarize is None else self.binarize
        return with_values(values, (values.data > threshold).astype(np.float64)), missing
