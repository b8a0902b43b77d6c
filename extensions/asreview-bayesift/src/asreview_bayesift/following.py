"""Statement C of Bayesift's review page for ASReview: the page's own model, which follows what ASReview labels."""

from __future__ import annotations

from typing import Any

from asreview_bayesift.records import corpus_of
from asreview_bayesift.stopping import Stopper
from bayesift.review.engine import Aim, ReviewEngine
from bayesift.review.engine.statements import SIGNIFICANCE, Cards, bound_by_model, chance_of_surprise, model_risk

#: The model is fitted anew when this share of the labels is new.
_NEW_SHARE = 0.05

#: Why a record was shown, by the querier that chose it; one without a querier was known before.
_WHY = {"random": "random", "top_down": "chosen"}


class Model(Stopper):
    """Statement C: assumes that the model's probabilities are wrong by one factor, for unread records and the last.

    ASReview gives a stopping rule neither texts nor probabilities. This one reads the records from their file, and a
    model of its own, that of Bayesift's page, learns every label after the record was foreseen.

    Parameters
    ----------
    records : str
        The file of the records, the same that ASReview reads.
    recall : float
        The share of the relevant records that is to be found.
    confidence : float
        How sure that has to be.
    at_most : int
        Stop also when at most so many are left.
    title, abstract : str
        Names of the columns.
    """

    name = "bayesift_model"
    label = "Bayesift: what the model expects to be left"

    def __init__(
        self,
        records: str,
        recall: float = 0.95,
        confidence: float = 0.95,
        at_most: int = 0,
        title: str = "title",
        abstract: str = "abstract",
    ) -> None:
        super().__init__(recall, confidence, at_most)
        self.records = records
        self.title = title
        self.abstract = abstract

    def _reached(self, results: Any, n: int, aim: Aim) -> bool:
        engine = self._followed(results, n)
        cards = Cards.of(engine.judgements.in_order())
        if not cards.found or not cards.queued.any() or chance_of_surprise(cards) < SIGNIFICANCE:
            return False
        expected = float(engine.probabilities()[engine.judgements.open].sum())
        sure = 1 - model_risk(1 - aim.confidence)
        bound = bound_by_model(cards.recent(), expected, cards.found, n - len(results), sure)
        return bound.left <= aim.allowed(cards.found)

    def _followed(self, results: Any, n: int) -> ReviewEngine:
        """Return the model after all labels; it goes on from those that it has learned."""
        queriers = [querier if isinstance(querier, str) else None for querier in results["querier"]]
        given = list(zip(results["record_id"].astype(int), results["label"].astype(float), queriers, strict=True))
        known: list[Any] = getattr(self, "learnt_", [])
        if not known or given[: len(known)] != known:
            self.engine_, self.learnt_, self.fitted_ = ReviewEngine(self._corpus(n)), [], 0
        for record, label, querier in given[len(self.learnt_) :]:
            if len(self.learnt_) - self.fitted_ >= max(1.0, _NEW_SHARE * len(self.learnt_)):
                self.engine_.adopt(self.engine_.refit())
                self.fitted_ = len(self.learnt_)
            why = "known" if querier is None else _WHY.get(querier, "probable")
            self.engine_.label(record, label == 1, why=why)
            self.learnt_.append((record, label, querier))
        return self.engine_

    def _corpus(self, n: int) -> Any:
        if not hasattr(self, "corpus_"):
            from asreview import load_dataset

            with load_dataset(self.records) as read:
                self.corpus_ = corpus_of(read.input.get_df(), self.title, self.abstract)
        if len(self.corpus_) != n:
            found = f"{self.records} has {len(self.corpus_)} records"
            raise ValueError(f"records: {found}; expected the file that ASReview reads, which has {n}")
        return self.corpus_
