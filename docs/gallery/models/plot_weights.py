"""
The words with the largest weights
==================================

A sparse model is a short list of words. Bars to the right count for the topic, bars to the left against it.
"""

from bayesift.datasets import load
from bayesift.linear import BayesianLogisticRegression
from bayesift.plots import WeightsDisplay
from bayesift.text import TextVectorizer

news = load("newsroom")
vectorizer = TextVectorizer(stop_words="english", drop_numbers=True)
X = vectorizer.fit_transform(news.train.texts)
model = BayesianLogisticRegression("gaussian", variance="norm").fit(X, news.indicator("train"))
terms = vectorizer.get_feature_names_out()

display = WeightsDisplay.from_estimator(model, terms, category=news.categories.index("energy"))
display.plot(largest=20).ax_.set_title("energy")

# %%
# The same as a table:

display.plot_data(as_frame=True).head()

# %%
# Several topics side by side:

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 3, figsize=(9, 3), layout="constrained")
for ax, topic in zip(axes, ("courts", "health", "sport"), strict=True):
    WeightsDisplay.from_estimator(model, terms, category=news.categories.index(topic)).plot(ax, largest=10)
    ax.set_title(topic, loc="left")
