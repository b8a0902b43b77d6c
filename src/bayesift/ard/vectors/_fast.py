"""The fast marginal likelihood algorithm of Tipping & Faul (2003): one basis function at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.ard.vectors._basis import Basis
from bayesift.ard.vectors._likelihoods import Likelihood, Posterior
from bayesift.ard.vectors._reestimation import LARGEST_ALPHA, Relevance


@dataclass
class Model:
    """The functions in the model, by column, and what is known about their weights."""

    kept: Int64Array
    alpha: FloatArray
    active: Basis
    likelihood: Likelihood
    posterior: Posterior


def select(basis: Basis, likelihood: Likelihood, max_iter: int, tol: float) -> Relevance:
    """Add, re-estimate or delete the function that promises the greatest gain of evidence, until none has any.

    For classification the promise leaves out that B changes with α, so that it may not be kept: a change that does not
    raise the evidence itself is undone, and not tried again until another one has succeeded.
    """
    model = _model(basis, likelihood, np.empty(0, dtype=np.int64), np.empty(0), np.empty(0))
    evidence = [model.posterior.log_evidence]
    for _ in range(max_iter):
        gain, target = _promises(basis, model)
        changed = _best_change(basis, model, gain, target, tol)
        if changed is None:
            return Relevance(model.kept, model.alpha, model.posterior, model.likelihood, np.array(evidence), True)
        model = _with_new_noise(basis, changed)
        evidence.append(model.posterior.log_evidence)
    return Relevance(model.kept, model.alpha, model.posterior, model.likelihood, np.array(evidence), False)


def _model(basis: Basis, likelihood: Likelihood, kept: Int64Array, alpha: FloatArray, start: FloatArray) -> Model:
    active = basis.columns(kept)
    return Model(kept, alpha, active, likelihood, likelihood.posterior(active, alpha, start))


def _promises(basis: Basis, model: Model) -> tuple[FloatArray, FloatArray]:
    """Return for every function the gain of evidence it promises, and the α that brings it (infinite: delete)."""
    s, q, alpha = _sparsity_and_quality(basis, model)
    wanted = (q**2 > s) & (s > 0)
    target = np.full(s.size, np.inf)
    target[wanted] = s[wanted] * (s[wanted] / (q[wanted] ** 2 - s[wanted]))
    target[target > LARGEST_ALPHA] = np.inf
    target = np.maximum(target, 1.0 / LARGEST_ALPHA)
    return _log_gain(s, q, target) - _log_gain(s, q, alpha), target


def _sparsity_and_quality(basis: Basis, model: Model) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return sparsity s and quality q of every function, each without the function itself (23), and its α."""
    posterior = model.posterior
    S = basis.squares(posterior.b)
    if model.kept.size:
        S = S - posterior.curvature.quadratic(model.active.gram(posterior.b, basis))
    Q = basis.transposed_times(posterior.residual)
    alpha = np.full(S.size, np.inf)
    alpha[model.kept] = model.alpha
    inside = np.isfinite(alpha)
    ratio = np.ones(S.size)
    ratio[inside] = alpha[inside] / np.maximum(alpha[inside] - S[inside], 1e-12 * alpha[inside])
    return ratio * S, ratio * Q, alpha


def largest_slope(basis: Basis, found: Relevance) -> float:
    """Return the largest slope of the log evidence by a ln α_j, of functions outside by 1/(s α_j) where it is positive.

    Unlike a promise, it counts that B changes with α. At the least α only slopes upwards count.
    """
    active, posterior = basis.columns(found.kept), found.posterior
    s, q, alpha = _sparsity_and_quality(basis, Model(found.kept, found.alpha, active, found.likelihood, posterior))
    # −½ φᵀΣφ is the slope of the log evidence by an entry of B; a step of w changes B through the scores Φw
    by_score = active.spread(posterior.curvature.inverse()) * found.likelihood.slope_of_b(active.times(posterior.mean))
    by_weight = posterior.b * active.times(posterior.curvature.solve(active.transposed_times(by_score)))
    bend = basis.transposed_times(by_score - by_weight)
    slopes, inside = np.zeros(s.size), np.isfinite(alpha)
    a, s_in, q_in = alpha[inside], s[inside], q[inside]
    # the derivative of (17) by ln α, for which α w is what B bends along
    total = np.maximum(a + s_in, 1e-12 * a)
    slopes[inside] = 0.5 * (s_in - a * q_in**2 / total) / total
    slopes[found.kept] += 0.5 * posterior.mean * bend[found.kept]
    least = alpha <= 1.0 / LARGEST_ALPHA
    slopes[least] = np.maximum(slopes[least], 0.0)
    outside = ~inside & (s > 0)
    gain = q[outside] ** 2 - s[outside] - q[outside] * bend[outside]
    slopes[outside] = np.maximum(0.5 * gain / s[outside], 0.0)
    return float(np.max(np.abs(slopes), initial=0.0))


def _log_gain(s: FloatArray, q: FloatArray, alpha: FloatArray) -> FloatArray:
    """Return ℓ(α) = ½ [ln α − ln(α + s) + q²/(α + s)], what a function adds to the evidence (17); 0 for infinite α."""
    finite: BoolArray = np.isfinite(alpha) & (s > 0)
    gain = np.zeros(s.size)
    a, s, q = alpha[finite], s[finite], q[finite]
    gain[finite] = 0.5 * (q**2 / (a + s) - np.log1p(s / a))
    return gain


def _best_change(basis: Basis, model: Model, gain: FloatArray, target: FloatArray, tol: float) -> Model | None:
    """Try changes by what they promise until one raises the evidence by more than the tolerance."""
    enough = tol * (1.0 + abs(model.posterior.log_evidence))
    promising = np.flatnonzero(gain > enough)
    for m in promising[np.argsort(-gain[promising], kind="stable")]:
        kept, alpha, start = model.kept, model.alpha.copy(), model.posterior.mean
        place = np.flatnonzero(kept == m)
        if not place.size:
            kept, alpha, start = np.append(kept, m), np.append(alpha, target[m]), np.append(start, 0.0)
        elif np.isfinite(target[m]):
            alpha[place] = target[m]
        else:
            kept, alpha, start = np.delete(kept, place), np.delete(alpha, place), np.delete(start, place)
        changed = _model(basis, model.likelihood, kept, alpha, start)
        if changed.posterior.log_evidence > model.posterior.log_evidence + 0.5 * enough:
            return changed
    return None


def _with_new_noise(basis: Basis, model: Model) -> Model:
    """Estimate the noise anew, if that raises the evidence."""
    with_new_noise = model.likelihood.with_new_noise(model.active, model.alpha, model.posterior)
    if with_new_noise is model.likelihood:
        return model
    changed = _model(basis, with_new_noise, model.kept, model.alpha, model.posterior.mean)
    return changed if changed.posterior.log_evidence > model.posterior.log_evidence else model
