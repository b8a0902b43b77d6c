"""The results of one system, and the comparison of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesift._typing import FloatArray
from bayesift.decide.expected import checked_probabilities
from bayesift.evaluate import significance
from bayesift.evaluate.calibration import brier, expected_calibration_error, log_loss
from bayesift.evaluate.effectiveness import error_rate, f_beta, precision, recall, t11su
from bayesift.evaluate.outcomes import Average, Outcomes, as_booleans, check_same_shape
from bayesift.evaluate.ranking import break_even


class Results:
    """Truth and decisions of one system on test documents, and its probabilities if it has any.

    Parameters
    ----------
    truth : array of shape (n_documents,) or (n_documents, n_categories), or sparse matrix
        Which documents are in the category.
    decisions : array of the same shape
        Which documents the system accepted.
    probabilities : array of the same shape, optional
        The probabilities that the system gave.
    name : str, default="system"
        Name of the system.
    categories : sequence of str, optional
        Names of the categories.

    Attributes
    ----------
    outcomes : Outcomes
        Counts for each category.

    Examples
    --------
    >>> from bayesift.evaluate import Results
    >>> Results([1, 1, 0, 0], [1, 0, 0, 1], name="coin").outcomes
    Outcomes(tp=1, fp=1, fn=1, tn=1)
    """

    def __init__(
        self,
        truth: Any,
        decisions: Any,
        probabilities: Any = None,
        *,
        name: str = "system",
        categories: Sequence[str] | None = None,
    ) -> None:
        self.truth = as_booleans(truth, "truth")
        self.decisions = as_booleans(decisions, "decisions")
        self.outcomes = Outcomes.of(self.truth, self.decisions)
        self.probabilities = None if probabilities is None else checked_probabilities(probabilities, "probabilities")
        if self.probabilities is not None:
            check_same_shape(self.truth, "truth", self.probabilities, "probabilities")
        self.name = name
        self.categories = None if categories is None else [str(category) for category in categories]
        if self.categories is not None and len(self.categories) != self.n_categories:
            raise ValueError(
                f"categories has {len(self.categories)} names; expected {self.n_categories}, one for each column"
            )

    @property
    def n_categories(self) -> int:
        """Number of categories."""
        return 1 if self.truth.ndim == 1 else self.truth.shape[1]


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two systems side by side; ``print`` shows everything.

    Parameters
    ----------
    names : pair of str
        The systems.
    n_documents, n_categories : int
        Size of the test collection.
    measures : dict from str to pair of float
        Each measure's values for the two systems.
    tests : dict from str to PairedTest
        Micro sign test; with several categories also macro sign test and signed-rank test on their F1.
    intervals : dict from str to BootstrapDifference
        Differences in F1 on resampled documents.
    f1 : array of shape (2, n_categories)
        F1 of both systems in each category.
    categories : list of str
        Their names.
    """

    names: tuple[str, str]
    n_documents: int
    n_categories: int
    measures: dict[str, tuple[float, float]]
    tests: dict[str, significance.PairedTest]
    intervals: dict[str, significance.BootstrapDifference]
    f1: FloatArray
    categories: list[str]

    def __repr__(self) -> str:
        return f"Comparison({self.names[0]!r}, {self.names[1]!r})"

    def __str__(self) -> str:
        a, b = self.names
        of = f"{self.n_documents} documents" + (f", {self.n_categories} categories" if self.n_categories > 1 else "")
        lines = [f"A: {a}", f"B: {b}", f"on {of}", "", *self._measure_lines(), "", *self._test_lines()]
        if self.n_categories > 1:
            lines += ["", *self._category_lines()]
        return "\n".join(lines)

    def _measure_lines(self) -> list[str]:
        lines = [f"{'':<24}{'A':>9}{'B':>9}{'A − B':>10}"]
        for name, (a, b) in self.measures.items():
            gap = 0.0 if a == b else a - b  # two infinite losses do not differ
            lines.append(f"{name:<24}{a:>9.4f}{b:>9.4f}{gap:>+10.4f}")
        return lines

    def _test_lines(self) -> list[str]:
        lines = ["Is A better (≫ >), worse (≪ <) or neither (~)? One-sided, at 0.01 and 0.05."]
        for name, test in self.tests.items():
            lines.append(
                f"{name:<24}A {test.sign} B   A better in {test.wins}, B in {test.losses}; "
                f"p = {test.p_value:.3g}, reversed {test.p_reversed:.3g}"
            )
        for name, found in self.intervals.items():
            told = f"= {found.difference:+.4f}, 95 % of draws from {found.low:+.4f} to {found.high:+.4f}"
            lines.append(f"{name:<24}A {found.sign} B   A − B {'is not defined' if np.isnan(found.low) else told}")
        return lines

    def _category_lines(self, shown: int = 5) -> list[str]:
        gap = np.nan_to_num(self.f1[0] - self.f1[1])
        order = np.argsort(-np.abs(gap), kind="stable")[:shown]
        lines = [
            f"{self.categories[j]:<24}{self.f1[0, j]:>9.4f}{self.f1[1, j]:>9.4f}{gap[j]:>+10.4f}"
            for j in order
            if gap[j] != 0
        ]
        return (
            [f"{'F1 differs most in':<24}{'A':>9}{'B':>9}{'A − B':>10}", *lines] if lines else ["F1 is the same in all"]
        )


