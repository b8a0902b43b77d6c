"""From scores of documents that a fit has not seen to calibrated probabilities: Platt's map.

A penalised fit draws its scores together, most of all those of rare classes, and a fit that knows its documents by
heart spreads them. Scores by fits without the fold of a document show by how much. The map of Platt (1999) keeps the
order of the scores and puts a line between them and the link: F(a s + b), with a > 0. What it aims at are not the
labels but what one would expect of further documents after so many, (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2), so that a and b
are finite even where the scores separate the classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_ndtr

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear._fit.problem import SolverOptions
from bayesift.linear._losses import LOGISTIC, log_probability

#: Scores that are uninformative or inverted keep this much of their slope, and so their order.
LEAST_SLOPE = 0.01

#: Folds are left out until they hold this many documents of the rarer class or, for one line of several classes, this
#: many in total: more would hardly change two numbers.
_ENOUGH, _ENOUGH_OF_ALL = 500, 1000

#: Log slope and intercept of one line of several classes: their bounds, in units of the spread of the scores, and the
#: starts of the search. Far below 0, F is an exponential function and the intercept no longer matters: a normal prior
#: with this standard deviation keeps it near 0.
_BOUNDS = ((np.log(1e-6), np.log(1e6)), (-20.0, 20.0))
_STARTS, _DEVIATION = (0.0, -4.0), 3.0

#: Relative gap at which fits stop if a line is fitted to their scores.
_GAP = 1e-5

_STEPS, _SETTLED = 100, 1e-9
_LOG_ROOT_2_PI = 0.5 * np.log(2 * np.pi)


class Line(NamedTuple):
    """Slope and intercept of a calibrated score in the score."""

    slope: float = 1.0
    intercept: float = 0.0


def folds_needed(n_folds: int, fewest: int) -> int:
    """Return how many of the folds to leave out if the rarer class has this many documents."""
    return int(np.clip(-(-n_folds * _ENOUGH // max(fewest, 1)), 1, n_folds))


def folds_needed_of_all(n_folds: int, weights: FloatArray) -> int:
    """Return how many of the folds to leave out for one line of several classes."""
    n_documents = max(int(np.count_nonzero(weights > 0)), 1)
    return int(np.clip(-(-n_folds * _ENOUGH_OF_ALL // n_documents), 1, n_folds))


def exact_enough(options: SolverOptions) -> SolverOptions:
    """Return options that stop a fit later: a slope of scores needs a more exact fit than the choice of a variance."""
    return options._replace(least_gap=_GAP, settled=0.1 * _GAP)


def sigmoid_line(link: int, scores: FloatArray, positive: BoolArray, weights: FloatArray) -> Line:
    """Return Platt's map of the scores of a binary decision.

    Parameters
    ----------
    link : int
        Code of the loss, as in ``_losses``.
    scores : array of shape (n_documents,)
        By fits that have not seen the documents; NaN for documents that were not held out.
    positive : array of shape (n_documents,)
        Which documents are in the category.
    weights : array of shape (n_documents,)

    Returns
    -------
    Line
        Unchanged scores where there is nothing to learn from.
    """
    used = np.isfinite(scores) & (weights > 0)
    s, y, w = scores[used], positive[used], weights[used]
    if not y.any() or y.all():
        return Line()
    target = np.where(y, (w[y].sum() + 1) / (w[y].sum() + 2), 1 / (w[~y].sum() + 2))
    with np.errstate(over="ignore", invalid="ignore"):
        middle = float(np.average(s, weights=w))
        spread = float(np.sqrt(np.average((s - middle) ** 2, weights=w)))
    if not np.isfinite(spread):
        return Line()
    # About their middle and in units of their spread, slope and intercept hardly depend on each other.
    u = np.column_stack([np.ones(s.size), (s - middle) / spread if spread > 0 else np.zeros(s.size)])

    def terms(line: FloatArray, fixed: float) -> tuple[float, FloatArray, FloatArray]:
        z = u[:, : line.size] @ line + fixed * u[:, 1]
        loss, slope, curvature = _terms(link, z, target)
        columns = u[:, : line.size]
        return float(w @ loss), columns.T @ (w * slope), (columns * (w * curvature)[:, None]).T @ columns

    start = np.zeros(2)
    if spread > 0:
        level, slope = _newton(lambda line: terms(line, 0.0), start)
        slope = slope / spread
    else:
        slope = -1.0
    if slope < LEAST_SLOPE:
        slope = LEAST_SLOPE if spread > 0 else 1.0
        [level] = _newton(lambda line: terms(line, slope * spread), start[:1])
    return Line(float(slope), float(level - slope * middle))


def temperature(scores: FloatArray, codes: Int64Array, weights: FloatArray) -> float:
    """Return the factor of the scores of a softmax under which the classes of the documents are most probable.

    Targets are smoothed as in Platt's map, but by the number n of all documents, from which the one factor is learned:
    (n + 1)/(n + 2) for the class of a document, the rest shared by the others. One factor for all classes leaves the
    order of the classes of every document as it is.

    Parameters
    ----------
    scores : array of shape (n_documents, n_classes)
        By fits that have not seen the documents; rows of NaN for documents that were not held out.
    codes : array of shape (n_documents,)
        The classes by their numbers.
    weights : array of shape (n_documents,)

    Returns
    -------
    float
        1 where there is nothing to learn from.
    """
    used = np.isfinite(scores).all(axis=1) & (weights > 0)
    z, y, w = scores[used], codes[used], weights[used]
    if np.unique(y).size < 2:
        return 1.0
    target = _class_targets(y, w, scores.shape[1])
    z = z - z.mean(axis=1, keepdims=True)
    spread = float(np.sqrt(np.average((z**2).mean(axis=1), weights=w)))
    if not 0 < spread < np.inf:
        return 1.0
    z /= spread

    def terms(factor: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        scaled = factor[0] * z
        logs = scaled - np.logaddexp.reduce(scaled, axis=1, keepdims=True)
        p = np.exp(logs)
        mean = (p * z).sum(axis=1)
        curvature = (p * (z - mean[:, None]) ** 2).sum(axis=1)
        slope = mean - (target * z).sum(axis=1)
        return float(-w @ (target * logs).sum(axis=1)), np.array([w @ slope]), np.array([[w @ curvature]])

    [factor] = _newton(terms, np.zeros(1))
    return max(float(factor) / spread, LEAST_SLOPE)


def class_line(link: int, scores: FloatArray, codes: Int64Array, weights: FloatArray) -> Line:
    """Return the line of the scores of separate decisions, by which classes that exclude each other are most probable.

    The probability of a class is F(a s_k + b) as a share of the sum over all classes. One line for all of them leaves
    the order of the classes of every document as it is. The intercept has a weak prior.

    Parameters
    ----------
    link : int
        Code of the loss, as in ``_losses``.
    scores, codes, weights
        As for :func:`temperature`; targets are smoothed in the same way.

    Returns
    -------
    Line
        Unchanged scores where there is nothing to learn from.
    """
    used = np.isfinite(scores).all(axis=1) & (weights > 0)
    s, y, w = scores[used], codes[used], weights[used]
    if np.unique(y).size < 2:
        return Line()
    target = _class_targets(y, w, scores.shape[1])
    with np.errstate(over="ignore"):
        spread = float(np.sqrt(np.average((s**2).mean(axis=1), weights=w)))
    if not 0 < spread < np.inf:
        return Line()
    s = s / spread

    def terms(place: FloatArray) -> tuple[float, FloatArray]:
        slope = np.exp(place[0])
        z = slope * s + place[1]
        logs = log_probability(link, z)
        whole = np.logaddexp.reduce(logs, axis=1, keepdims=True)
        loss = -w @ (target * (logs - whole)).sum(axis=1)
        # What ln F rises by: 1 − F of the logistic function, φ/Φ of the normal one.
        rise = expit(-z) if link == LOGISTIC else np.exp(-0.5 * z**2 - _LOG_ROOT_2_PI - logs)
        moves = w[:, None] * (np.exp(logs - whole) - target) * rise
        loss += 0.5 * (place[1] / _DEVIATION) ** 2
        slopes = np.array([slope * (moves * s).sum(), moves.sum() + place[1] / _DEVIATION**2])
        return float(loss) / w.sum(), slopes / w.sum()

    first = float(np.clip(np.log(spread), *_BOUNDS[0]))
    exact = {"ftol": 1e-14, "gtol": 1e-9}
    walks = [
        minimize(terms, [first, start], jac=True, method="L-BFGS-B", bounds=_BOUNDS, options=exact) for start in _STARTS
    ]
    slope, intercept = min(walks, key=lambda walk: walk.fun).x
    return Line(max(float(np.exp(slope)) / spread, LEAST_SLOPE), float(intercept))


def _class_targets(codes: Int64Array, weights: FloatArray, n_classes: int) -> FloatArray:
    """Return the smoothed targets of documents: of its own class (n + 1)/(n + 2), the rest shared by the others."""
    own = float((weights.sum() + 1) / (weights.sum() + 2))
    target: FloatArray = np.full((codes.size, n_classes), (1 - own) / (n_classes - 1))
    np.put_along_axis(target, codes[:, None], own, axis=1)
    return target


def _terms(link: int, z: FloatArray, target: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return −t ln F(z) − (1 − t) ln F(−z) for every document, and its first two derivatives."""
    loss = -target * log_probability(link, z) - (1 - target) * log_probability(link, -z)
    if link == LOGISTIC:
        p = expit(z)
        return loss, p - target, p * (1 - p)
    ahead, behind = (np.exp(-0.5 * z**2 - _LOG_ROOT_2_PI - log_ndtr(side)) for side in (z, -z))
    slope = (1 - target) * behind - target * ahead
    return loss, slope, target * ahead * (ahead + z) + (1 - target) * behind * (behind - z)


def _newton(terms: Callable[[FloatArray], tuple[float, FloatArray, FloatArray]], start: FloatArray) -> FloatArray:
    """Minimise a convex function of a few numbers; ``terms`` returns it, its slope and its curvature."""
    place = start
    value, slope, curvature = terms(place)
    for _ in range(_STEPS):
        # A little more curvature than there is keeps steps finite where the function is all but flat.
        step = np.linalg.solve(curvature + 1e-12 * (1 + np.trace(curvature)) * np.eye(place.size), -slope)
        size = 1.0
        while True:
            after = terms(place + size * step)
            if after[0] <= value + 1e-4 * size * float(slope @ step) or size < _SETTLED:
                break
            size /= 2
        if after[0] > value:
            break
        place = place + size * step
        value, slope, curvature = after
        if np.abs(size * step).max() <= _SETTLED * (1 + np.abs(place).max()):
            break
    return place
