"""What ``bmrtrain`` and ``bxrtrain`` do, as functions that return data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._typing import FloatArray, Int64Array
from bayesift.bbr._fitting import Design, VarianceChoice, compacted, design_of
from bayesift.bbr.data import Data
from bayesift.bbr.decisions import PolytomousDecisions, decide_between
from bayesift.bbr.polytomous_model import BMRHeader, ClassCoefficients, PolytomousModel
from bayesift.bbr.prior_files import IndividualPrior
from bayesift.bbr.priors import FAMILIES, FitPrior, effective, fit_prior, log_prior, moved_from_modes
from bayesift.linear import BayesianMultinomialRegression

#: The relative duality gap at which the solver stops.
TOLERANCE = 1e-10


@dataclass(frozen=True)
class PolytomousTraining:
    """The options of ``bmrtrain`` and ``bxrtrain``; see there.

    ``classes`` gives the order of classes, ``by_appearance`` that of features: by first occurrence, or ascending.
    """

    classes: tuple[str, ...]
    prior: int = 2
    variance: VarianceChoice = VarianceChoice()  # noqa: RUF009
    individual: tuple[IndividualPrior, ...] = ()
    sign: int = 0
    reference_class: str | None = None
    exclude_absent: bool = False
    cosine: bool = False
    standardize: bool = False
    epsilon: float = 0.001
    max_iter: int = 10000
    name: str = ""
    by_appearance: bool = False
    start: PolytomousModel | None = None


@dataclass(frozen=True, eq=False)
class PolytomousTrained:
    """A model, and how it was trained."""

    model: PolytomousModel
    decisions: PolytomousDecisions
    n_features: int
    n_fixed: int
    mean_square_norm: float | None
    variance: float
    passes: int
    log_prior: float
    n_moved: int


def train_polytomous(data: Data, training: PolytomousTraining) -> PolytomousTrained:
    """Train a classifier of several classes.

    Parameters
    ----------
    data : Data
        Every label must be one of ``training.classes``.
    training : PolytomousTraining

    Returns
    -------
    PolytomousTrained
    """
    if training.reference_class is not None and training.reference_class not in training.classes:
        classes = ", ".join(training.classes)
        raise ValueError(f"no document has the reference class {training.reference_class!r}; found {classes}")
    code_of = {name: code for code, name in enumerate(training.classes)}
    codes = np.array([code_of[label] for label in data.labels], dtype=np.int64)
    kept, X = compacted(data.X)
    names = [str(column + 1) if data.names is None else data.names[column] for column in kept.tolist()]
    design = design_of(X, cosine=training.cosine, standardize=training.standardize)
    norm = design.mean_square_norm() if training.variance.by_norm else None
    known = training.variance.known(norm, kept.size)
    priors = _priors(training, {name: column for column, name in enumerate(names)}, known)
    estimator, variance = _fitted(design, codes, priors, known, training, names)
    beta, intercepts = estimator.class_coef_, estimator.class_intercept_
    if priors[0].constant_column:
        beta, intercepts = beta[:, :-1], beta[:, -1]
    moved = sum(
        int(np.count_nonzero(moved_from_modes(prior, row, constant)))
        for prior, row, constant in zip(priors, beta, intercepts, strict=True)
    )
    coef, raw = design.raw(beta, intercepts)
    density = sum(
        log_prior(prior, variance, row, constant) for prior, row, constant in zip(priors, coef, raw, strict=True)
    )
    model = _model(training, names, _order(X, training, data.names), coef, raw, symbolic=data.names is not None)
    return PolytomousTrained(
        model=model,
        decisions=decide_between(data, model, by_name=training.by_appearance),
        n_features=kept.size,
        n_fixed=_n_fixed(X, codes, training),
        mean_square_norm=norm,
        variance=variance,
        passes=int(estimator.n_iter_[0]),
        log_prior=density,
        n_moved=moved,
    )


def _priors(training: PolytomousTraining, columns: dict[str, int], known: float | None) -> list[FitPrior]:
    """Make the prior of each class; the constant is a column for all classes if it must be one for any."""

    def make(constant_column: bool) -> list[FitPrior]:
        return [
            fit_prior(
                training.individual,
                FAMILIES[training.prior],
                columns,
                sign=training.sign,
                class_name=name,
                common_variance=known,
                constant_column=constant_column,
            )
            for name in training.classes
        ]

    priors = make(constant_column=False)
    return make(constant_column=True) if any(prior.constant_column for prior in priors) else priors


def _fitted(
    design: Design,
    codes: Int64Array,
    priors: list[FitPrior],
    known: float | None,
    training: PolytomousTraining,
    names: list[str],
) -> tuple[BayesianMultinomialRegression, float]:
    X = design.with_constant() if priors[0].constant_column else design.X
    reference = None if training.reference_class is None else training.classes.index(training.reference_class)
    shared: dict[str, Any] = {
        "prior": [prior.prior for prior in priors],
        "intercept_variance": priors[0].intercept_variance,
        "reference_class": reference,
        "exclude_absent": training.exclude_absent,
    }
    variance: Any = known
    if known is None:
        search = BayesianMultinomialRegression(**shared, **training.variance.searching()).fit(X, codes)
        variance = float(search.variance_[0])
    shared |= {"variance": variance, "tol": TOLERANCE, "max_iter": training.max_iter}
    if training.start is None:
        estimator = BayesianMultinomialRegression(**shared)
    else:
        coef, intercepts = _start(training, names, X.shape[1])
        estimator = BayesianMultinomialRegression.from_coefficients(
            coef, intercepts, classes=np.arange(intercepts.size), warm_start=True, **shared
        )
    return estimator.fit(X, codes), float(variance)


def _start(training: PolytomousTraining, names: list[str], width: int) -> tuple[FloatArray, FloatArray]:
    """Take the starting coefficients from a model file; classes and features that it lacks start at zero."""
    coef, intercept = np.zeros((len(training.classes), width)), np.zeros(len(training.classes))
    column_of = {name: column for column, name in enumerate(names)}
    for found in training.start.classes if training.start is not None else ():
        if found.class_name not in training.classes:
            continue
        row = training.classes.index(found.class_name)
        intercept[row] = found.intercept
        for feature, value in zip(found.features, found.coefficients, strict=True):
            if str(feature) in column_of:
                coef[row, column_of[str(feature)]] = value
    if width > len(names):
        coef[:, -1], intercept = intercept, np.zeros_like(intercept)
    return coef, intercept


def _order(X: sp.csr_matrix, training: PolytomousTraining, names: tuple[str, ...] | None) -> list[int]:
    """Return the order in which columns are listed; in a file with words they are already in order of appearance."""
    if not training.by_appearance or names is not None:
        return list(range(X.shape[1]))
    _, first = np.unique(X.indices, return_index=True)
    return np.argsort(first).tolist()


def _model(
    training: PolytomousTraining,
    names: list[str],
    order: list[int],
    coef: FloatArray,
    intercepts: FloatArray,
    symbolic: bool,
) -> PolytomousModel:
    """Make the model: non-zero coefficients, and the modes of features that never occurred."""
    classes = []
    for name, row, intercept in zip(training.classes, coef, intercepts, strict=True):
        listed: dict[Any, float] = {
            names[column] if symbolic else int(names[column]): float(row[column]) for column in order if row[column]
        }
        if name != training.reference_class:
            listed |= _modes_of_others(training.individual, name, set(names), symbolic)
        if not training.by_appearance:
            listed = dict(sorted(listed.items()))
        classes.append(ClassCoefficients(name, tuple(listed), tuple(listed.values()), float(intercept)))
    trained_on: tuple[int, ...] = ()
    if not symbolic:
        others = (feature for found in classes for feature in found.features)
        trained_on = tuple(sorted({*map(int, names), *map(int, others)}))
    header = BMRHeader(trained_on, trained_on, cosine_normalize=training.cosine, standardize=training.standardize)
    return PolytomousModel(tuple(classes), training.name, training.reference_class, symbolic, header)


def _modes_of_others(
    priors: tuple[IndividualPrior, ...], class_name: str, names: set[str], symbolic: bool
) -> dict[Any, float]:
    """Return the modes of a class's features that occur in no document."""
    found = effective(priors, class_name).values()
    absent = [prior for prior in found if not prior.is_constant and prior.mode and prior.feature not in names]
    return {prior.feature if symbolic else int(prior.feature): prior.mode for prior in absent}


def _n_fixed(X: sp.csr_matrix, codes: Int64Array, training: PolytomousTraining) -> int:
    """Count the coefficients that ``-z`` fixes at zero."""
    if not training.exclude_absent:
        return 0
    free = [code for code, name in enumerate(training.classes) if name != training.reference_class]
    return sum(X.shape[1] - np.unique(X[codes == code].indices).size for code in free)
