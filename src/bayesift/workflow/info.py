"""What a model file contains: the classifier, its prior and how that was chosen, its certificate and its origin."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bayesift.datasets import Split
from bayesift.formats import ModelFileError, describe, load
from bayesift.priors import Prior
from bayesift.workflow._models import MODELS
from bayesift.workflow.errors import counted
from bayesift.workflow.explain import nonzero_words
from bayesift.workflow.model_comparison import ModelComparison
from bayesift.workflow.text_classifier import TextClassifier
from bayesift.workflow.words_and_vectors import linear_part


@dataclass(frozen=True)
class ModelInfo:
    """A summary of a fitted classifier.

    Parameters
    ----------
    model : str
        Its name, or that of its class.
    about : str
        What the model is, in a line.
    target_type : {"binary", "multiclass", "multilabel-indicator"}
        Whether texts have one label or several.
    labels : list of str
    n_texts : int
        Number of texts that it learned from.
    fingerprint : str
        A hash of those texts and labels.
    weighting : str
        How word counts are weighted.
    n_terms : int
        Number of words that it knows.
    n_kept : int or None
        Number of words with a weight; None for models without word weights.
    prior : str or None
        Family of the prior, or what was given.
    variance : dict of str to float, float or None
        Prior variance of every label, or one for all of them.
    variance_by : str or None
        How the variance was chosen.
    thresholds : dict of str to float or None
        Score from which each label is given.
    policy : str
        How the thresholds were chosen.
    gap : float or None
        Largest relative duality gap of a fit: how far an objective can be from its optimum, at most, as a share.
    residual : float or None
        Largest KKT residual, or slope, of a fit.
    converged : bool or None
        Whether all fits converged.
    comparison : ModelComparison or None
        The models that were compared, and why this one was chosen; None if the model was given.
    vector_rank : int
        Length of the vectors of words; 0 without them.
    vector_variance : float or None
        Prior variance of the coefficients of vectors.
    features : list of str
        The columns beside the texts, and what each of them holds.
    feature_variance : float or None
        Prior variance of the coefficients of numbers and categories; 0 if they are left out because they do not help.
    posterior : str or None
        How the posterior was computed that probabilities are averaged over; None if they are those at its mode.
    calibration : dict of str to (slope, intercept), or None
        The line that held-out texts have put the scores of each label on; None if scores are not calibrated.
    """

    model: str
    about: str
    target_type: str
    labels: list[str]
    n_texts: int
    fingerprint: str
    weighting: str
    n_terms: int
    n_kept: int | None
    prior: str | None
    variance: dict[str, float] | float | None
    variance_by: str | None
    thresholds: dict[str, float]
    policy: str
    gap: float | None
    residual: float | None
    converged: bool | None
    comparison: ModelComparison | None = None
    vector_rank: int = 0
    vector_variance: float | None = None
    features: list[str] = field(default_factory=list)
    feature_variance: float | None = None
    posterior: str | None = None
    calibration: dict[str, tuple[float, float]] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON can hold."""
        return {**vars(self), "comparison": None if self.comparison is None else self.comparison.as_dict()}

    def lines(self, seconds: float | None = None) -> list[tuple[str, str]]:
        """Return names and values for a table, including the time of the fit if it is given."""
        lines = []
        if self.comparison is not None:
            lines.append(("chosen", self.comparison.reason))
        if self.n_kept is None or self.n_kept == self.n_terms:
            lines.append(("words", f"{self.n_terms:,}"))
        else:
            lines.append(("words kept", f"{self.n_kept:,} of {self.n_terms:,}"))
        if self.vector_rank:
            lines.append(("vectors", f"of length {self.vector_rank}, prior variance {self.vector_variance:.3g}"))
        if self.features:
            variance = self.feature_variance
            used = (
                []
                if variance is None
                else [f"prior variance {variance:.3g}" if variance else "left out, as they did not help"]
            )
            lines.append(("features", "; ".join([*self.features, *used])))
        if self.prior is not None:
            lines.append(("prior", f"{self.prior}{self._variance()}"))
        if self.posterior is not None:
            lines.append(("posterior", f"probabilities are averaged over it ({self.posterior})"))
        if self.calibration is not None:
            slopes, intercepts = (list(values) for values in zip(*self.calibration.values(), strict=True))
            lines.append(
                ("calibration", f"scores times {_range(slopes)} plus {_range(intercepts)}, from held-out texts (Platt)")
            )
        if self.gap is not None:
            lines.append(("proof", f"no fit can be better by more than {self.gap:.0e} of its objective (duality gap)"))
        elif self.residual is not None:
            lines.append(("proof", f"no slope is steeper than {self.residual:.0e} at the optimum"))
        if self.policy != "half":
            lines.append(("thresholds", f"{self.policy}: {_range(list(self.thresholds.values()))} on the score"))
        if seconds is not None:
            lines.append(("time", f"{seconds:.1f} s"))
        return lines

    def _variance(self) -> str:
        if self.variance is None:
            return ""
        values = list(self.variance.values()) if isinstance(self.variance, dict) else [self.variance]
        how = "" if self.variance_by in (None, "given") else f" by {self.variance_by}"
        return f", variance {_range(values)}{how}"


