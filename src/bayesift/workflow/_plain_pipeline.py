"""The same classifier as a pipeline of scikit-learn's own parts, and that pipeline as an ONNX graph."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer

from bayesift._extras import require
from bayesift._typing import AnyArray, FloatArray
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression
from bayesift.workflow.text_classifier import TextClassifier


def plain_pipeline(classifier: TextClassifier) -> Pipeline:
    """Return a pipeline of ``TfidfVectorizer`` and ``LogisticRegression`` that says the same.

    Parameters
    ----------
    classifier : TextClassifier
        With a logistic or softmax model, a vectorizer that scikit-learn has too, and no selector.

    Returns
    -------
    Pipeline
        Labels as strings; for several labels a text, a 0/1 indicator in the order of ``classes_``.
    """
    model = classifier.model_
    if not isinstance(model, BayesianLogisticRegression | BayesianMultinomialRegression):
        raise ValueError(f"model is a {type(model).__name__}; expected a lasso, a ridge or a polytomous model")
    if classifier.selector_ is not None:
        raise ValueError(
            "the classifier selects words after scaling texts, which a plain pipeline cannot do; train without"
        )
    return Pipeline([("words", _vectorizer(classifier.vectorizer_)), ("model", _model(classifier))])


def _vectorizer(ours: Any) -> TfidfVectorizer:
    odd = {
        "stemmer": ours.stemmer is not None,
        "drop_numbers": ours.drop_numbers,
        "max_token_length": ours.max_token_length is not None,
        "min_token_length": ours.min_token_length not in (None, 2),
        "tokenizer": ours.tokenizer is not None,
        "n_features": ours.n_features is not None,
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
    if ours.token_pattern is not None:
        theirs.set_params(token_pattern=ours.token_pattern)
    theirs.idf_ = np.asarray(ours.idf_, dtype=np.float64)
    return theirs


def _model(classifier: TextClassifier) -> Any:
    model = classifier.model_
    coef = model.coef_.toarray() if sp.issparse(model.coef_) else np.asarray(model.coef_)
    classes = np.array([str(label) for label in classifier.classes_])
    thresholds = classifier.threshold_.thresholds_
    if classifier.target_type_ == "binary":
        plain = _logistic(coef, model.intercept_, classes)
        return plain if np.all(thresholds == 0.0) else _cut(plain, float(thresholds[0]), classes)
    if np.any(thresholds != 0.0):
        raise ValueError(
            f"the thresholds are tuned ({classifier.threshold_.policy}), and a plain pipeline of many labels cannot "
            "have thresholds other than probability one half; train with threshold 'half'"
        )
    if isinstance(model, BayesianMultinomialRegression):
        return _logistic(coef, model.intercept_, classes)
    return _one_against_rest(
        coef, model.intercept_, classes, multilabel=classifier.target_type_ == "multilabel-indicator"
    )


def _logistic(coef: FloatArray, intercept: FloatArray, classes: AnyArray) -> LogisticRegression:
    plain = LogisticRegression()
    plain.classes_, plain.coef_, plain.intercept_ = classes, coef.copy(), intercept.copy()
    plain.n_features_in_ = coef.shape[1]
    plain.n_iter_ = np.ones(1, dtype=np.int32)
    return plain


def _cut(plain: LogisticRegression, threshold: float, classes: AnyArray) -> FixedThresholdClassifier:
    cut = FixedThresholdClassifier(
        plain, threshold=threshold, pos_label=classes[1], response_method="decision_function"
    )
    cut.estimator_ = plain
    return cut


def _one_against_rest(
    coef: FloatArray, intercept: FloatArray, classes: AnyArray, *, multilabel: bool
) -> OneVsRestClassifier:
    rest = OneVsRestClassifier(LogisticRegression())
    rest.estimators_ = [_logistic(coef[[k]], intercept[[k]], np.array([0, 1])) for k in range(len(classes))]
    rest.label_binarizer_ = LabelBinarizer(sparse_output=True)
    rest.classes_, rest.n_features_in_ = classes, coef.shape[1]
    # What the binariser saw decides whether labels or an indicator come out.
    rest.label_binarizer_.fit(np.eye(len(classes), dtype=np.int64) if multilabel else classes)
    return rest


def onnx_bytes(pipeline: Pipeline, locale: str | None) -> bytes:
    """Return the content of an ONNX file.

    Parameters
    ----------
    pipeline : Pipeline
        Of ``TfidfVectorizer`` (named ``words``) and a linear model.
    locale : str or None
        By which the runtime lower-cases texts.

    Returns
    -------
    bytes
        A model with the input ``text``, and the label (for several labels a text, an indicator) and the probabilities
        as outputs; its property ``labels`` lists the labels in their order.
    """
    if pipeline["words"].analyzer != "word":
        raise ValueError(
            f"the terms are sequences of characters (analyzer {pipeline['words'].analyzer!r}), which an ONNX graph "
            "does not find as scikit-learn does; train on words, or convert to 'sklearn'"
        )
    skl2onnx = require("skl2onnx", extra="onnx", purpose="writing ONNX")
    types = require("skl2onnx.common.data_types", extra="onnx", purpose="writing ONNX")
    helper = require("onnx.helper", extra="onnx", purpose="writing ONNX")
    labels = [str(label) for label in pipeline["model"].classes_]
    pipeline = _with_numbered_columns(pipeline)
    options: dict[int, dict[str, Any]] = {id(pipeline): {"zipmap": False}}
    if locale is not None:
        options[id(pipeline["words"])] = {"locale": locale}
    text = [("text", types.StringTensorType([None]))]
    model = skl2onnx.convert_sklearn(pipeline, initial_types=text, options=options)
    if pipeline["words"].sublinear_tf:
        _mend_log_counts(model.graph)
    helper.set_model_props(model, {"labels": json.dumps(labels, ensure_ascii=False)})
    return model.SerializeToString()


def _with_numbered_columns(pipeline: Pipeline) -> Pipeline:
    """Number the columns of an indicator: the converter would promise strings for it where they have names."""
    model = pipeline["model"]
    if not (isinstance(model, OneVsRestClassifier) and model.multilabel_):
        return pipeline
    numbered = copy.copy(model)
    numbered.classes_ = np.arange(len(model.classes_))
    return Pipeline([("words", pipeline["words"]), ("model", numbered)])


def _mend_log_counts(graph: Any) -> None:
    """Replace ln(n + 1), which the converter takes, by 1 + ln n for n > 0 and 0 for n = 0, as the vectorizer has it.

    For counts this is ln max(n, 1) + min(n, 1).
    """
    helper = require("onnx.helper", extra="onnx", purpose="writing ONNX")
    place, log = next((place, node) for place, node in enumerate(graph.node) if node.op_type == "Log")
    add = next(node for node in graph.node if list(node.output) == list(log.input))
    counts, ones = add.input
    result, logged, present = log.output[0], f"{log.output[0]}_of_present", f"{log.output[0]}_present"
    add.op_type = "Max"
    log.output[0] = logged
    graph.node.insert(place + 1, helper.make_node("Min", [counts, ones], [present]))
    graph.node.insert(place + 2, helper.make_node("Add", [logged, present], [result]))
