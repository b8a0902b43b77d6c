"""A model whose parts do not fit together is refused, since compiled code would read beyond its arrays."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesift import load, save
from bayesift.formats import ModelFileError, model_file
from formats.models.attacks import members_of, rebuilt
from formats.models.cases import CASES, NEW_COUNTS, TEXT_CASES


def shorter(*names: str, axis: int = -1) -> Callable[[Any], None]:
    """Take the last entry of an array away."""

    def change(model: Any) -> None:
        for name in names[:-1]:
            model = getattr(model, name)
        setattr(model, names[-1], np.delete(getattr(model, names[-1]), -1, axis=axis))

    return change


def given_to(name: str, value: Any) -> Callable[[Any], None]:
    return lambda model: setattr(model, name, value)


def in_belief(name: str, change: Callable[[Any], Any]) -> Callable[[Any], None]:
    def apply(model: Any) -> None:
        state = model.states_[0]
        model.states_[0] = state._replace(**{name: change(getattr(state, name))})

    return apply


def far_column(model: Any) -> None:
    model.states_[0].basis.indices[0] = 10**6


def falling_rows(model: Any) -> None:
    model.states_[0].basis.indptr[1] = 10**6


def starts_that_end_at_zero(model: Any) -> None:
    starts = model.states_[0].basis.indptr
    starts[1:-1], starts[-1] = 10**6, 0


def starts_that_wrap_around(model: Any) -> None:
    """Starts whose differences, as numbers of 32 bits, are none below 0."""
    starts = model.states_[0].basis.indptr
    starts[:4] = 0, 2**31 - 1, 2 - 2**31, 5
    starts[3:-1] = starts[3]
    assert starts.dtype == np.int32
    assert not np.any(np.diff(starts[:3]) < 0)


def far_word_of_no_document(model: Any) -> None:
    del model[0].n_documents_
    far_word(model)


def other_columns(columns: list[int]) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        model.columns_ = [np.array(columns), *model.columns_[1:]]

    return change


def less_words(model: Any) -> None:
    del model[0].vocabulary_["corn"]


def far_word(model: Any) -> None:
    model[0].vocabulary_["corn"] = 10**9


def same_word(model: Any) -> None:
    words = model[0].vocabulary_
    words["corn"] = words["crude"]


MISFITS: list[tuple[str, str, Callable[[Any], None]]] = [
    ("lasso", "coefficients", shorter("coef_")),
    ("lasso", "classes", shorter("classes_")),
    ("lasso", "intercepts", given_to("intercept_", np.zeros((1, 1)))),
    ("lasso", "no features", given_to("n_features_in_", "6")),
    ("informed-lasso", "rows", shorter("coef_", axis=0)),
    ("polytomous", "classes", shorter("classes_")),
    ("probit", "numbers", given_to("coef_", np.array([["a"] * 6]))),
    ("lasso", "thresholds", lambda model: given_to("thresholds_", None)(model.threshold_)),
    ("naive-bayes", "words", shorter("_likelihood", "words", axis=0)),
    ("naive-bayes", "sums", shorter("_likelihood", "words")),
    ("naive-bayes", "priors", shorter("_likelihood", "alpha")),
    ("naive-bayes", "sizes", shorter("_likelihood", "sizes")),
    ("naive-bayes", "features", lambda model: given_to("n_features", 5)(model._likelihood)),
    ("naive-bayes", "negative", lambda model: given_to("n_features", -1)(model._likelihood)),
    ("naive-bayes", "another", lambda model: given_to("_likelihood", CASES["bernoulli"]()._likelihood)(model)),
    ("naive-bayes", "another layout", lambda model: given_to("_layout", CASES["polytomous"]().certificate_)(model)),
    ("naive-bayes", "kind", lambda model: vars(model._layout).update(multilabel="other")),
    ("naive-bayes", "targets", given_to("target_type_", "other")),
    ("naive-bayes", "weights", shorter("_weights")),
    ("naive-bayes", "classes", shorter("classes_")),
    ("naive-bayes", "counts", shorter("class_count_")),
    ("bernoulli", "words", shorter("_likelihood", "present", axis=0)),
    ("bernoulli", "documents", shorter("_likelihood", "documents")),
    ("bernoulli", "priors", shorter("_likelihood", "b")),
    ("bernoulli", "missing", lambda model: given_to("missing", np.zeros((1, 1)))(model._likelihood)),
    ("gaussian", "means", shorter("_likelihood", "mean")),
    ("gaussian", "sums", lambda model: given_to("overall", ())(model._likelihood)),
    ("gaussian", "a prior", lambda model: vars(model.prior).update(kappa=-1.0)),
    ("categorical", "values", lambda model: model._likelihood.counts.pop()),
    ("mixed", "columns", lambda model: given_to("columns", [np.array([9]), np.array([3, 4, 5])])(model._likelihood)),
    ("mixed", "parts", lambda model: model._likelihood.parts.reverse()),
    ("dcm", "words", shorter("_alpha", axis=0)),
    ("dcm", "classes", shorter("_alpha")),
    ("dcm", "bounds", given_to("_bounds", (1.0,))),
    ("tagging", "tags", shorter("coef_")),
    ("relevance", "relevant", shorter("relevant_")),
    ("relevance-linear", "features", given_to("n_features_in_", 7)),
    ("perceptron", "means", in_belief("mean", lambda mean: mean[:-1])),
    ("perceptron", "covariances", in_belief("covariance", lambda C: C[:-1])),
    ("perceptron", "drift", in_belief("drift", lambda drift: drift._replace(mean=drift.mean[:-1]))),
    ("perceptron", "beliefs", lambda model: model.states_.append(model.states_[0])),
    ("perceptron", "columns", other_columns([0, 9])),
    ("perceptron-low-rank", "used", in_belief("covariance", lambda C: C._replace(used=99))),
    ("perceptron-low-rank", "all used", in_belief("covariance", lambda C: C._replace(used=C.factor.shape[1]))),
    ("perceptron-low-rank", "factors", in_belief("covariance", lambda C: C._replace(factor=C.factor[:-1]))),
    ("perceptron-low-rank", "roots", in_belief("covariance", lambda C: C._replace(cholesky=C.cholesky[:-1]))),
    ("perceptron-diagonal", "far columns", other_columns([0, 6])),
    ("perceptron-diagonal", "negative columns", other_columns([-1, 1])),
    ("perceptron-diagonal", "equal columns", other_columns([1, 1])),
    ("perceptron-low-rank", "a rank", given_to("rank", 10**9)),
    ("perceptron", "noise", in_belief("likelihood", lambda noise: noise._replace(sigma=1))),
    ("naive-bayes", "counts below zero", lambda model: model._likelihood.words.fill(-1.0)),
    ("naive-bayes", "no counts", lambda model: model._likelihood.words.fill(np.nan)),
    ("naive-bayes", "narrow counts", lambda model: vars(model._likelihood).update(words=np.zeros((6, 2), np.float32))),
    ("gaussian", "documents below zero", lambda model: model._likelihood.count.fill(-1.0)),
    ("dcm", "narrow bounds", given_to("_bounds", (1.0, 1.0))),
    ("lasso", "labels", lambda model: model.classes_.sort() or vars(model).update(classes_=model.classes_[::-1])),
    ("tagging", "labels", lambda model: vars(model).update(classes_=np.array(["a", "b", "c"]))),
    ("relevance", "vectors", shorter("relevance_vectors_", axis=0)),
    ("relevance", "covariances", shorter("sigma_")),
    ("relevance-linear", "weights", shorter("_weights")),
    ("process", "covariances", in_belief("covariance", lambda C: C[:-1])),
    ("process", "inputs", in_belief("basis", lambda basis: basis[:-1])),
    ("process", "width", in_belief("basis", lambda basis: basis[:, :-1])),
    ("process", "an index", far_column),
    ("process", "a start", falling_rows),
    ("process", "a fall to zero", starts_that_end_at_zero),
    ("process", "starts that wrap around", starts_that_wrap_around),
    ("bernoulli", "a limit", lambda model: vars(model._likelihood).update(binarize=10**400)),
    ("probit-jeffreys", "a missing entry", lambda model: vars(model.prior).pop("relative")),
    ("probit-jeffreys", "another entry", lambda model: vars(model.prior).update(sign=1.0)),
    ("informed-lasso", "a raw entry", lambda model: vars(model.prior[0]).update(mode=[1.0] * 6)),
    ("text-lasso", "a method", lambda model: vars(model[0]).update(_check_parameters=int)),
    ("text-lasso", "threads", lambda model: vars(model[0]).update(n_jobs=10**6)),
    ("text-lasso", "words", less_words),
    ("text-lasso", "a far word", far_word),
    ("text-lasso", "a far word of no document", far_word_of_no_document),
    ("text-lasso", "equal words", same_word),
    ("text-lasso", "frequencies", lambda model: shorter("document_frequency_")(model[0])),
    ("text-lasso", "scores", lambda model: shorter("scores_")(model[1])),
    ("hashed-naive-bayes", "hashed", lambda model: shorter("document_frequency_")(model[0])),
    ("informed-lasso", "a prior", lambda model: vars(model.prior[0]).update(unknown="?")),
    ("ridge-utility", "a utility", lambda model: vars(model.threshold).update(tp=float("nan"))),
]


@pytest.mark.parametrize(("case", "what", "change"), MISFITS, ids=[f"{case}: {what}" for case, what, _ in MISFITS])
def test_parts_that_do_not_fit_are_refused(
    case: str, what: str, change: Callable[[Any], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.bayesift"
    model = {**TEXT_CASES, **CASES}[case]()
    if case == "ridge-utility":
        # It is a constant of the package.
        model.threshold = type(model.threshold)(tp=2.0)
    change(model)
    if what not in ("an index", "a start", "a fall to zero", "starts that wrap around"):
        with pytest.raises(ModelFileError, match="cannot be stored"):
            save(model, path)
    with monkeypatch.context() as without:
        without.setattr(model_file, "check_model", lambda *_: None)
        save(model, path)
    with pytest.raises(ModelFileError, match=r"cannot be read: .*\w"):
        load(path)


FOLDER = Path(__file__).parent / "models" / "protocol-2"
SCHEMAS = {path.stem: json.loads(members_of(path.read_bytes())["schema.json"]) for path in FOLDER.glob("*.bayesift")}


def places(node: Any) -> list[tuple[Any, Any]]:
    """List every place in a schema, as the object and the key in it."""
    keys = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    return [place for key in keys for place in ((node, key), *places(node[key]))]


ODDITIES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.floats(),
    st.sampled_from(["", "[]", "null", "-1", "7", "1e400", "NaN", '"a"', "0.npy", "3.npy", "ListNode", "numpy"]),
    st.just([]),
    st.just({}),
)


@settings(max_examples=300)
@given(data=st.data())
def test_any_change_of_a_schema_is_refused_or_gives_a_model_that_does_not_crash(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "changed.bayesift"
    case = data.draw(st.sampled_from(sorted(SCHEMAS)))
    schema = json.loads(json.dumps(SCHEMAS[case]))
    for _ in range(data.draw(st.integers(1, 3))):
        all_places = places(schema)
        place, key = all_places[data.draw(st.integers(0, len(all_places) - 1))]
        other, other_key = all_places[data.draw(st.integers(0, len(all_places) - 1))]
        # Something odd, or what stands elsewhere.
        place[key] = data.draw(ODDITIES) if data.draw(st.booleans()) else json.loads(json.dumps(other[other_key]))
    content = (FOLDER / f"{case}.bayesift").read_bytes()
    path.write_bytes(rebuilt(content, lambda members: members.update({"schema.json": json.dumps(schema).encode()})))
    try:
        model = load(path)
    except ModelFileError:
        return
    documents = ["corn and oil"] if case in TEXT_CASES else NEW_COUNTS
    # Any error of Python will do: the process is still there.
    with suppress(Exception):
        model.predict(documents)
