"""Draw the pictures of the README and the documentation: ``python docs/pictures.py``."""

from __future__ import annotations

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import log_ndtr
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score

from bayesift.ard import RelevanceVectorRegressor
from bayesift.concepts import word_sets
from bayesift.conjugate import BetaBinomial
from bayesift.datasets import load
from bayesift.decide import exact_expected_f1, expected_f1, expected_f_curve
from bayesift.evaluate import Results
from bayesift.generative import DirichletCompoundMultinomial, MultinomialNB
from bayesift.linear import BayesianLogisticRegression, BayesianProbitRegression
from bayesift.online import BayesianPerceptron
from bayesift.plots import (
    PALETTE,
    BurstinessDisplay,
    ConceptDisplay,
    ParallelCoordinatesDisplay,
    PosteriorDisplay,
    PredictiveDisplay,
    RecallEffortDisplay,
    RegularizationPathDisplay,
    ReliabilityDisplay,
)
from bayesift.select import likelihood_ratio
from bayesift.text import TextVectorizer

IMAGES = Path(__file__).parent / "images"


def informative_terms(n_terms: int = 8) -> None:
    """Draw the terms with the greatest likelihood ratio for every topic of the embedded corpus."""
    news = load("newsroom")
    vectorizer = TextVectorizer(stop_words="english", drop_numbers=True)
    scores = likelihood_ratio(vectorizer.fit_transform(news.train.texts), news.indicator("train"))
    terms = vectorizer.get_feature_names_out()
    figure, axes = plt.subplots(3, 3, figsize=(9, 6.5), sharex=True, layout="constrained")
    for topic, row, axis in zip(news.categories, scores, axes.flat, strict=True):
        best = np.argsort(-row, kind="stable")[:n_terms][::-1]
        axis.barh(terms[best], row[best], color=PALETTE[0])
        axis.set_title(topic, fontsize=11, loc="left")
        axis.tick_params(labelsize=9)
        axis.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("Dunning's −2 ln λ", fontsize=10)
    figure.savefig(IMAGES / "informative-terms.png", dpi=110)


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


def expected_f() -> None:
    """Draw expected F1, exact and as a ratio of expectations, for a category with one promising document."""
    unlikely = np.full(20, 0.005)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    names, colours = ("expectation of F1", "ratio of expectations"), PALETTE[:2]
    for name, colour, exact in zip(names, colours, (True, False), strict=True):
        curve = expected_f_curve(np.append(0.42, unlikely), exact=exact)[:9]
        axes[0].plot(curve, "o-", color=colour, label=name, markersize=4)
        axes[0].plot(curve.argmax(), curve.max(), "o", color=colour, markersize=10)
    axes[0].set(xlabel="documents accepted", ylabel="expected F1", ylim=(0, 0.7))
    axes[0].set_title("probabilities 0.42 and 20 times 0.005", fontsize=10, loc="left")
    promising = np.linspace(0.01, 0.99, 197)
    batches = [np.append(p, unlikely) for p in promising]
    for name, colour, choose in zip(names, colours, (exact_expected_f1, expected_f1), strict=True):
        reached = [expected_f_curve(p)[choose(p).n_accepted] for p in batches]
        axes[1].plot(promising, reached, color=colour, label=f"best by the {name}", zorder=1 + (colour == colours[0]))
    promised = [expected_f1(p).value for p in batches]
    axes[1].plot(promising, promised, color=colours[1], linestyle="dotted", label="what the ratio promises")
    axes[1].set(xlabel="probability of the promising document", ylabel="expected F1", ylim=(0, 1.02))
    axes[1].set_title("what the two choices are worth", fontsize=10, loc="left")
    for axis in axes:
        axis.legend(frameon=False, fontsize=9, loc="lower right" if axis is axes[1] else "upper right")
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(IMAGES / "expected-f1.png", dpi=110)


def evaluation(topic: str = "health") -> None:
    """Draw how reliable two models' probabilities are, and how much of a topic is found by reading in their order."""
    news = load("newsroom")
    vectorizer = TextVectorizer(stop_words="english", drop_numbers=True)
    X, X_test = vectorizer.fit_transform(news.train.texts), vectorizer.transform(news.test.texts)
    truth, column = news.indicator("test").toarray(), news.categories.index(topic)
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for prior, colour in (("laplace", PALETTE[1]), ("gaussian", PALETTE[0])):
        model = BayesianLogisticRegression(prior, variance="norm").fit(X, news.indicator("train"))
        p = model.predict_proba(X_test)
        name = f"{prior.capitalize()} prior"
        ReliabilityDisplay.from_predictions(truth, p, bins=5, name=name).plot(axes[0], color=colour)
        RecallEffortDisplay.from_predictions(truth[:, column], p[:, column], name=name).plot(axes[1], color=colour)
    axes[0].set_title("all topics", fontsize=10, loc="left")
    axes[1].set_title(f"documents about {topic}", fontsize=10, loc="left")
    figure.savefig(IMAGES / "evaluation.png", dpi=110)


