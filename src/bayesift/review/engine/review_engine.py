"""The engine of a review: it learns judgements, chooses the next document and says when to stop."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.pipeline import Pipeline

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.review.decisions import Judgement, Judgements
from bayesift.review.engine import stopping as stops
from bayesift.review.engine import topic_model as models
from bayesift.review.engine.choosing import Mix, Reason, most_informative, most_probable
from bayesift.review.engine.corpus import Corpus
from bayesift.review.engine.earlier import Earlier
from bayesift.review.engine.fitting import fitted
from bayesift.review.engine.statements import Aim
from bayesift.review.engine.stopping import Advice, Stopping
from bayesift.review.engine.topic_model import NOISE, Fields, Highlight, Knowledge, Refit

#: Credibility of the interval of a probability.
_CREDIBILITY = 0.9

#: Up to this many judgements at once are learned card by card; more wait for a fit.
_AT_ONCE = 100

#: The ranking begins with a fit to this many of the judgements given at the start; the others wait for a fit.
_AT_FIRST = 2000


#: Without a word about the topic, and with the usual mix.
NOTHING, USUAL = Knowledge(), Mix()


class Suggestion(NamedTuple):
    """A document to judge, and why.

    ``document`` is its place in the corpus. ``why`` is "probable", "informative" or "random", or "chosen" for a
    document that was asked for. ``interval`` is a 90 % credible interval of the probability under the belief. ``rank``
    is its rank among the documents without a judgement; 1 is the most probable. ``model`` says which model was used:
    "prior", "refit 40" (fitted to 40 judgements) or "online 43" (three more learned since).
    """

    document: int
    why: str
    probability: float
    interval: tuple[float, float]
    rank: int
    model: str


class ReviewEngine:
    """A topic's queue: what was judged, what is believed about the rest, and which document comes next.

    Every judgement is learned at once by a belief with independent Gaussian weights. :meth:`refit` fits a logistic
    regression to all judgements, which takes longer and may run in another thread; :meth:`adopt` takes over its result.
    If only a fit can help, for example when a judgement that a fit has learned is taken back, the ranking stays as it
    is and :attr:`behind` asks for a fit.

    Parameters
    ----------
    corpus : Corpus
        The documents; shared by topics, never changed.
    knowledge : Knowledge
        What is known about the topic before any judgement.
    judgements : Judgements, optional
        The present judgements; they are learned by one fit, to the last 2,000 if there are more. After changing them
        elsewhere, call :meth:`follow`.
    mix : Mix
        Shares of the reasons for which documents are shown.
    seed : int, default=0
        Fixes the random order of the corpus.
    earlier : Earlier, optional
        Records of earlier reviews, which the ranking learns from as well; nothing else depends on them.

    Attributes
    ----------
    lagging : bool
        Whether the ranking is left as it is until :meth:`take_ranking`, for use with :meth:`ranking` in another thread;
        initially False, so that the ranking always follows what is learned.
    steps : int
        How often the model has changed.

    Examples
    --------
    >>> from bayesift.review.engine import Corpus, Knowledge, ReviewEngine
    >>> corpus = Corpus.build(["wheat harvest", "gold mine", "corn and wheat", "silver mine"])
    >>> engine = ReviewEngine(corpus, Knowledge("wheat"))
    >>> card = engine.next()[0]
    >>> corpus.texts[card.document], card.why, card.model
    ('wheat harvest', 'probable', 'prior')
    >>> engine.label(card.document, True, why=card.why)
    >>> corpus.texts[engine.next()[0].document]
    'corn and wheat'
    """

    def __init__(
        self,
        corpus: Corpus,
        knowledge: Knowledge = NOTHING,
        judgements: Judgements | None = None,
        *,
        mix: Mix = USUAL,
        seed: int = 0,
        earlier: Earlier | None = None,
    ) -> None:
        self.corpus = corpus
        self.knowledge = knowledge
        self.judgements = Judgements(len(corpus)) if judgements is None else judgements
        self.mix = mix.checked()
        self.seed = seed
        self.earlier = earlier
        self._order: Int64Array = np.random.default_rng([seed, 0]).permutation(len(corpus))
        self._prior = models.prior_model(corpus, knowledge)
        self._told = bool(np.any(self._prior.belief.mean[:-1])) or (
            earlier is not None and bool(earlier.relevant.any())
        )
        self.judgements.take_changes()
        judged = self.judgements.learnable()
        self.lagging = False
        self.steps = 0
        self.adopt(self._fit(dict(list(judged.items())[-_AT_FIRST:])))

    def label(self, document: int, relevant: bool | None, *, why: str) -> None:
        """Learn a judgement, and forget the one that the document had before.

        Parameters
        ----------
        document : int
            Place in the corpus.
        relevant : bool or None
            None means unsure: nothing is learned, but the document is not shown again.
        why : str
            Why it was shown: "probable", "informative", "random", or anything else for documents that the engine did
            not choose. Only "random" counts as a random draw.
        """
        self._check(document)
        foreseen = float(self._moments().probability[document])
        self.judgements.set(document, Judgement(relevant, why, foreseen))
        self.follow()

    def unlabel(self, document: int) -> None:
        """Forget a judgement; what a fit has learned is forgotten by the next fit.

        Parameters
        ----------
        document : int
            Place in the corpus.
        """
        if document not in self.judgements:
            raise KeyError(f"document {document!r} has no judgement to undo")
        self.judgements.set(document, None)
        self.follow()

    def follow(self) -> list[int]:
        """Learn new judgements, and forget what can be forgotten without a fit.

        Judgements learned since the last fit are learned again on top of it, without those that no longer hold. Nothing
        is fitted here; :attr:`behind` tells whether something waits for a fit.

        Returns
        -------
        list of int
            The documents whose judgements have changed.
        """
        changed = self.judgements.take_changes()
        for document in changed:
            said = self.judgements.get(document)
            if self._learnt.get(document) is (None if said is None else said.relevant):
                self._amiss.discard(document)
            else:
                self._amiss.add(document)
        new = {document: self._relevant(document) for document in changed if document in self._amiss}
        forgotten = [document for document in new if document in self._learnt]
        if forgotten and not any(document in self._base.judged for document in forgotten):
            self.adopt(self._base)
        elif len(new) <= _AT_ONCE:
            self._learn({document: said for document, said in new.items() if document not in self._learnt})
        return changed

    @property
    def behind(self) -> bool:
        """Whether judgements have changed that only a fit can learn or forget."""
        return bool(self._amiss)

    def refit(self) -> Refit:
        """Fit all present judgements; changes nothing, so it may run in another thread.

        Returns
        -------
        Refit
            For :meth:`adopt`.
        """
        return self._fit(self.judgements.learnable())

    def catch_up(self, refit: Refit) -> Refit:
        """Learn, on top of a fit, the judgements that came after it began; may run in another thread too.

        Parameters
        ----------
        refit : Refit
            From :meth:`refit`.

        Returns
        -------
        Refit
            For :meth:`adopt`.
        """
        judged = self.judgements.learnable()
        since = {document: relevant for document, relevant in judged.items() if document not in refit.judged}
        if not since:
            return refit
        model = models.learned(refit.fields.model, self.corpus, since, f"online {len(refit.judged) + len(since)}")
        return Refit(models.moved(refit.fields, model, self.corpus), refit.judged | since)

    def adopt(self, refit: Refit) -> bool:
        """Take over a fit, and learn on top of it the judgements that came since, if they are few.

        A fit to judgements that were changed or taken back meanwhile is not used.

        Parameters
        ----------
        refit : Refit
            From :meth:`refit` or :meth:`catch_up`.

        Returns
        -------
        bool
            Whether it was taken over.
        """
        judged = self.judgements.learnable()
        if any(judged.get(document) is not relevant for document, relevant in refit.judged.items()):
            return False
        since = {document: relevant for document, relevant in judged.items() if document not in refit.judged}
        self._base, self._fields, self._model = refit, refit.fields, refit.fields.model
        self._learnt, self._amiss = dict(refit.judged), set(since)
        self.steps += 1
        if len(since) <= _AT_ONCE:
            self._learn(since)
        return True

    def ranking(self) -> Refit:
        """Rank the documents by what has been learned so far; changes nothing, so it may run in another thread.

        Returns
        -------
        Refit
            The last fit, with the present scores of the documents, for :meth:`take_ranking`.
        """
        base, fields, model = self._base, self._fields, self._model
        return base._replace(fields=fields if fields.model is model else models.moved(fields, model, self.corpus))

    def take_ranking(self, ranking: Refit) -> None:
        """Use the result of :meth:`ranking`, unless another fit was taken over meanwhile.

        Parameters
        ----------
        ranking : Refit
            Its result.
        """
        if ranking.judged is self._base.judged:
            self._fields = ranking.fields

    def next(self, n: int = 1, exclude: Collection[int] = ()) -> list[Suggestion]:
        """Choose the documents to judge next.

        Parameters
        ----------
        n : int, default=1
            How many; there are fewer in the result if fewer are left.
        exclude : collection of int
            Documents not to choose, such as those that another person is looking at.

        Returns
        -------
        list of Suggestion
        """
        free = self.judgements.open.copy()
        free[np.fromiter(exclude, dtype=np.int64)] = False
        shown = self.judgements.shown.copy()
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

    def suggestion(self, document: int) -> Suggestion:
        """Return the card of any document, judged or not, as "chosen"; its rank is among the unjudged ones."""
        self._check(document)
        return self._card(document, "chosen")

    def probabilities(self) -> FloatArray:
        """Return the probability of relevance of every document under the belief, judged ones included.

        Returns
        -------
        ndarray of shape (n_documents,)
        """
        return self._moments().probability

    def highlights(self, document: int) -> list[Highlight]:
        """Find the words of a document's text that count for or against it, in the order of the text.

        Parameters
        ----------
        document : int
            Place in the corpus.

        Returns
        -------
        list of Highlight
            Non-overlapping spans of characters.
        """
        self._check(document)
        return models.highlights(self._model, self.corpus, document)

    def stopping(self, target_recall: float = 0.95, confidence: float = 0.95, at_most: int = 0) -> Stopping:
        """Tell what may be left, and whether one may stop.

        Parameters
        ----------
        target_recall : float, default=0.95
            Share of the relevant documents that should be found.
        confidence : float, default=0.95
            Probability with which it should be reached.
        at_most : int, default=0
            If no more relevant documents than this are left, that is enough, whatever the recall.

        Returns
        -------
        Stopping
        """
        return self.moment().stopping(target_recall, confidence, at_most)

    def moment(self) -> Moment:
        """Keep what is needed to tell whether one may stop; this is cheap, :meth:`Moment.stopping` may be slow."""
        fields = self._moments()
        return Moment(self.corpus, self._order, self.judgements.copy(), fields)

    def model(self) -> Pipeline:
        """Return vectorizer and classifier as one estimator: the mean of the present belief.

        Returns
        -------
        Pipeline
            Of the corpus's :class:`TextVectorizer` and a :class:`BayesianLogisticRegression`. It expects texts as
            :func:`with_title_words` returns them; otherwise titles count only as text.
        """
        return Pipeline([("vectorizer", self.corpus.vectorizer), ("model", models.estimator(self._model))])

    def _check(self, document: int) -> None:
        if not (isinstance(document, int | np.integer) and 0 <= document < len(self._order)):
            raise IndexError(f"document is {document!r}; expected a place from 0 to {len(self._order) - 1}")

    def _fit(self, judged: dict[int, bool]) -> Refit:
        known = judged or self.earlier is not None
        model = fitted(self.corpus, self._prior, judged, self.seed, self.earlier) if known else self._prior
        return Refit(models.all_fields(model, self.corpus), judged)

    def _relevant(self, document: int) -> bool | None:
        said = self.judgements.get(document)
        return None if said is None else said.relevant

    def _learn(self, new: Mapping[int, bool | None]) -> None:
        """Learn judgements of documents that the model has learned nothing about."""
        given = {document: relevant for document, relevant in new.items() if relevant is not None}
        if given:
            name = f"online {self.judgements.found + self.judgements.irrelevant}"
            self._model = models.learned(self._model, self.corpus, given, name)
            self.steps += 1
            self._learnt.update(given)
            self._amiss.difference_update(given)

    def _moments(self) -> Fields:
        """Return the model's scores of all documents."""
        if not self.lagging:
            self.take_ranking(self.ranking())
        return self._fields

    def _blind(self) -> bool:
        """Whether there is neither knowledge nor a relevant document to go by."""
        return not self._told and not self.judgements.found

    def _choose(self, reason: Reason, free: BoolArray) -> int | None:
        if reason == "random":
            return int(self._order[free[self._order]][0])
        _, means, variances, p = self._moments()
        if reason == "informative":
            return most_informative(means, variances, free, self.judgements.open, self.corpus.groups)
        return most_probable(p, free)

    def _card(self, document: int, why: str) -> Suggestion:
        model, means, variances, p = self._moments()
        mean, variance = float(means[document]), float(variances[document])
        half_width = ndtri((1 + _CREDIBILITY) / 2) * np.sqrt(variance)
        interval = (float(ndtr((mean - half_width) / NOISE)), float(ndtr((mean + half_width) / NOISE)))
        rank = 1 + int(np.count_nonzero(p[self.judgements.open] > p[document]))
        return Suggestion(int(document), why, float(p[document]), interval, rank, model.name)


