"""Sparse Bayesian logistic regression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from bayesift._typing import FloatArray
from bayesift.linear._binary import BINARY_CONSTRAINTS, LinearClassifier
from bayesift.linear._fit.problem import Problem, SolverName, SolverOptions
from bayesift.linear._losses import LOGISTIC


@dataclass(eq=False, repr=False)
class BayesianLogisticRegression(LinearClassifier):
    """Logistic regression at the posterior mode under Laplace or Gaussian priors, with a proof of optimality.

    Minimises, for each category,

        F(β) = Σ_i s_i ln(1 + exp(−y_i (β₀ + x_iᵀβ))) + Σ_j p_j(β_j − m_j),

    where p_j is λ_j abs(δ) for a Laplace and δ²/(2v_j) for a Gaussian prior. Laplace priors give sparse models (the
    lasso), Gaussian priors ridge models. A multi-label indicator matrix trains one classifier for each column in one
    call; with more than two classes, each is trained against the rest.

    Parameters
    ----------
    prior : {"laplace", "gaussian"}, Prior, or list or mapping of them, default="laplace"
        The prior of the coefficients. A list has one entry for each category, a mapping goes from category to prior
        (the other categories get a plain Laplace prior). A prior with a variance of its own is used as it is; one
        whose variance is open gets the ``variance`` below.
    variance : float or {"cv", "shared", "norm", "auto", "evidence"}, default="cv"
        Prior variance: a number; ``"norm"``, (d + 1) / (mean squared norm of a document); ``"cv"``, the best of
        ``grid`` by cross-validation; ``"shared"``, one value for all categories, for categories with few documents;
        ``"auto"``, the best found by a search without a grid, starting from 1 / (mean squared norm);
        ``"evidence"``, for Gaussian priors, the value under which the labels are most probable, without folds.
    intercept_variance : float or "same", default=inf
        Prior variance of the intercept; infinite is unpenalised, ``"same"`` is like any other coefficient.
    dense_features : int, default=0
        How many of the last columns are dense features, such as document vectors or numbers beside the text. They get
        Gaussian priors with a variance of their own; ``prior`` and ``variance`` apply to the other columns.
    dense_variance : float or "cv", default="cv"
        Prior variance of the dense features; ``"cv"`` chooses one for all categories by cross-validation, together
        with ``variance`` if that is to be chosen. If ``threshold`` is tuned, or with ``calibration``, held-out scores
        are judged on the line that suits them best. With ``variance="evidence"`` the evidence chooses both variances,
        for each category.
    solver : {"newton", "clg"}, default="newton"
        ``"newton"``: proximal Newton on working sets, stopped by the duality gap. ``"clg"``: the cyclic coordinate
        descent of Genkin, Lewis & Madigan (2007), exactly as published.
    tol : float or None, default=None
        ``"newton"`` stops when the duality gap is at most this share of the objective (1e-6 by default; fits that only
        serve to choose a variance from a grid stop at 0.001 already), ``"clg"`` when the scores change by at most this
        share in a pass (0.0005 by default).
    max_iter : int, default=1000
        Maximum number of rounds; reaching it warns.
    grid : sequence of float or None, default=None
        Variances to try with ``"cv"``; None is the paper's grid (Laplace rates 0.01 to 316 by √10, Gaussian variances
        10⁻⁴ to 10⁴ by 10) and, with at least 1,000 different documents, one between the best and its better neighbour.
    folds, runs : int, default=10 and 2
        Number of folds, and how many of them are left out in turn. Copies of a document are in the same fold, where
        they count as at most three documents. With more than 30,000 different documents the search for a variance
        (other than ``"shared"``, and without dense features) learns from a random sample, with at least 3,000 of each
        class, and is judged by all others.
    one_standard_error : bool, default=False
        With ``"cv"``, take the smallest variance within one standard error of the best.
    posterior : {"auto", "laplace", "ep", "gibbs"} or None, default=None
        Keep the posterior itself, computed by Laplace's method, expectation propagation or Gibbs sampling (see
        :func:`bayesift.posterior.find_posterior`): probabilities are then averaged over it, and
        :meth:`predict_interval` says how certain they are. ``coef_`` remains the mode.
    threshold : str, Utility or mapping, default="half"
        Policy of :class:`bayesift.decide.Threshold` for ``predict``.
    threshold_on : {"cv", "train"}, default="cv"
        The scores on which a threshold is tuned: ``"cv"``, those by models fitted without the document's fold, which
        costs ``folds`` more fits; ``"train"``, those by the model itself, which has seen the document (also used if a
        class has fewer than two documents).
    calibration : {"sigmoid"} or None, default=None
        ``"sigmoid"`` maps the scores by the line of Platt (1999), a·s + b with a > 0, that fits the labels of held-out
        documents best; see ``calibration_``. Classes that exclude each other share one line, so that decisions stay
        the same. It costs up to ``folds`` more fits, or none if a threshold is tuned on the same scores. It cannot be
        combined with ``posterior``.
    class_weight : {"balanced"}, dict or None, default=None
        Weights of the classes; of 0 and 1 for an indicator matrix.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    compute_precision : bool, default=False
        Also compute ``precision_``, so that this posterior can serve as a later prior.
    n_jobs : int or None, default=-1
        Number of threads, which share the categories; -1 uses all cores.
    random_state : int, RandomState or None, default=0
        Seeds the division of the documents into folds.

    Attributes
    ----------
    classes_ : ndarray
        The labels; column numbers for an indicator matrix.
    target_type_ : {"binary", "multiclass", "multilabel-indicator"}
        What the labels were.
    coef_ : ndarray or csr_matrix of shape (n_categories, n_features)
        Coefficients; one row for two classes. Sparse after :meth:`sparsify`.
    intercept_ : ndarray of shape (n_categories,)
    n_nonzero_ : ndarray of shape (n_categories,)
        Number of coefficients that are not zero.
    variance_ : ndarray of shape (n_categories,)
        The variance used (NaN if the prior has its own).
    dense_variance_ : ndarray of shape (n_categories,)
        The variance used for dense features; 0 if there are none, or if they do not help.
    certificate_ : Certificate
        Objective, duality gap, KKT residual, rounds and seconds of each category.
    cv_results_ : list of (dict or None)
        For each category, ``variances``, ``scores`` (held-out log likelihood summed over the runs), ``fold_scores``
        and the ``variance`` chosen; None without cross-validation.
    posteriors_ : list of (bayesift.posterior.Posterior or None)
        With ``posterior``, the posterior of each category; None if only one class has documents.
    log_evidence_ : ndarray of shape (n_categories,)
        With ``posterior``, ln p(y): the log probability of the labels with the coefficients integrated out. NaN if
        they were sampled.
    calibration_ : ndarray of shape (n_categories, 2)
        With ``calibration``, slope and intercept of the calibrated score as a function of β₀ + xᵀβ. Scores,
        probabilities, thresholds and :meth:`word_weights` are calibrated; ``coef_`` and ``intercept_`` stay at the
        mode. 1 and 0 for a category with fewer than two documents of a class.
    threshold_ : Threshold
        The fitted decision rule, on the scale of ``decision_function``.
    precision_ : ndarray of shape (n_categories, n_features + 1)
        Diagonal of the negative Hessian of the log posterior, the intercept last; with ``compute_precision``. Its
        inverse is the variance of a coefficient *given all others*, which is smaller than its posterior variance: for
        intervals and standard deviations use ``posterior`` (or :mod:`bayesift.posterior`).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.linear import BayesianLogisticRegression
    >>> X = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> model = BayesianLogisticRegression(variance=4.0).fit(X, ["wheat", "wheat", "sea", "sea"])
    >>> model.predict(X).tolist()
    ['wheat', 'wheat', 'sea', 'sea']
    >>> model.n_nonzero_
    array([1])
    >>> bool(model.certificate_.relative_gap[0] < 1e-6)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BINARY_CONSTRAINTS,
        "solver": [StrOptions({"newton", "clg"})],
        "compute_precision": ["boolean"],
    }
    _link: ClassVar[int] = LOGISTIC

    _: KW_ONLY
    solver: SolverName = "newton"
    compute_precision: bool = False

    def _solver_options(self) -> SolverOptions:
        return SolverOptions(self.solver, self.tol, self.max_iter)

    def _posterior(self) -> Callable[[Problem, FloatArray], FloatArray] | None:
        return Problem.precision if self.compute_precision else None
