"""Piles made up for measuring: topics of words, of which one is relevant."""

from __future__ import annotations

import numpy as np

from bayesift._typing import BoolArray


def synthetic_pile(
    n_documents: int = 1000, share: float = 0.03, *, clearness: float = 0.3, length: int = 40, seed: int = 0
) -> tuple[list[str], BoolArray]:
    """Make up texts of which a share is relevant.

    All texts draw words from the same long-tailed vocabulary. A relevant text draws some of its words, and an
    irrelevant one a quarter of that, from a topic of thirty words.

    Parameters
    ----------
    n_documents : int, default=1000
        How many texts.
    share : float, default=0.03
        Share of relevant ones, rounded; at least one.
    clearness : float, default=0.3
        Mean share of topic words in a relevant text; it differs from text to text, so that some are hard to find.
    length : int, default=40
        Words of a text.
    seed : int, default=0
        Fixes the draw.

    Returns
    -------
    texts : list of str
    relevant : array of shape (n_documents,)

    Examples
    --------
    >>> from bayesift.review.simulate import synthetic_pile
    >>> texts, relevant = synthetic_pile(100, 0.05)
    >>> len(texts), int(relevant.sum())
    (100, 5)
    """
    random = np.random.default_rng(seed)
    relevant = np.zeros(n_documents, dtype=bool)
    relevant[random.choice(n_documents, max(1, round(share * n_documents)), replace=False)] = True
    common = 1.0 / np.arange(1, 2001)
    topic = 1.0 / np.arange(1, 31)
    texts = []
    for is_relevant in relevant:
        mean = clearness * (1.0 if is_relevant else 0.25)
        n_topic = random.binomial(length, random.beta(2 * mean, 2 * (1 - mean)))
        words = [f"topic{word}" for word in random.choice(30, n_topic, p=topic / topic.sum())]
        words += [f"word{word}" for word in random.choice(2000, length - n_topic, p=common / common.sum())]
        texts.append(" ".join(words))
    return texts, relevant
