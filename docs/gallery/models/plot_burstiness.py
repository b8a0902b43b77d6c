"""
Words come in bursts
====================

A word that has occurred once in a document occurs again more often than a multinomial model allows. The Dirichlet
compound multinomial (DCM) accounts for that.
"""

from bayesift.datasets import load
from bayesift.plots import BurstinessDisplay
from bayesift.text import TextVectorizer

news = load("newsroom")
X = TextVectorizer("nnn", stop_words="english", drop_numbers=True).fit_transform(news.train.texts)
BurstinessDisplay.from_data(X, max_count=6).plot()
