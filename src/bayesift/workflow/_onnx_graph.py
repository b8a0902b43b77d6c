"""The same classifier as an ONNX graph, from texts to labels decided by its thresholds."""

from __future__ import annotations

import json
import math
import sys
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from bayesift._extras import require
from bayesift._typing import AnyArray
from bayesift.linear import BayesianMultinomialRegression
from bayesift.workflow._plain_pipeline import dense_weights, plain_words
from bayesift.workflow.text_classifier import TextClassifier
from bayesift.workflow.words_and_vectors import WordsAndVectors, linear_part

#: How scikit-learn cuts words by default, and the same for the ONNX runtime, for which \\w means letters of English.
_TOKENS = r"(?u)\b\w\w+\b"
_ONNX_TOKENS = r"[\p{L}\p{N}_]{2,}"

#: The vectors of texts have at least this length, or are zero.
_LEAST_LENGTH = 1e-30

#: At most this many ways of writing a word are listed; of words with more, only the three usual ones.
_MOST_FORMS = 16


def onnx_bytes(classifier: TextClassifier, locale: str | None) -> bytes:
    """Return the content of an ONNX file.

    Parameters
    ----------
    classifier : TextClassifier
        A classifier that :func:`plain_words` accepts.
    locale : str or None
        The locale by which the runtime lower-cases texts; None needs no locale.

    Returns
    -------
    bytes
        A model with the input ``text`` and two outputs: the label (an indicator, if a text may have several) and the
        probabilities. Its property ``labels`` lists the labels in order.
    """
    words = plain_words(classifier)
    skl2onnx = require("skl2onnx", extra="onnx", purpose="writing ONNX")
    types = require("skl2onnx.common.data_types", extra="onnx", purpose="writing ONNX")
    helper = require("onnx.helper", extra="onnx", purpose="writing ONNX")
    _check_words(words)
    model = skl2onnx.convert_sklearn(words, initial_types=[("text", types.StringTensorType([None]))])
    if words.sublinear_tf:
        _mend_log_counts(model.graph)
    _mend_words(model, words, locale)
    _add_decisions(model.graph, classifier)
    labels = [str(label) for label in classifier.classes_]
    helper.set_model_props(model, {"labels": json.dumps(labels, ensure_ascii=False)})
    return model.SerializeToString()


def _add_decisions(graph: Any, classifier: TextClassifier) -> None:
    """Continue the graph from the values of words to probabilities and, by the thresholds, to labels."""
    helper = require("onnx.helper", extra="onnx", purpose="writing ONNX")
    types = require("onnx", extra="onnx", purpose="writing ONNX").TensorProto
    kind, model = classifier.target_type_, linear_part(classifier.model_)
    n_classes = len(classifier.classes_)
    [values] = [output.name for output in graph.output]

    def add(operation: str, inputs: list[str], output: str, **options: Any) -> str:
        graph.node.append(helper.make_node(operation, inputs, [output], **options))
        return output

    weights_of_scores, intercept = dense_weights(model)
    n_words = classifier.model_.n_features_in_
    weights = _constant(graph, "weights", weights_of_scores[:, :n_words].T)
    thresholds = _constant(graph, "thresholds", classifier.threshold_.thresholds_)
    scores = add("Gemm", [values, weights, _constant(graph, "intercept", intercept)], "scores")
    if isinstance(classifier.model_, WordsAndVectors):
        # The vector of a text, xE / ‖xE‖, or 0 if none of its words has a vector.
        halves = _constant(graph, "vectors_of_words", classifier.model_.matrix_)
        vector = add("MatMul", [values, add("Cast", [halves], "vectors", to=types.FLOAT)], "vector")
        columns = _constant(graph, "columns", np.array([1]))
        squares = add("ReduceSum", [add("Mul", [vector, vector], "squares"), columns], "squared_length", keepdims=1)
        least = _constant(graph, "least_length", np.array(_LEAST_LENGTH))
        length = add("Max", [add("Sqrt", [squares], "any_length"), least], "length")
        company = _constant(graph, "weights_of_company", weights_of_scores[:, n_words:].T)
        part = add("MatMul", [add("Div", [vector, length], "direction"), company], "scores_of_company")
        scores = add("Add", [scores, part], "scores_of_both_parts")
    if kind == "multiclass":
        place = add("ArgMax", [add("Sub", [scores, thresholds], "above_threshold")], "place", axis=1, keepdims=0)
        if isinstance(model, BayesianMultinomialRegression):
            logs = scores
        else:
            # Each label against the rest; then the probabilities are normalised to a sum of one.
            against = add("Neg", [scores], "scores_against")
            logs = add("Neg", [add("Softplus", [against], "minus_log_probabilities")], "log_probabilities")
        add("Softmax", [logs], "probabilities", axis=1)
    else:
        odds = scores
        if kind == "binary":
            odds = add("Concat", [add("Neg", [scores], "scores_against"), scores], "scores_of_both", axis=1)
        add("Sigmoid", [odds], "probabilities")
        accepted = add("GreaterOrEqual", [scores, thresholds], "accepted")
        indicator = "label" if kind == "multilabel-indicator" else "indicator"
        place = add("Cast", [accepted], indicator, to=types.INT64)
    del graph.output[:]
    if kind == "multilabel-indicator":
        graph.output.append(helper.make_tensor_value_info("label", types.INT64, [None, n_classes]))
    else:
        if kind == "binary":
            place = add("Reshape", [place, _constant(graph, "one_for_each_text", np.array([-1]))], "place")
        names = _constant(graph, "names", np.array([str(label) for label in classifier.classes_], dtype=object))
        add("Gather", [names, place], "label")
        graph.output.append(helper.make_tensor_value_info("label", types.STRING, [None]))
    graph.output.append(helper.make_tensor_value_info("probabilities", types.FLOAT, [None, n_classes]))


