"""The same classifier as a pipeline of scikit-learn's own parts, and that pipeline as an ONNX graph."""

from __future__ import annotations

import copy
import json
import math
import sys
from functools import cache
from itertools import product
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
from bayesift.text import has_unspaced_letters
from bayesift.workflow.text_classifier import TextClassifier

#: How scikit-learn cuts words by default, and the same for the runtime of ONNX, to which \\w are letters of English.
_TOKENS = r"(?u)\b\w\w+\b"
_ONNX_TOKENS = r"[\p{L}\p{N}_]{2,}"

#: So many ways of writing a word are listed; of words with more, the three usual ones.
_MOST_FORMS = 16


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
    # Pairs of characters only where there are any: the pattern is long, and ONNX has none such.
    has_pairs = ours.cuts_pairs and any(map(has_unspaced_letters, ours.vocabulary_))
    if ours.token_pattern is not None or has_pairs:
        theirs.set_params(token_pattern=ours.token_regex())
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
        By which the runtime lower-cases texts; None needs no locale.

    Returns
    -------
    bytes
        A model with the input ``text``, and the label (for several labels a text, an indicator) and the probabilities
        as outputs; its property ``labels`` lists the labels in their order.
    """
    skl2onnx = require("skl2onnx", extra="onnx", purpose="writing ONNX")
    types = require("skl2onnx.common.data_types", extra="onnx", purpose="writing ONNX")
    helper = require("onnx.helper", extra="onnx", purpose="writing ONNX")
    _check_words(pipeline["words"])
    labels = [str(label) for label in pipeline["model"].classes_]
    pipeline = _with_numbered_columns(pipeline)
    options = {id(pipeline): {"zipmap": False}}
    text = [("text", types.StringTensorType([None]))]
    model = skl2onnx.convert_sklearn(pipeline, initial_types=text, options=options)
    if pipeline["words"].sublinear_tf:
        _mend_log_counts(model.graph)
    _mend_words(model, pipeline["words"], locale)
    helper.set_model_props(model, {"labels": json.dumps(labels, ensure_ascii=False)})
    return model.SerializeToString()


def _check_words(words: TfidfVectorizer) -> None:
    """Refuse what the runtime would cut into other words."""
    if words.analyzer != "word":
        raise ValueError(
            f"the terms are sequences of characters (analyzer {words.analyzer!r}), which an ONNX graph does not find "
            "as scikit-learn does; train on words, or convert to 'sklearn'"
        )
    if words.token_pattern.startswith("(?="):
        raise ValueError(
            "some words are of a language that is written without spaces, and an ONNX graph cannot cut texts into "
            "pairs of characters; convert to 'sklearn'"
        )
    if words.token_pattern != _TOKENS and "\\" in words.token_pattern:
        raise ValueError(
            f"token_pattern is {words.token_pattern!r}; ONNX knows the letters of English only in \\w and \\b: train "
            "without it, or with letters in brackets such as [a-zäöü]+"
        )
    if words.stop_words and words.ngram_range[1] > 1:
        raise ValueError(
            "the classifier leaves out stop words before it forms pairs of words, which ONNX cannot; train without "
            "stop words, or with single words"
        )


def _mend_words(model: Any, words: TfidfVectorizer, locale: str | None) -> None:
    """Let the graph cut and lower-case words of any language as Python does.

    The converter takes the letters of English only, and the runtime needs a locale for others than these to be
    lower-cased, which the machine may lack. With the locale "C", which all have, only letters of English are; words
    with other letters are then looked up as they can be written: in small letters, in capitals, with a capital first,
    and, where few letters have capitals, in every mixture.
    """
    helper = require("onnx.helper", extra="onnx", purpose="writing ONNX")
    graph = model.graph
    cutting = next(node for node in graph.node if node.op_type == "Tokenizer")
    if words.token_pattern == _TOKENS:
        _set_attribute(cutting, "tokenexp", _ONNX_TOKENS)
    for node in graph.node:
        if node.op_type == "StringNormalizer":
            _set_attribute(node, "locale", locale or "C")
    if not words.lowercase or locale is not None:
        return
    known = {word for term in words.vocabulary_ for word in term.split(" ")}
    if all(map(str.isascii, known)):
        return
    forms = {form: word for word in sorted(known) for form in _written_forms(word)}
    # Small letters come last: a word itself is never another one in capitals.
    forms |= {word: word for word in known}
    written, looked_up = cutting.output[0], f"{cutting.output[0]}_looked_up"
    look_up = helper.make_node(
        "LabelEncoder",
        [written],
        [looked_up],
        domain="ai.onnx.ml",
        keys_strings=list(forms),
        values_strings=list(forms.values()),
        default_string="",
    )
    for node in graph.node:
        node.input[:] = [looked_up if name == written else name for name in node.input]
    graph.node.insert(list(graph.node).index(cutting) + 1, look_up)
    for opset in model.opset_import:
        if opset.domain == "ai.onnx.ml":
            # The first version looks up numbers only.
            opset.version = max(opset.version, 2)


def _set_attribute(node: Any, name: str, value: str) -> None:
    helper = require("onnx.helper", extra="onnx", purpose="writing ONNX")
    kept = [attribute for attribute in node.attribute if attribute.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])


def _written_forms(word: str) -> set[str]:
    """Return how a word in small letters can be written if letters of English are always small."""
    capitals = _capitals()
    choices = [(letter, *capitals.get(letter, ())) for letter in word]
    n_forms = math.prod(map(len, choices))
    if n_forms <= _MOST_FORMS:
        return set(map("".join, product(*choices)))
    # Of several capitals the first is the usual one; the others are signs such as that of the ohm.
    upper = "".join(choice[:2][-1] for choice in choices)
    return {word, upper, upper[0] + word[1:]}


@cache
def _capitals() -> dict[str, tuple[str, ...]]:
    """List, for every small letter, the capitals beyond ASCII of which it is the small letter."""
    found: dict[str, tuple[str, ...]] = {}
    for code in range(128, sys.maxunicode + 1):
        small = chr(code).lower()
        if small != chr(code) and len(small) == 1 and not small.isascii():
            found[small] = (*found.get(small, ()), chr(code))
    # At the end of a Greek word.
    found["ς"] = found["σ"]
    return found


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
