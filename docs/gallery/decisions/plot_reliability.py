"""
Are probabilities calibrated?
=============================

Of the documents to which a model gives a probability of 0.3, three in ten should belong to the category. The bars show
how far the share in a group may be from the truth because of its size alone.
"""

from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import ReliabilityDisplay
from bayesift.text import TextVectorizer

news = load("newsroom")
vectorizer = TextVectorizer(stop_words="english", drop_numbers=True)
X, X_test = vectorizer.fit_transform(news.train.texts), vectorizer.transform(news.test.texts)
truth = news.indicator("test").toarray()

ax = None
for prior in ("laplace", "gaussian"):
    p = BayesianLogisticRegression(prior, variance="norm").fit(X, news.indicator("train")).predict_proba(X_test)
    display = ReliabilityDisplay.from_predictions(truth, p, bins=5, name=f"{prior} prior")
    ax = display.plot(ax).ax_
