"""Models fitted to shards are those of the whole matrix, and their bits do not depend on who computed them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from joblib.parallel import ThreadingBackend

from bayesift import shards
from bayesift.linear import (
    BayesianLogisticRegression,
    BayesianMultinomialRegression,
    BayesianProbitRegression,
    regularization_path,
)
from bayesift.linear._sharded import solving
from bayesift.linear._sharded.design import ShardedDesign, documents_of
from bayesift.priors import Gaussian, Laplace
from bayesift.shards import Shards, ShardWriter

N, D = 600, 120
RANDOM = np.random.default_rng(3)
X = sp.random(N, D, 0.05, format="csr", random_state=2)
PLANTED = np.where(np.arange(D) < 12, 8.0 * RANDOM.normal(size=D), 0.0)
Y = np.where(X @ PLANTED + RANDOM.normal(size=N) > 0, "yes", "no")
WEIGHTS = RANDOM.integers(0, 4, size=N).astype(np.float64)
TOPICS = np.array(["a", "b", "c", "d"])[np.argsort(X @ RANDOM.normal(size=(D, 4)), axis=1)[:, -1]]

#: Bytes that nothing fits into, into which some columns fit, and most of them.
TIGHT, NARROW, WIDE = 30_000, 90_000, 200_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shards") / "made"
    with ShardWriter(place, D, rows=170) as writer:
        writer.add(X[:1])
        writer.add_empty_shard()
        writer.add(X[1:])
    assert [file.n_rows for file in shards.open(place).files] == [1, 0, 170, 170, 170, 89]
    return place


@pytest.fixture
def open_with(folder: Path) -> Callable[[int], Shards]:
    def open_with(memory: int) -> Shards:
        found = shards.open(folder, memory=memory)
        assert isinstance(documents_of(found, 1), ShardedDesign)
        return found

    return open_with


def assert_same(found, expected, tol: float = 1e-6) -> None:
    """Both objectives are within the tolerance of the minimum, so they are within it of each other."""
    assert np.all(found.certificate_.converged)
    assert np.all(found.certificate_.relative_gap <= tol)
    gap = found.certificate_.gap + expected.certificate_.gap
    assert np.all(np.abs(found.certificate_.objective - expected.certificate_.objective) <= gap + 1e-9)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=0.02)


@pytest.mark.parametrize("memory", [TIGHT, NARROW, WIDE])
@pytest.mark.parametrize("variance", [0.01, 1.0, 20.0])
def test_the_lasso_is_that_of_the_matrix(open_with: Callable[[int], Shards], memory: int, variance: float) -> None:
    model = BayesianLogisticRegression(variance=variance, tol=1e-8)
    expected = BayesianLogisticRegression(variance=variance, tol=1e-8).fit(X, Y, WEIGHTS)
    found = model.fit(open_with(memory), Y, WEIGHTS)
    assert_same(found, expected, 1e-8)
    np.testing.assert_array_equal(found.coef_ != 0.0, expected.coef_ != 0.0)
    assert found.predict(X).tolist() == expected.predict(X).tolist()


@pytest.mark.parametrize("variance", [0.1, 10.0])
def test_ridge_is_that_of_the_matrix(open_with: Callable[[int], Shards], variance: float) -> None:
    expected = BayesianLogisticRegression("gaussian", variance, tol=1e-9).fit(X, Y, WEIGHTS)
    found = BayesianLogisticRegression("gaussian", variance, tol=1e-9).fit(open_with(NARROW), Y, WEIGHTS)
    assert_same(found, expected, 1e-9)


PRIORS = {
    "signs": Laplace(1.0, sign=1),
    "signs of a Gaussian": Gaussian(1.0, sign=1),
    "modes": Laplace(1.0, mode=np.where(np.arange(D) < 5, 0.7, 0.0)),
    "modes of a Gaussian": Gaussian(1.0, mode=np.where(np.arange(D) < 5, 0.7, 0.0)),
    "rates": Laplace(np.linspace(0.1, 3.0, D)),
    "fixed": Laplace(np.where(np.arange(D) < 60, 0.0, 1.0)),
}


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize("memory", [TIGHT, WIDE])
def test_priors_of_every_kind(open_with: Callable[[int], Shards], name: str, memory: int) -> None:
    for intercept in (np.inf, 0.5):
        options = {"prior": PRIORS[name], "intercept_variance": intercept, "tol": 1e-8}
        expected = BayesianLogisticRegression(**options).fit(X, Y)
        assert_same(BayesianLogisticRegression(**options).fit(open_with(memory), Y), expected, 1e-8)


def test_a_block_of_dense_features(open_with: Callable[[int], Shards]) -> None:
    options = {"variance": 1.0, "dense_features": 4, "dense_variance": 0.5, "tol": 1e-8}
    expected = BayesianLogisticRegression(**options).fit(X, Y)
    assert_same(BayesianLogisticRegression(**options).fit(open_with(WIDE), Y), expected, 1e-8)


@pytest.mark.parametrize("memory", [NARROW, WIDE])
def test_many_categories_share_rounds(open_with: Callable[[int], Shards], memory: int) -> None:
    expected = BayesianLogisticRegression(variance=1.0).fit(X, TOPICS)
    opened = open_with(memory)
    found = BayesianLogisticRegression(variance=1.0).fit(opened, TOPICS)
    assert_same(found, expected)
    indicator = sp.csr_matrix(TOPICS[:, None] == np.unique(TOPICS))
    np.testing.assert_array_equal(BayesianLogisticRegression(variance=1.0).fit(opened, indicator).coef_, found.coef_)


def test_categories_side_by_side_ask_in_common_rounds(folder: Path) -> None:
    design = ShardedDesign(shards.open(folder, memory=10_000_000), 1)
    rounds = []
    design._all_scores, own = (lambda questions: rounds.append(len(questions)) or own(questions)), design._all_scores
    betas = [np.arange(D + 1.0) * k for k in range(5)]
    found = design.map(lambda beta: design.scores(beta) + design.scores(2 * beta), betas, None)
    assert rounds == [5, 5]
    for beta, scores in zip(betas, found, strict=True):
        np.testing.assert_allclose(scores, 3 * (X @ beta[:-1] + beta[-1]), rtol=1e-12)


def test_an_error_in_one_category_ends_all(folder: Path) -> None:
    design = ShardedDesign(shards.open(folder, memory=10_000_000), 1)

    def work(number: int):
        design.scores(np.zeros(D + 1))
        if number == 1:
            raise KeyError("this one")
        return design.scores(np.zeros(D + 1))

    with pytest.raises(KeyError, match="this one"):
        design.map(work, range(4), None)


@pytest.mark.parametrize("variance", ["cv", "norm", "shared"])
def test_the_variance_is_chosen_as_in_memory(open_with: Callable[[int], Shards], variance: str) -> None:
    expected = BayesianLogisticRegression(variance=variance, grid=[0.1, 1.0, 10.0]).fit(X, Y)
    found = BayesianLogisticRegression(variance=variance, grid=[0.1, 1.0, 10.0]).fit(open_with(WIDE), Y)
    np.testing.assert_allclose(found.variance_, expected.variance_, rtol=1e-12)
    assert_same(found, expected)


def test_the_search_learns_from_the_same_part(
    open_with: Callable[[int], Shards], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bayesift.linear._fit.variance._LEARNT", 200)
    monkeypatch.setattr("bayesift.linear._fit.variance._LEARNT_OF_A_CLASS", 50)
    expected = BayesianLogisticRegression(grid=[0.1, 1.0, 10.0]).fit(X, Y)
    found = BayesianLogisticRegression(grid=[0.1, 1.0, 10.0]).fit(open_with(WIDE), Y)
    np.testing.assert_array_equal(found.variance_, expected.variance_)
    np.testing.assert_allclose(found.cv_results_[0]["scores"], expected.cv_results_[0]["scores"], rtol=1e-12)


def test_thresholds_precision_and_weights_of_classes(open_with: Callable[[int], Shards]) -> None:
    options = {
        "variance": 1.0,
        "threshold": "max_f1",
        "compute_precision": True,
        "class_weight": "balanced",
        "folds": 3,
    }
    expected = BayesianLogisticRegression(**options).fit(X, Y)
    found = BayesianLogisticRegression(**options).fit(open_with(WIDE), Y)
    np.testing.assert_allclose(found.precision_, expected.precision_, rtol=1e-3)
    np.testing.assert_allclose(found.threshold_.thresholds_, expected.threshold_.thresholds_, atol=0.02)


def test_probit_too(open_with: Callable[[int], Shards]) -> None:
    for prior in ("laplace", "gaussian"):
        expected = BayesianProbitRegression(prior, 1.0, tol=1e-7).fit(X, Y)
        assert_same(BayesianProbitRegression(prior, 1.0, tol=1e-7).fit(open_with(WIDE), Y), expected, 1e-7)


def test_what_fits_is_solved_in_memory_to_the_bit(folder: Path) -> None:
    expected = BayesianLogisticRegression(variance=1.0).fit(X, Y)
    found = BayesianLogisticRegression(variance=1.0).fit(shards.open(folder), Y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)


class WithoutGenerators(ThreadingBackend):
    """A backend of joblib that returns nothing but lists, as Ray's does."""

    supports_return_generator = False


