"""Records of earlier reviews as examples for a new one, as rows of its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.review.engine.corpus import Corpus, with_title_words

#: At most this many relevant and as many irrelevant records are learned; they are drawn at random and stand for all.
MOST = 2000


class Earlier(NamedTuple):
    """Records judged in an earlier review: their rows, which are relevant, and how many records each stands for.

    They are not documents of the corpus, and are neither shown nor counted.

    Examples
    --------
    >>> from bayesift.review.engine import Corpus, Earlier
    >>> corpus = Corpus.build(["wheat harvest", "gold mine", "corn", "silver mine"])
    >>> earlier = Earlier.of(corpus, ["gold and iron mines", "wheat and rye"], [True, False])
    >>> earlier.relevant.tolist(), earlier.counts.tolist()
    ([True, False], [1.0, 1.0])
    """

    rows: sp.csr_matrix
    relevant: BoolArray
    counts: FloatArray

    @classmethod
    def of(cls, corpus: Corpus, texts: Sequence[str], relevant: Any) -> Earlier:
        """Turn texts into rows of the words of a corpus; other words cannot help to rank it.

        Parameters
        ----------
        corpus : Corpus
            The documents to rank.
        texts : sequence of str
            The earlier records, with their titles as first lines.
        relevant : array of shape (n_texts,)
            The decision about each.

        Returns
        -------
        Earlier
        """
        said = np.asarray(relevant)
        if said.shape != (len(texts),):
            raise ValueError(f"relevant has shape {said.shape}; expected {len(texts)} booleans, one for each text")
        wrong = np.flatnonzero(~np.isin(said, (0, 1)))
        if len(wrong):
            found = f"relevant has {said.tolist()[wrong[0]]!r} at place {wrong[0]}"
            raise ValueError(f"{found}; expected booleans: True for what was decided relevant, False for the others")
        said = said.astype(bool)
        kept = np.sort(np.concatenate([_some(np.flatnonzero(said)), _some(np.flatnonzero(~said))]))
        of_each = {kind: max(1.0, np.count_nonzero(said == kind) / MOST) for kind in (True, False)}
        rows = corpus.vectorizer.transform([with_title_words(texts[place]) for place in kept])
        counts = np.where(said[kept], of_each[True], of_each[False])
        return cls(sp.csr_matrix(rows), said[kept], counts)


def _some(places: Int64Array) -> Int64Array:
    return np.random.default_rng(0).permutation(places)[:MOST]
