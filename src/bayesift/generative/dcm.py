"""Bursts of words: the Dirichlet compound multinomial model."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, xlogy
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift._documents import checked_weights
from bayesift._labels import validate_labels
from bayesift._special import log_rising
from bayesift._state import State
from bayesift._threads import map_threads
from bayesift._typing import FloatArray, Int64Array
from bayesift.generative._dcm_kernels import (
    ClassPrior,
    CountTable,
    Histogram,
    descend,
    digamma_sum,
    exponential_total,
    histogram,
    objective,
)
from bayesift.generative._groups import Layout, Targets, every_group, read_targets
from bayesift.generative._kernels import dot, rising_scores, split_missing, with_values
from bayesift.generative._sampling import document_lengths, draw_bursts
from bayesift.generative.base import GenerativeClassifier, concentrations, contrast
from bayesift.generative.multinomial import check_amounts
from bayesift.linear.certificate import Certificate
from bayesift.shards import Shards


@dataclass(eq=False, repr=False)
class DirichletCompoundMultinomial(GenerativeClassifier):
    """Classify by models of bursty words: every document has its own word probabilities.

    These are drawn from a Dirichlet(α_c) distribution, and the words from them (Polya's urn), so a word that has
    occurred once is likely to occur again (3.79):

        p(x | c) ∝ Γ(A_c)/Γ(A_c + N) · Π_j Γ(α_jc + x_j)/Γ(α_jc),  A_c = Σ_j α_jc.

    The number of possible word orders is the same for all classes and left out everywhere.

    In prediction, a missing count is integrated out exactly, given the number of words that are not missing. In
    training, a document with a missing count counts for its class, but its words are left out. Values need not be
    whole (the gamma functions are then used as they are), but must not be negative.

    Parameters
    ----------
    prior : {"background", "gamma", "laplace"}, default="background"
        Prior of every α_jc, for ``estimate="map"``. ``"gamma"``: a gamma prior with ``concentration_shape`` and
        ``concentration_rate``; a shape of 1 + e is worth e more documents of the class that have the word.
        ``"background"``: gamma priors that are worth ``pseudo_documents`` documents drawn from all classes; without
        data they put α at its value for all documents together (by Elkan's approximation). ``"laplace"``: shape 1,
        that is, a penalty of ``concentration_rate`` times α.
    pseudo_documents : float, default=10.0
        Weight of the ``"background"`` prior, in documents.
    concentration_shape : float, default=1.01
        Shape of the ``"gamma"`` prior of every α, at least 1.
    concentration_rate : float, default=0.001
        Rate of the ``"gamma"`` or ``"laplace"`` prior of every α.
    floor : float, default=0.1
        If the data and the prior leave α = 0 (for words that a class has not seen, with a Laplace prior or maximum
        likelihood), α is set to this share of the smallest positive α of the class, so that no word is impossible.
    estimate : {"map", "mle"}, default="map"
        Posterior mode, or maximum likelihood.
    solver : {"newton", "fixed_point", "edcm"}, default="newton"
        Minka's generalised Newton step (few rounds) or fixed point (many rounds), or the exponential-family
        approximation of Elkan (2006), which counts only the first occurrence of a word and needs no rounds.
    tol : float, default=1e-6
        The fit of a class ends when no slope of its objective in ln α exceeds this share of its number of documents.
    max_iter : int, default=1000
        Maximum number of rounds; reaching it warns.
    class_prior : float, array, "uniform" or None, default=1.0
        Pseudo counts of the classes; ``"uniform"``: equal probabilities for any data; None: the shares in the data.
    n_jobs : int or None, default=-1
        Number of threads, which share classes and documents; -1 uses all cores.

    Attributes
    ----------
    classes_, class_count_, class_log_prior_ : ndarray
        The labels (column numbers for an indicator matrix), their numbers of documents and their log probabilities (for
        an indicator matrix, without and with each category).
    alpha_ : ndarray of shape (n_classes, n_features)
        The Dirichlet parameters; categories × 2 × features for an indicator matrix.
    concentration_ : ndarray of shape (n_classes,)
        Their sums A_c: the smaller, the burstier the words.
    certificate_ : Certificate
        For each class: negative log posterior, largest slope in ln α (``kkt_residual``), rounds, seconds, convergence.
        The problem is not convex and has no dual bound, so the gap is infinite. An indicator matrix has two entries for
        each category.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.generative import DirichletCompoundMultinomial, MultinomialNB
    >>> X = np.array([[9, 0, 1], [0, 0, 2], [8, 1, 0], [0, 1, 2], [0, 9, 1], [0, 7, 2], [1, 1, 1], [0, 0, 1]])
    >>> y = ["sea"] * 4 + ["land"] * 4
    >>> model = DirichletCompoundMultinomial().fit(X, y)
    >>> model.concentration_.round(1)
    array([0.7, 0.6])
    >>> bursts = [[1, 0, 0], [9, 0, 0]]
    >>> model.predict_proba(bursts)[:, 1].round(2)       # the ninth time says little more than the first
    array([0.59, 0.63])
    >>> MultinomialNB().fit(X, y).predict_proba(bursts)[:, 1].round(2)
    array([0.9, 1. ])
    """

    _takes_amounts = True
    _poor_for_points = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "prior": [StrOptions({"background", "gamma", "laplace"})],
        "pseudo_documents": [Interval(Real, 0, None, closed="neither")],
        "concentration_shape": [Interval(Real, 1, None, closed="left")],
        "concentration_rate": [Interval(Real, 0, None, closed="left")],
        "floor": [Interval(Real, 0, 1, closed="right")],
        "estimate": [StrOptions({"map", "mle"})],
        "solver": [StrOptions({"newton", "fixed_point", "edcm"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "class_prior": [Interval(Real, 0, None, closed="neither"), "array-like", StrOptions({"uniform"}), None],
        "n_jobs": [Integral, None],
    }

    prior: Literal["background", "gamma", "laplace"] = "background"
    _: KW_ONLY
    pseudo_documents: float = 10.0
    concentration_shape: float = 1.01
    concentration_rate: float = 0.001
    floor: float = 0.1
    estimate: Literal["map", "mle"] = "map"
    solver: Literal["newton", "fixed_point", "edcm"] = "newton"
    tol: float = 1e-6
    max_iter: int = 1000
    class_prior: Any = 1.0
    n_jobs: int | None = -1

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Self:
        if isinstance(X, Shards):
            return self._fit_shards(X, y, sample_weight)
        X, targets, weights = self._labelled(X, y, sample_weight, reset=True)
        self._begin(targets)
        groups = self._rows_of_groups(targets)
        self._set_class_count(np.array([weights[rows].sum() for rows in groups]))
        self._fit_groups(X, groups, weights)
        return self

    def _begin(self, targets: Targets) -> None:
        """Keep the classes."""
        self.classes_ = targets.classes
        self._set_layout(Layout(targets.multilabel, len(self.classes_)))
        concentrations(self.class_prior, self._layout.tasks[1])

    def _rows_of_groups(self, targets: Targets) -> list[Int64Array]:
        """Return the documents of every group."""
        own = every_group(targets.members(np.arange(len(self.classes_))), self._layout)
        documents = np.repeat(np.arange(own.start.size - 1), np.diff(own.start))
        return [documents[own.sums == group] for group in range(self._layout.n_groups)]

    def _fit_shards(self, shards: Shards, y: Any, sample_weight: Any) -> Self:
        """Learn from one shard after the other: all that matters is how many documents have each word how often."""
        self._validate_params()
        targets, weights = read_targets(validate_labels(self, shards, y)), checked_weights(sample_weight, shards)
        self._begin(targets)
        tables = [CountTable() for _ in range(self._layout.n_groups)]
        class_count, have = np.zeros(len(tables)), np.zeros(shards.shape[1])
        for block, first, last in zip(shards, shards.starts[:-1], shards.starts[1:], strict=True):
            self._check_values(block, learning=True)
            own, totals = weights[first:last], np.asarray(block.sum(axis=1)).ravel()
            have += with_values(block, (block.data > 0).astype(np.float64)).T @ own
            for group, rows in enumerate(self._rows_of_groups(targets.part(first, last))):
                tables[group].add(block, totals, rows, own)
                class_count[group] += own[rows].sum()
        self._set_class_count(class_count)
        # Every document is in one of the classes, or with or without the first category.
        everyone = CountTable()
        for table in tables[:2] if targets.multilabel else tables:
            everyone.add_table(table)
        lengths, of_length = everyone.lengths
        if not lengths.size:
            raise ValueError("X has no word in a complete document; expected counts above 0")
        prior = self._prior_of_words(have, lengths, of_length, float(weights.sum()))
        self._solve([table.histogram for table in tables], everyone.histogram, prior, self.n_jobs)
        return self

    def _fit_groups(self, X: sp.csr_matrix, groups: list[Int64Array], weights: FloatArray) -> None:
        totals = np.asarray(X.sum(axis=1)).ravel()
        # For a document with a missing count there is no closed form.
        incomplete = np.isnan(totals)
        weights = np.where(incomplete, 0.0, weights)
        totals = np.where(incomplete, 0.0, totals)
        if not np.any(totals * weights > 0):
            raise ValueError("X has no word in a complete document; expected counts above 0")
        have = with_values(X, (X.data > 0).astype(np.float64)).T @ weights
        prior = self._prior_of_words(have, totals, weights, float(weights.sum()))
        made = [partial(histogram, X, totals, rows, weights) for rows in groups]
        everyone = partial(histogram, X, totals, np.arange(X.shape[0]), weights)
        self._solve(made, everyone, prior, 1 if X.nnz < 10_000 else self.n_jobs)

    def _solve(
        self,
        groups: Sequence[Callable[[], Histogram]],
        everyone: Callable[[], Histogram],
        prior: Prior,
        n_jobs: int | None,
    ) -> None:
        """Fit every group to its histogram, which is made when its turn comes."""

        def solve(make: Callable[[], Histogram]) -> tuple[Histogram, Solution, float]:
            begin = time.perf_counter()
            found = make()
            if not found.words.size:
                # Nothing is known about the class: use the words of all documents.
                found = everyone()
            solution = fit_class(found, prior, self.solver, self.tol, self.max_iter)
            return found, solution, time.perf_counter() - begin

        self._keep(map_threads(solve, groups, n_jobs), prior.pseudo)

    def _prior_of_words(self, have: FloatArray, totals: FloatArray, weights: FloatArray, weight: float) -> Prior:
        """Return the priors of the words.

        Parameters
        ----------
        have : array of shape (n_features,)
            The weight of the documents that have each word.
        totals, weights : array
            Lengths of documents, and their weights.
        weight : float
            The weight of all documents.
        """
        n_features = have.size
        if self.estimate == "mle":
            return Prior.of(np.zeros(n_features), 0.0)
        if self.prior != "background":
            excess = 0.0 if self.prior == "laplace" else self.concentration_shape - 1.0
            return Prior.of(np.full(n_features, excess), float(self.concentration_rate))
        # An additional half document keeps every word possible.
        rate = background_rate(have, totals, weights)
        return Prior.of(self.pseudo_documents * (have + 0.5) / (weight + 1.0), self.pseudo_documents * rate)

    def _keep(self, fits: list[tuple[Histogram, Solution, float]], pseudo: FloatArray) -> None:
        rows = np.zeros((len(fits), pseudo.size))
        for row, (found, solution, _) in zip(rows, fits, strict=True):
            rest = pseudo.sum() - pseudo[found.words].sum()
            if solution.unseen > 0 and rest > 0:
                row[:] = solution.unseen / rest * pseudo
            row[found.words] = solution.alpha
            row[row <= 0] = max(self.floor * solution.alpha.min(), np.finfo(np.float64).tiny)
        self._alpha = table = np.ascontiguousarray(rows.T)
        self._bounds = float(table.min()), float(table.sum(axis=0).max())
        self._mean_lengths = np.array([found.lengths @ found.weights / found.weights.sum() for found, _, _ in fits])
        solutions = [solution for _, solution, _ in fits]
        self.certificate_ = Certificate(
            objective=np.array([solution.objective for solution in solutions]),
            dual=np.full(len(fits), -np.inf),
            kkt_residual=np.array([solution.residual for solution in solutions]),
            passes=np.array([solution.rounds for solution in solutions]),
            seconds=np.array([seconds for _, _, seconds in fits]),
            converged=np.array([solution.converged for solution in solutions]),
        )
        self.n_iter_ = np.maximum(self.certificate_.passes, 1)
        unfinished = np.flatnonzero(~self.certificate_.converged)
        if unfinished.size:
            worst = self.certificate_.kkt_residual[unfinished].max()
            warnings.warn(
                f"{unfinished.size} of {len(fits)} fits reached max_iter={self.max_iter} rounds; the largest slope is "
                f"{worst:.1e}. Raise max_iter, or loosen tol.",
                ConvergenceWarning,
                stacklevel=5,
            )

    @property
    def alpha_(self) -> FloatArray:
        """The Dirichlet parameters, classes × features; categories × 2 × features for an indicator matrix."""
        check_is_fitted(self)
        return self._layout.by_class(self._alpha)

    @property
    def concentration_(self) -> FloatArray:
        """Sums of the Dirichlet parameters; categories × 2 for an indicator matrix."""
        return self.alpha_.sum(axis=-1)

    def word_weights(self) -> FloatArray:
        """Return ln α_jc/A_c, the log probability of a first word, minus that of the other classes together."""
        return contrast(np.log(self.alpha_) - np.log(self.concentration_)[..., np.newaxis])

    def _joint_log_likelihood(self, X: sp.csr_matrix) -> FloatArray:
        values, missing = split_missing(X)
        lengths = np.asarray(values.sum(axis=1))
        totals = self._alpha.sum(axis=0)
        if missing is not None:
            totals = np.maximum(totals - missing @ self._alpha, self._bounds[0])
        if self.solver == "edcm":
            seen = with_values(values, (values.data > 0).astype(np.float64))
            bursts = with_values(
                values, np.where(values.data > 0, gammaln(np.where(values.data > 0, values.data, 1.0)), 0.0)
            )
            scores = dot(seen, np.log(self._alpha), self.n_jobs) + np.asarray(bursts.sum(axis=1))
        else:
            scores = rising_scores(values, self._alpha, np.zeros(X.shape[1]), self._bounds, self.n_jobs)
        return scores - log_rising(totals, lengths) + self.class_log_prior_.ravel()

    def _draw(self, group: int, n: int, length: Any, rng: np.random.Generator) -> sp.csr_matrix:
        return draw_bursts(self._alpha[:, group], document_lengths(length, n, self._mean_lengths[group]), rng)

    def _check_values(self, X: sp.csr_matrix, *, learning: bool) -> None:
        check_amounts(X, type(self).__name__)

    def _check_state(self, state: State) -> None:
        n_groups = self._check_groups(state).n_groups
        alpha = state.array("_alpha", (state.features(), n_groups), least=0.0)
        state.array("_mean_lengths", (n_groups,), least=0.0)
        bounds = state.instance("_bounds", tuple)
        state.require(len(bounds) == 2 and all(type(bound) is float for bound in bounds), "bounds")
        # Tables of logarithms are made for what lies between.
        state.require(alpha.size and 0 < bounds[0] <= alpha.min() and alpha.max() <= bounds[1] < np.inf, "bounds")
        state.instance("certificate_", Certificate)
        state.array("n_iter_", (None,), "i")


class Prior(NamedTuple):
    """Gamma priors of all α: shapes less 1 (so many more documents have the word), their rate, and Σ e ln e."""

    pseudo: FloatArray
    rate: float
    own_logs: float

    @classmethod
    def of(cls, pseudo: FloatArray, rate: float) -> Prior:
        """Return the priors with these shapes and this rate."""
        return cls(pseudo, rate, float(xlogy(pseudo, pseudo).sum()))


class Solution(NamedTuple):
    """The fit of one class; ``residual`` is the largest slope of F in ln α."""

    alpha: FloatArray
    unseen: float
    objective: float
    residual: float
    rounds: int
    converged: bool


def background_rate(have: FloatArray, lengths: FloatArray, weights: FloatArray) -> float:
    """Return the slope λ at Elkan's approximation for all documents together, per document.

    A gamma prior of shape 1 + k·p_j, with p_j the share of documents that have word j, and of rate k times this has its
    mode at that approximation.
    """
    kept = (lengths > 0) & (weights > 0)
    total = exponential_total(float(have.sum()), 0.0, lengths[kept], weights[kept])
    return float(digamma_sum(total, lengths[kept], weights[kept]) / weights[kept].sum())


def fit_class(found: Histogram, prior: Prior, solver: str, tol: float, max_iter: int) -> Solution:
    """Fit one class.

    Parameters
    ----------
    found : Histogram
        Its documents; at least one word.
    prior : Prior
        The gamma priors of all α.
    solver : {"newton", "fixed_point", "edcm"}
        The generalised Newton step or the fixed point of Minka (2000), or Elkan's approximation, which needs neither.
    tol : float
        Largest slope allowed, as a share of the weight of the documents.
    max_iter : int
        Maximum number of rounds.
    """
    pseudo, rate, own_logs = prior
    own = pseudo[found.words]
    extra = max(float(pseudo.sum() - own.sum()), 0.0)
    total = exponential_total(found.documents.sum() + own.sum() + extra, rate, found.lengths, found.weights)
    slope = digamma_sum(total, found.lengths, found.weights) + rate
    alpha, unseen = (found.documents + own) / slope, extra / slope
    residual, rounds, converged = 0.0, 0, True
    class_prior = ClassPrior(own, extra, rate)
    if solver != "edcm":
        limit = tol * found.weights.sum()
        unseen, residual, rounds, converged = descend(
            alpha, unseen, class_prior, found, solver == "newton", limit, max_iter
        )
    value = objective(alpha, unseen, class_prior, found)
    if extra > 0:
        # Each unseen word has its share of their sum: Σ e ln(e/Σe) over them.
        value -= own_logs - float(xlogy(own, own).sum()) - extra * math.log(extra)
    return Solution(alpha, unseen, value, residual, rounds, converged)
