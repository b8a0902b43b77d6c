"""Learn from more texts: yesterday's posterior is today's prior."""

from __future__ import annotations

import hashlib
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from bayesift._labels import TargetType
from bayesift._typing import AnyArray, FloatArray
from bayesift.priors import GAUSSIAN, LAPLACE, Gaussian, Jeffreys, Laplace, Prior, PriorArrays, from_model
from bayesift.workflow._label_sets import (
    N_FOLDS,
    assign_folds,
    fingerprint,
    indicator,
    label_sets,
    rows_of,
    without_unlabelled,
)
from bayesift.workflow.errors import NoPosteriorError
from bayesift.workflow.text_classifier import TextClassifier
from bayesift.workflow.words_and_vectors import WordsAndVectors, linear_part

#: Weight of the empty text that is added for a class without texts today; a text of weight 0 would not count.
_NEXT_TO_NOTHING = 1e-9

#: A threshold is tuned again if at least this many new texts have the label, and as many do not.
ENOUGH = 10

_FAMILIES: dict[str, type[Prior]] = {"gaussian": Gaussian, "laplace": Laplace, "jeffreys": Jeffreys}


class SparsePosterior(Laplace):
    """Gaussian around what was learned, Laplace around zero.

    A coefficient that is not zero has a bell-shaped posterior, and each new text moves it a little. One that is zero
    stays zero until there is enough evidence, as under the earlier prior.
    """

    def _arrays(self, variance: FloatArray, mode: FloatArray, sign: FloatArray) -> PriorArrays:
        found = super()._arrays(variance, mode, sign)
        learned = (mode != 0) & (found.kind == LAPLACE)
        kind = np.where(learned, GAUSSIAN, found.kind).astype(np.int8)
        weight = np.where(learned, 1.0 / np.where(learned, variance, 1.0), found.weight)
        return PriorArrays(kind, weight, found.mode, found.sign)


def update(
    classifier: TextClassifier, texts: Iterable[str], y: Iterable[Any], *, strength: float = 1.0, new_words: bool = True
) -> TextClassifier:
    """Return a classifier that has also learned from new texts; the earlier texts are not needed.

    Linear models take the earlier posterior as their prior: its modes are the coefficients, and its variances come from
    the curvature there. Calibrated scores stay on their line. Naive Bayes and online models continue learning. Tuned
    thresholds are tuned again for labels with at least ten new texts, on scores from classifiers that learned only from
    the other new texts.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted; a linear model must have kept its posterior.
    texts : iterable of str
        The new texts.
    y : iterable of labels or sets of labels
        Their labels, which the classifier must know. Texts without a label are left out, unless the classifier itself
        may give a text none.
    strength : float, default=1
        How much the earlier posterior of a linear model counts: 1 as if its texts were still there, ½ as if half were.
    new_words : bool, default=True
        Add words that occur in at least two of the new texts, if the model can take new words (linear models and the
        perceptron, without a selector).

    Returns
    -------
    TextClassifier
        A new classifier.

    Examples
    --------
    >>> from bayesift.workflow import TextClassifier, update
    >>> texts, labels = ["wheat", "corn", "sea", "ship"] * 3, ["farm", "farm", "sea", "sea"] * 3
    >>> yesterday = TextClassifier("ridge", variance=1.0).fit(texts, labels)
    >>> today = update(yesterday, ["tractor", "tractor", "boat"], ["farm", "farm", "sea"])
    >>> today.predict(["a tractor"]).tolist(), today.training_["n_texts"]
    (['farm'], 15)
    """
    documents, sets = rows_of(texts, classifier.features), label_sets(y)
    if len(documents) != len(sets) or not documents:
        raise ValueError(f"texts and y must have the same length above 0, found {len(documents)} and {len(sets)}")
    if classifier.target_type_ != "multilabel-indicator":
        documents, sets = without_unlabelled(documents, sets)
    _check(classifier, sets)
    today = _learned(classifier, documents, sets, strength, new_words)
    if classifier.threshold_.policy != "half":
        _tune_again(today, _held_out_scores(classifier, documents, sets, strength, new_words), sets)
    return today


def _learned(
    classifier: TextClassifier,
    documents: list[str],
    sets: Sequence[tuple[Any, ...]],
    strength: float,
    new_words: bool,
) -> TextClassifier:
    """Return a classifier that has learned from new texts, with the thresholds of the earlier one."""
    today = deepcopy(classifier)
    words = _names(today)
    linear = linear_part(today.model_)
    can_grow = _has_posterior(linear) or hasattr(linear, "add_features")
    if new_words and can_grow and today.selector_ is None:
        _grow(today.vectorizer_, documents)
    X = today.matrix(documents)
    targets = _targets(today.classes_.tolist(), today.target_type_, sets)
    if _has_posterior(linear):
        thresholds = today.threshold_
        features = _names(today)
        if isinstance(today.model_, WordsAndVectors):
            # No word begins with this letter.
            directions = [f"\0{k}" for k in range(linear.dense_features)]
            words, features = [*words, *directions], [*features, *directions]
            today.model_.grow(X.shape[1])
            X = today.model_.joined(X)
        updated = _go_on(linear, _whole_precision(classifier), X, targets, words, features, strength)
        if isinstance(today.model_, WordsAndVectors):
            today.model_.model_ = updated
        else:
            today.model_ = updated
        today.threshold_ = thresholds
        if hasattr(updated, "threshold_"):
            updated.threshold_ = thresholds
    else:
        if X.shape[1] > len(words):
            today.model_.add_features(X.shape[1] - len(words))
        today.model_.partial_fit(X, targets)
        today.classes_ = today.classes_ if today.target_type_ == "multilabel-indicator" else today.model_.classes_
    today.training_ = _training(classifier, documents, sets)
    return today


