"""Fit the Dirichlet compound multinomial distribution of one class, on histograms of counts.

The negative log posterior of α, up to a constant, with A = Σ_j α_j and a gamma prior of shape 1 + e_j and rate r:

    F(α) = Σ_i [ln Γ(A + N_i) − ln Γ(A)] − Σ_j Σ_t n_j(x > t) ln(α_j + t) + r A − Σ_j e_j ln α_j.

A slope is zero where α_j f_j(α_j) + e_j = α_j λ(A), f_j(α) = Σ_t n_j(x > t)/(α + t), λ(A) = Σ_i [ψ(A+N_i) − ψ(A)] + r.

All that is needed of the documents of a class is how many of them have a word more than t times: for whole counts

    Σ_i [ψ(α + x_i) − ψ(α)] = Σ_t n(x > t) / (α + t),

and n(x > t) changes only where t is a count that occurs, so that a word has few steps however many documents there are.
Between two counts that occur, the sum is a difference of digamma functions; this holds for fractions too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._kernel import kernel
from bayesift._special_kernels import digamma, log_rising, trigamma
from bayesift._typing import AnyArray, FloatArray, Int64Array

#: Counts up to this one are sorted by counting.
_SMALL = 64
#: Steps longer than this are summed by gamma functions.
_LONG = 24
#: Share of α below which a count is so small that a difference of digamma functions has no digits.
_SHORT = 1e-6
#: By how much one round may change an α.
_FARTHEST = 8.0
#: Between these the sum of all α is looked for: below lie documents of one word each, above the multinomial itself.
LEAST, MOST = 1e-8, 1e8


class ClassPrior(NamedTuple):
    """Gamma priors of one class: shapes less 1 of the words it has, of all its other words together, and the rate."""

    pseudo: FloatArray
    extra: float
    rate: float


class Histogram(NamedTuple):
    """The words of a class (``words``), the steps of each (``start``), and the lengths of the documents.

    In step k, ``above[k]`` documents have the word more than t times, for every t from ``low[k]`` to ``high[k]`` − 1.
    """

    words: Int64Array
    start: Int64Array
    low: FloatArray
    high: FloatArray
    above: FloatArray
    lengths: FloatArray
    weights: FloatArray

    @property
    def documents(self) -> FloatArray:
        """Weight of the documents that have each word."""
        return self.above[self.start[:-1]]


@kernel
def _by_word(
    indptr: AnyArray, indices: AnyArray, values: FloatArray, rows: Int64Array, weights: FloatArray, n_features: int
) -> tuple[Int64Array, Int64Array, FloatArray, FloatArray]:
    """Collect the counts of every word that occurs, with the weights of their documents."""
    place = np.zeros(n_features + 1, np.int64)
    for row in rows:
        for k in range(indptr[row], indptr[row + 1]):
            if values[k] > 0 and weights[row] > 0:
                place[indices[k] + 1] += 1
    n_words = 0
    for j in range(n_features):
        n_words += place[j + 1] > 0
        place[j + 1] += place[j]
    words, start = np.empty(n_words, np.int64), np.zeros(n_words + 1, np.int64)
    found = 0
    for j in range(n_features):
        if place[j + 1] > place[j]:
            words[found] = j
            found += 1
            start[found] = place[j + 1]
    counts, own_weights = np.empty(place[n_features]), np.empty(place[n_features])
    for row in rows:
        for k in range(indptr[row], indptr[row + 1]):
            if values[k] > 0 and weights[row] > 0:
                t = place[indices[k]]
                place[indices[k]] = t + 1
                counts[t] = values[k]
                own_weights[t] = weights[row]
    return words, start, counts, own_weights


@kernel
def _steps(
    start: Int64Array, counts: FloatArray, own_weights: FloatArray
) -> tuple[Int64Array, FloatArray, FloatArray, FloatArray]:
    """Turn the counts of each word into steps of the number of documents with more."""
    n_words = start.shape[0] - 1
    step, used = np.zeros(n_words + 1, np.int64), 0
    low, high, above = np.empty(counts.shape[0]), np.empty(counts.shape[0]), np.empty(counts.shape[0])
    small = np.zeros(_SMALL + 1)
    for w in range(n_words):
        total = 0.0
        most = 0.0
        whole = True
        for k in range(start[w], start[w + 1]):
            total += own_weights[k]
            most = max(most, counts[k])
            whole = whole and counts[k] == math.floor(counts[k])
        before = 0.0
        if whole and most <= _SMALL:
            for k in range(start[w], start[w + 1]):
                small[int(counts[k])] += own_weights[k]
            for t in range(1, int(most) + 1):
                if small[t] > 0:
                    low[used], high[used], above[used] = before, t, total
                    used += 1
                    total -= small[t]
                    small[t] = 0.0
                    before = float(t)
        else:
            for place in np.argsort(counts[start[w] : start[w + 1]]):
                k = start[w] + place
                if counts[k] > before:
                    low[used], high[used], above[used] = before, counts[k], total
                    used += 1
                    before = counts[k]
                total -= own_weights[k]
        step[w + 1] = used
    return step, low[:used].copy(), high[:used].copy(), above[:used].copy()


def histogram(X: sp.csr_matrix, totals: FloatArray, rows: Int64Array, weights: FloatArray) -> Histogram:
    """Count the documents ``rows`` of a matrix; ``totals`` and ``weights`` are those of all rows."""
    words, start, counts, own_weights = _by_word(X.indptr, X.indices, X.data, rows, weights, X.shape[1])
    step, low, high, above = _steps(start, counts, own_weights)
    return Histogram(words, step, low, high, above, *_lengths(totals[rows], weights[rows]))


def _lengths(totals: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the different lengths of documents, and the weights of the documents that have each."""
    kept = (totals > 0) & (weights > 0)
    lengths, place = np.unique(totals[kept], return_inverse=True)
    amounts = np.zeros(lengths.size)
    np.add.at(amounts, place, weights[kept])
    return lengths, amounts


