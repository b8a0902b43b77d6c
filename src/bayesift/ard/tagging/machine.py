"""The relevance tagging machine."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift._state import State
from bayesift._typing import BoolArray, FloatArray
from bayesift.ard._fitting import Attained, RelevanceClassifier
from bayesift.ard.tagging._bound import FULL_LIMIT, Quadrature
from bayesift.ard.tagging._learning import MStep, Settings, Solver, learn
from bayesift.ard.tagging._tags import Tagging, read_tags
from bayesift.linear import Certificate


@dataclass(eq=False, repr=False)
class RelevanceTaggingMachine(SelectorMixin, RelevanceClassifier):
    """Classify objects by their tags and find the tags that matter (Molchanov, Kondrashkin & Vetrov 2015).

    An object with tags Q is of the second class with probability

        P(t = 1 | Q, q) = Π q_j / (Π q_j + Π (1 − q_j)),  j in Q,

    a logistic model with weights logit q_j and no intercept. Each q_j has the prior Beta(α_j + 1, α_j + 1), and the α_j
    maximise a lower bound of the evidence. If α_j grows without limit, the tag is removed and q_j = ½. A tag that no
    object has is removed too. The score of an object is the sum of the weights of its tags: columns of removed tags are
    ignored, and an object without tags has probability ½, which is a yes.

    Parameters
    ----------
    solver : {"map-em", "em"}, default="map-em"
        How the E-step places the bound. ``"map-em"``: it touches the likelihood at the mode of the posterior.
        ``"em"``: as high as possible, which costs an integral for every tag of every object and removes more tags.
    domain : {"trunc", "full"}, default="trunc"
        Integrate over the allowed range of q (``"trunc"``), or over (0, 1) (``"full"``). Both give lower bounds of the
        evidence; ``"trunc"`` removes more tags.
    max_iter : int, default=20
        Maximum number of EM steps, each an E-step and an M-step.
    inner_iter : int, default=10
        Iterations of L-BFGS-B in an E-step (and in a joint M-step). With ``"map-em"`` they move in q and stop short of
        the mode of the posterior; with 1000 they reach it.
    m_step : {"exact", "joint"}, default="exact"
        Solve for each α_j separately (``"exact"``), or optimise all of them together as published (``"joint"``), which
        removes few tags in the same number of steps.
    initial_alpha : float, default=1.0
        Initial value of all α_j.
    max_alpha, removal_alpha : float, default=1000.0 and 900.0
        Greatest α_j, and the value from which α_j counts as infinite. A tag that has reached ``max_alpha`` stays there.
    q_min : float, default=0.1
        Lower limit of all q_j; the upper limit is 1 − ``q_min``.
    tol : float, default=1e-8
        Stop when the squared change of all α_j together is below this.
    monotone : bool, default=False
        With ``"map-em"``, move towards the mode only as far as the bound does not decrease. This keeps more tags.
    prune_at_once : bool, default=False
        Take a tag out of the objects as soon as it counts as removed, so that they have fewer tags; otherwise removed
        tags still count as tags of an object until the end. With this, fewer tags are kept, and large problems are
        several times as fast.
    binarize : float or None, default=None
        Values above this are tags. None: X must hold only zeros and ones.
    n_nodes : int, default=200
        Number of nodes of the quadrature.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; probabilities and weights refer to the second.
    target_type_ : {"binary"}
        Kind of the labels.
    q_ : ndarray of shape (n_features,)
        Probability of the second class for an object with this tag alone; exactly 0.5 for removed tags.
    alpha_ : ndarray of shape (n_features,)
        Precisions; infinite for removed tags.
    weights_ : ndarray of shape (n_features,)
        Log odds of ``q_``; 0 for removed tags.
    coef_ : ndarray or csr_matrix of shape (1, n_features)
        The weights in the form of linear models. Sparse after :meth:`sparsify`.
    intercept_ : ndarray of shape (1,)
        Always 0.
    relevant_ : bool ndarray of shape (n_features,)
        Which tags were kept.
    log_evidence_bound_ : float
        Final lower bound of the log evidence.
    log_evidence_bound_path_ : ndarray of shape (n_steps,)
        The bound after each step. It never falls with ``"em"`` or ``monotone`` (except with ``prune_at_once``, which
        changes the bound itself).
    n_relevant_path_ : int ndarray of shape (n_steps,)
        Number of tags left after each step.
    n_iter_ : int
        Number of steps taken.
    certificate_ : bayesift.linear.Certificate
        The objective is the negative bound. ``kkt_residual`` is the largest slope of the bound with respect to any
        ln(1 + α_j) that the range of α_j leaves room for, with η from the last E-step: 0 if no α_j could be better. The
        bound is not concave in α and η, so there is no dual. ``converged`` tells whether ``tol`` was reached, for which
        the default of 20 steps is often too few.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.ard import RelevanceTaggingMachine
    >>> love, hate, film = np.tile([1, 0], 40), np.tile([0, 1], 40), np.tile([1, 1, 0], 27)[:80]
    >>> machine = RelevanceTaggingMachine().fit(np.column_stack([love, hate, film]), love)
    >>> machine.get_feature_names_out(["love", "hate", "film"]).tolist()
    ['love', 'hate']
    >>> machine.q_
    array([0.9, 0.1, 0.5])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"map-em", "em"})],
        "domain": [StrOptions({"trunc", "full"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "inner_iter": [Interval(Integral, 1, None, closed="left")],
        "m_step": [StrOptions({"exact", "joint"})],
        "initial_alpha": [Interval(Real, 0, None, closed="left")],
        "max_alpha": [Interval(Real, 0, 1e6, closed="right")],
        "removal_alpha": [Interval(Real, 0, None, closed="neither")],
        "q_min": [Interval(Real, 0, 0.5, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "monotone": ["boolean"],
        "prune_at_once": ["boolean"],
        "binarize": [Interval(Real, None, None, closed="neither"), None],
        "n_nodes": [Interval(Integral, 10, None, closed="left")],
    }

    solver: Solver = "map-em"
    domain: Literal["trunc", "full"] = "trunc"
    _: KW_ONLY
    max_iter: int = 20
    inner_iter: int = 10
    m_step: MStep = "exact"
    initial_alpha: float = 1.0
    max_alpha: float = 1000.0
    removal_alpha: float = 900.0
    q_min: float = 0.1
    tol: float = 1e-8
    monotone: bool = False
    prune_at_once: bool = False
    binarize: float | None = None
    n_nodes: int = 200

    def _learn(self, X: Any, targets: FloatArray, weights: FloatArray) -> Attained:
        settings = self._settings()
        tags = read_tags(X, self.binarize)
        counted = weights > 0
        if np.unique(targets[counted]).size < 2:
            raise ValueError("sample_weight leaves fewer than two classes with a weight above 0; expected both classes")
        tags, signs, weights = tags[counted], targets[counted], weights[counted]
        seen = np.flatnonzero(np.bincount(tags.indices, minlength=tags.shape[1]))
        fit = learn(Tagging(tags, signs, weights).kept(seen), settings)
        self.alpha_, self.coef_ = np.full(tags.shape[1], np.inf), np.zeros((1, tags.shape[1]))
        self.alpha_[seen], self.coef_[0, seen] = fit.alpha, fit.w
        self.intercept_ = np.zeros(1)
        self.relevant_ = np.isfinite(self.alpha_)
        self.q_ = expit(self.coef_[0])
        self.log_evidence_bound_, self.log_evidence_bound_path_ = float(fit.bounds[-1]), fit.bounds
        self.n_relevant_path_ = fit.n_left
        self.n_iter_ = fit.bounds.size
        return Attained(self.log_evidence_bound_, fit.residual, self.n_iter_, fit.converged)

    def _score_documents(self, X: Any) -> FloatArray:
        return read_tags(self._checked(X)[:, self.relevant_], self.binarize) @ self.weights_[self.relevant_]

    @property
    def weights_(self) -> FloatArray:
        """Log odds of ``q_``; 0 for removed tags."""
        check_is_fitted(self)
        return self.coef_.toarray()[0] if sp.issparse(self.coef_) else self.coef_[0]

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.relevant_

    def _check_state(self, state: State) -> None:
        n = state.features()
        self._check_scores(state, n)
        state.array("relevant_", (n,), "b")
        for name in ("alpha_", "q_"):
            state.array(name, (n,))
        state.number("log_evidence_bound_")
        state.array("log_evidence_bound_path_", (None,))
        state.array("n_relevant_path_", (None,), "i")
        state.count("n_iter_")
        state.instance("certificate_", Certificate)

    def _settings(self) -> Settings:
        """Refuse impossible settings, and collect those that the algorithms need."""
        for name in ("initial_alpha", "removal_alpha"):
            if getattr(self, name) > self.max_alpha:
                raise ValueError(f"{name}={getattr(self, name)} must not exceed max_alpha={self.max_alpha}")
        limit = float(np.log1p(-self.q_min) - np.log(self.q_min))
        return Settings(
            solver=self.solver,
            max_iter=self.max_iter,
            inner_iter=self.inner_iter,
            m_step=self.m_step,
            initial_alpha=float(self.initial_alpha),
            max_alpha=float(self.max_alpha),
            removal_alpha=float(self.removal_alpha),
            limit=limit,
            tol=self.tol,
            monotone=self.monotone,
            prune_at_once=self.prune_at_once,
            quadrature=Quadrature.of(limit if self.domain == "trunc" else FULL_LIMIT, self.n_nodes),
        )
