"""
Which labels occur together
===========================

News items may have several topics. The diagonal shows the size of a topic; the other cells show which further topics
its items have.
"""

from bayesift.datasets import load
from bayesift.plots import CooccurrenceDisplay

news = load("newsroom")
display = CooccurrenceDisplay.from_labels(news.indicator("train"), news.categories)
display.plot()

# %%
# With decisions the columns are what a model gave to the documents of the row.

from bayesift.linear import BayesianLogisticRegression
from bayesift.text import TextVectorizer

vectorizer = TextVectorizer(stop_words="english", drop_numbers=True)
X, X_test = vectorizer.fit_transform(news.train.texts), vectorizer.transform(news.test.texts)
model = BayesianLogisticRegression(variance="norm").fit(X, news.indicator("train"))
CooccurrenceDisplay.from_estimator(model, X_test, news.indicator("test"), news.categories).plot()