def compare(
    results_a: Results, results_b: Results, *, empty: float = 1.0, n_resamples: int = 1000, random_state: Any = 0
) -> Comparison:
    """Compare two systems on the same documents: measures, significance tests, and where they differ.

    Parameters
    ----------
    results_a, results_b : Results
        What the systems A and B decided.
    empty : float, default=1.0
        Value of 0/0 in precision, recall and F1; with NaN, such categories are left out of macro averages and tests.
    n_resamples : int, default=1000
        Number of draws of the bootstrap; 0 leaves it out.
    random_state : int, RandomState or None, default=0
        Source of the draws.

    Examples
    --------
    >>> from bayesift.evaluate import Results, compare
    >>> truth = [1, 0, 0, 1] * 6
    >>> careful = Results(truth, [1, 0, 0, 0] * 6, name="careful")
    >>> bold = Results(truth, [1, 1, 0, 1] * 6, name="bold")
    >>> comparison = compare(careful, bold, n_resamples=200)
    >>> comparison.measures["precision"], comparison.tests["decisions (sign test)"].sign
    ((1.0, 0.6666666666666666), '~')
    """
    for name, results in (("results_a", results_a), ("results_b", results_b)):
        if not isinstance(results, Results):
            raise TypeError(f"{name} is {results!r}; expected Results")
    if results_a.truth.shape != results_b.truth.shape or np.any(results_a.truth != results_b.truth):
        raise ValueError(
            "results_a and results_b have different true labels; expected the same documents and categories"
        )
    several = results_a.n_categories > 1
    f1 = np.array([np.atleast_1d(f_beta(results.outcomes, empty=empty)) for results in (results_a, results_b)])
    tests = {
        "decisions (sign test)": significance.micro_sign_test(results_a.truth, results_a.decisions, results_b.decisions)
    }
    if several:
        tests |= {
            "category F1 (sign test)": significance.macro_sign_test(*f1),
            "F1 ranks (Wilcoxon)": significance.wilcoxon_test(*f1),
        }
    averages: list[Average] = ["micro", "macro"] if several else ["micro"]
    intervals = {
        f"{average} F1 (bootstrap)" if several else "F1 (bootstrap)": significance.paired_bootstrap(
            results_a.truth,
            results_a.decisions,
            results_b.decisions,
            measure=_f1_with(empty),
            average=average,
            n_resamples=n_resamples,
            random_state=random_state,
        )
        for average in (averages if n_resamples else [])
    }
    numbered = [str(j) for j in range(results_a.n_categories)]
    measures = _measures(results_a, results_b, averages, empty)
    categories = results_a.categories or results_b.categories or numbered
    names, sizes = (results_a.name, results_b.name), (len(results_a.truth), results_a.n_categories)
    return Comparison(names, *sizes, measures, tests, intervals, f1, categories)


def _f1_with(empty: float) -> Any:
    return lambda outcomes, average: f_beta(outcomes, average=average, empty=empty)


def _measures(a: Results, b: Results, averages: list[Average], empty: float) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}

    def add(name: str, values: list[Any]) -> None:
        found[name] = (float(values[0]), float(values[1]))

    for average in averages:
        prefix = f"{average} " if len(averages) > 1 else ""
        for name, measure in (("precision", precision), ("recall", recall), ("F1", f_beta)):
            add(prefix + name, [measure(system.outcomes, average=average, empty=empty) for system in (a, b)])
    add("error rate", [error_rate(system.outcomes, average="micro") for system in (a, b)])
    add("T11SU", [t11su(system.outcomes, average="macro") for system in (a, b)])
    if a.probabilities is not None and b.probabilities is not None:
        for name, score in (
            ("break-even", break_even),
            ("Brier score", brier),
            ("log loss", log_loss),
            ("calibration error", expected_calibration_error),
        ):
            add(name, [score(system.truth, system.probabilities, average="micro") for system in (a, b)])
    return found
