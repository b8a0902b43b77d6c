"""From files to estimators and priors, and back, without loss."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import golden
from bayesift import bbr
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression
from bayesift.priors import Gaussian, Laplace

X = sp.csr_matrix(np.random.default_rng(0).poisson(0.7, (60, 8)).astype(float))
BINARY = np.where(X[:, 0].toarray().ravel() + X[:, 3].toarray().ravel() > 1, 1, -1)
CLASSES = np.argmax(X[:, :3].toarray(), axis=1)


def through_a_file(tmp_path, model, write, read):
    write(tmp_path / "a.model", model)
    return read(tmp_path / "a.model")


@pytest.mark.parametrize("prior", ["laplace", "gaussian"])
def test_a_binary_estimator_comes_back(prior, tmp_path):
    fitted = BayesianLogisticRegression(prior, 1.0, threshold="max_f1").fit(X, BINARY)
    model = bbr.from_estimator(fitted)
    found = through_a_file(
        tmp_path, model, bbr.write_binary_model, lambda path: bbr.read_binary_model(path, threshold_unit="log_odds")
    )
    assert found == model
    again = bbr.to_estimator(found, X.shape[1])
    np.testing.assert_array_equal(again.coef_, fitted.coef_)
    np.testing.assert_array_equal(again.intercept_, fitted.intercept_)
    for method in ("decision_function", "predict_proba", "predict_log_proba", "predict"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(fitted, method)(X))
    assert bbr.from_estimator(again, found) == found
    assert not hasattr(again, "certificate_")
    clone(again).fit(X, BINARY)


@pytest.mark.parametrize("labels", [CLASSES, np.array(["gold", "wheat", "corn"])[CLASSES], BINARY])
@pytest.mark.parametrize("reference", [False, True])
@pytest.mark.parametrize("form", ["bxr", "bmr", "sparse"])
def test_a_polytomous_estimator_comes_back(labels, reference, form, tmp_path):
    chosen = labels[0] if reference else None
    fitted = BayesianMultinomialRegression("laplace", 1.0, reference_class=chosen).fit(X, labels)
    template = bbr.PolytomousModel((), "a.model", header=bbr.BMRHeader() if form == "bmr" else None)
    model = bbr.from_estimator(fitted, template)
    if form == "sparse":
        bbr.write_sparse_models(tmp_path / "a.model", [model])
        [found] = bbr.read_sparse_models(tmp_path / "a.model")
    else:
        found = through_a_file(tmp_path, model, bbr.write_polytomous_model, bbr.read_polytomous_model)
    again = bbr.to_estimator(found, X.shape[1])
    np.testing.assert_array_equal(again.classes_, fitted.classes_)
    np.testing.assert_array_equal(again.coef_, fitted.coef_)
    np.testing.assert_array_equal(again.intercept_, fitted.intercept_)
    np.testing.assert_array_equal(again.class_coef_, fitted.class_coef_)
    np.testing.assert_array_equal(again.class_intercept_, fitted.class_intercept_)
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    if form != "bxr" and not (form == "bmr" and labels is CLASSES):
        # BXR's default form has no place for the reference class; for BMR, a reference class 0 is none.
        assert str(again.reference_class) == str(chosen)


def test_words_become_named_columns():
    model = bbr.PolytomousModel(
        (
            bbr.ClassCoefficients("grain", ("wheat", "bushel"), (1.5, 0.5), -1.0),
            bbr.ClassCoefficients("metal", ("ounce",), (2.0,)),
        ),
        symbolic=True,
    )
    estimator = bbr.to_estimator(model)
    assert bbr.from_estimator(estimator, model) == model
    named = bbr.from_estimator(estimator, feature_names=["wheat", "bushel", "ounce"])
    assert named.symbolic
    assert [found.features for found in named.classes] == [("wheat", "bushel"), ("ounce",)]
    data = bbr.Data(
        sp.csr_matrix([[2.0, 1.0, 5.0]]), ("grain",), None, np.empty((1, 0), np.uint8), ("ounce", "wheat", "x")
    )
    assert bbr.model_matrix(model, data).toarray().tolist() == [[1.0, 0.0, 2.0]]
    assert estimator.predict(bbr.model_matrix(model, data)).tolist() == ["metal"]


@golden.needs_golden
@pytest.mark.parametrize("path", sorted(golden.FOLDER.glob("*.model")), ids=lambda path: path.stem)
def test_model_files_of_the_originals_come_back(path, tmp_path):
    [model] = bbr.read_models(path)
    assert bbr.from_estimator(bbr.to_estimator(model), model) == model
    writers = {"sparse": lambda target: bbr.write_sparse_models(target, [model], digits=6)}
    if isinstance(model, bbr.BinaryModel):
        writers = {"bbr": lambda target: bbr.write_binary_model(target, model, digits=12)}
    elif "-f3" not in path.stem:
        writers = {"bmr": lambda target: bbr.write_polytomous_model(target, model, digits=12)}
    [write] = writers.values()
    write(tmp_path / "again")
    # The same file, but for blanks at the ends of lines and empty lines.
    ours, theirs = (
        [line.rstrip() for line in file.read_text().splitlines() if line.strip()] for file in (tmp_path / "again", path)
    )
    assert ours == theirs


def test_cosine_normalisation_counts_the_features_trained_on():
    data = bbr.Data(sp.csr_matrix([[3.0, 4.0, 12.0]]), ("1",), None, np.empty((1, 0), np.uint8))
    model = bbr.BinaryModel((1,), (1.0,), 0.0, restricted_to=(1, 2), cosine_normalize=True)
    assert bbr.model_matrix(model, data).toarray().tolist() == [[0.6, 0.8]]


def test_what_can_not_be_converted():
    with pytest.raises(ValueError, match="n_features is 2; expected at least 5"):
        bbr.to_estimator(bbr.BinaryModel((5,), (1.0,), 0.0), 2)
    fitted = BayesianLogisticRegression(variance=1.0).fit(X, CLASSES)
    with pytest.raises(ValueError, match="estimator has 3 categories; expected two classes"):
        bbr.from_estimator(fitted)
    with pytest.raises(TypeError, match="estimator is a list"):
        bbr.from_estimator([])


def test_a_probability_stays_one():
    model = bbr.BinaryModel((1,), (1.0,), 0.0, threshold=0.3, threshold_unit="probability", class_name="1")
    estimator = bbr.to_estimator(model)
    assert estimator.threshold_.thresholds_[0] == np.log(0.3 / 0.7)
    assert bbr.from_estimator(estimator, model) == model
    estimator.threshold_.thresholds_[0] = 2.0
    changed = bbr.from_estimator(estimator, model)
    assert (changed.threshold, changed.threshold_unit) == (2.0, "log_odds")


individual = st.builds(
    bbr.IndividualPrior,
    st.integers(1, 9).map(str),
    st.floats(-1e6, 1e6),
    st.floats(1e-200, 1e200) | st.sampled_from([0.0, np.inf]),
    st.sampled_from([-1, 0, 1]),
)


@given(
    st.lists(individual, unique_by=lambda prior: prior.feature),
    st.sampled_from([Laplace, Gaussian]),
    st.none() | st.sampled_from([0.0, np.inf]),
)
@settings(max_examples=50)
def test_priors_come_back(priors, family, constant):
    lines = [*priors, *([] if constant is None else [bbr.IndividualPrior("0", 1.5, constant)])]
    assert bbr.from_prior(bbr.to_prior(lines, family)) == tuple(lines)


def test_lines_of_a_class_beat_lines_of_a_feature():
    lines = [
        bbr.IndividualPrior("4", 0.5, 2.0),
        bbr.IndividualPrior("4", 1.0, 3.0, class_name="2"),
        bbr.IndividualPrior("7", 0.0, 8.0, absolute=True),
    ]
    assert bbr.to_prior(lines, Gaussian, common_variance=4.0).mode == {3: 0.5, 6: 0.0}
    second = bbr.to_prior(lines, Gaussian, class_name="2", common_variance=4.0)
    assert (second.mode, second.relative) == ({3: 1.0, 6: 0.0}, {3: 3.0, 6: 2.0})
    with pytest.raises(ValueError, match="the prior of '7' is absolute"):
        bbr.to_prior(lines, Gaussian)


def test_rates_of_skewed_priors():
    # √(2/(v·V)) on one side, as on both.
    arrays = bbr.to_prior([bbr.IndividualPrior("1", 0.0, 4.0, 1)], Laplace).scaled(0.5).resolve(2)
    np.testing.assert_allclose(arrays.weight, [np.sqrt(2 / (4 * 0.5)), np.sqrt(2 / 0.5)])
    assert arrays.sign.tolist() == [1, 0]


@golden.needs_golden
def test_prior_files_of_the_originals():
    [section] = bbr.read_priors(golden.FOLDER / "priors.txt")
    assert bbr.constant_prior(section.priors).variance == np.inf
    assert bbr.from_prior(bbr.to_prior(section.priors, Laplace))[:-1] == section.priors[1:]
    [section] = bbr.read_priors(golden.FOLDER / "priors-class.txt")
    assert [prior.class_name for prior in section.priors] == [None, "2", "3"]


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(-3, 3)), min_size=1))
def test_figures_by_counting(documents):
    positive, accepted, scores = (np.array(part) for part in zip(*documents, strict=True))
    figures = bbr.BinaryFigures.of(positive, accepted)
    counts = [sum(p == a and q == b for p, q, _ in documents) for a, b in ((1, 1), (0, 1), (1, 0), (0, 0))]
    assert [figures.tp, figures.fp, figures.fn, figures.tn] == counts
    tp, fp, fn, _ = counts
    assert figures.precision == pytest.approx(100 * tp / (tp + fp) if tp + fp else 100)
    assert figures.recall == pytest.approx(100 * tp / (tp + fn) if tp + fn else 100)
    assert figures.f1 == pytest.approx(200 * tp / (2 * tp + fp + fn) if tp + fp + fn else 100)
    assert (figures.t11u, figures.t13u) == (2 * tp - fp, 20 * tp - fp)
    assert 0 <= figures.t11su <= 1
    pairs = [(a > b) + (a == b) / 2 for a in scores[positive] for b in scores[~positive]]
    assert bbr.roc_area(positive, scores) == pytest.approx(100 * np.mean(pairs) if pairs else 0)
