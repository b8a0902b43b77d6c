"""Two blocks of features, each with a prior variance of its own: sparse ones such as words, and dense ones after them.

With few labels the dense block should lead, with many it should fade. How large both variances are is chosen together,
once for all categories: a category with five documents says next to nothing about it, all of them together do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil
from typing import Literal, NamedTuple

import numpy as np

from bayesift import progress
from bayesift._typing import FloatArray, Int64Array
from bayesift.linear._fit.platt import sigmoid_line
from bayesift.linear._fit.problem import Documents, log_likelihood
from bayesift.linear._fit.variance import (
    GAUSSIAN_GRID,
    Choice,
    CrossValidation,
    FitWithoutFold,
    FoldFit,
    LabelledDocuments,
    VarianceSettings,
    choose_from_grid,
    grid_of,
)
from bayesift.priors import Gaussian, Prior, PriorArrays

#: Ratios tried: how much the dense block may vary a score, relative to the sparse one; 0 leaves it out. With greater
#: ones, words hardly count by themselves, which looks better on the labelled documents but is not: 79.3 against 80.4 %
#: of 20 Newsgroups.
RATIOS = (0.0, 0.03, 0.3, 3.0)

#: The ratio if there is nothing to choose by.
_USUAL_RATIO = 3.0

#: Variances of scores below this, or above its inverse, are not tried: a thousandth of a unit changes no decision.
_LEAST_SPREAD = 3e-3

#: Folds are left out until they hold this many documents, summed over all categories.
_ENOUGH_HELD_OUT = 1_000

#: The choice uses categories until they have this many documents together, and at most this many categories.
_ENOUGH_DOCUMENTS, _MOST_CATEGORIES = 40_000, 20


class DenseBlock(NamedTuple):
    """How many of the last columns are dense features, and their prior variance, or that it is to be chosen."""

    n_columns: int = 0
    variance: float | Literal["cv"] = "cv"

    @property
    def is_open(self) -> bool:
        """Whether the variance of the block is still to be chosen."""
        return self.n_columns > 0 and isinstance(self.variance, str)

    @property
    def given(self) -> float:
        """The variance, where it is not to be chosen; 0 without a block."""
        return 0.0 if isinstance(self.variance, str) else float(self.variance)

    def prior(self, variance: float) -> PriorArrays:
        """Return the priors of the block."""
        return Gaussian(variance).resolve(self.n_columns)


class Spread(NamedTuple):
    """Mean squared length of the documents in each block: the variance of scores per unit of prior variance."""

    sparse: float
    dense: float


def spread_of(design: Documents, weights: FloatArray, n_dense: int) -> Spread:
    """Measure the blocks; one without any entry has length one."""
    sums = design.block_norms(n_dense) @ weights
    return Spread(*(float(total / weights.sum()) if total > 0 else 1.0 for total in sums))


class Unit(NamedTuple):
    """Coefficients that are fitted together: a category, or all classes of a softmax.

    ``fit`` takes the fold of each document, the number of runs, and a function from a place on the way to the variances
    of both blocks; it returns the function that fits without a fold.
    """

    documents: LabelledDocuments
    fit: Callable[[Int64Array, int, Callable[[float], tuple[float, float]]], FitWithoutFold]


def choose_blocks(
    units: Sequence[Unit],
    priors: Sequence[Prior],
    dense: DenseBlock,
    settings: VarianceSettings,
    n_jobs: int | None,
    link: int | None = None,
) -> Choice:
    """Choose the variances for all units together, by the held-out log likelihood of all of them.

    There may be a dense block or none; a variance that is given is not chosen. If both are to be chosen, the variance
    of the sparse features walks up a grid for each of a few ratios of the blocks. Of the ratios within one standard
    error of the best, the smallest is taken: future documents may differ from the present ones, for which the dense
    features were made.

    If thresholds are tuned or scores calibrated afterwards, what matters is how well scores separate the categories,
    not how large they are. Ratios are then compared on the line that suits their scores best, the same for all units;
    otherwise vectors, whose scores are larger, would be preferred to words that decide better.

    Parameters
    ----------
    units : sequence of Unit
    priors : sequence of Prior
        Priors of the sparse features.
    dense : DenseBlock
        The dense block: its variance open or given, or without columns.
    settings : VarianceSettings
    n_jobs : int or None
        Number of threads, which share the runs.
    link : int, optional
        Link of the units' binary decisions, if ratios are compared on a line.

    Returns
    -------
    Choice
    """
    documents = units[0].documents
    spread = spread_of(documents.design, documents.weights, dense.n_columns)
    given = settings.variance
    walks_sparse = isinstance(given, str) and any(prior.is_open for prior in priors)
    sparse = np.nan
    if any(prior.is_open for prior in priors):
        sparse = 1.0 / spread.sparse if isinstance(given, str) else float(given)
    usual = Choice(sparse, dense_variance=_USUAL_RATIO / spread.dense if dense.is_open else dense.given)
    if not walks_sparse and not dense.is_open:
        return usual
    # Every run leaves out a document of each class and needs another to learn from.
    able = [unit for unit in units if unit.documents.fewest() >= 2]
    if not able:
        return usual._replace(fell_back=True)
    n_counted = int(np.count_nonzero(documents.weights > 0))
    able = _spread_out(able, int(np.clip(_ENOUGH_DOCUMENTS // n_counted, 1, _MOST_CATEGORIES)))
    needed = ceil(_ENOUGH_HELD_OUT * settings.folds / (n_counted * len(able)))
    runs = min(settings.folds, max(settings.runs, needed))
    folds = [unit.documents.folds(settings.folds, settings.seed) for unit in able]

    def pair(place: float, factor: float) -> tuple[float, float]:
        """Return both variances at a place of a walk."""
        if not walks_sparse:
            return usual.scale, place
        return place, factor * place if dense.is_open else dense.given

    ratios = RATIOS if walks_sparse and dense.is_open else (0.0,)
    places = _places(priors, settings, spread, walks_sparse)
    between = settings.grid is None and documents.can_tell_more()
    curves, tops = [], []
    for done, ratio in enumerate(ratios):
        progress.report(done, len(ratios))
        at = partial(pair, factor=ratio * spread.sparse / spread.dense)
        fits = [unit.fit(fold, runs, at) for unit, fold in zip(able, folds, strict=True)]
        together = _Together(fits, link)
        curves.append(choose_from_grid(CrossValidation(together, runs, n_jobs), places, False, between=between))
        tops.append(together.judged(curves[-1].variance, runs))
    chosen = _simplest(tops)
    curve = curves[chosen]
    _, dense_variance = pair(curve.variance, ratios[chosen] * spread.sparse / spread.dense)
    start = curve.start[0] if curve.start is not None and len(units) == 1 else None
    curve = curve._replace(variance=curve.variance if walks_sparse else sparse, start=start)
    return Choice(curve.variance, curve, dense_variance=dense_variance)


def _simplest(tops: Sequence[FloatArray]) -> int:
    """Return the first of several walks whose best scores, by runs, are within one standard error of the best.

    The error is that of the differences by runs.
    """
    best = max(tops, key=np.mean)
    for place, top in enumerate(tops):
        behind = best - top
        error = behind.std(ddof=1) / np.sqrt(behind.size) if behind.size > 1 else 0.0
        if behind.mean() <= error:
            return place
    return len(tops) - 1


def with_all_columns(choice: Choice, mode: FloatArray, present: Int64Array) -> Choice:
    """Return a choice made without some columns, whose coefficients start at their modes."""
    if choice.curve is None or choice.curve.start is None:
        return choice
    start = mode.copy()
    start[present] = choice.curve.start
    return choice._replace(curve=choice.curve._replace(start=start))


def _places(priors: Sequence[Prior], settings: VarianceSettings, spread: Spread, walks_sparse: bool) -> FloatArray:
    """Return the variances to walk up: those of the sparse features, or of the dense ones where those are given."""
    if not walks_sparse:
        return np.array(GAUSSIAN_GRID) / spread.dense
    if settings.grid is not None:
        return settings.grid
    grid = grid_of(priors)
    return grid[(grid * spread.sparse > _LEAST_SPREAD) & (grid * spread.sparse < 1.0 / _LEAST_SPREAD)]


def _spread_out(units: list[Unit], n_kept: int) -> list[Unit]:
    """Return some of the units, from those with the most documents of the rarer class to those with the fewest."""
    if len(units) <= n_kept:
        return units
    ordered = sorted(units, key=lambda unit: -unit.documents.fewest())
    # The middle of each of as many equal parts.
    return [ordered[(2 * k + 1) * len(ordered) // (2 * n_kept)] for k in range(n_kept)]


class _Together:
    """One fit of all units: coefficients one above the other, log likelihoods summed."""

    def __init__(self, fits: Sequence[FitWithoutFold], link: int | None) -> None:
        self._fits, self._link = fits, link
        self._judged: dict[tuple[float, int], float] = {}

    def __call__(self, run: int, variance: float, start: FloatArray | None) -> FoldFit:
        found = [fit(run, variance, None if start is None else start[k]) for k, fit in enumerate(self._fits)]
        score = sum(one.score for one in found)
        self._judged[variance, run] = score if self._link is None else _on_a_line(found, self._link)
        return FoldFit(np.stack([one.beta for one in found]), score, all(one.converged for one in found))

    def judged(self, variance: float, runs: int) -> FloatArray:
        """Return the log likelihoods by runs to compare with other ratios; with a link, those on the best line."""
        return np.array([self._judged[variance, run] for run in range(runs)])


def _on_a_line(fits: Sequence[FoldFit], link: int) -> float:
    """Return the log likelihood on the line that suits the scores of all units best."""
    y, scores, weights = (
        np.concatenate(part) for part in zip(*(fit.decisions for fit in fits if fit.decisions is not None), strict=True)
    )
    line = sigmoid_line(link, scores, y > 0, weights)
    return log_likelihood(y, line.slope * scores + line.intercept, weights, link)