def _held_out_scores(
    classifier: TextClassifier,
    documents: list[str],
    sets: Sequence[tuple[Any, ...]],
    strength: float,
    new_words: bool,
) -> FloatArray:
    """Score every new text by a classifier that learned from the other folds of new texts, texts × categories."""
    fold = assign_folds(documents, sets, N_FOLDS)
    scores = np.empty((len(documents), len(classifier.threshold_.thresholds_)))
    for turn in np.unique(fold).tolist():
        out, rest = np.flatnonzero(fold == turn).tolist(), np.flatnonzero(fold != turn).tolist()
        part = classifier
        if rest:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                texts, labels = [documents[i] for i in rest], [sets[i] for i in rest]
                part = _learned(classifier, texts, labels, strength, new_words)
        scores[out] = part.decision_function([documents[i] for i in out]).reshape(len(out), -1)
    return scores


def _tune_again(classifier: TextClassifier, scores: FloatArray, sets: Sequence[tuple[Any, ...]]) -> None:
    """Tune the thresholds of labels with enough texts."""
    threshold = classifier.threshold_
    truth = indicator(sets, classifier.classes_.tolist()).toarray()[:, -scores.shape[1] :] > 0
    enough = np.minimum(truth.sum(axis=0), (~truth).sum(axis=0)) >= ENOUGH
    if not enough.any():
        return
    tuned = clone(threshold).fit(scores[:, enough], truth[:, enough].astype(np.int64))
    threshold.thresholds_ = threshold.thresholds_.copy()
    threshold.thresholds_[enough] = tuned.thresholds_


def _check(classifier: TextClassifier, sets: Sequence[tuple[Any, ...]]) -> None:
    """Refuse models that cannot learn from new texts, and labels that they do not know."""
    model = linear_part(classifier.model_)
    if _has_posterior(model):
        if Jeffreys in _prior_families(model):
            raise ValueError(
                "a model with Jeffreys priors cannot be updated: its posterior cannot be approximated by a Gaussian"
            )
    elif "compute_precision" in model.get_params():
        raise NoPosteriorError("the model has no posterior to start from; train it with keep_posterior=True")
    elif not hasattr(model, "partial_fit"):
        raise ValueError(f"model {classifier.model_name_!r} cannot be updated; train again on all texts")
    known = classifier.classes_.tolist()
    odd = Counter(label for found in sets for label in found if label not in known)
    if odd:
        listed = ", ".join(map(repr, known))
        raise ValueError(
            f"label {next(iter(odd))!r} is new to the model, which knows {listed}; train again on all texts"
        )
    if classifier.target_type_ != "multilabel-indicator" and any(len(found) != 1 for found in sets):
        raise ValueError(
            "there are texts with several labels or none; expected exactly one label for each text, as the model gives"
        )


def _targets(classes: list[Any], target_type: TargetType, sets: Sequence[tuple[Any, ...]]) -> Any:
    return indicator(sets, classes) if target_type == "multilabel-indicator" else np.array([found[0] for found in sets])


def _grow(vectorizer: Any, documents: list[str]) -> None:
    """Continue counting in how many texts each word occurs, and add words that occur in two of these."""
    found = clone(vectorizer).set_params(min_df=1, max_df=1.0, max_features=None, vocabulary=None).fit(documents)
    vocabulary = dict(vectorizer.vocabulary_)
    counts = found.document_frequency_
    fresh = [word for word, column in found.vocabulary_.items() if word not in vocabulary and counts[column] > 1]
    vocabulary.update(zip(sorted(fresh), range(len(vocabulary), len(vocabulary) + len(fresh)), strict=True))
    frequency: AnyArray = np.zeros(len(vocabulary), dtype=np.int64)
    frequency[: vectorizer.document_frequency_.size] = vectorizer.document_frequency_
    for word, column in found.vocabulary_.items():
        if word in vocabulary:
            frequency[vocabulary[word]] += counts[column]
    vectorizer.vocabulary_ = vocabulary
    vectorizer.document_frequency_ = frequency
    vectorizer.n_documents_ += found.n_documents_


