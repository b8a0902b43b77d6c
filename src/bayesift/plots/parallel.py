"""Several systems side by side, category by category."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np

from bayesift._typing import FloatArray, Int64Array
from bayesift.evaluate import Outcomes, Results, f_beta, precision, recall
from bayesift.plots.display import GREY, Display, axes_or_new, colour, name_ends, stacked

_MEASURES: dict[str, Callable[[Outcomes], Any]] = {
    "F1": f_beta,
    "precision": precision,
    "recall": recall,
    "errors": lambda outcomes: outcomes.fp + outcomes.fn,
}


class ParallelCoordinatesDisplay(Display):
    """Draw a measure of several systems in every category: crossing lines show where the order of systems changes.

    In the style of figure 5 of Genkin, Lewis & Madigan (2007).

    Parameters
    ----------
    values : array of shape (n_systems, n_categories)
        The measure.
    systems : sequence of str
        Names of the systems.
    categories : sequence of str
        Names of the categories.
    measure : str, default="F1"
        Name of the measure.

    Attributes
    ----------
    lines_ : list
        One line for each category, or for each system.

    Examples
    --------
    >>> from bayesift.plots import ParallelCoordinatesDisplay
    >>> display = ParallelCoordinatesDisplay([[0.8, 0.5], [0.7, 0.9]], ["lasso", "ridge"], ["oil", "wheat"])
    >>> display.plot_data()["category"].tolist(), display.plot_data()["F1"].tolist()
    (['oil', 'wheat', 'oil', 'wheat'], [0.8, 0.5, 0.7, 0.9])
    """

    def __init__(self, values: Any, systems: Sequence[str], categories: Sequence[str], measure: str = "F1") -> None:
        self.values: FloatArray = np.asarray(values, dtype=np.float64)
        self.systems = [str(name) for name in systems]
        self.categories = [str(name) for name in categories]
        self.measure = measure
        expected = (len(self.systems), len(self.categories))
        if self.values.shape != expected:
            raise ValueError(f"values has shape {self.values.shape}; expected {expected}, systems × categories")

    @classmethod
    def from_results(
        cls, *results: Results, measure: str | Callable[[Outcomes], Any] = "F1", name: str | None = None
    ) -> Self:
        """Compute a measure of systems that were tried on the same documents.

        Parameters
        ----------
        *results : Results
            What the systems decided.
        measure : {"F1", "precision", "recall", "errors"} or function of Outcomes, default="F1"
            What to compute for each category; errors are false positives plus false negatives.
        name : str, optional
            Name of the measure; its own name by default.

        Returns
        -------
        ParallelCoordinatesDisplay
        """
        if not results:
            raise ValueError("results is empty; expected the results of at least one system")
        if isinstance(measure, str) and measure not in _MEASURES:
            raise ValueError(f"measure is {measure!r}; expected one of {list(_MEASURES)}, or a function")
        for system in results:
            if not isinstance(system, Results):
                raise TypeError(f"results holds {system!r}; expected Results")
            if system.truth.shape != results[0].truth.shape or np.any(system.truth != results[0].truth):
                raise ValueError(
                    f"{system.name} has different true labels than {results[0].name}; expected the same documents"
                )
        compute = _MEASURES[measure] if isinstance(measure, str) else measure
        named = [system.categories for system in results if system.categories is not None]
        categories = named[0] if named else [str(j) for j in range(results[0].n_categories)]
        if name is None:
            name = measure if isinstance(measure, str) else getattr(measure, "__name__", "measure")
        values = [np.atleast_1d(compute(system.outcomes)) for system in results]
        return cls(np.array(values), [system.name for system in results], categories, str(name))

    def plot(
        self,
        ax: Any = None,
        *,
        lines: Literal["categories", "systems"] = "categories",
        named: int = 6,
        **line_options: Any,
    ) -> Self:
        """Draw one line for each category over the systems, or one for each system over the categories.

        Parameters
        ----------
        lines : {"categories", "systems"}, default="categories"
            What each line represents.
        named : int, default=6
            How many categories get a colour and a name: those in which the systems differ most. The others are grey.
            All systems have a colour and a name.
        """
        if lines not in ("categories", "systems"):
            raise ValueError(f"lines is {lines!r}; expected 'categories' or 'systems'")
        if lines == "categories":
            ax = axes_or_new(ax, figsize=(2.4 + 1.3 * len(self.systems), 4.2))
            self._categories_over_systems(ax, named, line_options)
        else:
            ax = axes_or_new(ax, figsize=(max(5.0, 1.5 + 0.45 * len(self.categories)), 4.2))
            self._systems_over_categories(ax, line_options)
        ax.set_ylabel(self.measure)
        return self._drawn(ax)

    def _categories_over_systems(self, ax: Any, named: int, line_options: Mapping[str, Any]) -> None:
        places = np.arange(len(self.systems))
        chosen = self._most_different(named)
        colours = [GREY] * len(self.categories)
        for k, j in enumerate(chosen):
            colours[j] = colour(k)
        self.lines_ = []
        for j, line in enumerate(self.values.T):
            front = j in chosen
            options = {"color": colours[j], "linewidth": 2 if front else 1, "zorder": 2 + front, **line_options}
            self.lines_ += ax.plot(places, line, marker="o", markersize=4 if front else 2, **options)
        for place in places:
            ax.axvline(place, color="0.9", linewidth=0.8, zorder=0)
        ax.set_xticks(places, self.systems)
        ax.set_xlim(-0.15, len(self.systems) - 0.9)
        names = [self.categories[j] for j in chosen]
        name_ends(ax, places[-1], self.values[-1, chosen], names, [colours[j] for j in chosen])

    def _systems_over_categories(self, ax: Any, line_options: Mapping[str, Any]) -> None:
        order = np.argsort(-np.nan_to_num(self.values.mean(axis=0)), kind="stable")
        places = np.arange(len(order))
        markers = "osD^vP"
        self.lines_ = []
        for k, (name, row) in enumerate(zip(self.systems, self.values, strict=True)):
            style = {"color": colour(k), "marker": markers[k % len(markers)], "markersize": 5, "label": name}
            self.lines_ += ax.plot(places, row[order], **{**style, **line_options})
        ax.set_xticks(places, [self.categories[j] for j in order], rotation=45, ha="right", rotation_mode="anchor")
        ax.grid(axis="x", color="0.92", linewidth=0.8)
        ax.legend(frameon=False, loc="lower left")

    def _most_different(self, n: int) -> Int64Array:
        """Return the categories in which the systems differ most."""
        gap = np.nan_to_num(self.values.max(axis=0) - self.values.min(axis=0))
        return np.argsort(-gap, kind="stable")[:n]

    def _columns(self) -> Mapping[str, Any]:
        return stacked(("category", self.categories), ("system", self.systems), (self.measure, self.values))
