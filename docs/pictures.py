"""Draw the pictures of the README and the documentation: ``python docs/pictures.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from bayesift.concepts import number_game, word_sets
from bayesift.conjugate import BetaBinomial
from bayesift.datasets import load
from bayesift.plots import ConceptDisplay, PosteriorDisplay, PredictiveDisplay, RegularizationPathDisplay
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


def beliefs() -> None:
    """Draw two updates of a belief about a coin, and what it predicts beside a plugged-in estimate."""
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.4), layout="constrained")
    PosteriorDisplay.from_model(BetaBinomial(2, 2), 3, 17).plot(axes[0])
    axes[0].set_title("Beta(2, 2), then 3 heads and 17 tails", fontsize=10, loc="left")
    PosteriorDisplay.from_model(BetaBinomial(5, 2), 11, 13).plot(axes[1])
    axes[1].set_title("Beta(5, 2), then 11 heads and 13 tails", fontsize=10, loc="left")
    PredictiveDisplay.from_model(BetaBinomial(2, 2).update(3, 17), 10).plot(axes[2])
    axes[2].set_title("heads in the next 10 tosses", fontsize=10, loc="left")
    axes[2].set_xlabel("number of heads")
    for axis in axes[:2]:
        axis.set_xlabel("probability of heads")
    figure.savefig(IMAGES / "beliefs.png", dpi=110)


def concepts() -> None:
    """Draw the number game: concepts after four examples, how they are averaged after one, and predictions."""
    game = number_game()
    ConceptDisplay(game, [16, 8, 2, 64]).plot().figure_.savefig(IMAGES / "concepts-posterior.png", dpi=110)
    ConceptDisplay(game, [16]).plot_averaging().figure_.savefig(IMAGES / "concepts-averaging.png", dpi=110)
    full = number_game(pi0=2 / 3)
    examples = ([16], [60], [16, 8, 2, 64], [16, 23, 19, 20])
    figure, axes = plt.subplots(len(examples), 1, figsize=(9, 5.6), sharex=True, layout="constrained")
    for axis, data in zip(axes, examples, strict=True):
        ConceptDisplay(full, data).plot_predictive(axis)
        axis.set_ylabel("")
        axis.set_title("examples " + ", ".join(map(str, data)), fontsize=10, loc="left")
    figure.supylabel("probability that the number belongs", fontsize=10)
    figure.savefig(IMAGES / "concepts-predictive.png", dpi=110)


def word_concepts() -> None:
    """Draw which sets of words three news items about energy may stand for, and the items that hold them too."""
    news = load("newsroom")
    vectorizer = TextVectorizer(stop_words="english", drop_numbers=True, min_df=3)
    X = vectorizer.fit_transform(news.train.texts)
    space = word_sets(X, vectorizer.get_feature_names_out().tolist(), min_documents=3)
    energy = news.indicator("train").toarray()[:, news.categories.index("energy")]
    display = ConceptDisplay(space, np.flatnonzero(energy)[:3].tolist()).plot_averaging()
    display.axes_[1].set_xlabel("news item")
    display.figure_.savefig(IMAGES / "concepts-words.png", dpi=110)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    telling_terms()
    paths()
    beliefs()
    concepts()
    word_concepts()
