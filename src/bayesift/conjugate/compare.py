"""Comparing models by the evidence."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesift._checks import plain
from bayesift.conjugate.base import Conjugate


def bayes_factor(model_a: Conjugate, model_b: Conjugate, *data: Any, log: bool = False) -> Any:
    """Return how much more probable the data are under one model than under another.

    BF = p(data | model_a) / p(data | model_b), the parameters of both integrated out.

    Parameters
    ----------
    model_a, model_b : Conjugate
        The models; :meth:`Conjugate.known` makes one without free parameters.
    *data
        As in :meth:`Conjugate.update`: observations, or sufficient statistics.
    log : bool, default=False
        Return the logarithm, which is finite where the ratio is too large for a float.

    Returns
    -------
    float or array
        One ratio for each model of a batch.

    Examples
    --------
    >>> from bayesift.conjugate import BetaBinomial, bayes_factor
    >>> any_coin = BetaBinomial(1, 1)
    >>> f"{bayes_factor(any_coin, any_coin.known(0.5), 90, 10):.4g}"   # 90 heads and 10 tails
    '7.251e+14'
    """
    for name, model in (("model_a", model_a), ("model_b", model_b)):
        if not isinstance(model, Conjugate):
            raise TypeError(f"{name} is {model!r}; expected a conjugate model")
    difference = model_a.log_evidence(*data) - model_b.log_evidence(*data)
    if log:
        return plain(difference)
    with np.errstate(over="ignore"):
        return plain(np.exp(difference))