def relevance_vectors() -> None:
    """Draw a noisy curve, its fit by a relevance vector machine, and the few objects the fit is made of."""
    x = np.linspace(-10, 10, 100)[:, None]
    y = np.sinc(x[:, 0] / np.pi) + np.random.default_rng(0).normal(0, 0.1, 100)
    regressor = RelevanceVectorRegressor(kernel="rbf", gamma=0.1).fit(x, y)
    grid = np.linspace(-12, 12, 400)[:, None]
    mean, deviation = regressor.predict(grid, return_std=True)
    figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
    axis.fill_between(grid[:, 0], mean - 2 * deviation, mean + 2 * deviation, color=PALETTE[0], alpha=0.15, linewidth=0)
    axis.plot(grid, mean, color=PALETTE[0])
    axis.plot(x, y, ".", color="0.4", markersize=4)
    kept = regressor.relevant_
    axis.plot(x[kept], y[kept], "o", markersize=10, fillstyle="none", color=PALETTE[1])
    axis.set_title(f"{kept.sum()} of {kept.size} objects make the curve", fontsize=10, loc="left")
    axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(IMAGES / "relevance-vectors.png", dpi=110)


def bursts() -> None:
    """Draw how often words of news items come again, and probabilities of a word that comes again and again."""
    news = load("newsroom")
    vectorizer = TextVectorizer("nnn", stop_words="english", drop_numbers=True)
    X = vectorizer.fit_transform(news.train.texts)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    BurstinessDisplay.from_data(X, max_count=6).plot(axes[0])
    axes[0].set_title("words of the embedded corpus", fontsize=10, loc="left")
    single = [i for i, labels in enumerate(news.train.labels) if len(labels) == 1]
    topics = [news.train.labels[i][0] for i in single]
    again = np.zeros((10, X.shape[1]))
    again[:, vectorizer.vocabulary_["court"]] = np.arange(1, 11)
    for name, model, colour in (
        ("multinomial", MultinomialNB(), PALETTE[1]),
        ("DCM", DirichletCompoundMultinomial(), PALETTE[0]),
    ):
        odds = model.fit(X[single], topics).predict_log_proba(again)[:, list(model.classes_).index("courts")]
        axes[1].plot(np.arange(1, 11), np.log10(-np.expm1(odds)), marker="o", color=colour, label=name)
    axes[1].set_title("how sure the topic “courts” is made by one word", fontsize=10, loc="left")
    axes[1].set(xlabel="times the word “court” occurs", ylabel="log₁₀ probability of another topic")
    axes[1].spines[["top", "right"]].set_visible(False)
    axes[1].legend(frameon=False)
    figure.savefig(IMAGES / "bursts.png", dpi=110)


def online(n_judgements: int = 40) -> None:
    """Draw a belief about two weights, what it predicts and would ask; and what asking is worth on nine topics."""
    random = np.random.default_rng(3)
    seen = random.normal(0.0, 1.0, (8, 2))
    judged = seen @ [1.0, 0.7] + 0.3 * random.normal(size=8) > 0
    model = BayesianPerceptron(fit_intercept=False, passes=1).fit(seen, judged)
    side = np.linspace(-4, 4, 161)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    panels = (
        ("probability", model.predict_proba(grid)[:, 1], "RdBu"),
        ("expected bits", model.information_gain(grid), "viridis"),
    )
    for axis, (title, values, colours) in zip(axes[:2], panels, strict=True):
        image = axis.pcolormesh(side, side, values.reshape(161, 161), cmap=colours, shading="gouraud")
        figure.colorbar(image, ax=axis, shrink=0.8)
        axis.scatter(*seen.T, c=np.where(judged, "navy", "darkred"), edgecolors="white", zorder=3)
        axis.set_title(title, fontsize=10, loc="left")
        axis.set_aspect("equal")
    turn = np.linspace(0, 2 * np.pi, 200)
    circle = 2 * np.linalg.cholesky(model.covariance_[0]) @ [np.cos(turn), np.sin(turn)]
    axes[0].plot(*(model.mean_.T + circle), color="black", linewidth=1.5)
    axes[0].plot(*model.mean_.T, "k+")
    for asks, name, colour in ((True, "greatest expected gain", PALETTE[0]), (False, "at random", PALETTE[1])):
        axes[2].plot(_precision_by_judgements(asks, n_judgements), label=name, color=colour)
    axes[2].set_xlabel("judgements")
    axes[2].set_title("average precision", fontsize=10, loc="left")
    axes[2].legend(frameon=False, fontsize=9)
    axes[2].spines[["top", "right"]].set_visible(False)
    figure.savefig(IMAGES / "online.png", dpi=110)


