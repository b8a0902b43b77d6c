"""Bad settings and data: an error that names the argument, what was found and what is expected."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bayesift.conjugate import BetaBinomial, NormalGamma
from bayesift.generative import BernoulliNB, CategoricalNB, GaussianNB, MixedNB, MultinomialNB
from generative_cases import documents

X, Y = documents("values")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BernoulliNB(0.0), "'alpha' parameter of BernoulliNB must be a float in the range"),
        (MultinomialNB(-1.0), "'alpha' parameter of MultinomialNB"),
        (MultinomialNB([1.0, 0.0, 1, 1, 1]), "alpha is 0 at 1; expected a finite number above 0"),
        (MultinomialNB([1.0, 2.0]), r"alpha has shape \(2,\); expected a number or 5, one for each feature"),
        (BernoulliNB(BetaBinomial([1.0, 2.0], 1.0)), r"alpha has shape \(2,\)"),
        (CategoricalNB(np.ones(3)), r"alpha has shape \(3,\)"),
        (CategoricalNB(min_categories=[1.5] * 5), "min_categories is .*; expected whole numbers of at least 1"),
        (GaussianNB(NormalGamma([0, 1], 1, 1, 1)), r"prior is a batch of shape \(2,\); expected a single one, or 5"),
        (BernoulliNB(class_prior=[1.0, 1.0]), r"class_prior has shape \(2,\); expected a number or 3, one for each"),
        (BernoulliNB(class_prior=[1.0, 1.0, 0.0]), "class_prior is 0 at 2; expected a finite number above 0"),
        (BernoulliNB(class_prior="flat"), "'class_prior' parameter"),
        (MultinomialNB(estimate="mean"), "'estimate' parameter of MultinomialNB must be a str among"),
        (BernoulliNB(binarize=None), "X holds 2; expected 0 or 1"),
        (BernoulliNB(binarize=-1.0), "'binarize' parameter"),
        (MixedNB([("a", BernoulliNB(), [0, 1])]), "parts names column 2 0 times; expected every column exactly once"),
        (MixedNB([("a", BernoulliNB(), [0]), ("b", GaussianNB(), slice(5))]), "parts names column 0 2 times"),
        (MixedNB([("a", BernoulliNB(), [5])]), "part 'a' has the columns .*; expected numbers from 0 to 4"),
        (MixedNB([("a", BernoulliNB(), [0.5])]), "part 'a' has the columns .*; expected numbers, a slice, a mask"),
        (MixedNB([("a", "bernoulli", [0])]), "parts holds .*; expected .name, naive Bayes classifier, columns."),
        (MixedNB([("a", BernoulliNB(0.0), slice(None))]), "'alpha' parameter of BernoulliNB"),
    ],
)
def test_settings(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)


@pytest.mark.parametrize(
    ("model", "value", "message"),
    [
        (MultinomialNB(), -1.0, "Negative values in data passed to MultinomialNB: X holds -1"),
        (CategoricalNB(), -1.0, "Negative values in data passed to CategoricalNB: X holds -1"),
        (CategoricalNB(), 0.5, "X holds 0.5; expected values numbered"),
        (BernoulliNB(), np.inf, "infinity"),
        (GaussianNB(), np.inf, "infinity"),
        (MixedNB([("a", MultinomialNB(), slice(None))]), -2.0, "X holds -2; expected numbers of at least 0"),
    ],
)
def test_values_in_learning_and_prediction(model, value, message):
    wrong = X.copy()
    wrong[3, 1] = value
    with pytest.raises(ValueError, match=message):
        model.fit(wrong, Y)
    model.fit(X, Y)
    with pytest.raises(ValueError, match=message):
        model.predict(wrong)


def test_labels():
    with pytest.raises(ValueError, match="y has several columns with values other than 0 and 1"):
        MultinomialNB().fit(X, np.column_stack([Y, Y]))
    with pytest.raises(ValueError, match="y mixes labels of the types int, str"):
        MultinomialNB().fit(X[:2], ["a", 1])
    model = MultinomialNB().fit(X, np.column_stack([Y > 0, Y > 1]).astype(int))
    with pytest.raises(ValueError, match="y has 3 columns; expected 2, as in the first batch"):
        model.partial_fit(X, np.ones((40, 3), dtype=int))
    with pytest.raises(ValueError, match="y holds classes; expected categories, as in the first batch"):
        model.partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"y has the label .*'a'.*; expected labels of one type, like"):
        MultinomialNB().fit(X, Y).partial_fit(X[:1], ["a"])
    with pytest.raises(ValueError, match="label is None; expected a column number"):
        model.sample(3)
    with pytest.raises(ValueError, match=r"label is 7; expected one of \[0, 1\]"):
        model.sample(3, label=7)
    with pytest.raises(ValueError, match="length is -1; expected a whole number of at least 0"):
        model.sample(3, label=1, length=-1)


def test_what_is_not_there_yet_or_has_no_density():
    for name in ("class_log_prior_", "log_evidence_", "mutual_information_", "feature_log_prob_"):
        with pytest.raises(NotFittedError):
            getattr(MultinomialNB(), name)
    model = GaussianNB(estimate="mle").fit([[1.0, 2.0], [1.0, 3.0], [2.0, 1.0], [3.0, 2.0]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="values of column 0 in class number 0 do not differ"):
        model.predict([[1.0, 2.0]])
    assert GaussianNB().fit(np.ones((4, 2)), [0, 0, 1, 1]).predict_proba(np.ones((1, 2))).tolist() == [[0.5, 0.5]]
