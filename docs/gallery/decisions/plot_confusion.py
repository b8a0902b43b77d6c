"""
Which classes are confused with which
=====================================

Documents with one label: rows are the true classes, columns the decisions.
"""

import numpy as np

from bayesift.datasets import load
from bayesift.linear import BayesianMultinomialRegression
from bayesift.plots import ConfusionDisplay
from bayesift.text import TextVectorizer

news = load("newsroom")
vectorizer = TextVectorizer(stop_words="english", drop_numbers=True)
X, X_test = vectorizer.fit_transform(news.train.texts), vectorizer.transform(news.test.texts)
single, single_test = (np.array([len(labels) == 1 for labels in part.labels]) for part in (news.train, news.test))
topics, topics_test = ([labels[0] for labels in part.labels if len(labels) == 1] for part in (news.train, news.test))
model = BayesianMultinomialRegression("gaussian", variance="norm").fit(X[single], topics)

ConfusionDisplay.from_estimator(model, X_test[single_test], topics_test).plot()
