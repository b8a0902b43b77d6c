"""Filtering of a document stream for one or more topics, learning from judgements of what was retrieved."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from itertools import islice, takewhile
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from bayesift.filtering import _snapshot as snapshots
from bayesift.filtering._documents import Document, Terms, TermWeights, Unseen, document_of, open_vectorizer
from bayesift.filtering._engine import Engine, Pending, Retrieval
from bayesift.filtering._store import Store, run_of
from bayesift.filtering._training import relevant_rows, statements_of, texts_of, train
from bayesift.filtering.record import Entry, FilterRecord
from bayesift.filtering.topic import FilterRules, Query, TopicState
from bayesift.text import TextVectorizer

#: Parameters that affect only the speed, not the result.
_WITHOUT_EFFECT = ("vectorizer", "block_size", "snapshot_every", "n_jobs")


class Decision(NamedTuple):
    """A document that a topic has retrieved, waiting for its judgement.

    Parameters
    ----------
    entry : Entry
        Its entry in the record.
    text : str
        The document.
    filter : AdaptiveFilter
        The filter that retrieved it.
    """

    entry: Entry
    text: str
    filter: AdaptiveFilter

    def judge(self, relevant: bool | None) -> None:
        """Judge the document, now or later: relevant or not; None means "unsure" and teaches nothing."""
        self.filter.judge(self.entry.place, self.entry.topic, relevant)


@dataclass(eq=False, repr=False)
class AdaptiveFilter(BaseEstimator):
    """A filter for a stream of documents that learns from judgements of what it retrieves.

    First comes a batch phase on training documents, in which the statement of a topic counts as one relevant document.
    Then a document of the stream is retrieved if it looks relevant, p ≥ ½, or if the information about the weights
    expected from judging it is at least θ(N), which rises with the number N retrieved so far. Only what is retrieved
    can be judged. Each judgement updates the topic's Gaussian belief, after terms that have become significant,
    −2 ln λ > 12.13, have been added to its features (Chai, Ng & Chieu 2002, section 4.2).

    Parameters
    ----------
    vectorizer : TextVectorizer, optional
        Turns texts into terms and weights; ``TextVectorizer("ltc", stop_words="english", stemmer="porter")`` by
        default. Document frequencies come from the training documents and stay fixed.
    unseen : {"rare", "ignore"}, default="rare"
        Terms that no training document contains. ``"rare"``: a term counts as if one document had it, and may become a
        feature. ``"ignore"``: it is left out.
    significance : float, default=12.13
        Terms with −2 ln λ above this become features.
    max_features : int or None, default=300
        Maximum number of features of a topic; the most significant ones are taken.
    kappa : float, default=0.05
        Probability κ that a judgement is wrong (flipped).
    passes : int, default=3
        Number of passes over the training documents.
    relearn_relevant : bool, default=True
        After each irrelevant document, learn a past relevant one again, each in turn.
    query : {"information", "random"} or None, default="information"
        Which documents are retrieved although they do not look relevant. ``"information"``: those with an expected
        information of at least θ(N). ``"random"``: any, with probability max(0, target − N)/stream_size. None: none.
    target : float, default=50
        Number of documents to retrieve for a topic.
    min_information, max_information, steepness : float, default=0.001, 1 and 5
        θ(N) = (max − min) / (1 + exp(−steepness (N − target)/target)) + min, in bits.
    stream_size : int, optional
        Number of documents in the stream; needed only for random queries.
    random_state : int, default=0
        Seed of random queries. Each topic has its own random numbers.
    block_size : int, default=1000
        Number of documents read and weighted at once; it does not affect the result.
    snapshot_every : int, default=500
        With a state folder, number of judgements from one snapshot to the next.
    n_jobs : int or None, default=-1
        Number of threads for training; -1 uses all cores, None one.

    Attributes
    ----------
    topics_ : tuple of str
        Names of the topics.
    states_ : dict of str to TopicState
        What is known of each topic.
    record_ : FilterRecord
        What was retrieved, why, and how it was judged.
    position_ : int
        Number, from 0, of the document to pass next. If a loop over :meth:`stream` was left or the process was killed,
        this is the document that was being decided on.
    terms_ : list of str
        The term of each column.
    unconfirmed_ : list of Entry
        After resuming, the last judgements that were stored. A program that passes judgements on one by one may have
        been killed before passing on these.

    Examples
    --------
    >>> from bayesift.filtering import AdaptiveFilter
    >>> train = ["wheat harvest rises", "wheat prices fall", "new striker signs", "match ends in draw"] * 3
    >>> labels = [("grain",), ("grain",), (), ()] * 3
    >>> filter = AdaptiveFilter(query=None).fit(train, labels, {"grain": "wheat and other cereals"})
    >>> for decision in filter.stream(["draw in the derby", "wheat exports", "a new stadium"]):
    ...     print(decision.text, decision.entry.reason)
    ...     decision.judge(True)
    wheat exports relevant
    >>> filter.record_
    FilterRecord(1 topics, 1 retrieved, 1 judged)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "vectorizer": [TextVectorizer, None],
        "unseen": [StrOptions({"rare", "ignore"})],
        "significance": [Interval(Real, 0, None, closed="left")],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "kappa": [Interval(Real, 0, 0.5, closed="left")],
        "passes": [Interval(Integral, 1, None, closed="left")],
        "relearn_relevant": ["boolean"],
        "query": [StrOptions({"information", "random"}), None],
        "target": [Interval(Real, 0, None, closed="neither")],
        "min_information": [Interval(Real, 0, None, closed="left")],
        "max_information": [Interval(Real, 0, None, closed="left")],
        "steepness": [Interval(Real, 0, None, closed="left")],
        "stream_size": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": [Integral],
        "block_size": [Interval(Integral, 1, None, closed="left")],
        "snapshot_every": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    vectorizer: TextVectorizer | None = None
    _: KW_ONLY
    unseen: Unseen = "rare"
    significance: float = 12.13
    max_features: int | None = 300
    kappa: float = 0.05
    passes: int = 3
    relearn_relevant: bool = True
    query: Query | None = "information"
    target: float = 50
    min_information: float = 0.001
    max_information: float = 1.0
    steepness: float = 5.0
    stream_size: int | None = None
    random_state: int = 0
    block_size: int = 1000
    snapshot_every: int = 500
    n_jobs: int | None = -1

    def fit(
        self, documents: Iterable[str], labels: Any, topics: Any, *, state: str | os.PathLike[str] | None = None
    ) -> Self:
        """Run the batch phase, or continue a run that was stored in a folder.

        Parameters
        ----------
        documents : iterable of str
            Training documents.
        labels : sequence of collections of str, or indicator matrix of shape (n_documents, n_topics)
            The topics to which each document is relevant; it is irrelevant to all topics not named.
        topics : mapping of str to str, or sequence of str
            Names of the topics, with their statements in a mapping; a statement may be empty.
        state : path, optional
            A folder in which every judgement is stored as soon as it comes. If it holds a run with the same settings
            and training data, that run continues where it stopped, at document ``position_``. A folder with another run
            is refused.

        Returns
        -------
        self
        """
        self._validate_params()
        if self.query == "random" and self.stream_size is None:
            raise ValueError("stream_size is None; expected the number of documents in the stream for query='random'")
        if self.min_information > self.max_information:
            raise ValueError(
                f"min_information is {self.min_information}; expected at most max_information={self.max_information}"
            )
        vectorizer = open_vectorizer(self.vectorizer)
        statements, texts = statements_of(topics), texts_of(documents)
        names = tuple(statements)
        relevant = relevant_rows(labels, names, len(texts))
        if not texts:
            raise ValueError(
                "documents is empty; expected training documents, from which the document frequencies come"
            )
        self.close()
        rules = FilterRules(**{name: getattr(self, name) for name in FilterRules._fields})
        weights = TermWeights(vectorizer, self.unseen)
        store = None
        if state is not None:
            store = Store(state, run_of(self._settings(vectorizer), statements, texts, relevant), self.snapshot_every)
        try:
            earlier: list[dict[str, Any]] = []
            later: list[dict[str, Any]] = []
            if store is not None and store.begun:
                arrays, earlier, later = store.load()
                states = snapshots.restore(arrays, weights, len(names), rules)
            else:
                states = train(weights, texts, relevant, statements, rules, self.n_jobs)
                if store is not None:
                    later = store.begin(snapshots.arrays_of(weights, states))
            self.topics_, self.record_ = names, FilterRecord(names)
            self._number = {name: k for k, name in enumerate(names)}
            self._engine, self._store = Engine(weights, rules, names, states, self.random_state), store
            self._reading = False
            self._replay(earlier, later)
        except BaseException:
            if store is not None:
                store.close()
            raise
        return self

    def stream(self, documents: Iterable[Any]) -> Iterator[Decision]:
        """Go through the next documents, yielding those that a topic retrieves, one at a time.

        A decision can be judged at once or later; a judgement affects the documents that come after it. Documents are
        read ahead in blocks of ``block_size``. If the loop is left, continue from document ``position_``; its decisions
        that were not judged are yielded again.

        Parameters
        ----------
        documents : iterable
            Texts, pairs (id, text), or objects or mappings with ``id`` and ``text``; the first one is document number
            ``position_`` of the stream.

        Yields
        ------
        decision : Decision
        """
        check_is_fitted(self, "record_")
        if isinstance(documents, str):
            raise TypeError("documents is one string; expected an iterable of documents")
        source = iter(documents)
        while block := list(islice(source, self.block_size)):
            begin = self._engine.place
            yield from self._pass([document_of(given, begin + k) for k, given in enumerate(block)])

    def decide(self, document: Any) -> list[Decision]:
        """Return the decisions of all topics that retrieve the next document, and move on to the one after it.

        Parameters
        ----------
        document : str, pair, object or mapping
            As for :meth:`stream`.

        Returns
        -------
        decisions : list of Decision
        """
        check_is_fitted(self, "record_")
        return list(self._pass([document_of(document, self.position_)]))

    def run(self, documents: Iterable[Any], judge: Callable[[Decision], bool | None]) -> FilterRecord:
        """Go through the next documents, calling a function for every judgement.

        Parameters
        ----------
        documents : iterable
            As for :meth:`stream`.
        judge : callable
            Takes a decision and returns True, False, or None for "unsure".

        Returns
        -------
        record : FilterRecord
            The whole record, ``record_``.
        """
        for decision in self.stream(documents):
            decision.judge(judge(decision))
        return self.record_

    def judge(self, place: int, topic: str, relevant: bool | None) -> None:
        """Judge a retrieved document; with a state folder, the judgement is stored when this returns.

        Parameters
        ----------
        place : int
            Number of the document in the stream.
        topic : str
            The topic that retrieved it.
        relevant : bool or None
            The judgement; None means "unsure" and teaches nothing.
        """
        check_is_fitted(self, "record_")
        if relevant is not None and relevant not in (True, False):
            raise ValueError(f"relevant is {relevant!r}; expected True, False or None")
        entry = self.record_.get(place, topic)
        if entry is None:
            raise ValueError(f"document {place} was not retrieved for topic {topic!r}, so it cannot be judged")
        if entry.judged:
            raise ValueError(f"document {place} was already judged for topic {topic!r}; a judgement cannot be changed")
        answer = None if relevant is None else bool(relevant)
        k = self._number[topic]
        learned = self._engine.learned(place, k, answer)
        line = {"place": place, "topic": topic, "relevant": answer, "n_features": learned.columns.size}
        # Stored first, then applied: what could not be written has not happened.
        snapshot_due = self._store is not None and self._store.judged(line)
        self._engine.accept(place, k, learned)
        self.record_.judge(place, topic, answer, learned.columns.size)
        if snapshot_due:
            self.snapshot()

    @property
    def states_(self) -> dict[str, TopicState]:
        """What is known of each topic."""
        check_is_fitted(self, "record_")
        return dict(zip(self.topics_, self._engine.states, strict=True))

    @property
    def position_(self) -> int:
        """Number of the document to pass next."""
        check_is_fitted(self, "record_")
        return self._engine.place

    @property
    def terms_(self) -> list[str]:
        """The term of each column."""
        check_is_fitted(self, "record_")
        return list(self._engine.weights.terms)

    @property
    def pending_(self) -> list[Entry]:
        """Entries that were retrieved but not yet judged."""
        check_is_fitted(self, "record_")
        return [entry for entry in self.record_ if not entry.judged]

    def snapshot(self) -> None:
        """Store the states in the folder now, so that a resumed run need not learn the judgements again."""
        check_is_fitted(self, "record_")
        if self._store is None:
            raise ValueError("the filter has no folder to store its state in; pass state= to fit")
        self._store.snapshot(self.arrays())

    def arrays(self) -> dict[str, Any]:
        """Return the whole state of terms and topics as plain arrays; equal bytes mean equal states."""
        check_is_fitted(self, "record_")
        return snapshots.arrays_of(self._engine.weights, self._engine.states)

    def close(self) -> None:
        """Take a last snapshot and release the state folder, if there is one."""
        store: Store | None = getattr(self, "_store", None)
        if store is not None:
            try:
                store.snapshot(self.arrays())
            finally:
                store.close()
                self._store = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _pass(self, documents: list[Document]) -> Iterator[Decision]:
        """Decide on the next documents; decisions that were open when a run was left are yielded again."""
        if self._reading:
            raise ValueError("the stream is being read by another loop; end or leave that loop first")
        self._reading = True
        try:
            yield from self._decisions(documents)
        finally:
            self._reading = False

    def _decisions(self, documents: list[Document]) -> Iterator[Decision]:
        engine, begin = self._engine, self._engine.place
        for entry in self._at_hand(documents[0].id):
            yield Decision(entry, documents[0].text, self)
        block = engine.weights.block(documents)
        for found in engine.retrievals(block):
            entry = self.record_.add(self._entry(found, begin + found.row, documents[found.row].id))
            if self._store is not None:
                self._store.retrieved(_line(entry, block.terms(found.row)))
            yield Decision(entry, documents[found.row].text, self)
        if self._store is not None:
            self._store.reached(engine.place)

    def _entry(self, found: Retrieval, place: int, document: str) -> Entry:
        state = self._engine.states[found.topic]
        return Entry(
            place=place,
            id=document,
            topic=self.topics_[found.topic],
            reason="relevant" if found.relevant else "query",
            probability=float(found.probability),
            information=float(found.information),
            retrieved=state.retrieved,
            n_features=state.columns.size,
        )

    def _replay(self, earlier: list[dict[str, Any]], later: list[dict[str, Any]]) -> None:
        """Bring the record and the stream to the end of the journal; learn what the snapshot does not contain."""
        engine = self._engine
        last = list(takewhile(lambda line: line["kind"] == "judged", reversed([*earlier, *later])))
        for known, lines in ((True, earlier), (False, later)):
            for line in lines:
                if line["kind"] == "position":
                    engine.place, engine.after = line["place"], -1
                elif line["kind"] == "retrieved":
                    self._replay_retrieval(line, known)
                else:
                    place, k, relevant = line["place"], self._number[line["topic"]], line["relevant"]
                    engine.accept(place, k, engine.states[k] if known else engine.learned(place, k, relevant))
                    self.record_.judge(place, line["topic"], relevant, line["n_features"])
        found = (self.record_.get(line["place"], line["topic"]) for line in reversed(last))
        self.unconfirmed_ = [entry for entry in found if entry is not None]

    def _replay_retrieval(self, line: dict[str, Any], known: bool) -> None:
        engine, entry = self._engine, Entry(**{name: line[name] for name in _KEPT})
        k, terms = self._number[entry.topic], Terms(tuple(line["terms"]), tuple(line["terms"].values()))
        if known:
            engine.place, engine.after = entry.place, k
            engine.pending[Pending(entry.place, k)] = terms
        else:
            engine.retrieve(entry.place, k, terms)
        self.record_.add(entry)

    def _at_hand(self, document: str) -> list[Entry]:
        """Return the entries, not yet judged, of the document at which the stream was left."""
        engine = self._engine
        if engine.after < 0:
            return []
        last = self.record_.get(engine.place, self.topics_[engine.after])
        if last is not None and last.id != document:
            raise ValueError(
                f"document {engine.place} of the stream has the id {document!r}; expected {last.id!r}, at which the "
                "run was left: pass the stream from document position_ on"
            )
        entries = (self.record_.get(engine.place, name) for name in self.topics_)
        return [entry for entry in entries if entry is not None and not entry.judged]

    def _settings(self, vectorizer: TextVectorizer) -> dict[str, Any]:
        own = {name: value for name, value in self.get_params(deep=False).items() if name not in _WITHOUT_EFFECT}
        words = {name: value for name, value in vectorizer.get_params().items() if name != "n_jobs"}
        return {**own, **{f"vectorizer.{name}": value for name, value in words.items()}}


#: The fields of an entry that the journal stores at its retrieval.
_KEPT = ("place", "id", "topic", "reason", "probability", "information", "retrieved", "n_features")


def _line(entry: Entry, terms: Terms) -> dict[str, Any]:
    kept = {name: getattr(entry, name) for name in _KEPT}
    return {**kept, "terms": dict(zip(terms.terms, terms.counts, strict=True))}