joblib.register_parallel_backend("without generators", WithoutGenerators)


@pytest.mark.parametrize("backend", ["threading", "loky", "without generators"])
def test_bits_do_not_depend_on_the_engine(open_with: Callable[[int], Shards], backend: str) -> None:
    alone = BayesianLogisticRegression(variance=1.0, n_jobs=1).fit(open_with(NARROW), TOPICS)
    with joblib.parallel_config(backend, n_jobs=2):
        found = BayesianLogisticRegression(variance=1.0).fit(open_with(NARROW), TOPICS)
    assert found.coef_.tobytes() == alone.coef_.tobytes()
    assert found.certificate_.dual.tobytes() == alone.certificate_.dual.tobytes()


def test_one_row_one_column(tmp_path: Path) -> None:
    matrix, y = sp.csr_matrix(np.array([[1.0], [2.0], [0.0], [0.5]])), [1, 1, 0, 0]
    shards.write_matrix(matrix, tmp_path / "a", rows=1)
    expected = BayesianLogisticRegression(variance=3.0).fit(matrix, y)
    assert_same(BayesianLogisticRegression(variance=3.0).fit(shards.open(tmp_path / "a", memory=50), y), expected)


def test_documents_without_any_term(tmp_path: Path) -> None:
    shards.write_matrix(sp.csr_matrix((4, 3)), tmp_path / "a", rows=3)
    found = BayesianLogisticRegression(variance=1.0).fit(shards.open(tmp_path / "a", memory=1), [1, 0, 0, 0])
    np.testing.assert_allclose(found.intercept_, [np.log(1 / 3)], atol=1e-3)
    assert not found.coef_.any()


