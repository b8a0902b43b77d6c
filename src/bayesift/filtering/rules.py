"""By which rules a filter retrieves and learns."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import expit

from bayesift._typing import FloatArray

Query = Literal["information", "random"]


def query_threshold(
    retrieved: Any, target: float = 50, *, floor: float = 0.001, height: float = 0.999, steepness: float = 5.0
) -> FloatArray:
    """Return the expected information, in bits, from which a document is worth a query after so many retrieved ones.

    θ(N) = height / (1 + exp(−steepness (N − target)/target)) + floor: nearly every unclear document is asked about at
    first, and none when the target is well passed.

    Parameters
    ----------
    retrieved : int or array of int
        Number of documents retrieved so far, N.
    target : float, default=50
        Number of documents that should be retrieved.
    floor, height, steepness : float
        Least threshold, how far it rises above it, and how quickly.

    Returns
    -------
    threshold : float or ndarray, as ``retrieved``

    Examples
    --------
    >>> from bayesift.filtering import query_threshold
    >>> query_threshold([0, 25, 50, 100]).round(4)
    array([0.0077, 0.0768, 0.5005, 0.9933])
    """
    return np.asarray(height * expit(steepness * (np.asarray(retrieved) - target) / target) + floor)[()]


class FilterRules(NamedTuple):
    """What decides and changes a topic, apart from documents and judgements; see :class:`AdaptiveFilter`."""

    significance: float = 12.13
    max_features: int | None = 300
    kappa: float = 0.05
    passes: int = 3
    rel: bool = True
    query: Query | None = "information"
    target: float = 50
    floor: float = 0.001
    height: float = 0.999
    steepness: float = 5.0
    stream_size: int | None = None

    def threshold(self, retrieved: int) -> float:
        """Return the information from which a document is queried; infinite where queries are not for information."""
        if self.query != "information":
            return np.inf
        shape = {"floor": self.floor, "height": self.height, "steepness": self.steepness}
        return float(query_threshold(retrieved, self.target, **shape))

    def chance(self, retrieved: int) -> float:
        """Return the probability of a random query, max(0, target − N) / documents of the stream."""
        if self.query != "random" or self.stream_size is None:
            return 0.0
        return max(0.0, self.target - retrieved) / self.stream_size