class CountTable:
    """What a histogram is made of, gathered from one block of documents after the other.

    For every word and every count, the weight of the documents that have the word so often; and the weights of the
    documents of every length. Its size does not grow with the number of documents, but with that of different counts.
    """

    def __init__(self) -> None:
        self._words: Int64Array = np.empty(0, np.int64)
        self._counts = self._amounts = self._totals = self._weights = np.empty(0)

    def add(self, X: sp.csr_matrix, totals: FloatArray, rows: Int64Array, weights: FloatArray) -> None:
        """Add the documents ``rows`` of a matrix; ``totals`` and ``weights`` are those of all its rows."""
        words, start, counts, own = _by_word(X.indptr, X.indices, X.data, rows, weights, X.shape[1])
        self._merge(np.repeat(words, np.diff(start)), counts, own)
        self._merge_lengths(*_lengths(totals[rows], weights[rows]))

    def add_table(self, other: CountTable) -> None:
        """Add what another table has gathered."""
        self._merge(other._words, other._counts, other._amounts)
        self._merge_lengths(other._totals, other._weights)

    def _merge(self, words: Int64Array, counts: FloatArray, amounts: FloatArray) -> None:
        words, counts = np.append(self._words, words), np.append(self._counts, counts)
        amounts = np.append(self._amounts, amounts)
        order = np.lexsort((counts, words))
        words, counts, amounts = words[order], counts[order], amounts[order]
        is_new = np.ones(words.size, dtype=bool)
        is_new[1:] = (words[1:] != words[:-1]) | (counts[1:] != counts[:-1])
        first = np.flatnonzero(is_new)
        self._words, self._counts = words[first], counts[first]
        self._amounts = np.add.reduceat(amounts, first) if first.size else amounts

    def _merge_lengths(self, totals: FloatArray, weights: FloatArray) -> None:
        self._totals, self._weights = _lengths(np.append(self._totals, totals), np.append(self._weights, weights))

    def histogram(self) -> Histogram:
        """Return the histogram of all documents that were added."""
        words, first = np.unique(self._words, return_index=True)
        start = np.append(first, self._words.size).astype(np.int64)
        steps, low, high, above = _steps(start, self._counts, self._amounts)
        return Histogram(words, steps, low, high, above, self._totals, self._weights)

    @property
    def lengths(self) -> tuple[FloatArray, FloatArray]:
        """The different lengths, and the weights of the documents that have each."""
        return self._totals, self._weights


