"""
Systems side by side, category by category
==========================================

Averages hide where systems differ. Each line is a topic; those in which the systems differ most are labelled.
"""

from bayesift.datasets import load
from bayesift.evaluate import Results
from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import ParallelCoordinatesDisplay
from bayesift.text import TextVectorizer

news = load("newsroom")
vectorizer = TextVectorizer(stop_words="english", drop_numbers=True)
X, X_test = vectorizer.fit_transform(news.train.texts), vectorizer.transform(news.test.texts)
truth = news.indicator("test")
models = {
    "lasso": BayesianLogisticRegression("laplace", variance="norm", threshold="max_f1", threshold_on="cv"),
    "ridge": BayesianLogisticRegression("gaussian", variance="norm", threshold="max_f1", threshold_on="cv"),
    "ridge at ½": BayesianLogisticRegression("gaussian", variance="norm"),
}
results = [
    Results(truth, model.fit(X, news.indicator("train")).predict(X_test), name=name, categories=news.categories)
    for name, model in models.items()
]

display = ParallelCoordinatesDisplay.from_results(*results)
display.plot(named=4)

# %%
# The other way round, with the number of errors:

ParallelCoordinatesDisplay.from_results(*results, measure="errors").plot(lines="systems")