def _precision_by_judgements(asks: bool, n_judgements: int) -> np.ndarray:
    """Mean average precision of the nine topics after each judgement, asked for by expected gain or drawn."""
    news = load("newsroom")
    vectorizer = TextVectorizer("ltc", stop_words="english")
    X, X_test = vectorizer.fit_transform(news.train.texts), vectorizer.transform(news.test.texts)
    labels, truth = news.indicator("train").toarray(), news.indicator("test").toarray()
    curves = []
    for topic in range(len(news.categories)):
        random, left = np.random.default_rng(topic), list(range(X.shape[0]))
        model, curve = BayesianPerceptron("flip", covariance="diagonal"), []
        for judged in range(n_judgements):
            best = judged > 0 and asks
            place = int(np.argmax(model.information_gain(X[left]))) if best else int(random.integers(len(left)))
            item = left.pop(place)
            model.partial_fit(X[item], labels[[item], topic], classes=[0, 1])
            curve.append(average_precision_score(truth[:, topic], model.predict_proba(X_test)[:, 1]))
        curves.append(curve)
    return np.mean(curves, axis=0)


def probit() -> None:
    """Draw the probit beside the logistic loss, and how far EM is from the mode after so many rounds."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    margin = np.linspace(-4, 4, 200)
    axes[0].plot(margin, -log_ndtr(margin), color=PALETTE[0], label="probit, −ln Φ(r)")
    axes[0].plot(margin, np.logaddexp(0.0, -margin), color=PALETTE[1], label="logistic, ln(1 + e⁻ʳ)")
    axes[0].set(xlabel="margin r", ylabel="loss of a document")
    news = load("newsroom")
    X = TextVectorizer(stop_words="english", min_df=3).fit_transform(news.train.texts)
    y = news.indicator("train").toarray()[:, news.categories.index("energy")]
    rounds = np.unique(np.geomspace(1, 300, 25).astype(int))
    for gamma, color in ((0.1, PALETTE[0]), (1.0, PALETTE[1]), (10.0, PALETTE[2])):
        least = BayesianProbitRegression(variance=2.0 / gamma, tol=1e-10).fit(X, y).certificate_.objective[0]
        with warnings.catch_warnings():
            # The rounds are limited on purpose.
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = [
                BayesianProbitRegression(variance=2.0 / gamma, solver="em", tol=1e-12, max_iter=int(limit)).fit(X, y)
                for limit in rounds
            ]
        missing = [model.certificate_.objective[0] / least - 1.0 for model in found]
        axes[1].plot(rounds, missing, marker="o", markersize=3, color=color, label=f"γ = {gamma:g}")
    axes[1].set(xscale="log", yscale="log", xlabel="rounds of EM", ylabel="objective above the least, share")
    for axis in axes:
        axis.legend(frameon=False)
        axis.spines[["top", "right"]].set_visible(False)
    figure.savefig(IMAGES / "probit.png", dpi=110)


def tutorial() -> None:
    """Draw F1 of the topics for the two systems of the tutorial."""
    news = load("newsroom")
    vectorizer = TextVectorizer(stop_words="english")
    X, X_test = vectorizer.fit_transform(news.train.texts), vectorizer.transform(news.test.texts)
    systems = []
    for name, prior in (("lasso", "laplace"), ("ridge", "gaussian")):
        model = BayesianLogisticRegression(prior, threshold="max_f1", threshold_on="cv").fit(X, news.indicator("train"))
        decisions = model.predict(X_test)
        systems.append(Results(news.indicator("test"), decisions, name=name, categories=news.categories))
    display = ParallelCoordinatesDisplay.from_results(*systems).plot()
    display.figure_.savefig(IMAGES / "tutorial-topics.png", dpi=110)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    informative_terms()
    paths()
    beliefs()
    word_concepts()
    expected_f()
    evaluation()
    relevance_vectors()
    bursts()
    online()
    probit()
    tutorial()
