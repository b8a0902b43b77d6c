"""The outcomes at every threshold, and the chosen threshold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayesift._typing import FloatArray
from bayesift.decide import T11U, ThresholdOutcomes, Utility, best_threshold, outcomes_by_threshold
from bayesift.decide.tuning import Policy
from bayesift.evaluate import Outcomes, f_beta, precision, recall, scaled_utility
from bayesift.plots.display import PALETTE, Display, axes_or_new
from bayesift.plots.evaluation import of_category

_STYLES = {"precision": (PALETTE[0], "--"), "recall": (PALETTE[2], ":"), "F1": (PALETTE[3], "-")}


class ThresholdDisplay(Display):
    """Draw precision, recall, F1 and utility against the threshold, with the chosen threshold marked.

    The utility is scaled like T11SU: 1 for perfect decisions, 0 for a loss of at least half of what those gain.

    Parameters
    ----------
    outcomes : ThresholdOutcomes
        The outcomes at every threshold.
    chosen : float, optional
        The threshold to mark.
    utility : Utility or mapping of gains, default=T11U
        Utility of decisions, such as ``{"tp": 2, "fp": -1}``.
    score_name : str, default="score"
        Name of the score, for the horizontal axis.

    Attributes
    ----------
    curves : dict of str to array
        ``precision``, ``recall``, ``F1`` and ``utility`` at the thresholds. Precision is NaN if nothing is accepted.
    lines_ : list
        One line for each curve.

    Examples
    --------
    >>> from bayesift.plots import ThresholdDisplay
    >>> display = ThresholdDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.5, 0.9])
    >>> display.outcomes.thresholds, display.curves["F1"].round(2)
    (array([inf, 0.9, 0.5, 0.4, 0.1]), array([0.  , 0.67, 0.5 , 0.8 , 0.67]))
    >>> round(display.chosen, 2)
    0.25
    """

    def __init__(
        self,
        outcomes: ThresholdOutcomes,
        chosen: float | None = None,
        *,
        utility: Utility | Mapping[str, float] = T11U,
        score_name: str = "score",
    ) -> None:
        self.outcomes = outcomes
        self.chosen = chosen
        self.utility = utility if isinstance(utility, Utility) else Utility.from_gains(utility)
        self.score_name = score_name
        counts = Outcomes(*outcomes[1:])
        self.curves: dict[str, FloatArray] = {
            "precision": precision(counts, empty=np.nan),
            "recall": recall(counts),
            "F1": f_beta(counts),
            "utility": scaled_utility(counts, utility=self.utility),
        }

    @classmethod
    def from_predictions(
        cls,
        truth: Any,
        scores: Any,
        *,
        policy: Policy | None = "max_f1",
        chosen: float | None = None,
        **options: Any,
    ) -> Self:
        """Count the outcomes of every threshold, and choose one.

        Parameters
        ----------
        truth, scores
            As ``y`` and ``scores`` in :func:`bayesift.decide.best_threshold`.
        policy : str, Utility or mapping, default="max_f1"
            How to choose the threshold, if ``chosen`` is not given; None to mark none.
        chosen : float, optional
            The threshold to mark, perhaps chosen on other documents.
        **options
            Further arguments of the display.

        Returns
        -------
        ThresholdDisplay
        """
        if chosen is None and policy is not None:
            chosen = best_threshold(scores, truth, policy=policy)
        return cls(outcomes_by_threshold(scores, truth, cut="accepted"), chosen, **options)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, category: int = 0, **options: Any) -> Self:
        """Count the outcomes of every threshold on a model's linear scores, and mark the model's own.

        Parameters
        ----------
        estimator
            A fitted model with ``decision_function``; its ``threshold_`` is marked if it has one, else 0.
        X, y
            Documents and their labels, or an indicator.
        category : int, default=0
            Which of several categories.
        **options
            Further arguments of the display.

        Returns
        -------
        ThresholdDisplay
        """
        truth, scores = of_category(estimator, X, y, category, "decision_function")
        rule = getattr(estimator, "threshold_", None)
        chosen = 0.0 if rule is None else float(rule.thresholds_[category])
        return cls.from_predictions(truth, scores, chosen=chosen, **{"score_name": "linear score", **options})

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the curves as steps, and a vertical line at the chosen threshold with its value."""
        ax = axes_or_new(ax, figsize=(6, 3.8))
        styles = {**_STYLES, "utility": (PALETTE[1], "-.")}
        left, right = self._limits()
        # The first threshold rejects all and is drawn at the right border; the last holds down to the left border.
        places = np.append(np.clip(self.outcomes.thresholds, left, right), left)
        self.lines_ = []
        for name, (colour, style) in styles.items():
            label = f"scaled utility ({_formula(self.utility)})" if name == "utility" else name
            options = {"color": colour, "linestyle": style, "linewidth": 1.8, "label": label, **line_options}
            # What a score accepts, all lower thresholds down to the next score accept too.
            self.lines_ += ax.plot(
                places, np.append(self.curves[name], self.curves[name][-1]), drawstyle="steps-post", **options
            )
        ax.set(xlabel=f"threshold ({self.score_name})", ylabel="effectiveness", xlim=(left, right), ylim=(0, 1.02))
        if self.chosen is not None:
            self._mark(ax, float(np.clip(self.chosen, left, right)))
        ax.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
        return self._drawn(ax)

    def _mark(self, ax: Any, place: float) -> None:
        """Draw the chosen threshold, with its value above the axes."""
        ax.axvline(place, color="0.25", linewidth=1)
        ax.annotate(
            f"chosen: {self.chosen:.3g}".replace("-", "−"),
            (place, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, 3),
            textcoords="offset points",
            ha="center",
            fontsize="small",
            annotation_clip=False,
        )

    def _limits(self) -> tuple[float, float]:
        """Return the least and the greatest threshold to draw: those of the scores and the chosen one, and a margin."""
        shown = self.outcomes.thresholds[1:]
        if self.chosen is not None and np.isfinite(self.chosen):
            shown = np.append(shown, self.chosen)
        margin = 0.04 * (shown.max() - shown.min()) or 0.5
        return float(shown.min() - margin), float(shown.max() + margin)

    def _columns(self) -> Mapping[str, Any]:
        thresholds, tp, fp, fn, tn = self.outcomes
        return {"threshold": thresholds, "tp": tp, "fp": fp, "fn": fn, "tn": tn, **self.curves}


def _formula(utility: Utility) -> str:
    """Write a utility in the usual form: 2TP − FP."""
    terms = []
    for name in ("tp", "fp", "fn", "tn"):
        gain = getattr(utility, name)
        if gain:
            size = "" if abs(gain) == 1 else f"{abs(gain):g}"
            terms.append(("− " if gain < 0 else "+ ") + size + name.upper())
    return " ".join(terms).removeprefix("+ ").replace("− ", "−", 1 if terms and terms[0].startswith("−") else 0)
