"""The figures of chapter 3 of Murphy (2012), and one of repeated words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bayesift.concepts import number_game
from bayesift.conjugate import BetaBinomial
from bayesift.datasets import load
from bayesift.generative import BernoulliNB
from bayesift.plots import PALETTE, BurstinessDisplay, ConceptDisplay, PosteriorDisplay, PredictiveDisplay
from bayesift.text import TextVectorizer
from reproduction.catalogue import require_pyplot
from reproduction.murphy2012.tasks import newsgroups_task

WINDOWS = ("comp.windows.x", "comp.os.ms-windows.misc")


def drawings() -> dict[str, tuple[str, Callable[[], Any]]]:
    """Name the figures 3.2 to 3.8 (3.1 shows answers of people) and one of bursts: captions and drawing functions."""
    pyplot = require_pyplot()
    game, full = number_game(), number_game(pi0=2 / 3)
    examples = ([16], [60], [16, 8, 2, 64], [16, 23, 19, 20])
    return {
        "3.2": ("The number game after 16", lambda: ConceptDisplay(game, [16]).plot().figure_),
        "3.3": ("The number game after 16, 8, 2, 64", lambda: ConceptDisplay(game, [16, 8, 2, 64]).plot().figure_),
        "3.4": ("Averaging over concepts after 16", lambda: ConceptDisplay(game, [16]).plot_averaging().figure_),
        "3.5": ("Predictions after several examples", lambda: _predictions(pyplot, full, examples)),
        "3.6": ("Beta priors updated by heads and tails", partial(_updates, pyplot)),
        "3.7": (
            "Posterior predictive of the beta-binomial model and of plugging in",
            lambda: PredictiveDisplay.from_model(BetaBinomial(5, 19), 10).plot().figure_,
        ),
        "3.8": ("Words of two newsgroups about windows", partial(_word_probabilities, pyplot)),
        "bursts": ("Words that come again, in three bands of frequency", partial(_bursts, pyplot)),
    }


def _predictions(pyplot: Any, space: Any, examples: Sequence[Sequence[int]]) -> Any:
    figure, axes = pyplot.subplots(len(examples), 1, figsize=(9, 5.6), sharex=True, layout="constrained")
    for axis, data in zip(axes, examples, strict=True):
        ConceptDisplay(space, data).plot_predictive(axis)
        axis.set_title("examples " + ", ".join(map(str, data)), fontsize=10, loc="left")
        axis.set_ylabel("")
    return figure


def _updates(pyplot: Any) -> Any:
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    PosteriorDisplay.from_model(BetaBinomial(2, 2), 3, 17).plot(axes[0])
    PosteriorDisplay.from_model(BetaBinomial(5, 2), 11, 13).plot(axes[1])
    return figure


def _word_probabilities(pyplot: Any, n_words: int = 600) -> Any:
    """Draw p(word | class) of two newsgroups, words in the order of the alphabet."""
    X, names = _windows(n_words)
    figure, axes = pyplot.subplots(2, 1, figsize=(9, 4.4), sharex=True, layout="constrained")
    for axis, group, rows in zip(axes, WINDOWS, X, strict=True):
        theta = np.exp(BernoulliNB().fit(rows, np.zeros(rows.shape[0])).feature_log_prob_[0])
        axis.vlines(np.arange(n_words), 0, theta, color=PALETTE[0], linewidth=0.8)
        axis.set_title(f"p(word | {group})", fontsize=10, loc="left")
        axis.set(ylim=(0, 1.05), xlim=(-1, n_words))
        axis.spines[["top", "right"]].set_visible(False)
        for word in ("subject", "windows"):
            place = int(np.searchsorted(names, word))
            axis.annotate(word, (place, theta[place]), xytext=(3, -4), textcoords="offset points", fontsize=9)
    axes[1].set_xlabel(f"the {n_words} most frequent words, by the alphabet")
    return figure


def _windows(n_words: int) -> tuple[list[sp.csr_matrix], NDArray[Any]]:
    """Return presence of the most frequent words in the documents of both groups, and the words."""
    messages = load("20newsgroups").train
    texts = [
        [text for text, labels in zip(messages.texts, messages.labels, strict=True) if labels[0] == group]
        for group in WINDOWS
    ]
    vectorizer = TextVectorizer("bnn", token_pattern=r"[a-z]{3,}", max_features=n_words)
    vectorizer.fit(texts[0] + texts[1])
    return [sp.csr_matrix(vectorizer.transform(part)) for part in texts], vectorizer.get_feature_names_out()


def burst_bands(X: sp.csr_matrix, sizes: Sequence[int] = (500, 5000)) -> dict[str, NDArray[Any]]:
    """Name the columns of common, average and rare words: by the number of occurrences."""
    order = np.argsort(-np.asarray(X.sum(axis=0)).ravel(), kind="stable")
    return {
        f"the {sizes[0]} most frequent words": order[: sizes[0]],
        f"the next {sizes[1]}": order[sizes[0] : sum(sizes)],
        "the others": order[sum(sizes) :],
    }


def _bursts(pyplot: Any) -> Any:
    """Draw repeated words of 20 Newsgroups in three bands of frequency."""
    X = newsgroups_task().X_train
    figure, axes = pyplot.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
    for axis, (name, words) in zip(axes, burst_bands(X).items(), strict=True):
        BurstinessDisplay.from_data(X, words=words).plot(axis)
        axis.set_title(name, fontsize=10, loc="left")
        axis.label_outer()
    axes[0].set_ylim(1e-6, 1.5)
    return figure
