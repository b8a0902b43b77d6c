"""Where a mixture of conjugate distributions is densest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayesift._typing import FloatArray
from bayesift.conjugate._laws import pick, weighted
from bayesift.conjugate.point_mass import PointMass

if TYPE_CHECKING:
    from bayesift.conjugate.mixture import Mixture


def mode_of_mixture(mixture: Mixture) -> FloatArray:
    """Climb from the mode of every component and keep the highest place; point masses beat all densities."""
    shape = mixture.batch_shape
    atoms = [k for k, part in enumerate(mixture.components) if isinstance(part, PointMass)]
    if atoms:
        weights = np.broadcast_to(_with_axes(mixture.weights, len(shape)), (len(mixture.weights), *shape))[atoms]
        return pick([mixture.components[k].mode for k in atoms], np.argmax(weights, axis=0), mixture.event_ndim)
    places = [_climb(mixture, _start(part, shape)) for part in mixture.components]
    heights = np.stack([mixture.logpdf(place) for place in places])
    return pick(places, np.argmax(heights, axis=0), mixture.event_ndim)


def _with_axes(weights: FloatArray, n_axes: int) -> FloatArray:
    return weights.reshape(len(weights), *([1] * (n_axes + 1 - weights.ndim)), *weights.shape[1:])


def _start(part: Any, shape: tuple[int, ...]) -> FloatArray:
    """Return the mode of a component, or its mean where the mode is not a single point."""
    place = np.where(np.isnan(part.mode), part.mean, part.mode)
    return np.broadcast_to(place, (*shape, *place.shape[place.ndim - part.event_ndim :])).astype(np.float64)


def _climb(mixture: Mixture, place: FloatArray, most: int = 1000) -> FloatArray:
    """Climb by expectation and maximisation: the next place is densest under the components as they share this one."""
    parts = mixture.components
    height = np.asarray(mixture.logpdf(place))
    for _ in range(most):
        logs = weighted(mixture.log_weights, [part.logpdf(place) for part in parts])
        with np.errstate(invalid="ignore"):
            shares = np.nan_to_num(np.exp(logs - height))
        # Where the density is infinite already, there is nowhere to climb.
        shares = np.where(np.isfinite(height), shares, 1 / len(parts))
        blend = type(parts[0])._blend(parts, shares)
        target = np.where(np.isnan(blend.mode), place, blend.mode)
        reached = np.asarray(mixture.logpdf(target))
        higher = reached > height
        if not higher.any():
            break
        place = np.where(np.reshape(higher, (*higher.shape, *([1] * mixture.event_ndim))), target, place)
        height = np.where(higher, reached, height)
    return place