@kernel
def digamma_sum(total: float, lengths: FloatArray, weights: FloatArray) -> float:
    """Return Σ_i [ψ(A+N_i) − ψ(A)]."""
    at_zero = digamma(total)
    result = 0.0
    for k in range(lengths.shape[0]):
        if lengths[k] < _SHORT * total:
            result += weights[k] * lengths[k] * trigamma(total + 0.5 * lengths[k])
        else:
            result += weights[k] * (digamma(total + lengths[k]) - at_zero)
    return result


@kernel
def _curves(alpha: FloatArray, found: Histogram, a: FloatArray, b: FloatArray) -> None:
    """Find for every word the a and b with f(α) = a/α + b near the current α, in value and slope.

    a = Σ n (α/(α+t))², b = Σ n t/(α+t)²: for whole counts sums of positive terms, which lose no digits as α goes to 0.
    """
    start, low, high, above = found.start, found.low, found.high, found.above
    for w in range(alpha.shape[0]):
        x = alpha[w]
        first = 0.0
        second = 0.0
        for k in range(start[w], start[w + 1]):
            if high[k] - low[k] > _LONG or high[k] != math.floor(high[k]) or low[k] != math.floor(low[k]):
                one = digamma(x + high[k]) - digamma(x + low[k])
                two = trigamma(x + low[k]) - trigamma(x + high[k])
                first += above[k] * x * x * two
                second += above[k] * (one - x * two)
            else:
                t = low[k]
                while t < high[k]:
                    inverse = 1.0 / (x + t)
                    first += above[k] * (x * inverse) * (x * inverse)
                    second += above[k] * t * inverse * inverse
                    t += 1.0
        a[w] = first
        b[w] = second


@kernel
def _sum_at(slope: float, a: FloatArray, b: FloatArray, limit: FloatArray, extra: float) -> float:
    """Return Σ_j α_j(λ), each solving a/α + b = λ but not beyond its limit, and that of the words not seen."""
    result = extra / slope
    for w in range(a.shape[0]):
        bare = slope - b[w]
        result += a[w] / bare if bare * limit[w] > a[w] else limit[w]
    return result


@kernel
def _next_guess(turn: int, point: float, excess: float, last_point: float, last_excess: float) -> float:
    """Return where a function that falls from above to below 0 may be 0: by the secant through two points."""
    if turn == 0:
        return point + excess
    return point - excess * (point - last_point) / (excess - last_excess) if excess != last_excess else math.inf


@kernel
def _newton_round(
    total: float,
    a: FloatArray,
    b: FloatArray,
    limit: FloatArray,
    extra: float,
    rate: float,
    factor: float,
    lengths: FloatArray,
    weights: FloatArray,
) -> float:
    """Return the A at which all curves together have their optimum, within a factor of what it was."""
    left, right = math.log(max(total / factor, LEAST)), math.log(min(total * factor, MOST))
    point = math.log(total)
    last_point, last_excess = 0.0, 0.0
    for turn in range(60):
        slope = digamma_sum(math.exp(point), lengths, weights) + rate
        # Above 0 to the left of the optimum, below to the right.
        excess = math.log(_sum_at(slope, a, b, limit, extra)) - point
        if excess > 0.0:
            left = point
        else:
            right = point
        if abs(excess) < 1e-10 or right - left < 1e-14:
            break
        guess = _next_guess(turn, point, excess, last_point, last_excess)
        last_point, last_excess = point, excess
        point = guess if left < guess < right else 0.5 * (left + right)
    return math.exp(point)


@kernel
def objective(alpha: FloatArray, unseen: float, prior: ClassPrior, found: Histogram) -> float:
    """Return F(α), but for a constant of the words not seen: their shares are fixed, and ``unseen`` is their sum."""
    pseudo, extra, rate = prior
    lengths, weights = found.lengths, found.weights
    start, low, high, above = found.start, found.low, found.high, found.above
    total = unseen + alpha.sum()
    result = rate * total
    if extra > 0:
        result -= extra * math.log(unseen)
    for k in range(lengths.shape[0]):
        result += weights[k] * log_rising(total, lengths[k])
    for w in range(alpha.shape[0]):
        if pseudo[w] > 0:
            result -= pseudo[w] * math.log(alpha[w])
        for k in range(start[w], start[w + 1]):
            if high[k] == low[k] + 1.0:
                result -= above[k] * math.log(alpha[w] + low[k])
            else:
                result -= above[k] * log_rising(alpha[w] + low[k], high[k] - low[k])
    return result


