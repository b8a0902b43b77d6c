"""How good the draws of several chains are: effective sample size and R-hat.

Both after Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021): chains are split in halves, and draws are replaced by
the normal quantiles of their ranks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

from bayesift._state import State
from bayesift._typing import FloatArray


class Diagnostics(NamedTuple):
    """Quality of the draws of a run of chains.

    Attributes
    ----------
    effective : array
        Effective sample size of each quantity: the draws give its mean, and the mean of its distances from the median,
        at least as exactly as so many independent draws would.
    r_hat : array
        For each quantity, how much wider all chains together are than a single one; 1 if the chains agree.
    """

    effective: FloatArray
    r_hat: FloatArray

    def _check_state(self, state: State) -> None:
        state.array("r_hat", (state.array("effective", (None,)).size,))


def _halves(draws: Any) -> FloatArray:
    """Return chains split in halves; a middle draw is left out."""
    array = np.asarray(draws, dtype=np.float64)
    if array.ndim not in (2, 3) or array.shape[1] < 4:
        raise ValueError(
            f"draws has shape {array.shape}; expected (n_chains, n_draws) or (n_chains, n_draws, n_quantities) with at "
            f"least 4 draws a chain"
        )
    half = array.shape[1] // 2
    return np.concatenate([array[:, :half], array[:, -half:]])


def _normal_ranks(chains: FloatArray) -> FloatArray:
    """Replace draws by the normal quantiles of their ranks among all chains."""
    ranks = rankdata(chains.reshape(-1, *chains.shape[2:]), axis=0)
    return np.asarray(ndtri((ranks - 0.375) / (len(ranks) + 0.25))).reshape(chains.shape)


def _within_and_total(chains: FloatArray) -> tuple[FloatArray, FloatArray]:
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean(axis=0)
    return within, (n - 1) / n * within + chains.mean(axis=1).var(axis=0, ddof=1)


def split_r_hat(draws: Any) -> Any:
    """Return the rank-normalised split R-hat, the greater of two: of the draws, and of their distances from the median.

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)

    Returns
    -------
    r_hat : float or array of shape (n_quantities,)
        1 if the chains agree, and for draws that never change.
    """
    chains = _halves(draws)
    folded = np.abs(chains - np.median(chains, axis=(0, 1)))
    found = []
    for values in (chains, folded):
        within, total = _within_and_total(_normal_ranks(values))
        found.append(np.sqrt(np.divide(total, within, out=np.ones_like(total), where=within > 0)))
    return np.maximum(*found)[()]


def effective_sample_size(draws: Any) -> Any:
    """Return the effective sample size of rank-normalised draws (bulk).

    Parameters
    ----------
    draws : array of shape (n_chains, n_draws) or (n_chains, n_draws, n_quantities)

    Returns
    -------
    size : float or array of shape (n_quantities,)
    """
    chains = _normal_ranks(_halves(draws))
    m, n = chains.shape[:2]
    size = next_fast_len(2 * n, real=True)
    centred = chains - chains.mean(axis=1, keepdims=True)
    spectrum = rfft(centred, size, axis=1)
    covariance = irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n].mean(axis=0) / n
    within, total = _within_and_total(chains)
    moving = total > 0
    correlation = np.ones_like(covariance)
    # The covariances are divided by n, the variance within by n − 1.
    np.divide(within - covariance * n / (n - 1), total, out=correlation, where=moving)
    correlation = 1.0 - correlation
    # Geyer: sums of neighbours fall and stay positive; the first that does not ends the sum.
    pairs = correlation[: n // 2 * 2].reshape(n // 2, 2, *correlation.shape[1:]).sum(axis=1)
    pairs[0] = 1.0 + correlation[1]
    going = np.cumprod(pairs > 0, axis=0)
    falling = np.minimum.accumulate(np.where(going, pairs, 0.0), axis=0)
    time = np.maximum(2.0 * falling.sum(axis=0) - 1.0, 1.0 / np.log10(m * n))
    return np.where(moving, m * n / time, np.nan)[()]
