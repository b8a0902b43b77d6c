"""What is known of one topic, and how judgements change it: pure functions on a small state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import expit

from bayesift._sparse import Compressed, selected
from bayesift._typing import FloatArray, Int32Array, Int64Array, UInt32Array
from bayesift.filtering._kernels import significant_terms
from bayesift.online import belief as beliefs
from bayesift.online.belief import Belief

Query = Literal["information", "random"]


def query_threshold(
    retrieved: Any,
    target: float = 50,
    *,
    min_information: float = 0.001,
    max_information: float = 1.0,
    steepness: float = 5.0,
) -> FloatArray:
    """Return the expected information, in bits, from which a document is worth a query after N retrieved ones.

    It rises with the number N of documents retrieved so far, from ``min_information`` a to ``max_information`` b:
    θ(N) = (b − a) / (1 + exp(−steepness (N − target)/target)) + a. So at first nearly every uncertain document is
    queried, and none once the target is well passed.

    Parameters
    ----------
    retrieved : int or array of int
        Number of documents retrieved so far, N.
    target : float, default=50
        Number of documents to retrieve.
    min_information, max_information : float, default=0.001 and 1
        Limits of the threshold, in bits; no judgement gives more than one bit.
    steepness : float, default=5
        How quickly the threshold rises around the target.

    Returns
    -------
    threshold : float or ndarray, as ``retrieved``

    Examples
    --------
    >>> from bayesift.filtering import query_threshold
    >>> query_threshold([0, 25, 50, 100]).round(4)
    array([0.0077, 0.0768, 0.5005, 0.9933])
    """
    rise = max_information - min_information
    return np.asarray(rise * expit(steepness * (np.asarray(retrieved) - target) / target) + min_information)[()]


class FilterRules(NamedTuple):
    """The settings by which a topic decides and learns; see :class:`AdaptiveFilter`."""

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

    def threshold(self, retrieved: int) -> float:
        """Return the information from which a document is queried; infinite if queries are not for information."""
        if self.query != "information":
            return np.inf
        between = {"min_information": self.min_information, "max_information": self.max_information}
        return float(query_threshold(retrieved, self.target, **between, steepness=self.steepness))

    def chance(self, retrieved: int) -> float:
        """Return the probability of a random query, max(0, target − N) / documents of the stream."""
        if self.query != "random" or self.stream_size is None:
            return 0.0
        return max(0.0, self.target - retrieved) / self.stream_size


class Row(NamedTuple):
    """One document: the columns of its terms, in code-point order of the terms, and their nonzero weights."""

    columns: UInt32Array
    weights: FloatArray

    def compressed(self) -> Compressed:
        """Return the document as a matrix of one row."""
        return np.array([0, self.columns.size], dtype=np.uint32), self.columns, self.weights


class TopicState(NamedTuple):
    """What is known of one topic.

    Parameters
    ----------
    columns : ndarray of shape (n_features,)
        Columns of the features, in the order in which they were added.
    belief : Belief
        N(mean, covariance) of the weights of the features and, last, the constant.
    inside, outside : ndarray of shape (n_terms,)
        Number of relevant documents, and number of others, in which each term occurs.
    n_inside, n_outside : int
        Numbers of relevant documents and of others.
    relevant : tuple of Row
        The relevant documents: the statement, then those of the training set, then those retrieved.
    turn : int
        How often past relevant documents were learned again.
    retrieved : int
        Number N of documents of the stream that were retrieved.
    """

    columns: Int64Array
    belief: Belief
    inside: Int32Array
    outside: Int32Array
    n_inside: int
    n_outside: int
    relevant: tuple[Row, ...]
    turn: int = 0
    retrieved: int = 0


def begin(
    documents: Compressed,
    relevant: Int64Array,
    statement: Row | None,
    inside: Int32Array,
    frequency: Int32Array,
    terms: Sequence[str],
    rules: FilterRules,
) -> TopicState:
    """Run the batch phase of a topic: choose the features, then pass over statement and documents.

    Parameters
    ----------
    documents : Compressed
        Weights of the training documents.
    relevant : ndarray
        Rows of the relevant ones, in order.
    statement : Row, optional
        The topic statement, which counts as a relevant document and comes first.
    inside, frequency : ndarray of shape (n_terms,)
        Number of relevant documents, and number of all training documents, in which each term occurs.
    terms : sequence of str
        The term of each column.
    rules : FilterRules

    Returns
    -------
    state : TopicState
    """
    starts, columns, weights = documents
    n = starts.size - 1
    rows = [Row(columns[starts[i] : starts[i + 1]].copy(), weights[starts[i] : starts[i + 1]].copy()) for i in relevant]
    state = TopicState(
        columns=np.empty(0, dtype=np.int64),
        belief=beliefs.prior_belief(1, likelihood="flip", kappa=rules.kappa),
        inside=inside,
        outside=frequency - inside,
        n_inside=len(rows),
        n_outside=n - len(rows),
        relevant=tuple(rows),
    )
    y = np.full(n, -1.0)
    y[relevant] = 1.0
    if statement is not None:
        state = _counted(state, statement, True, len(terms))._replace(relevant=(statement, *rows))
        y = np.append(1.0, y)
    state = add_features(state, terms, rules)
    shared = selected(documents, len(terms), state.columns, True)
    if statement is not None:
        shared = _stacked(selected(statement.compressed(), len(terms), state.columns, True), shared)
    order = np.tile(np.arange(y.size), rules.passes)
    return state._replace(belief=beliefs.learn(state.belief, shared, y, order, own=True))


def retrieve(state: TopicState) -> TopicState:
    """Count one more retrieved document; its judgement may come later or never."""
    return state._replace(retrieved=state.retrieved + 1)


def judge(state: TopicState, row: Row, relevant: bool, terms: Sequence[str], rules: FilterRules) -> TopicState:
    """Return the state after the judgement of one document; the given state does not change.

    The terms of the document are counted, terms that are now significant become features, and the document is learned.
    After an irrelevant document a past relevant one is learned again (``rules.relearn_relevant``), each in turn, with
    the current features. ``terms`` holds the term of each column.
    """
    state = add_features(_counted(state, row, relevant, len(terms)), terms, rules)
    state = _learnt(state, row, 1.0 if relevant else -1.0, len(terms))
    if relevant:
        return state._replace(relevant=(*state.relevant, row))
    if rules.relearn_relevant and state.relevant:
        past = state.relevant[state.turn % len(state.relevant)]
        state = _learnt(state, past, 1.0, len(terms))._replace(turn=state.turn + 1)
    return state


def add_features(state: TopicState, terms: Sequence[str], rules: FilterRules) -> TopicState:
    """Turn terms with −2 ln λ > ``rules.significance`` into features; new ones are added in code-point order.

    If there are more than ``rules.max_features`` allows, the most significant are taken, and none if there is no room.
    """
    taken = np.zeros(state.inside.size, dtype=np.bool_)
    taken[state.columns] = True
    room = state.inside.size if rules.max_features is None else rules.max_features - state.columns.size
    if room <= 0:
        return state
    found, scores = significant_terms(
        state.inside, state.outside, state.n_inside, state.n_outside, float(rules.significance), taken
    )
    if found.size == 0:
        return state
    # Columns are added by judgements of all topics; the order of a topic's features must not depend on other topics.
    order = sorted(range(found.size), key=lambda place: terms[found[place]])
    if found.size > room:
        order = sorted(sorted(order, key=lambda place: -scores[place])[:room], key=lambda place: terms[found[place]])
    new = found[order]
    belief = beliefs.grow(state.belief, new.size, at=state.columns.size)
    return state._replace(columns=np.append(state.columns, new), belief=belief)


def _counted(state: TopicState, row: Row, relevant: bool, n_terms: int) -> TopicState:
    """Count the terms of a document; there may be more terms than at the last judgement."""
    inside, outside = (np.append(a, np.zeros(n_terms - a.size, dtype=np.int32)) for a in (state.inside, state.outside))
    (inside if relevant else outside)[row.columns] += 1
    return state._replace(
        inside=inside,
        outside=outside,
        n_inside=state.n_inside + relevant,
        n_outside=state.n_outside + (not relevant),
    )


def _learnt(state: TopicState, row: Row, y: float, n_terms: int) -> TopicState:
    rows = selected(row.compressed(), n_terms, state.columns, True)
    belief = beliefs.learn(state.belief, rows, np.array([y]), np.zeros(1, dtype=np.int64))
    return state._replace(belief=belief)


def _stacked(above: Compressed, below: Compressed) -> Compressed:
    starts = np.concatenate([above[0], below[0][1:] + above[0][-1]])
    return starts, np.concatenate([above[1], below[1]]), np.concatenate([above[2], below[2]])
