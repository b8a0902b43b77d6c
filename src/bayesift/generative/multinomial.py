"""Naive Bayes for counts of words."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval

from bayesift._special import log_rising
from bayesift._state import State
from bayesift._typing import FloatArray, Int64Array
from bayesift.conjugate import DirichletMultinomial
from bayesift.generative._groups import Layout, Members
from bayesift.generative._kernels import add_rows, add_weights, dot, log_table, rising_scores, split_missing
from bayesift.generative._sampling import document_lengths, draw_bursts, draw_words
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
class MultinomialNB(NaiveBayes):
    """Naive Bayes for counts: the words of a document are drawn one after the other.

    p(x | c) ∝ Π_j θ_jc^x_j with θ_c ~ Dirichlet(α). The number of possible word orders is the same for all classes and
    left out everywhere. By default θ is integrated out for the document as a whole,

        p(x | c, D) ∝ Π_j Γ(α_j + N_jc + x_j)/Γ(α_j + N_jc) · Γ(A + N_c)/Γ(A + N_c + n),

    so a word makes its own repetition more probable if little is known about it. Other programs plug in a point
    estimate: ``MultinomialNB(alpha=a + 1, estimate="map")`` is scikit-learn's ``MultinomialNB(alpha=a)``.

    In prediction, a missing count is integrated out exactly, given the number of words that are not missing. In
    training, such a document has no closed form: it counts for its class, but its words are left out. Values need not
    be whole (weighted counts, sums of fractions), but must not be negative.

    Parameters
    ----------
    alpha : float, array of shape (n_features,) or DirichletMultinomial, default=1.0
        Pseudo counts of the words.
    class_prior : float, array, "uniform" or None, default=1.0
        Pseudo counts of the classes; ``"uniform"``: equal probabilities for any data; None: the shares in the data.
    estimate : {"posterior", "map", "mle"}, default="posterior"
        Integrate the parameters out, or plug in their posterior mode or maximum likelihood estimate.
    n_jobs : int or None, default=-1
        Number of threads for prediction; -1 uses all cores.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray
        The labels (column numbers for an indicator matrix), their numbers of documents and their log probabilities (for
        an indicator matrix, without and with each category).
    feature_count_ : ndarray of shape (n_classes, n_features)
        Occurrences of each word; categories × 2 × features for an indicator matrix.
    feature_log_prob_ : ndarray of shape (n_classes, n_features)
        Log probability of each word to be the next one.
    log_evidence_ : float
        Log probability of all words and labels in their order, with the parameters integrated out.
    mutual_information_ : ndarray of shape (n_features,)
        Mutual information of the class and the event that the next word is the given one (3.76), in nats.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.generative import MultinomialNB
    >>> X = np.array([[3, 0, 1], [2, 1, 0], [0, 4, 1], [0, 1, 2]])
    >>> model = MultinomialNB().fit(X, ["sea", "sea", "land", "land"])
    >>> model.predict_proba([[1, 0, 0], [4, 0, 0]]).round(3)
    array([[0.132, 0.868],
           [0.006, 0.994]])
    >>> model.sample(2, label="sea", length=5, random_state=1)[0].toarray()
    array([[5., 0., 0.],
           [3., 1., 1.]])
    """

    _takes_amounts = True
    _poor_for_points = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **NaiveBayes._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like", DirichletMultinomial],
        "n_jobs": [Integral, None],
    }

    alpha: Any = 1.0
    _: KW_ONLY
    n_jobs: int | None = -1

    def _new_likelihood(self, n_features: int, layout: Layout) -> MultinomialLikelihood:
        alpha = self.alpha.alpha if isinstance(self.alpha, DirichletMultinomial) else self.alpha
        return MultinomialLikelihood(
            n_features, layout, self.estimate, pseudo_counts("alpha", alpha, n_features), self.n_jobs
        )

    def _check_values(self, X: sp.csr_matrix, *, learning: bool) -> None:
        check_amounts(X, type(self).__name__)

    @property
    def feature_count_(self) -> FloatArray:
        """Occurrences of every word, classes × features."""
        likelihood = self._fitted()
        return self._layout.by_class(likelihood.counts())

    @property
    def feature_log_prob_(self) -> FloatArray:
        """Log probability of each word to be the next one, classes × features."""
        likelihood = self._fitted()
        with np.errstate(divide="ignore"):
            return self._layout.by_class(np.log(likelihood.probabilities()))

    def word_weights(self) -> FloatArray:
        """Return ln p(word | class) minus that of the other classes together."""
        return contrast(self.feature_log_prob_)


class MultinomialLikelihood(Likelihood):
    """Words drawn one after the other, x | c ~ Mu(N, θ_c) (3.78), without the number of their orders."""

    _model: ClassVar[type[NaiveBayes]] = MultinomialNB
    _caches: ClassVar[dict[str, type]] = {"_tables": dict}

    def __init__(
        self, n_features: int, layout: Layout, estimate: Estimate, alpha: FloatArray, n_jobs: int | None
    ) -> None:
        super().__init__(n_features, layout, estimate)
        self.alpha, self.n_jobs = alpha, n_jobs
        self.words = np.zeros((n_features, layout.n_sums))
        # Of the documents of each sum: how many, and how many words they have.
        self.sizes = np.zeros((2, layout.n_sums))
        self._tables: dict[str, Any] = {}

    def _check_sums(self, state: State, n_features: int, layout: Layout) -> None:
        alpha = state.array("alpha", (n_features,), least=0.0)
        state.require(alpha.size and alpha.min() > 0, "pseudo counts")
        state.array("words", (n_features, layout.n_sums), least=0.0)
        state.array("sizes", (2, layout.n_sums), least=0.0)
        state.threads()

    def add(self, X: sp.csr_matrix, members: Members, weights: FloatArray) -> None:
        """Count words; of a document with a missing count only its class is used."""
        lengths = np.asarray(X.sum(axis=1)).ravel()
        incomplete = np.isnan(lengths)
        if incomplete.any():
            X, _ = split_missing(X)
            lengths, weights = np.where(incomplete, 0.0, lengths), np.where(incomplete, 0.0, weights)
        add_rows(X.indptr, X.indices, X.data, members.start, members.sums, weights, self.words)
        for total, amounts in zip(self.sizes, (weights, weights * lengths), strict=True):
            add_weights(members.start, members.sums, amounts, total)
        self._tables.clear()

    def extend(self, places: Int64Array, layout: Layout) -> None:
        """Make room for new classes."""
        self.layout = layout
        self.words = with_new_classes(self.words, places, layout.n_sums)
        self.sizes = with_new_classes(self.sizes, places, layout.n_sums)
        self._tables.clear()

    def counts(self) -> FloatArray:
        """Occurrences of each word, features × groups."""
        if not self.layout.multilabel:
            return self.words
        if "counts" not in self._tables:
            self._tables["counts"] = self.layout.groups(self.words)
        return self._tables["counts"]

    def probabilities(self) -> FloatArray:
        """Return the probability that the next word is a given one, features × groups."""
        counts = self.counts().T
        if self.estimate == "mle":
            return shares(counts).T
        pseudo = self.alpha - (self.estimate == "map")
        return shares(np.maximum(counts + pseudo, 0.0)).T

    def log_likelihood(self, X: sp.csr_matrix) -> FloatArray:
        """Return the log probability of the words in their order, θ integrated out or plugged in."""
        values, missing = split_missing(X)
        lengths = np.asarray(values.sum(axis=1))
        return (self._integrated if self.estimate == "posterior" else self._plugged_in)(values, missing, lengths)

    def _integrated(self, X: sp.csr_matrix, missing: sp.csr_matrix | None, lengths: FloatArray) -> FloatArray:
        """Average over θ: counts have a Dirichlet-multinomial distribution, and so have those that are not missing."""
        counts = self.counts()
        totals = self.layout.groups(self.sizes[1]) + self.alpha.sum()
        scores = rising_scores(X, counts, self.alpha, (float(self.alpha.min()), float(totals.max())), self.n_jobs)
        if missing is not None:
            # If all words are missing, nothing is left but rounding errors.
            totals = np.maximum(totals - missing @ (counts + self.alpha[:, np.newaxis]), self.alpha.min())
            return scores - log_rising(totals, lengths)
        distinct, place = np.unique(lengths, return_inverse=True)
        return scores - log_rising(totals, distinct[:, np.newaxis])[place.ravel()]

    def _plugged_in(self, X: sp.csr_matrix, missing: sp.csr_matrix | None, lengths: FloatArray) -> FloatArray:
        if "theta" not in self._tables:
            theta = np.ascontiguousarray(self.probabilities())
            self._tables.update(theta=theta, logs=log_table(theta))
        logs, never = self._tables["logs"]
        scores = dot(X, logs, self.n_jobs)
        if missing is not None:
            # The words that are not missing have the probabilities θ/(1 − those of the others).
            with np.errstate(divide="ignore", invalid="ignore"):
                rest = np.log(np.maximum(1.0 - missing @ self._tables["theta"], 0.0))
                scores -= np.where(lengths > 0, lengths * rest, 0.0)
        if never is None:
            return scores
        return np.where(X @ never > 0, -np.inf, scores)

    def log_evidence(self) -> FloatArray:
        """Return ln B(α + N_c) − ln B(α), the log probability of all words of the class in their order."""
        counts = self.counts()
        rising = np.zeros(self.layout.n_groups)
        for group, column in enumerate(counts.T):
            seen = np.flatnonzero(column)
            rising[group] = log_rising(self.alpha[seen], column[seen]).sum()
        return rising - log_rising(self.alpha.sum(), self.layout.groups(self.sizes[1]))

    def mutual_information(self, shares: FloatArray) -> FloatArray:
        """Return that of the class and the event that the next word is a given one."""
        return event_information(self.layout.by_task(self.probabilities()), shares).T

    def draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> sp.csr_matrix:
        """Draw documents word by word; where θ is integrated out, from Polya's urn."""
        documents, words = self.layout.groups(self.sizes)[:, group]
        lengths = document_lengths(length, n, words / max(documents, 1e-300))
        if self.estimate == "posterior":
            return draw_bursts(self.counts()[:, group] + self.alpha, lengths, rng)
        return draw_words(self.probabilities()[:, group], lengths, rng)


def check_amounts(X: sp.csr_matrix, name: str) -> None:
    """Refuse values that cannot be numbers of words."""
    least = np.fmin.reduce(X.data, initial=0.0)
    if least < 0:
        raise ValueError(f"Negative values in data passed to {name}: X holds {least:g}; expected numbers of at least 0")
