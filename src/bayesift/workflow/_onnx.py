"""A plain pipeline as an ONNX graph, from texts to labels."""

from __future__ import annotations

import copy
import json
from typing import Any

import numpy as np
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline

from bayesift._extras import require


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
    """Replace ln(n + 1), which the converter takes, by 1 + ln n for n > 0 and 0 for n = 0, as the vectoriser has it.

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
