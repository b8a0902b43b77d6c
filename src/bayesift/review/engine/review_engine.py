"""The engine of a review: it learns judgements, chooses the next document and tells when to stop."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.pipeline import Pipeline

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.review.engine import stopping as stops
from bayesift.review.engine import topic_model as models
from bayesift.review.engine._choosing import most_informative, most_probable
from bayesift.review.engine._words import highlights
from bayesift.review.engine.journal import Journal
from bayesift.review.engine.knowledge import Knowledge
from bayesift.review.engine.mix import Mix, Reason
from bayesift.review.engine.pile import Pile
from bayesift.review.engine.stopping import Stopping
from bayesift.review.engine.suggestion import Highlight, Suggestion
from bayesift.review.engine.topic_model import NOISE, Refit, TopicModel

#: Without a word about the topic, and with the usual mix.
NOTHING, USUAL = Knowledge(), Mix()

#: Credibility of the interval of a probability.
_CREDIBILITY = 0.9


class ReviewEngine:
    """A topic's queue: what a person judged, what is believed of the rest, which document comes next.

    Every judgement is learnt at once by a belief of independent Gaussian weights. :meth:`refit` fits a logistic
    regression to all of them, which takes longer and may run in another thread; :meth:`adopt` takes its result over.

    Parameters
    ----------
    pile : Pile
        The documents; shared by topics, never changed.
    knowledge : Knowledge
        What is known of the topic before any judgement.
    mix : Mix
        In what shares documents are shown for which reason.
    seed : int, default=0
        Fixes the random order of the pile.

    Examples
    --------
    >>> from bayesift.review.engine import Knowledge, Pile, ReviewEngine
    >>> pile = Pile.build(["wheat harvest", "gold mine", "corn and wheat", "silver mine"])
    >>> engine = ReviewEngine(pile, Knowledge("wheat"))
    >>> card = engine.next()[0]
    >>> pile.texts[card.document], card.why, card.model
    ('wheat harvest', 'probable', 'prior')
    >>> engine.label(card.document, True, why=card.why)
    >>> pile.texts[engine.next()[0].document]
    'corn and wheat'
    """

    def __init__(self, pile: Pile, knowledge: Knowledge = NOTHING, *, mix: Mix = USUAL, seed: int = 0) -> None:
        self.pile = pile
        self.knowledge = knowledge
        self.mix = mix.checked()
        self.seed = seed
        self._order: Int64Array = np.random.default_rng([seed, 0]).permutation(len(pile))
        self._journal = Journal(len(pile))
        self._prior = models.prior_model(pile, knowledge)
        self._told = bool(np.any(self._prior.belief.mean[:-1]))
        self._base = Refit(self._prior, {})
        self._model = self._prior
        self._fields: tuple[FloatArray, FloatArray, FloatArray] | None = None

    @classmethod
    def from_labels(
        cls,
        pile: Pile,
        knowledge: Knowledge,
        labels: Iterable[tuple[int, bool | None, str]],
        *,
        mix: Mix = USUAL,
        seed: int = 0,
    ) -> ReviewEngine:
        """Make an engine that has learnt stored judgements, by one fit.

        Parameters
        ----------
        pile, knowledge, mix, seed
            As for the class.
        labels : iterable of (document, relevant, why)
            The judgements that hold, in the order in which they were made.

        Returns
        -------
        ReviewEngine
        """
        engine = cls(pile, knowledge, mix=mix, seed=seed)
        for document, relevant, why in labels:
            engine._check(document)
            engine._journal.add(document, relevant, why)
        engine.adopt(engine.refit())
        return engine

    @property
    def state(self) -> list[tuple[int, bool | None, str]]:
        """The judgements that hold, in their order: what :meth:`from_labels` takes."""
        return self._journal.state

    def label(self, document: int, relevant: bool | None, *, why: str) -> None:
        """Learn a judgement; a judgement that the document had before is forgotten.

        Parameters
        ----------
        document : int
            Place in the pile.
        relevant : bool or None
            None is unsure: nothing is learnt, but the document is not shown again.
        why : str
            Why it was shown: "probable", "informative", "random", or anything else for documents that the engine did
            not choose. Only "random" ones are taken for random draws.
        """
        self._check(document)
        if document in self._journal:
            self.unlabel(document)
        self._journal.add(document, relevant, why)
        if relevant is not None:
            self._use(self._learn(self._model, document, relevant))

    def unlabel(self, document: int) -> None:
        """Forget a judgement: the belief becomes what it would be had the document never been judged.

        Judgements learnt since the last fit are learnt again on top of it; if the fit itself had seen the document, the
        others are fitted anew.

        Parameters
        ----------
        document : int
            Place in the pile.
        """
        if document not in self._journal:
            raise KeyError(f"document {document!r} has no judgement to take back")
        self._journal.remove(document)
        self.adopt(self.refit() if document in self._base.judged else self._base)

    def refit(self) -> Refit:
        """Fit all judgements of this moment; changes nothing, so it may run in another thread.

        Returns
        -------
        Refit
            For :meth:`adopt`.
        """
        judged = self._journal.learnable()
        if not judged:
            return Refit(self._prior, {})
        return Refit(models.fitted(self.pile, self._prior, judged, self.seed), judged)

    def adopt(self, refit: Refit) -> None:
        """Take over a fit and learn the judgements that came since on top of it.

        A fit to judgements that were changed or taken back meanwhile is left unused.

        Parameters
        ----------
        refit : Refit
            From :meth:`refit`.
        """
        judged = self._journal.learnable()
        if any(judged.get(document) is not relevant for document, relevant in refit.judged.items()):
            return
        self._base, model = refit, refit.model
        for document, relevant in judged.items():
            if document not in refit.judged:
                model = self._learn(model, document, relevant)
        self._use(model)

    def next(self, n: int = 1, exclude: Collection[int] = ()) -> list[Suggestion]:
        """Choose the documents to judge next.

        Parameters
        ----------
        n : int, default=1
            How many; fewer come when fewer are left.
        exclude : collection of int
            Documents not to choose, such as those that another person looks at.

        Returns
        -------
        list of Suggestion
        """
        free = self._journal.open.copy()
        free[np.fromiter(exclude, dtype=np.int64)] = False
        shown = self._journal.shown.copy()
        blind = self._blind()
        chosen: list[Suggestion] = []
        while len(chosen) < n and free.any():
            reason: Reason = "random" if blind else self.mix.due(shown)
            document = self._choose(reason, free)
            if document is None:
                reason, document = "probable", most_probable(self.probabilities(), free)
            free[document] = False
            shown[reason] += 1
            chosen.append(self._card(document, reason))
        return chosen

    def look(self, document: int) -> Suggestion:
        """Return the card of any document, judged or not; its rank is among the unjudged.

        Parameters
        ----------
        document : int
            Place in the pile.

        Returns
        -------
        Suggestion
            With "chosen" as the reason.
        """
        self._check(document)
        return self._card(document, "chosen")

    def probabilities(self) -> FloatArray:
        """Return the probability of relevance of every document under the belief, judged ones included.

        Returns
        -------
        ndarray of shape (n_documents,)
        """
        return self._moments()[2]

    def highlights(self, document: int) -> list[Highlight]:
        """Find the words of a document's text that speak for or against it, in the order of the text.

        Parameters
        ----------
        document : int
            Place in the pile.

        Returns
        -------
        list of Highlight
            Spans of characters that do not overlap.
        """
        self._check(document)
        return highlights(self.pile, document, self._model.belief.mean)

    def stopping(self, target_recall: float = 0.95, confidence: float = 0.95) -> Stopping:
        """Tell what may be left and whether one may stop.

        Parameters
        ----------
        target_recall : float, default=0.95
            Share of the relevant documents that should be found.
        confidence : float, default=0.95
            With which probability.

        Returns
        -------
        Stopping
        """
        for name, value in (("target_recall", target_recall), ("confidence", confidence)):
            if not 0 < value < 1 and not (name == "target_recall" and value == 1):
                raise ValueError(f"{name} is {value!r}; expected a number between 0 and 1")
        left, interval = self._expected_left(confidence)
        return stops.report(self._journal, self._order, left, interval, target_recall, confidence)

    def model(self) -> Pipeline:
        """Return vectoriser and classifier as one estimator: the mean of the belief of this moment.

        Returns
        -------
        Pipeline
            Of the pile's :class:`TextVectorizer` and a :class:`BayesianLogisticRegression`. It reads texts as
            :func:`with_title_words` gives them; without that, titles count only as text.
        """
        return Pipeline([("vectorizer", self.pile.vectorizer), ("model", models.estimator(self._model))])

    def _check(self, document: int) -> None:
        if not (isinstance(document, int | np.integer) and 0 <= document < len(self.pile)):
            raise IndexError(f"document is {document!r}; expected a place from 0 to {len(self.pile) - 1}")

    def _learn(self, model: TopicModel, document: int, relevant: bool) -> TopicModel:
        name = f"online {self._journal.found + self._journal.irrelevant}"
        return models.learnt(model, self.pile, document, relevant, name)

    def _use(self, model: TopicModel) -> None:
        self._model, self._fields = model, None

    def _moments(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean and variance of the field of every document, and its probability."""
        if self._fields is None:
            mean, variance = self._model.fields(self.pile.matrix)
            self._fields = (mean, variance, models.probabilities(mean, variance))
        return self._fields

    def _blind(self) -> bool:
        """Whether there is neither knowledge nor a relevant document to go by."""
        return not self._told and not self._journal.found

    def _choose(self, reason: Reason, free: BoolArray) -> int | None:
        if reason == "random":
            return int(self._order[free[self._order]][0])
        means, variances, p = self._moments()
        if reason == "informative":
            return most_informative(means, variances, free, self._journal.open, self.pile.groups)
        return most_probable(p, free)

    def _card(self, document: int, why: str) -> Suggestion:
        means, variances, p = self._moments()
        mean, variance = float(means[document]), float(variances[document])
        reach = ndtri((1 + _CREDIBILITY) / 2) * np.sqrt(variance)
        interval = (float(ndtr((mean - reach) / NOISE)), float(ndtr((mean + reach) / NOISE)))
        rank = 1 + int(np.count_nonzero(p[self._journal.open] > p[document]))
        return Suggestion(int(document), why, float(p[document]), interval, rank, self._model.name)

    def _expected_left(self, confidence: float) -> tuple[float, tuple[float, float]]:
        """Return the number of relevant documents expected among the unjudged, and its interval under the belief."""
        unjudged = self._journal.open
        p = np.where(unjudged, self.probabilities(), 0.0)
        # Delta method: the outcomes vary, and the weights that documents share move all of them together.
        slope = p * (1 - p)
        gradient = np.append(self.pile.matrix.T @ slope, slope.sum())
        variance = float(slope.sum() + gradient**2 @ self._model.variances)
        return float(p.sum()), stops.posterior_interval(float(p.sum()), variance, confidence)