class Moment(NamedTuple):
    """A snapshot of a queue; later judgements do not change it."""

    corpus: Corpus
    order: Int64Array
    judgements: Judgements
    fields: Fields

    def stopping(self, target_recall: float = 0.95, confidence: float = 0.95, at_most: int = 0) -> Stopping:
        """Tell what may be left, and whether one may stop; parameters as in :meth:`ReviewEngine.stopping`."""
        aim = Aim(target_recall, confidence, at_most).checked()
        p = self._unjudged_probabilities()
        # Delta method: the outcomes vary, and the weights that documents share move all of them together.
        slope = p * (1 - p)
        gradient = np.append(self.corpus.matrix.T @ slope, slope.sum())
        variance = float(slope.sum() + gradient**2 @ self.fields.model.variances)
        left = float(p.sum())
        interval = stops.posterior_interval(left, variance, confidence)
        return stops.report(self.judgements, self.order, left, interval, aim)

    def advice(self, target_recall: float = 0.95, confidence: float = 0.95, at_most: int = 0) -> Advice:
        """Tell whether one may stop, like :meth:`stopping`, but without what needs all documents."""
        aim = Aim(target_recall, confidence, at_most).checked()
        left = float(self._unjudged_probabilities().sum())
        return stops.advice(self.judgements, len(self.order), left, aim)[0]

    def _unjudged_probabilities(self) -> FloatArray:
        """Return the probability of every document that is not judged, and 0 for the others."""
        return np.where(self.judgements.open, self.fields.probability, 0.0)


def prepare(corpus: Corpus) -> None:
    """Compile what cards need, and make the columns of a corpus, before anybody waits for them."""
    _ = corpus.columns
    # Fits to few and to many judgements run different code.
    texts = [f"Title {place}\n" + " ".join(f"w{place * k % 61}" for k in range(1, 12)) for place in range(240)]
    engine = ReviewEngine(Corpus.build(texts), Knowledge("w3 w7"), mix=Mix(0.4, 0.3, 0.3))
    for n_more in (0, 0, 120):
        fit = engine.refit()
        for card in engine.next(3):
            engine.label(card.document, card.document % 3 == 0, why=card.why)
        for document in np.flatnonzero(engine.judgements.open)[:n_more].tolist():
            engine.judgements.set(document, Judgement(document % 3 == 0, "given"))
        engine.adopt(engine.catch_up(fit))
        engine.adopt(engine.refit())
    engine.next(3)
    engine.highlights(0)
    engine.stopping()
