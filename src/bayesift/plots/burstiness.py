"""How often words occur again once they have occurred."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_array

from bayesift._special import log_rising
from bayesift._typing import AnyArray, FloatArray
from bayesift.generative import DirichletCompoundMultinomial, MultinomialNB
from bayesift.plots.display import PALETTE, Display, axes_or_new, stacked

#: Up to this many different lengths of documents are kept apart; more are grouped.
_LENGTHS = 64


class BurstinessDisplay(Display):
    """Draw the share of documents in which a word occurs k times, given that it occurs.

    Averaged over words and documents: in the data, under a multinomial distribution and under a Dirichlet compound
    multinomial one, both fitted to the documents by maximum likelihood.

    Parameters
    ----------
    counts : array of shape (n_counts,)
        The numbers of occurrences k = 1, 2, …
    data : array of shape (n_counts,)
        Shares in the data.
    models : mapping of str to array of shape (n_counts,)
        Shares expected by models.

    Attributes
    ----------
    lines_ : list
        One line for the data and for each model.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.plots import BurstinessDisplay
    >>> X = np.array([[4, 0, 1], [0, 5, 0], [3, 0, 0], [0, 1, 4]])
    >>> display = BurstinessDisplay.from_data(X, max_count=4)
    >>> display.data.round(2)
    array([0.33, 0.  , 0.17, 0.33])
    >>> display.models["DCM"].round(2)
    array([0.23, 0.17, 0.21, 0.12])
    """

    def __init__(self, counts: AnyArray, data: FloatArray, models: Mapping[str, FloatArray]) -> None:
        self.counts = counts
        self.data = data
        self.models = dict(models)

    @classmethod
    def from_data(cls, X: Any, *, words: Any = None, max_count: int = 10) -> Self:
        """Count repeated words, and fit both models.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)
            Counts of words, for example in the documents of one class.
        words : array of column numbers or mask, optional
            The words to count; all by default. The models are always fitted to all words.
        max_count : int, default=10
            Greatest number of occurrences.

        Returns
        -------
        BurstinessDisplay
        """
        if max_count < 1:
            raise ValueError(f"max_count is {max_count!r}; expected a whole number of at least 1")
        X = sp.csr_matrix(check_array(X, accept_sparse="csr", dtype=np.float64))
        label = np.zeros(X.shape[0])
        bursts = DirichletCompoundMultinomial(estimate="mle").fit(X, label)
        theta = np.exp(MultinomialNB(estimate="mle").fit(X, label).feature_log_prob_[0])
        chosen = np.arange(X.shape[1]) if words is None else np.arange(X.shape[1])[words]
        # A word that nobody used says nothing about repetition.
        chosen = chosen[theta[chosen] > 0]
        if not chosen.size:
            raise ValueError("none of words occurs in X; expected at least one")
        counts = np.arange(1, max_count + 1)
        seen = X[:, chosen].data
        seen = seen[seen > 0]
        lengths, weights = _lengths(np.asarray(X.sum(axis=1)).ravel())
        alpha, total = bursts.alpha_[0], float(bursts.concentration_[0])
        return cls(
            counts,
            np.array([np.mean(seen == k) for k in counts]),
            {
                "multinomial": _given_it_occurs(*_binomial(theta[chosen], lengths), lengths, weights, max_count),
                "DCM": _given_it_occurs(*_beta_binomial(alpha[chosen], total, lengths), lengths, weights, max_count),
            },
        )

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the shares on a logarithmic scale."""
        ax = axes_or_new(ax)
        curves = self._curves()
        styles = [
            ("0.2", "o", ""),
            *((colour, "", style) for colour, style in zip(PALETTE[1::-1], ("--", "-"), strict=True)),
        ]
        lowest = self.data[self.data > 0].min() / 10
        self.lines_ = [
            ax.plot(
                self.counts,
                np.where(curve > 0, curve, np.nan),
                **{
                    "color": colour,
                    "marker": marker,
                    "linestyle": style,
                    "linewidth": 2,
                    "label": name,
                    **line_options,
                },
            )[0]
            for (name, curve), (colour, marker, style) in zip(curves.items(), styles, strict=False)
        ]
        ax.set_yscale("log")
        ax.set_ylim(lowest, 1.5)
        ax.set_xlabel("occurrences in a document")
        ax.set_ylabel("share of documents with the word")
        ax.locator_params(axis="x", integer=True)
        ax.legend(frameon=False)
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        curves = self._curves()
        return stacked(("occurrences", self.counts), ("source", list(curves)), ("share", list(curves.values())))

    def _curves(self) -> dict[str, FloatArray]:
        return {"data": self.data, **self.models}


def _lengths(lengths: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lengths of documents and how many have each; if there are many, groups of similar lengths."""
    values, counts = np.unique(lengths[lengths > 0], return_counts=True)
    if values.size <= _LENGTHS:
        return values, counts.astype(np.float64)
    parts = np.array_split(np.sort(lengths[lengths > 0]), _LENGTHS)
    return np.array([part.mean() for part in parts]), np.array([float(part.size) for part in parts])


def _binomial(theta: FloatArray, lengths: FloatArray) -> tuple[FloatArray, Any]:
    """Return the probability that a word does not occur, words × lengths, and the ratio of k+1 to k occurrences."""
    share = np.minimum(theta, 1 - 1e-12)[:, np.newaxis]
    return np.exp(lengths * np.log1p(-share)), lambda k: (lengths - k) / (k + 1) * share / (1 - share)


def _beta_binomial(alpha: FloatArray, total: float, lengths: FloatArray) -> tuple[FloatArray, Any]:
    """Return the same if the share of the word has a Beta(α, A − α) distribution."""
    own = alpha[:, np.newaxis]
    rest = np.maximum(total - own, 1e-12)
    none = np.exp(log_rising(rest, lengths) - log_rising(total, lengths))
    return none, lambda k: (lengths - k) / (k + 1) * (own + k) / np.maximum(rest + lengths - k - 1, 1e-300)


def _given_it_occurs(none: FloatArray, ratio: Any, lengths: FloatArray, weights: FloatArray, n: int) -> FloatArray:
    """Return the shares of 1 … n occurrences among all documents and words with at least one."""
    occurs = ((1 - none) @ weights).sum()
    probability, result = none, np.empty(n)
    for k in range(n):
        probability = probability * np.maximum(ratio(k), 0.0)
        result[k] = (probability @ weights).sum() / occurs
    return result
