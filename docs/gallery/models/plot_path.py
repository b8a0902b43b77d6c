"""
Coefficients against the strength of the prior
==============================================

From left to right the prior becomes weaker. With a Laplace prior words enter one after the other, the most informative
first.
"""

from bayesift.datasets import load
from bayesift.plots import RegularizationPathDisplay
from bayesift.text import TextVectorizer

news = load("newsroom")
vectorizer = TextVectorizer(stop_words="english", drop_numbers=True, min_df=2)
X = vectorizer.fit_transform(news.train.texts)
energy = news.indicator("train").toarray()[:, news.categories.index("energy")]

display = RegularizationPathDisplay.from_data(
    X, energy, smallest=0.02, feature_names=vectorizer.get_feature_names_out()
)
display.plot(largest=8)
