"""The same classifier as a pipeline of plain scikit-learn parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer

from bayesift._typing import AnyArray, FloatArray
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression
from bayesift.text import has_unspaced_letters
from bayesift.workflow.errors import TunedThresholdsError
from bayesift.workflow.text_classifier import TextClassifier
from bayesift.workflow.words_and_vectors import linear_part


def plain_pipeline(classifier: TextClassifier) -> Pipeline:
    """Return a pipeline of ``TfidfVectorizer`` and ``LogisticRegression`` with the same probabilities and decisions.

    Parameters
    ----------
    classifier : TextClassifier
        With a logistic or softmax model, a vectorizer that scikit-learn can reproduce, and no selector.

    Returns
    -------
    Pipeline
        It predicts labels as strings. If a text may have several labels, it predicts a 0/1 indicator in the order of
        ``classes_``, and probabilities as ``MultiOutputClassifier`` does: a list with an array (without the label, with
        it) for each label.
    """
    return Pipeline([("words", plain_words(classifier)), ("model", _model(classifier))])


def plain_words(classifier: TextClassifier) -> TfidfVectorizer:
    """Return the scikit-learn vectorizer that turns texts into the same numbers.

    Parameters
    ----------
    classifier : TextClassifier
        With a logistic or softmax model, with or without vectors, a vectorizer that scikit-learn can reproduce, and no
        selector.

    Returns
    -------
    TfidfVectorizer
    """
    model = linear_part(classifier.model_)
    if not isinstance(model, BayesianLogisticRegression | BayesianMultinomialRegression):
        raise ValueError(f"model is a {type(model).__name__}; expected a lasso, a ridge or a polytomous model")
    if model.linear_scores() is None:
        raise ValueError(
            f"posterior of the model is {model.posterior!r}; expected None, as a plain pipeline does not average"
        )
    if classifier.selector_ is not None:
        raise ValueError(
            "the classifier selects words after scaling texts, which a plain pipeline cannot do; train without that"
        )
    return _vectorizer(classifier.vectorizer_)


def dense_weights(model: Any) -> tuple[FloatArray, FloatArray]:
    """Return the weights (rows × words) and intercepts of the linear scores, calibrated or not."""
    weights, intercept = model.linear_scores()
    return weights.toarray() if sp.issparse(weights) else np.array(weights), np.asarray(intercept)


def _vectorizer(ours: Any) -> TfidfVectorizer:
    odd = {
        "stemmer": ours.stemmer is not None,
        "drop_numbers": ours.drop_numbers,
        "max_token_length": ours.max_token_length is not None,
        "min_token_length": ours.min_token_length not in (None, 2),
        "tokenizer": ours.tokenizer is not None,
        "n_features": ours.n_features is not None,
        "unknown_terms": ours.unknown_terms != "ignore",
    }
    found = [name for name, is_odd in odd.items() if is_odd]
    tf, _, norm = ours.weighting
    if tf not in "nlb":
        found.append(f"weighting {ours.weighting!r}")
    if found:
        raise ValueError(f"the classifier uses {found[0]}, which scikit-learn's TfidfVectorizer does not have")
    theirs = TfidfVectorizer(
        vocabulary=dict(ours.vocabulary_),
        lowercase=ours.lowercase,
        analyzer=ours.analyzer,
        stop_words=sorted(ours.stop_words_) or None,
        ngram_range=tuple(ours.ngram_range),
        sublinear_tf=tf == "l",
        binary=tf == "b",
        norm="l2" if norm == "c" else None,
    )
    # Pairs of characters only if there are any: the pattern is long, and ONNX does not support it.
    has_pairs = ours.cuts_pairs and any(map(has_unspaced_letters, ours.vocabulary_))
    if ours.token_pattern is not None or has_pairs:
        theirs.set_params(token_pattern=ours.token_regex())
    theirs.idf_ = np.asarray(ours.idf_, dtype=np.float64)
    return theirs


def _model(classifier: TextClassifier) -> Any:
    model = classifier.model_
    coef, intercept = dense_weights(model)
    classes = np.array([str(label) for label in classifier.classes_])
    thresholds = classifier.threshold_.thresholds_
    if classifier.target_type_ == "binary":
        plain = _logistic(coef, intercept, classes)
        return plain if np.all(thresholds == 0.0) else _cut(plain, float(thresholds[0]))
    if classifier.target_type_ == "multilabel-indicator":
        return _each_on_its_own(coef, intercept, classes, thresholds)
    if np.any(thresholds != 0.0):
        raise TunedThresholdsError(
            f"the thresholds are tuned ({classifier.threshold_.policy}), and a plain pipeline of labels that exclude "
            "each other gives every text its most probable label; expected threshold 'half'"
        )
    if isinstance(model, BayesianMultinomialRegression):
        return _logistic(coef, intercept, classes)
    return _one_against_rest(coef, intercept, classes)


def _logistic(coef: FloatArray, intercept: FloatArray, classes: AnyArray) -> LogisticRegression:
    plain = LogisticRegression()
    plain.classes_, plain.coef_, plain.intercept_ = classes, coef.copy(), intercept.copy()
    plain.n_features_in_ = coef.shape[1]
    plain.n_iter_ = np.ones(1, dtype=np.int32)
    return plain


def _cut(plain: LogisticRegression, threshold: float) -> FixedThresholdClassifier:
    cut = FixedThresholdClassifier(
        plain, threshold=threshold, pos_label=plain.classes_[1].item(), response_method="decision_function"
    )
    cut.estimator_ = plain
    return cut


def _each_on_its_own(
    coef: FloatArray, intercept: FloatArray, classes: AnyArray, thresholds: FloatArray
) -> MultiOutputClassifier:
    """Decide about every label by its threshold, which ``OneVsRestClassifier`` does not do."""
    each = MultiOutputClassifier(FixedThresholdClassifier(LogisticRegression()))
    parts = zip(coef, intercept, thresholds, strict=True)
    each.estimators_ = [_cut(_logistic(w[None], b[None], np.array([0, 1])), float(t)) for w, b, t in parts]
    each.classes_, each.n_features_in_ = classes, coef.shape[1]
    return each


def _one_against_rest(coef: FloatArray, intercept: FloatArray, classes: AnyArray) -> OneVsRestClassifier:
    rest = OneVsRestClassifier(LogisticRegression())
    rest.estimators_ = [_logistic(coef[[k]], intercept[[k]], np.array([0, 1])) for k in range(len(classes))]
    rest.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(classes)
    rest.classes_, rest.n_features_in_ = classes, coef.shape[1]
    return rest
