"""Draw the pictures of the README and the documentation: ``python docs/pictures.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from bayesift.datasets import load
from bayesift.plots import RegularizationPathDisplay
from bayesift.select import likelihood_ratio
from bayesift.text import TextVectorizer

IMAGES = Path(__file__).parent / "images"


def telling_terms(n_terms: int = 8) -> None:
    """Draw the terms with the greatest likelihood ratio for every topic of the embedded corpus."""
    news = load("newsroom")
    vectorizer = TextVectorizer(stop_words="english", drop_numbers=True)
    scores = likelihood_ratio(vectorizer.fit_transform(news.train.texts), news.indicator("train"))
    terms = vectorizer.get_feature_names_out()
    figure, axes = plt.subplots(3, 3, figsize=(9, 6.5), sharex=True, layout="constrained")
    for topic, row, axis in zip(news.categories, scores, axes.flat, strict=True):
        best = np.argsort(-row, kind="stable")[:n_terms][::-1]
        axis.barh(terms[best], row[best], color="#2b5c8a")
        axis.set_title(topic, fontsize=11, loc="left")
        axis.tick_params(labelsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("Dunning's −2 ln λ", fontsize=10)
    figure.savefig(IMAGES / "telling-terms.png", dpi=110)


def paths() -> None:
    """Draw the posterior modes of the topic "energy" against the prior variance, Laplace and Gaussian."""
    news = load("newsroom")
    vectorizer = TextVectorizer(stop_words="english", drop_numbers=True, min_df=2)
    X = vectorizer.fit_transform(news.train.texts)
    y = news.indicator("train").toarray()[:, news.categories.index("energy")]
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for axis, prior, variances in zip(axes, ("laplace", "gaussian"), (None, np.geomspace(1e-2, 1e4, 40)), strict=True):
        display = RegularizationPathDisplay.from_data(
            X, y, prior=prior, variances=variances, smallest=0.02, feature_names=vectorizer.get_feature_names_out()
        )
        display.plot(axis, largest=8)
        axis.set_title(f"{prior.capitalize()} prior", fontsize=11, loc="left")
    figure.savefig(IMAGES / "paths.png", dpi=110)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    telling_terms()
    paths()