@kernel
def descend(
    alpha: FloatArray, unseen: float, prior: ClassPrior, found: Histogram, newton: bool, tol: float, max_iter: int
) -> tuple[float, float, int, bool]:
    """Move ``alpha`` to the optimum; returns what the unseen words have together, residual, rounds and success."""
    pseudo, extra, rate = prior
    lengths, weights = found.lengths, found.weights
    n_words = alpha.shape[0]
    a, b, limit = np.empty(n_words), np.empty(n_words), np.empty(n_words)
    before = math.inf
    kept, kept_unseen = alpha.copy(), unseen
    factor, shortened = _FARTHEST, False
    residual = math.inf
    for rounds in range(max_iter + 1):
        _curves(alpha, found, a, b)
        total = unseen + alpha.sum()
        slope = digamma_sum(total, lengths, weights) + rate
        pulls = extra
        for w in range(n_words):
            pulls += a[w] + b[w] * alpha[w] + pseudo[w]
        at_bound = (total >= MOST * (1 - 1e-9) and pulls > slope * total) or (
            total <= LEAST * (1 + 1e-9) and pulls < slope * total
        )
        if at_bound:
            slope = pulls / total
        residual = abs(extra - unseen * slope)
        for w in range(n_words):
            residual = max(residual, abs(a[w] + pseudo[w] + alpha[w] * (b[w] - slope)))
        if residual <= tol or rounds == max_iter:
            break
        if residual > before and newton:
            now = objective(alpha, unseen, prior, found)
            then = objective(kept, kept_unseen, prior, found)
            if now > then + 1e-12 * abs(then):
                # The curves hold only near the point they were drawn at.
                alpha[:] = kept
                unseen = kept_unseen
                factor = math.sqrt(factor)
                shortened = True
                continue
        if not shortened:
            factor = min(factor * factor, _FARTHEST)
        shortened = False
        before = residual
        kept[:] = alpha
        kept_unseen = unseen
        if not newton or at_bound or factor < 1.01:
            for w in range(n_words):
                alpha[w] = (a[w] + pseudo[w] + b[w] * alpha[w]) / slope
            unseen = extra / slope
        else:
            for w in range(n_words):
                a[w] += pseudo[w]
                limit[w] = factor * alpha[w]
            point = _newton_round(total, a, b, limit, extra, rate, factor, lengths, weights)
            slope = digamma_sum(point, lengths, weights) + rate
            for w in range(n_words):
                bare = slope - b[w]
                alpha[w] = a[w] / bare if bare * limit[w] > a[w] else limit[w]
            unseen = extra / slope
        total = unseen + alpha.sum()
        bounded = min(max(total, LEAST), MOST) / total
        if bounded != 1.0:
            for w in range(n_words):
                alpha[w] *= bounded
            unseen *= bounded
    return unseen, residual, rounds, residual <= tol


@kernel
def exponential_total(distinct: float, rate: float, lengths: FloatArray, weights: FloatArray) -> float:
    """Return the s with s {Σ_i [ψ(s+N_i) − ψ(s)] + r} = number of distinct words of all documents (Elkan 2006)."""
    left, right = math.log(LEAST), math.log(MOST)
    point = math.log(distinct / weights.sum() + 1.0)
    last_point, last_excess = 0.0, 0.0
    for turn in range(100):
        s = math.exp(point)
        excess = math.log(distinct / (s * (digamma_sum(s, lengths, weights) + rate)))
        if excess > 0.0:
            left = point
        else:
            right = point
        if abs(excess) < 1e-14 or right - left < 1e-14:
            break
        guess = _next_guess(turn, point, excess, last_point, last_excess)
        last_point, last_excess = point, excess
        point = guess if left < guess < right else 0.5 * (left + right)
    return math.exp(point)
