"""How well a filter does while documents arrive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from bayesift._typing import FloatArray
from bayesift.decide import T11U, Utility
from bayesift.evaluate import Outcomes
from bayesift.evaluate import recall as recall_of
from bayesift.evaluate.outcomes import as_booleans, check_same_shape
from bayesift.plots.display import GREY, Display, axes_or_new, next_colour


class FilteringDisplay(Display):
    """Draw a filter's recall and utility as documents arrive.

    Parameters
    ----------
    documents : array of shape (n_points,)
        Numbers of documents seen so far, increasing.
    recall : array of shape (n_points,)
        Share of the relevant documents among these that were delivered.
    utility : array of shape (n_points,)
        Utility of the deliveries so far.
    best : array of shape (n_points,), optional
        Utility of perfect decisions.
    name : str, optional
        Name of the filter, for the legend.

    Attributes
    ----------
    axes_, ax_, figure_
        Where it was drawn: the axes of the recall (``ax_``) and those of the utility.

    Examples
    --------
    >>> from bayesift.plots import FilteringDisplay
    >>> display = FilteringDisplay.from_decisions([1, 0, 1, 1], [0, 1, 1, 1])
    >>> display.recall.round(2), display.utility
    (array([0.  , 0.  , 0.5 , 0.67]), array([ 0., -1.,  1.,  3.]))
    """

    def __init__(self, documents: Any, recall: Any, utility: Any, best: Any = None, *, name: str | None = None) -> None:
        self.documents: FloatArray = np.asarray(documents, dtype=np.float64)
        self.recall: FloatArray = np.asarray(recall, dtype=np.float64)
        self.utility: FloatArray = np.asarray(utility, dtype=np.float64)
        self.best: FloatArray | None = None if best is None else np.asarray(best, dtype=np.float64)
        self.name = name
        for what, values in (("recall", self.recall), ("utility", self.utility), ("best", self.best)):
            if values is not None:
                check_same_shape(self.documents, "documents", values, what)

    @classmethod
    def from_decisions(
        cls,
        truth: Any,
        delivered: Any,
        *,
        utility: Utility | Mapping[str, float] = T11U,
        name: str | None = None,
    ) -> Self:
        """Accumulate the outcomes in the order of arrival.

        Parameters
        ----------
        truth, delivered : arrays of shape (n_documents,) or (n_documents, n_topics)
            Which documents are relevant, and which were delivered. Several topics are summed.
        utility : Utility or mapping of gains, default=T11U
            Utility of decisions, in documents, not in shares of a class.
        name : str, optional
            Name of the filter.

        Returns
        -------
        FilteringDisplay
        """
        gains = utility if isinstance(utility, Utility) else Utility.from_gains(utility)
        relevant, given = as_booleans(truth, "truth"), as_booleans(delivered, "delivered")
        check_same_shape(relevant, "truth", given, "delivered")
        pairs = ((relevant, given), (~relevant, given), (relevant, ~given), (~relevant, ~given))
        tp, fp, fn, tn = (np.cumsum((first & second).reshape(len(relevant), -1).sum(axis=1)) for first, second in pairs)
        return cls(
            np.arange(1, len(relevant) + 1),
            recall_of(Outcomes(tp, fp, fn, tn), empty=np.nan),
            gains.value(tp, fp, fn, tn),
            gains.value(tp + fn, 0, 0, fp + tn),
            name=name,
        )

    @classmethod
    def from_record(cls, record: Any, truth: Any, **options: Any) -> Self:
        """Accumulate what a filter retrieved, document by document of the stream.

        Parameters
        ----------
        record : FilterRecord
            What was retrieved: entries with the ``place`` of the document in the stream and a ``topic``, one of the
            record's ``topics``.
        truth : array of shape (n_documents,) or (n_documents, n_topics), or sparse matrix
            Which documents of the stream are relevant to which topic, in the order of the topics.
        **options
            Other arguments of :meth:`from_decisions`.

        Returns
        -------
        FilteringDisplay
        """
        relevant = as_booleans(truth, "truth")
        relevant = relevant.reshape(len(relevant), -1)
        if relevant.shape[1] != len(record.topics):
            found, expected = relevant.shape[1], len(record.topics)
            raise ValueError(f"truth has {found} topics; expected {expected}, those of the record")
        columns = {topic: k for k, topic in enumerate(record.topics)}
        delivered = np.zeros_like(relevant)
        for entry in record:
            if not 0 <= entry.place < len(relevant):
                raise ValueError(f"record has a document at place {entry.place}; truth has {len(relevant)} documents")
            delivered[entry.place, columns[entry.topic]] = True
        return cls.from_decisions(relevant, delivered, **options)

    def plot(self, axes: Any = None, *, color: str | None = None) -> Self:
        """Draw the recall above the utility, over the documents seen.

        Parameters
        ----------
        axes : two matplotlib axes, optional
            Where to draw; a new figure by default. Other filters may have been drawn there.
        color : str, optional
            Of the lines; the next of the palette by default.
        """
        axes = axes_or_new(axes, nrows=2, sharex=True, figsize=(6, 4.8))
        above, below = axes
        color = next_colour(above) if color is None else color
        if self.best is not None and not below.lines:
            below.plot(self.documents, self.best, color=GREY, linewidth=1, linestyle="--", label="perfect decisions")
        above.plot(self.documents, self.recall, color=color, linewidth=1.8, label=self.name)
        below.plot(self.documents, self.utility, color=color, linewidth=1.8, label=self.name)
        above.set(ylabel="recall so far", ylim=(0, 1.02))
        below.set(ylabel="utility so far", xlabel="documents seen")
        if below.get_legend_handles_labels()[1]:
            below.legend(frameon=False, fontsize="small", loc="upper left")
        self.axes_ = axes
        self._drawn(below)
        return self._drawn(above)

    def _columns(self) -> Mapping[str, Any]:
        columns = {"documents": self.documents, "recall": self.recall, "utility": self.utility}
        return columns if self.best is None else {**columns, "best utility": self.best}