def test_one_class_only_and_labels_beside_the_rows(tmp_path: Path) -> None:
    shards.write_matrix(X, tmp_path / "a", labels=list(Y), rows=400, terms=[f"t{j}" for j in range(D)])
    opened = shards.open(tmp_path / "a", memory=WIDE)
    prior = Laplace({"t3": 5.0}, default_variance=1.0)
    expected = BayesianLogisticRegression(prior).fit(X, Y, feature_names=opened.terms)
    assert_same(BayesianLogisticRegression(prior).fit(opened, None), expected)
    indicator = np.column_stack([Y == "yes", np.zeros(N)]).astype(int)
    with pytest.warns(UserWarning, match="one class only"):
        found = BayesianLogisticRegression(variance=1.0).fit(opened, indicator)
    assert not found.coef_[1].any()


def test_bad_input_is_refused_before_any_work(open_with: Callable[[int], Shards]) -> None:
    opened = open_with(WIDE)
    for y, message in ((Y[:5], "600 rows and y 5"), (None, "no labels beside"), ([None] * N, "missing")):
        with pytest.raises(ValueError, match=message):
            BayesianLogisticRegression(variance=1.0).fit(opened, y)
    for options in ({"solver": "clg"}, {"posterior": "laplace"}, {"variance": "evidence", "prior": "gaussian"}):
        with pytest.raises(ValueError, match="needs all documents in memory"):
            BayesianLogisticRegression(**{"variance": 1.0, **options}).fit(opened, Y)
    with pytest.raises(ValueError, match="120 columns; expected 7"):
        BayesianLogisticRegression(variance=1.0).fit(X[:, :7], Y).predict(opened)


