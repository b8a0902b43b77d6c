"""How much more documents help."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.model_selection import learning_curve

from bayesift._typing import FloatArray
from bayesift.plots.display import Display, axes_or_new, colour, stacked


class LearningCurveDisplay(Display):
    """Draw a measure against the number of training documents, for example with and without prior knowledge.

    Parameters
    ----------
    sizes : array of shape (n_sizes,)
        Numbers of training documents, increasing.
    curves : mapping of str to array of shape (n_sizes,) or (n_sizes, n_repeats)
        The measure for each way of training. For repeats, the mean is drawn with a band of one standard error.
    measure : str, default="F1"
        Name of the measure.
    documents : str, default="training documents"
        What the sizes count.
    ahead : array of shape (n_ahead,), optional
        Numbers of training documents with forecasts, increasing.
    forecasts : mapping of str to array of shape (n_ahead, 3), optional
        For some of the curves, the expected value there and its lower and upper bounds; drawn dashed.

    Attributes
    ----------
    means, errors : dict of str to array of shape (n_sizes,)
        Means of the repeats, and their standard errors (0 for curves without repeats).
    lines_ : list
        One line for each curve.

    Examples
    --------
    >>> from bayesift.plots import LearningCurveDisplay
    >>> display = LearningCurveDisplay([1, 10], {"without": [0.1, 0.6], "described": [[0.5, 0.7], [0.7, 0.7]]})
    >>> display.means["described"].round(2), display.errors["described"].round(2)
    (array([0.6, 0.7]), array([0.1, 0. ]))
    """

    def __init__(
        self,
        sizes: Any,
        curves: Mapping[str, Any],
        *,
        measure: str = "F1",
        documents: str = "training documents",
        ahead: Any = (),
        forecasts: Mapping[str, Any] | None = None,
    ) -> None:
        self.sizes = _increasing(sizes, "sizes")
        self.ahead = _increasing(ahead, "ahead")
        self.measure = measure
        self.documents = documents
        self.means: dict[str, FloatArray] = {}
        self.errors: dict[str, FloatArray] = {}
        for name, values in curves.items():
            repeats = np.asarray(values, dtype=np.float64)
            if repeats.ndim not in (1, 2) or len(repeats) != len(self.sizes):
                expected = f"{len(self.sizes)} values, or rows of repeats"
                raise ValueError(f"curves[{name!r}] has shape {repeats.shape}; expected {expected}")
            repeats = repeats.reshape(len(repeats), -1)
            n = repeats.shape[1]
            self.means[name] = repeats.mean(axis=1)
            spread = repeats.std(axis=1, ddof=1) if n > 1 else np.zeros(len(repeats))
            self.errors[name] = spread / np.sqrt(n)
        self.forecasts: dict[str, FloatArray] = {}
        for name, rows in (forecasts or {}).items():
            found = np.asarray(rows, dtype=np.float64)
            if name not in self.means or found.shape != (self.ahead.size, 3):
                raise ValueError(
                    f"forecasts[{name!r}] has shape {found.shape}; expected {(self.ahead.size, 3)}, for one of "
                    f"{', '.join(map(repr, self.means))}"
                )
            self.forecasts[name] = found

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        y: Any,
        *,
        sizes: Sequence[int] | FloatArray,
        cv: Any = None,
        scoring: Any = None,
        random_state: Any = 0,
        fit_params: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Self:
        """Train on growing samples in cross-validation, by scikit-learn's ``learning_curve``.

        Parameters
        ----------
        estimators : mapping of str to estimator
            The ways of training, by name.
        X, y
            Documents and labels.
        sizes : sequence of int
            Numbers of training documents.
        cv, scoring
            As in scikit-learn's ``learning_curve``.
        random_state : int, RandomState or None, default=0
            Source of the samples; they are the same for all estimators if it is a number.
        fit_params : mapping, optional
            Other arguments for ``fit`` of every estimator.
        **options
            Other arguments of the display.

        Returns
        -------
        LearningCurveDisplay
        """
        found = {}
        for name, estimator in estimators.items():
            arguments = {"train_sizes": np.asarray(sizes), "cv": cv, "scoring": scoring, "shuffle": True}
            _, _, found[name] = learning_curve(
                estimator, X, y, random_state=random_state, params=fit_params, **arguments
            )
        measure = scoring if isinstance(scoring, str) else "score"
        return cls(sizes, found, **{"measure": measure, **options})

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the means over a logarithmic number of documents, and bands of one standard error."""
        ax = axes_or_new(ax, figsize=(6, 3.6))
        self.lines_ = []
        for k, (name, mean) in enumerate(self.means.items()):
            options = {"color": colour(k), "marker": "osD^vP"[k % 6], "markersize": 5, "label": name, **line_options}
            self.lines_ += ax.plot(self.sizes, mean, **options)
            if self.errors[name].any():
                low, high = mean - self.errors[name], mean + self.errors[name]
                ax.fill_between(self.sizes, low, high, color=self.lines_[-1].get_color(), alpha=0.15, linewidth=0)
            if name in self.forecasts:
                value, low, high = self.forecasts[name].T
                shade = self.lines_[-1].get_color()
                ax.fill_between(self.ahead, low, high, color=shade, alpha=0.08, linewidth=0)
                label = "expected" if len(self.means) == 1 else f"{name}, expected"
                self.lines_ += ax.plot(self.ahead, value, color=shade, linestyle="--", label=label)
        ax.set_xscale("log")
        ticks = self.sizes
        if self.forecasts:
            ticks = np.append(self.sizes[::-2][::-1], [self.ahead[-1] / 2, self.ahead[-1]])
        ax.set_xticks(ticks, [f"{size:,.6g}" for size in ticks])
        ax.minorticks_off()
        ax.set(xlabel=self.documents, ylabel=self.measure)
        ax.legend(frameon=False, loc="best")
        return self._drawn(ax)

    def _columns(self) -> Mapping[str, Any]:
        names = list(self.means)
        means = stacked(("size", self.sizes), ("curve", names), (self.measure, list(self.means.values())))
        found = {**means, "standard error": np.ravel(list(self.errors.values()))}
        if not self.forecasts:
            return found
        names = list(self.forecasts)
        rows = np.stack(list(self.forecasts.values()))
        expected = stacked(("size", self.ahead), ("curve", names), (self.measure, rows[:, :, 0]))
        expected["standard error"] = np.full(rows[:, :, 0].size, np.nan)
        bounds = {
            "low": np.append(found[self.measure] - found["standard error"], rows[:, :, 1].ravel()),
            "high": np.append(found[self.measure] + found["standard error"], rows[:, :, 2].ravel()),
            "expected": np.repeat([False, True], [len(found["size"]), rows[:, :, 0].size]),
        }
        return {**{name: np.append(found[name], expected[name]) for name in found}, **bounds}


def _increasing(numbers: Any, name: str) -> FloatArray:
    found: FloatArray = np.asarray(numbers, dtype=np.float64)
    if found.ndim != 1 or np.any(found <= 0) or np.any(np.diff(found) <= 0):
        raise ValueError(f"{name} is {numbers!r}; expected increasing numbers above 0")
    return found
