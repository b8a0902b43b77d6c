"""What a replay brought."""

from __future__ import annotations

from dataclasses import dataclass, field

from bayesift._typing import BoolArray, Int64Array
from bayesift.evaluate import RecallCurve, average_time_to_discovery, recall_at_effort, recall_curve, wss
from bayesift.review.simulate.rules import Stop


@dataclass(frozen=True, eq=False)
class Simulation:
    """The order in which a replay read the documents, and where rules would have stopped.

    Parameters
    ----------
    order : array of shape (n_read,)
        The documents in the order they were read; those known from the start are not among them.
    relevant : array of shape (n_read,)
        Which of them are relevant.
    reasons : list of str
        Why each was shown; "rest" for those that were not shown because all relevant ones had been found.
    start : tuple of int
        The documents whose judgements were known.
    stops : dict
        For each rule where it would have stopped.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.review.simulate import Simulation
    >>> run = Simulation(np.arange(4), np.array([True, False, True, False]), ["probable"] * 4)
    >>> run.average_time_to_discovery, run.recall_at(0.5)
    (0.5, 0.5)
    """

    order: Int64Array
    relevant: BoolArray
    reasons: list[str]
    start: tuple[int, ...] = ()
    stops: dict[str, Stop] = field(default_factory=dict)

    @property
    def curve(self) -> RecallCurve:
        """Recall after each document read."""
        return recall_curve(self.relevant)

    @property
    def wss95(self) -> float:
        """Work saved over sampling at a recall of 95 %."""
        return float(wss(self.relevant))

    @property
    def average_time_to_discovery(self) -> float:
        """Mean place of the relevant documents, as a share of all."""
        return float(average_time_to_discovery(self.relevant))

    def recall_at(self, effort: float = 0.1) -> float:
        """Return the recall after reading a share of the documents.

        Parameters
        ----------
        effort : float, default=0.1
            The share.

        Returns
        -------
        float
        """
        return float(recall_at_effort(self.relevant, effort=effort))