def test_predictions_of_shards_are_those_of_their_rows(open_with: Callable[[int], Shards]) -> None:
    model = BayesianLogisticRegression(variance=1.0).fit(X, TOPICS)
    np.testing.assert_array_equal(model.predict(open_with(WIDE)), model.predict(X))
    np.testing.assert_array_equal(model.predict_proba(open_with(WIDE)), model.predict_proba(X))


def test_a_path_of_rates(open_with: Callable[[int], Shards]) -> None:
    expected = regularization_path(X, Y, variances=[0.01, 0.1, 1.0], tol=1e-8)
    found = regularization_path(open_with(WIDE), Y, variances=[0.01, 0.1, 1.0], tol=1e-8)
    np.testing.assert_allclose(found.coef.toarray(), expected.coef.toarray(), atol=1e-3)
    np.testing.assert_allclose(found.log_likelihood, expected.log_likelihood, rtol=1e-6)
    assert np.all(found.gap <= 1e-8 * found.objective)
    with pytest.raises(ValueError, match="expected variances"):
        regularization_path(open_with(WIDE), Y)


def test_one_round_judges_a_path_but_for_the_weakest_prior(folder: Path) -> None:
    read: set[int] = set()
    opened = shards.open(folder, memory=WIDE, watch=lambda reading: read.add(reading.round))
    regularization_path(opened, Y, variances=[1.0], tol=1e-4)
    alone = len(read)
    read.clear()
    opened = shards.open(folder, memory=WIDE, watch=lambda reading: read.add(reading.round))
    regularization_path(opened, Y, variances=np.geomspace(0.1, 1.0, 8), tol=1e-4)
    assert len(read) == alone + 1


def test_gradients_take_over_where_a_matrix_has_no_room(
    open_with: Callable[[int], Shards], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "_LEAST_COLUMNS", 6)
    monkeypatch.setattr(solving, "_MATRIX_SHARE", 0.0)
    begun, own = [], solving.solve_by_gradients
    monkeypatch.setattr(solving, "solve_by_gradients", lambda *given: (begun.append(1), own(*given))[1])
    for prior in (Laplace(1.0), PRIORS["signs"], PRIORS["modes"], PRIORS["rates"]):
        expected = BayesianLogisticRegression(prior).fit(X, Y)
        assert_same(BayesianLogisticRegression(prior, n_jobs=1).fit(open_with(TIGHT), Y), expected)
    assert len(begun) == 4


def test_softmax_takes_shards_that_fit(folder: Path) -> None:
    y = np.arange(X.shape[0]) % 3
    found = BayesianMultinomialRegression(variance=1.0).fit(shards.open(folder), y)
    expected = BayesianMultinomialRegression(variance=1.0).fit(X, y)
    assert found.coef_.tobytes() == expected.coef_.tobytes()