def _constant(graph: Any, name: str, values: AnyArray) -> str:
    helper = require("onnx.numpy_helper", extra="onnx", purpose="writing ONNX")
    if values.dtype.kind == "f" and values.dtype != np.float16:
        greatest = np.finfo(np.float32).max
        values = np.clip(values, -greatest, greatest).astype(np.float32)
    graph.initializer.append(helper.from_array(values, name))
    return name


def _check_words(words: TfidfVectorizer) -> None:
    """Refuse settings with which the runtime would cut texts into other words."""
    if words.analyzer != "word":
        raise ValueError(
            f"the terms are sequences of characters (analyzer {words.analyzer!r}), which an ONNX graph does not find "
            "as scikit-learn does; train on words, or convert to 'sklearn'"
        )
    if words.token_pattern.startswith("(?="):
        raise ValueError(
            "some words are of a language that is written without spaces, and an ONNX graph cannot cut such texts into "
            "pairs of characters; convert to 'sklearn'"
        )
    if words.token_pattern != _TOKENS and "\\" in words.token_pattern:
        raise ValueError(
            f"token_pattern is {words.token_pattern!r}; in ONNX, \\w and \\b know only the letters of English: train "
            "without it, or with letters in brackets such as [a-zäöü]+"
        )
    if words.stop_words and words.ngram_range[1] > 1:
        raise ValueError(
            "the classifier leaves out stop words before it forms pairs of words, which ONNX cannot do; train without "
            "stop words, or with single words"
        )


def _mend_words(model: Any, words: TfidfVectorizer, locale: str | None) -> None:
    """Let the graph cut and lower-case words of any language as Python does.

    The converter knows only the letters of English, and to lower-case other letters the runtime needs a locale that the
    machine may lack. With the locale "C", which is always there, only letters of English are lower-cased; words with
    other letters are then looked up in all the forms in which they are written: in lower case, in upper case, with a
    capital first and, if few of their letters have capitals, in every mixture.
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
    # Lower case comes last, so that a word is never taken for another one in capitals.
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
            # The first version can look up only numbers.
            opset.version = max(opset.version, 2)


def _set_attribute(node: Any, name: str, value: str) -> None:
    helper = require("onnx.helper", extra="onnx", purpose="writing ONNX")
    kept = [attribute for attribute in node.attribute if attribute.name != name]
    del node.attribute[:]
    node.attribute.extend([*kept, helper.make_attribute(name, value)])


def _written_forms(word: str) -> set[str]:
    """Return the ways to write a lower-case word if its letters of English stay lower-case."""
    capitals = _capitals()
    choices = [(letter, *capitals.get(letter, ())) for letter in word]
    n_forms = math.prod(map(len, choices))
    if n_forms <= _MOST_FORMS:
        return set(map("".join, product(*choices)))
    # If there are several capitals, the first is the usual one; the others are signs such as that of the ohm.
    upper = "".join(choice[:2][-1] for choice in choices)
    return {word, upper, upper[0] + word[1:]}


@cache
def _capitals() -> dict[str, tuple[str, ...]]:
    """List, for every lower-case letter, the capitals beyond ASCII that it belongs to."""
    found: dict[str, tuple[str, ...]] = {}
    for code in range(128, sys.maxunicode + 1):
        small = chr(code).lower()
        if small != chr(code) and len(small) == 1 and not small.isascii():
            found[small] = (*found.get(small, ()), chr(code))
    # At the end of a Greek word.
    found["ς"] = found["σ"]
    return found


def _mend_log_counts(graph: Any) -> None:
    """Replace ln(n + 1), which the converter writes, by 1 + ln n for n > 0 and 0 for n = 0, as in the vectorizer.

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
