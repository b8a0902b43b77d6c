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
    """Logistic regression at the posterior mode under Laplace or Gaussian priors, with proof of optimality.

    Minimises, for each category,

        F(β) = Σ_i s_i ln(1 + exp(−y_i (β₀ + x_iᵀβ))) + Σ_j p_j(β_j − m_j),

    where p_j is λ_j abs(δ) for a Laplace and δ²/(2v_j) for a Gaussian prior. Laplace priors give sparse models (the
    lasso), Gaussian ones ridge models. A multi-label indicator matrix trains one classifier for each column in one
    call; more than two classes are trained one against the rest.

    Parameters
    ----------
    prior : {"laplace", "gaussian"}, Prior, or list or mapping of them, default="laplace"
        The prior of the coefficients. A list has one entry for each category, a mapping goes from category to prior
        (the other categories get a plain Laplace prior). A prior with a variance of its own is used as it stands; one
        whose variance is open gets the ``variance`` below.
    variance : float or {"cv", "shared", "norm", "auto", "evidence"}, default="cv"
        Prior variance: a number; ``"norm"``, (d + 1) / (mean squared norm of a document); ``"cv"``, the best of
        ``grid`` by cross-validation; ``"shared"``, the best for all categories together, where each has few documents;
        ``"auto"``, the best without a grid, from 1 / (mean squared norm) on;
        ``"evidence"``, for Gaussian priors, that under which the labels are most probable, without folds.
    intercept_variance : float or "same", default=inf
        Prior variance of the intercept; infinite is unpenalised, ``"same"`` is like any other coefficient.
    dense_features : int, default=0
        How many of the last columns are dense features, such as vectors of documents or numbers beside the text: they
        get Gaussian priors with a variance of their own, and ``prior`` and ``variance`` are those of the others.
    dense_variance : float or "cv", default="cv"
        Prior variance of the dense features; ``"cv"`` chooses it by cross-validation, together with ``variance`` if
        that is to be chosen, the same for all categories; where ``threshold`` is tuned, or with ``calibration``, by
        scores on the line that suits them best. With ``variance="evidence"`` the evidence chooses both, for each.
    solver : {"newton", "clg"}, default="newton"
        ``"newton"``: proximal Newton on working sets, stopped by the duality gap. ``"clg"``: the cyclic coordinate
        descent of Genkin, Lewis & Madigan (2007), exactly as published.
    tol : float or None, default=None
        ``"newton"`` stops when the duality gap is at most this share of the objective (1e-6 by default; fits that only
        serve to choose a variance of a grid stop at 0.001 already), ``"clg"`` when the scores change by at most this
        share in a pass (0.0005 by default).
    max_iter : int, default=1000
        Limit of rounds; reaching it warns.
    grid : sequence of float or None, default=None
        Variances to try with ``"cv"``; None is the paper's grid (Laplace rates 0.01 to 316 by √10, Gaussian variances
        10⁻⁴ to 10⁴ by 10) and, from 1,000 different documents on, one between the best and its better neighbour.
    folds, runs : int, default=10 and 2
        Folds the documents are divided into, and how many of them are left out in turn. Copies of a document are in one
        fold, and count there for three documents at most. Of more than 30,000 different documents the search for a
        variance learns from a random part, with at least 3,000 of each class, and is judged by all others.
    one_standard_error : bool, default=False
        With ``"cv"``, take the smallest variance within one standard error of the best.
    posterior : {"auto", "laplace", "ep", "gibbs"} or None, default=None
        Keep the posterior itself, computed by Laplace's method, expectation propagation or Gibbs sampling (see
        :func:`bayesift.posterior.find_posterior`): probabilities are then averaged over it, and
        :meth:`predict_interval` says how sure they are. ``coef_`` stays its mode.
    threshold : str, Utility or mapping, default="half"
        Policy of :class:`bayesift.decide.Threshold` for ``predict``.
    threshold_on : {"cv", "train"}, default="cv"
        Whether a threshold is tuned on scores by models fitted without the fold of a document, which costs ``folds``
        more fits, or by the model itself, which has seen it (so it is where a class has fewer than two documents).
    calibration : {"sigmoid"} or None, default=None
        ``"sigmoid"`` puts the scores on the line of Platt (1999), a·s + b with a > 0, under which those of documents
        held out fit their labels best; see ``calibration_``. Classes that exclude each other have one line in common,
        so that decisions stay the same. It costs up to ``folds`` more fits, or none where a threshold is tuned on the
        same scores. Not together with ``posterior``.
    class_weight : {"balanced"}, dict or None, default=None
        Weights of the classes; for indicator matrices of 0 and 1.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    compute_precision : bool, default=False
        Also compute ``precision_``, which makes this posterior usable as a later prior.
    n_jobs : int or None, default=-1
        Threads, over categories; -1 is all cores.
    random_state : int, RandomState or None, default=0
        Divides the documents into folds.

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
        Coefficients that are not zero.
    variance_ : ndarray of shape (n_categories,)
        The variance used (NaN where the prior brought its own).
    dense_variance_ : ndarray of shape (n_categories,)
        The variance used for dense features; 0 where there are none, or where they are of no use.
    certificate_ : Certificate
        Objective, duality gap, KKT residual, rounds and seconds of each category.
    cv_results_ : list of (dict or None)
        For each category, ``variances``, ``scores`` (held-out log likelihood summed over the runs), ``fold_scores``
        and the ``variance`` chosen; None where nothing was validated.
    posteriors_ : list of (bayesift.posterior.Posterior or None)
        The posterior of each category, with ``posterior``; None where only one class has documents.
    log_evidence_ : ndarray of shape (n_categories,)
        With ``posterior``, ln p(y): the log probability of the labels with the coefficients integrated out. NaN where
        they were sampled.
    calibration_ : ndarray of shape (n_categories, 2)
        With ``calibration``, slope and intercept of the calibrated score in β₀ + xᵀβ: scores, probabilities, thresholds
        and :meth:`word_weights` are calibrated, ``coef_`` and ``intercept_`` stay at the mode. 1 and 0 for a category
        with fewer than two documents of a class.
    threshold_ : Threshold
        The fitted decision rule, on the scale of ``decision_function``.
    precision_ : ndarray of shape (n_categories, n_features + 1)
        Diagonal of the negative Hessian of the log posterior, the intercept last; with ``compute_precision``. One over
        it is the variance of a coefficient *given all others*, which is smaller than its posterior variance: for
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
