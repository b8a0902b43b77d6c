"""Softmax models fitted to shards that do not fit in memory are those of the whole matrix, with a proof."""

from __future__ import annotations

from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax, xlogy
from sklearn.exceptions import ConvergenceWarning

from bayesift import shards
from bayesift.linear import BayesianMultinomialRegression
from bayesift.linear._sharded import classes, solving
from bayesift.linear._sharded.classes import class_slopes
from bayesift.linear._sharded.design import ShardedDesign, documents_of
from bayesift.linear._sharded.tasks import SCALES, table_of
from bayesift.priors import Gaussian, Laplace
from bayesift.shards import Shards

N, D, K = 500, 90, 4
RANDOM = np.random.default_rng(5)
X = sp.random(N, D, 0.06, format="csr", random_state=6)
Y = np.array(["a", "b", "c", "d"])[
    np.argmax(X @ (4.0 * RANDOM.normal(size=(D, K))) + RANDOM.gumbel(size=(N, K)), axis=1)
]
WEIGHTS = RANDOM.integers(0, 4, size=N).astype(np.float64)

#: Bytes into which nothing fits but gradients, and into which candidates and the scores of their solver fit.
TIGHT, WIDE = 30_000, 1_160_000
#: Documents of which only the many copies do not fit into the latter, with their share of the weights.
COPIES = 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("softmax") / "made"
    shards.write_matrix(X, place, rows=130)
    shards.write_matrix(sp.vstack([X] * COPIES, format="csr"), place.with_name("more"), rows=900)
    return place


def opened(folder: Path, memory: int) -> Shards:
    found = shards.open(folder, memory=memory)
    assert isinstance(documents_of(found, 1), ShardedDesign)
    return found


def assert_same(found, expected, tol: float = 1e-6) -> None:
    assert np.all(found.certificate_.converged)
    assert np.all(found.certificate_.relative_gap <= tol)
    gap = found.certificate_.gap + expected.certificate_.gap
    assert np.all(np.abs(found.certificate_.objective - expected.certificate_.objective) <= gap + 1e-9)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=0.03)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=0.03)


SETTINGS = {
    "lasso": {"variance": 1.0},
    "a weak lasso": {"variance": 30.0},
    "ridge": {"prior": "gaussian", "variance": 1.0},
    "signs": {"prior": Laplace(1.0, sign=1)},
    "modes": {"prior": Laplace(1.0, mode=np.where(np.arange(D) < 5, 0.7, 0.0))},
    "modes of a Gaussian": {"prior": Gaussian(1.0, mode=np.where(np.arange(D) < 5, 0.7, 0.0))},
    "penalised constants": {"variance": 2.0, "intercept_variance": 0.5},
    "a reference": {"variance": 1.0, "reference_class": "b"},
    "a reference of a ridge": {"prior": "gaussian", "variance": 1.0, "reference_class": "b"},
    "absent terms": {"variance": 5.0, "exclude_absent": True},
    "dense features": {"variance": 1.0, "dense_features": 3, "dense_variance": 0.5},
}


@pytest.mark.parametrize("memory", [TIGHT, WIDE])
@pytest.mark.parametrize("name", SETTINGS)
def test_the_model_is_that_of_the_matrix(folder: Path, name: str, memory: int) -> None:
    settings = {**SETTINGS[name], "n_jobs": 1}
    expected = BayesianMultinomialRegression(**settings).fit(X, Y, WEIGHTS)
    source, y, weights = folder, Y, WEIGHTS
    if memory == WIDE:
        source, y, weights = folder.with_name("more"), np.tile(Y, COPIES), np.tile(WEIGHTS, COPIES) / COPIES
    found = BayesianMultinomialRegression(**settings).fit(opened(source, memory), y, weights)
    assert_same(found, expected)


def test_the_task_is_its_slow_twin(folder: Path) -> None:
    [file, *_] = shards.open(folder).files
    rows, n = X[: file.n_rows].toarray(), file.n_rows
    codes, s = np.searchsorted(np.unique(Y), Y[:n]), WEIGHTS[:n]
    beta = RANDOM.normal(size=(D + 1, K)) * (RANDOM.random((D + 1, 1)) < 0.3)
    factors = np.stack([np.ones(K), np.linspace(0.4, 1.0, K)])
    totals, duals, c, h = class_slopes(file, codes, s, table_of(list(beta.T)), factors, True)
    p = softmax(rows @ beta[:-1] + beta[-1], axis=1)
    r = s[:, None] * (np.eye(K)[codes] - p)
    loss = -np.sum(s * np.log(p[np.arange(n), codes]))
    flows = np.stack([r[codes == k].sum(axis=0) for k in range(K)], axis=1)
    np.testing.assert_allclose(totals, np.concatenate([[loss], flows.ravel(), (s[:, None] * p * (1 - p)).sum(axis=0)]))
    for place, t in enumerate(factors):
        own = t[codes][:, None] * r
        np.testing.assert_allclose(c[:, place * K : (place + 1) * K], rows.T @ own, atol=1e-12)
        for scale, found in zip(SCALES, duals[place], strict=True):
            q = np.eye(K)[codes] - scale * t[codes][:, None] * (np.eye(K)[codes] - p)
            np.testing.assert_allclose(found, -np.sum(s[:, None] * xlogy(q, q)), atol=1e-9)
    np.testing.assert_allclose(h, (rows**2).T @ (s[:, None] * p * (1 - p)), atol=1e-12)