def model_info(classifier: TextClassifier) -> ModelInfo:
    """Return the :class:`ModelInfo` of a fitted classifier.

    Examples
    --------
    >>> from bayesift.workflow import TextClassifier, model_info
    >>> texts, labels = ["wheat", "corn", "sea", "ship"] * 3, ["farm", "farm", "sea", "sea"] * 3
    >>> found = model_info(TextClassifier("lasso", variance=1.0).fit(texts, labels))
    >>> found.model, found.n_terms, found.prior, found.variance_by
    ('lasso', 4, 'Laplace', 'given')
    """
    model = linear_part(classifier.model_)
    weights = classifier.model_.word_weights()
    certificate = getattr(model, "certificate_", None)
    columns = classifier.features_
    n_terms, n_dense = len(classifier.words()), 0 if columns is None else columns.n_dense
    rank = getattr(model, "dense_features", 0) if columns is None else 0
    gap = None if certificate is None else float(np.max(certificate.relative_gap))
    name = classifier.model_name_
    labels = [str(label) for label in classifier.classes_]
    return ModelInfo(
        model=name,
        about=MODELS[name].about if name in MODELS else type(model).__name__,
        target_type=classifier.target_type_,
        labels=labels,
        n_texts=classifier.training_["n_texts"],
        fingerprint=classifier.training_["fingerprint"],
        weighting=classifier.vectorizer_.weighting,
        n_terms=n_terms - n_dense,
        n_kept=None if weights is None else nonzero_words(weights[:, : n_terms - n_dense]),
        prior=_prior(classifier),
        variance=_variance(model, labels),
        variance_by=_variance_by(classifier),
        thresholds=_thresholds(classifier, labels),
        policy=str(classifier.threshold_.policy),
        gap=gap if gap is not None and np.isfinite(gap) else None,
        residual=None if certificate is None else float(np.max(certificate.kkt_residual)),
        converged=None if certificate is None else bool(np.all(certificate.converged)),
        comparison=classifier.comparison(),
        vector_rank=rank,
        vector_variance=classifier.chosen_vector_variance() if rank else None,
        features=[] if columns is None else columns.about(),
        feature_variance=classifier.chosen_feature_variance() if n_dense else None,
        posterior=model.posterior if hasattr(model, "posteriors_") else None,
        calibration=_calibration(model, labels),
    )


def load_classifier(path: str | os.PathLike[str]) -> tuple[TextClassifier, dict[str, Any]]:
    """Read a classifier and its provenance.

    Parameters
    ----------
    path : path
        A model file with a :class:`TextClassifier`.

    Returns
    -------
    classifier : TextClassifier
    provenance : dict
    """
    found = load(path)
    if not isinstance(found, TextClassifier):
        raise ModelFileError(
            f"{path} holds a {type(found).__name__}, which does not take texts; expected a TextClassifier, such as "
            f"'bayesift train' writes"
        )
    return found, describe(path).provenance


def provenance_of(data: Split, label_separator: str | None = None) -> dict[str, Any]:
    """Return where texts come from, to keep it with the model that learned from them.

    Parameters
    ----------
    data : Split
        As read from a file.
    label_separator : str, optional
        The separator of several labels in a cell.

    Returns
    -------
    dict
        Name of the file (not of its folder), columns and separator.
    """
    origin = data.origin
    if origin is None:
        return {}
    return {
        "data": origin.path.name,
        "text": list(origin.text) if isinstance(origin.text, tuple) else origin.text,
        "labels": origin.labels,
        "label_separator": label_separator,
    }


def _prior(classifier: TextClassifier) -> str | None:
    model = linear_part(classifier.model_)
    prior = getattr(model, "prior", None)
    if isinstance(prior, list | tuple) and prior:
        prior = prior[0]
    family = type(prior).__name__ if isinstance(prior, Prior) else str(prior).capitalize()
    if prior is None or not hasattr(model, "variance_"):
        return None
    told = sorted(map(str, classifier.prior_knowledge or {}))
    return f"{family}, with prior knowledge of {', '.join(told)}" if told else family


def _variance(model: Any, labels: list[str]) -> dict[str, float] | float | None:
    used = getattr(model, "variance_", None)
    if used is None or not np.any(np.isfinite(used)):
        return None
    if hasattr(model, "class_coef_"):
        # One for all classes.
        return float(used[0])
    return {label: float(v) for label, v in zip(labels[-len(used) :], used, strict=True) if np.isfinite(v)}


def _variance_by(classifier: TextClassifier) -> str | None:
    model = linear_part(classifier.model_)
    if _variance(model, [str(label) for label in classifier.classes_]) is None:
        return None
    by_norm = "the norm of the texts"
    searched = {
        "cv": "cross-validation",
        "shared": "cross-validation of all labels together",
        "auto": "a search without a grid",
    }
    wanted = getattr(model, "variance", None)
    if wanted in searched:
        # Where a label has too few texts, nothing was searched.
        chosen = [curve for curve, used in zip(model.cv_results_, model.variance_, strict=True) if np.isfinite(used)]
        fell_back = sum(curve is None for curve in chosen)
        if fell_back == len(chosen):
            return by_norm
        rest = f", for {fell_back} of {counted(len(chosen), 'label')} by {by_norm}" if fell_back else ""
        return searched[wanted] + rest
    return {"norm": by_norm, "evidence": "the evidence"}.get(wanted, "given") if isinstance(wanted, str) else "given"


def _calibration(model: Any, labels: list[str]) -> dict[str, tuple[float, float]] | None:
    found = getattr(model, "calibration_", None)
    if found is None:
        return None
    pairs = zip(labels[-len(found) :], found.tolist(), strict=True)
    return {label: (slope, intercept) for label, (slope, intercept) in pairs}


def _range(values: list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def _thresholds(classifier: TextClassifier, labels: list[str]) -> dict[str, float]:
    values = classifier.threshold_.thresholds_.tolist()
    return dict(zip(labels[-len(values) :], values, strict=True))