def _go_on(
    model: Any, precision: FloatArray, X: Any, targets: Any, before: list[str], words: list[str], strength: float
) -> Any:
    """Fit a linear model with the posterior of an earlier one as prior."""
    sparse = not _is_gaussian(model)
    priors: list[Prior] = [
        from_model(
            model,
            strength=strength,
            precision=precision,
            category=row,
            feature_names=before,
            new_variance=_new_variance(model, row),
            family=SparsePosterior if sparse else Gaussian,
        )
        for row in range(precision.shape[0])
    ]
    # The posterior so far is the prior of all columns, including dense ones.
    again = clone(model).set_params(prior=priors, dense_features=0, calibration=None)
    X, targets, weights = _with_all_classes(X, targets, model.classes_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again.fit(X, targets, sample_weight=weights, feature_names=words)
    if sparse and not model.precision_includes_laplace:
        # A Laplace prior has no curvature, so what was known about words without a weight has to be added.
        old = getattr(model, "class_coef_", model.coef_)
        old = old.toarray() if sp.issparse(old) else old
        place = {word: column for column, word in enumerate(words)}
        again.precision_[:, [place[word] for word in before]] += np.where(old == 0, strength * precision[:, :-1], 0.0)
    again.set_params(
        prior="laplace" if sparse else "gaussian",
        variance=model.variance,
        dense_features=model.dense_features,
        calibration=model.calibration,
    )
    if hasattr(model, "calibration_"):
        again.calibration_ = model.calibration_
    # The fit itself had no variance to choose; words to come get the variance chosen before.
    again.variance_ = model.variance_
    again.cv_results_ = model.cv_results_
    if hasattr(model, "dense_variance_"):
        again.dense_variance_ = model.dense_variance_
    if not sp.issparse(again.coef_) and sp.issparse(model.coef_):
        again.sparsify()
    return again


def _names(classifier: TextClassifier) -> list[str]:
    """Name the columns so that features, which come last, are not taken for words: no word begins with this letter."""
    names: list[str] = classifier.words().tolist()
    columns = classifier.features_
    n_words = len(names) - (0 if columns is None else columns.n_columns)
    return [*names[:n_words], *(f"\0{name}" for name in names[n_words:])]


def _has_posterior(model: Any) -> bool:
    """Tell whether a model can be the prior of a later one: it knows the precision of its coefficients."""
    return hasattr(model, "precision_")


def _prior_families(model: Any) -> set[type[Prior]]:
    """Return the families of a model's priors, which may be given by name, as objects, or one for each category."""
    given = model.prior.values() if isinstance(model.prior, Mapping) else model.prior
    priors = [given] if isinstance(given, str | Prior) else given
    return {_FAMILIES[prior] if isinstance(prior, str) else type(prior) for prior in priors}


def _is_gaussian(model: Any) -> bool:
    return _prior_families(model) == {Gaussian}


def _whole_precision(classifier: TextClassifier) -> FloatArray:
    """Return the precision of the posterior; if the first prior was Laplace, the inverse of its variance is added."""
    model = linear_part(classifier.model_)
    precision = np.array(model.precision_)
    n_words = precision.shape[1] - 1 - model.dense_features
    updated = classifier.training_.get("n_updates", 0) > 0
    if updated or _is_gaussian(model) or model.precision_includes_laplace:
        return precision
    variance = np.broadcast_to(np.atleast_1d(getattr(model, "variance_", np.nan)), (precision.shape[0],))
    known = np.isfinite(variance) & (variance > 0)
    precision[:, :n_words] += np.where(known, 1.0 / np.where(known, variance, 1.0), 0.0)[:, None]
    return precision


def _new_variance(model: Any, row: int) -> float:
    """Return the prior variance of new words: that of all words, if it is known."""
    variance = np.atleast_1d(getattr(model, "variance_", np.nan))
    value = float(variance[min(row, variance.size - 1)])
    return value if np.isfinite(value) and value > 0 else 1.0


def _with_all_classes(X: Any, targets: Any, classes: AnyArray) -> tuple[Any, Any, FloatArray]:
    """Add an empty text of almost no weight for every class without texts today."""
    weights = np.ones(X.shape[0])
    if sp.issparse(targets):
        return X, targets, weights
    absent = np.setdiff1d(classes, targets)
    if not absent.size:
        return X, targets, weights
    empty = sp.csr_matrix((absent.size, X.shape[1]))
    more = np.full(absent.size, _NEXT_TO_NOTHING)
    return sp.vstack([X, empty], format="csr"), np.append(targets, absent), np.append(weights, more)


def _training(classifier: TextClassifier, documents: list[str], sets: Sequence[tuple[Any, ...]]) -> dict[str, Any]:
    before = classifier.training_
    balance: Counter[str] = Counter(before["balance"])
    balance.update(str(label) for found in sets for label in found)
    joined = before["fingerprint"] + fingerprint(documents, sets)
    return {
        "n_texts": before["n_texts"] + len(documents),
        "balance": dict(balance),
        "n_updates": before.get("n_updates", 0) + 1,
        "fingerprint": hashlib.sha256(joined.encode()).hexdigest(),
    }