def test_candidates_are_solved_in_memory_where_there_is_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[str] = []
    for name in ("solve_on_candidates", "solve_by_gradients"):
        own = getattr(solving, name)
        monkeypatch.setattr(solving, name, lambda *given, own=own, name=name: (ways.append(name), own(*given))[1])
    BayesianMultinomialRegression(variance=1.0, n_jobs=1).fit(opened(folder, TIGHT), Y)
    BayesianMultinomialRegression(variance=1.0, n_jobs=1).fit(
        opened(folder.with_name("more"), WIDE), np.tile(Y, COPIES)
    )
    assert ways == ["solve_by_gradients", "solve_on_candidates"]


def test_the_certificate_is_that_of_the_matrix(folder: Path) -> None:
    """A dual objective is a proof only if it is below the objective of every model, the best one included."""
    best = BayesianMultinomialRegression(variance=1.0, tol=1e-10).fit(X, Y).certificate_
    for tol in (0.3, 0.03, 1e-3):
        rough = BayesianMultinomialRegression(variance=1.0, tol=tol, n_jobs=1).fit(opened(folder, TIGHT), Y)
        assert rough.certificate_.dual[0] <= best.objective[0] <= rough.certificate_.objective[0]
        assert rough.certificate_.relative_gap[0] <= tol


def test_bits_do_not_depend_on_the_engine(folder: Path) -> None:
    alone = BayesianMultinomialRegression(variance=1.0, n_jobs=1).fit(opened(folder, TIGHT), Y)
    with joblib.parallel_config("threading", n_jobs=3):
        found = BayesianMultinomialRegression(variance=1.0).fit(opened(folder, TIGHT), Y)
    assert found.coef_.tobytes() == alone.coef_.tobytes()


def test_a_variance_is_chosen_by_folds(folder: Path) -> None:
    settings = {"variance": "cv", "grid": [0.1, 1.0], "runs": 2, "n_jobs": 1}
    expected = BayesianMultinomialRegression(**settings).fit(X, Y)
    found = BayesianMultinomialRegression(**settings).fit(opened(folder, TIGHT), Y)
    assert found.variance_ == expected.variance_
    np.testing.assert_allclose(found.cv_results_[0]["scores"], expected.cv_results_[0]["scores"], rtol=2e-3)


def test_a_fit_that_is_stopped_has_a_gap_and_warns(folder: Path) -> None:
    with pytest.warns(ConvergenceWarning, match="max_iter=4"):
        found = BayesianMultinomialRegression(variance=1.0, max_iter=4, n_jobs=1).fit(opened(folder, TIGHT), Y)
    assert 1e-6 < found.certificate_.relative_gap[0] < 1.0


@pytest.mark.parametrize(
    "setting",
    [{"solver": "clg"}, {"calibration": "sigmoid"}, {"compute_precision": True}],
    ids=lambda one: next(iter(one)),
)
def test_what_needs_all_documents_is_refused(folder: Path, setting: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="needs all documents in memory, but the shards do not fit"):
        BayesianMultinomialRegression(variance=1.0, **setting).fit(opened(folder, TIGHT), Y)


class StoppedError(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize(
    ("memory", "settings", "n_rounds"),
    [
        (WIDE, {"variance": 1.0}, 1),
        (TIGHT, {"variance": 1.0}, 20),
        (TIGHT, {"prior": "gaussian", "variance": 1.0}, 8),
    ],
    ids=["candidates", "faces", "ridge"],
)
def test_a_fit_goes_on_from_its_last_round(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int, settings: dict, n_rounds: int
) -> None:
    source, copies = (folder.with_name("more"), COPIES) if memory == WIDE else (folder, 1)
    y, weights = np.tile(Y, copies), np.tile(WEIGHTS / copies, copies)

    def fit(rounds: Path | None) -> tuple[BayesianMultinomialRegression, int]:
        readings: list[shards.Reading] = []
        found = shards.open(source, memory=memory, rounds=rounds, watch=readings.append)
        assert isinstance(documents_of(found, 1), ShardedDesign)
        return BayesianMultinomialRegression(**settings, n_jobs=1).fit(found, y, weights), readings[-1].round

    alone, n_alone = fit(None)
    done, own = [], classes._Classes.judged

    def judged(self, *given, **options):
        if len(done) == n_rounds:
            raise StoppedError
        done.append(1)
        return own(self, *given, **options)

    with monkeypatch.context() as patch:
        patch.setattr(classes._Classes, "judged", judged)
        with pytest.raises(StoppedError):
            fit(tmp_path)
    [kept] = tmp_path.glob("*.npz")
    again, n_again = fit(tmp_path)
    assert n_again < n_alone
    assert_same(again, alone)
    if memory == WIDE:
        assert again.coef_.tobytes() == alone.coef_.tobytes()
    # What is done is confirmed before and after coefficients are shifted, by two rounds where constants are free.
    last, n_last = fit(tmp_path)
    assert n_last <= 4
    assert last.coef_.tobytes() == again.coef_.tobytes()
    kept.write_bytes(kept.read_bytes()[:100])
    assert_same(fit(tmp_path)[0], alone)
