"""Every public estimator keeps what all of them promise."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from sklearn.base import is_classifier

from bayesift._registry import estimators
from bayesift.ard import RelevanceTaggingMachine, RelevanceVectorMachine, RelevanceVectorRegressor
from bayesift.generative import (
    BernoulliNB,
    CategoricalNB,
    DirichletCompoundMultinomial,
    GaussianNB,
    MixedNB,
    MultinomialNB,
)
from bayesift.linear import (
    BayesianLogisticRegression,
    BayesianMultinomialRegression,
    BayesianProbitRegression,
)
from bayesift.online import BayesianPerceptron, OnlineGaussianProcess
from bayesift.select import TermSelector
from bayesift.workflow import BinaryRelevance, WordsAndVectors
from checks import CHECKS, Case

rng = np.random.default_rng(7)
SIGNS = np.arange(48) % 2
COUNTS = rng.poisson(np.where(SIGNS[:, None] == np.arange(8) % 2, 1.6, 0.6)).astype(float)
TWO = np.array(["sea", "wheat"])[SIGNS]
SEVERAL = np.array(["gold", "sea", "wheat"])[np.arange(48) % 3]
SETS = np.column_stack([SIGNS, np.arange(48) % 3 == 0, COUNTS[:, 2] > 0]).astype(int)

TIGHT = {"variance": 1.0, "tol": 1e-9}
BINARY = [
    BayesianLogisticRegression(**TIGHT),
    BayesianLogisticRegression("gaussian", **TIGHT),
    BayesianLogisticRegression("gaussian", calibration="sigmoid", **TIGHT),
    BayesianMultinomialRegression(**TIGHT),
    BayesianMultinomialRegression("gaussian", calibration="sigmoid", **TIGHT),
    BayesianProbitRegression(**TIGHT),
    MultinomialNB(),
    BernoulliNB(),
    CategoricalNB(min_categories=20),
    GaussianNB(),
    MixedNB(),
    DirichletCompoundMultinomial(tol=1e-9),
    RelevanceTaggingMachine(binarize=0.0),
    RelevanceVectorMachine(),
    BayesianPerceptron(),
    OnlineGaussianProcess(budget=20),
    BinaryRelevance(RelevanceVectorMachine()),
    WordsAndVectors(BayesianLogisticRegression("gaussian", dense_variance=1.0, **TIGHT), rng.normal(size=(8, 3))),
]
SINGLE_LABEL = (BayesianMultinomialRegression,)
TWO_CLASSES = (RelevanceTaggingMachine, RelevanceVectorMachine)
ONLINE = (BayesianPerceptron, OnlineGaussianProcess)


def cases():
    for estimator in BINARY:
        special = isinstance(estimator, ONLINE), getattr(estimator, "calibration", None) is not None
        name = str(estimator).partition("(")[0]
        yield Case(f"{name}-two", estimator, COUNTS, TWO, *special)
        if not isinstance(estimator, TWO_CLASSES):
            yield Case(f"{name}-several", estimator, COUNTS, SEVERAL, *special)
            if not isinstance(estimator, SINGLE_LABEL):
                yield Case(f"{name}-sets", estimator, COUNTS, SETS, *special)
    yield Case("RelevanceVectorRegressor", RelevanceVectorRegressor(), COUNTS, COUNTS @ np.arange(8) / 8)
    yield Case("TermSelector", TermSelector(k=3), COUNTS, TWO)


CASES = list(cases())
#: Estimators of texts or of scores instead of a matrix; their rooms' tests say what they promise.
OTHERS = {"TextVectorizer", "TextClassifier", "Threshold", "WordVectors"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_promise(check, case, tmp_path):
    if "weight" in check.__name__ and not accepts_weights(case):
        pytest.skip("scores of terms take no weights")
    check(case, tmp_path) if "folder" in inspect.signature(check).parameters else check(case)


def accepts_weights(case):
    takes = "sample_weight" in inspect.signature(case.estimator.fit).parameters
    assert takes or not (is_classifier(case.estimator) or hasattr(case.estimator, "predict"))
    return takes


def test_every_estimator_is_checked():
    checked = {type(case.estimator).__name__ for case in CASES}
    assert {name.rpartition(".")[2] for name in estimators()} == checked | OTHERS
