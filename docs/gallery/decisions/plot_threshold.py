"""
Choosing a threshold
====================

Precision, recall, F1 and utility for every threshold on the test items, and the threshold that the model chose on
training items scored by models that had not seen them.
"""

from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import ThresholdDisplay
from bayesift.text import TextVectorizer

news = load("newsroom")
vectorizer = TextVectorizer(stop_words="english", drop_numbers=True)
X, X_test = vectorizer.fit_transform(news.train.texts), vectorizer.transform(news.test.texts)
model = BayesianLogisticRegression("gaussian", variance="norm", threshold="max_f1", threshold_on="cv")
model.fit(X, news.indicator("train"))

topic = news.categories.index("technology")
display = ThresholdDisplay.from_estimator(model, X_test, news.indicator("test"), category=topic)
display.plot().ax_.set_title("technology", loc="left", pad=18)

# %%
# Other gains are one argument away: here a missed item costs five, a false alarm one.

ThresholdDisplay.from_estimator(
    model, X_test, news.indicator("test"), category=topic, utility={"tp": 5, "fp": -1, "fn": -5}
).plot()
