"""Every public method of a loaded model, called with small documents."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from bayesift import save
from bayesift._registry import estimators
from bayesift.workflow import TextClassifier, model_info
from tools.fuzz.bases import Documents, documents_for

#: What a model may answer to documents or settings it cannot use.
CLEAN = (ValueError, TypeError, NotImplementedError)

#: Not about the state of a model, or called under another name.
PASSED_OVER = {
    "check_parameters", "dtype", "fit_shards", "from_coefficients", "from_matrix", "get_metadata_routing", "read",
    "set_decision_function_request", "set_fit_request", "set_output", "set_params", "set_partial_fit_request",
    "set_predict_proba_request", "set_predict_request", "set_score_request",
}  # fmt: skip

#: Methods and what they are called with; those that change the model come last.
CALLS: dict[str, Callable[[Any, Documents], tuple[Any, ...]]] = {
    "predict": lambda model, given: (_scores(model) if _takes_scores(model) else given.X,),
    **dict.fromkeys(
        (
            "predict_proba", "predict_log_proba", "decision_function", "predict_joint_log_proba", "information_gain",
            "log_odds", "transform", "predictions", "matrix", "coverage",
            "count_without_words", "feature_notes", "joined", "predict_interval", "score_interval",
            "contribution_interval", "mode_scores", "word_sequences",
        ),
        lambda model, given: (given.X,),
    ),
    **dict.fromkeys(
        (
            "word_weights", "linear_scores", "get_support", "get_feature_names_out", "words", "chosen_variance",
            "get_params", "comparison", "coef_interval", "settled", "token_regex", "chosen_vector_variance",
            "chosen_feature_variance", "parts", "unknown_idf",
        ),
        lambda model, given: (),
    ),
    "scores_to_log_proba": lambda model, given: (model.decision_function(given.X),),
    "score": lambda model, given: (given.X, given.y),
    **dict.fromkeys(("with_posterior", "update_posterior"), lambda model, given: (given.X, given.y)),
    "explain": lambda model, given: (given.X, 3),
    "labels_of": lambda model, given: (model.predictions(given.X).decisions,),
    "inverse_transform": lambda model, given: (model.transform(given.X),),
    "count_terms": lambda model, given: (given.X, dict(getattr(model, "vocabulary_", {}))),
    "most_similar": lambda model, given: (model.words_[0], 3),
    "similar": lambda model, given: (model.words()[0], 3),
    **dict.fromkeys(("shares", "contributions"), lambda model, given: (np.arange(2), np.ones(2))),
    "sample": lambda model, given: (3,),
    "sparsify": lambda model, given: (),
    "partial_fit": lambda model, given: (given.X, given.y),
    "add_features": lambda model, given: (2,),
    "grow": lambda model, given: (model.n_features_in_ + 2,),
}  # fmt: skip

#: Called for some of the forgeries only, since they take longer.
SLOW: dict[str, Callable[[Any, Documents], tuple[Any, ...]]] = {
    "fit": lambda model, given: (given.X, given.y),
    "fit_transform": lambda model, given: (given.X, given.y),
}


def uncalled() -> set[str]:
    """Return the public methods of estimators that nothing here calls."""
    found = set()
    for kind in estimators().values():
        for name in dir(kind):
            member = inspect.getattr_static(kind, name)
            if not name.startswith("_") and not isinstance(member, property) and callable(getattr(kind, name, None)):
                found.add(name)
    return found - set(CALLS) - set(SLOW) - PASSED_OVER


def use(model: Any, *, takes_texts: bool, slowly: bool, folder: Path, tell: Callable[[str], None]) -> Iterator[str]:
    """Call everything; yields the names of what answered with an error that is clean, raises any other.

    ``tell`` is told what is called next.
    """
    given = documents_for(model, takes_texts)
    for name, call in _calls(model, given, slowly, folder):
        tell(name)
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                call()
        except CLEAN:
            yield name


def _calls(model: Any, given: Documents, slowly: bool, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    kind = type(model)
    yield "repr", lambda: repr(model)
    yield "clone", lambda: clone(model)
    yield "save", lambda: save(model, folder / "again.bayesift")
    if isinstance(model, TextClassifier) and hasattr(model, "model_"):
        yield "model_info", lambda: str(model_info(model))
    for name in sorted(dir(kind)):
        # scikit-learn's own property of a pipeline asks a step that may not have it.
        own = kind.__module__.startswith("bayesift.")
        if own and isinstance(inspect.getattr_static(kind, name), property) and not name.startswith("_"):
            yield name, lambda name=name: getattr(model, name)
    for name, arguments in (CALLS | (SLOW if slowly else {})).items():
        # A method may be there for some settings only.
        if _has(model, name):
            yield name, lambda name=name, arguments=arguments: getattr(model, name)(*arguments(model, given))
    # Once more, after it has learned.
    if _has(model, "predict"):
        yield "predict again", lambda: model.predict(*CALLS["predict"](model, documents_for(model, _is_text(given))))


def _has(model: Any, name: str) -> bool:
    try:
        # A pipeline asks its last step, whether it has it or not.
        own = model[-1] if isinstance(model, Pipeline) and name == "get_feature_names_out" else model
        return hasattr(own, name)
    except CLEAN:
        return False


def _is_text(given: Documents) -> bool:
    return isinstance(given.X, list)


def _takes_scores(model: Any) -> bool:
    return type(model).__name__ == "Threshold"


def _scores(model: Any) -> Any:
    return np.resize([0.1, 0.5, 0.9], (6, max(min(len(getattr(model, "thresholds_", [0])), 100), 1)))
