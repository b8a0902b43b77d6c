"""The belief about a topic: its prior, what follows for documents, and how it learns single judgements at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtr
from Stemmer import Stemmer

from bayesift._typing import FloatArray
from bayesift.linear import BayesianLogisticRegression
from bayesift.online import Belief, prior_belief
from bayesift.online.belief import learn
from bayesift.priors import Gaussian, from_description, from_keywords
from bayesift.review.engine._kernels import field_moments, moved_fields
from bayesift.review.engine.corpus import STEMMER, TITLE_MARK, WORD, Corpus, with_title_words

#: Length of the prior modes of a description's words: a text that says the same has this field before any judgement.
DESCRIPTION_LENGTH = 3.0

#: The same for words of the exclusion criteria, which count against a document.
EXCLUSION_LENGTH = 1.0

#: Prior mode of a keyword's words.
KEYWORD_MODE = 2.0

#: Prior of the belief: a document taken at random is relevant with a probability near 0.05.
VARIANCE, CONSTANT_MODE, CONSTANT_VARIANCE = 1.0, -3.0, 4.0

#: Φ(f/1.7) is the logistic function of f within 0.01: fits are logistic, single judgements are learned by a probit.
NOISE = 1.7


class Knowledge(NamedTuple):
    """What a person says about a topic: a description, words that count for and against it, and what is excluded.

    Words of the ``exclusion`` that the description does not have are expected to count against a document.

    Examples
    --------
    >>> from bayesift.review.engine import Knowledge
    >>> Knowledge("Trade in wheat", keywords_for=("harvest",)).empty
    False
    """

    description: str = ""
    keywords_for: tuple[str, ...] = ()
    keywords_against: tuple[str, ...] = ()
    exclusion: str = ""

    @property
    def empty(self) -> bool:
        """Whether nothing was said."""
        said = self.description.strip() or self.exclusion.strip()
        return not (said or self.keywords_for or self.keywords_against)

    @classmethod
    def of_protocol(cls, protocol: Mapping[str, str]) -> Knowledge:
        """Use the protocol of a review: title, questions and inclusion criteria count for, exclusion criteria against.

        Parameters
        ----------
        protocol : mapping
            As in :attr:`bayesift.datasets.Collection.protocol`; parts may be missing.

        Examples
        --------
        >>> from bayesift.review.engine import Knowledge
        >>> Knowledge.of_protocol({"title": "Zinc", "exclusion_criteria": "- letters"})
        Knowledge(description='Zinc', keywords_for=(), keywords_against=(), exclusion='- letters')
        """
        about = [protocol.get(part, "").strip() for part in ("title", "research_questions", "inclusion_criteria")]
        return cls("\n".join(filter(None, about)), exclusion=protocol.get("exclusion_criteria", ""))


class TopicModel(NamedTuple):
    """A belief of independent Gaussian weights, the constant last, and its name."""

    belief: Belief
    name: str

    @property
    def variances(self) -> FloatArray:
        """Variance of every weight, the constant last."""
        return np.asarray(self.belief.covariance)


class Fields(NamedTuple):
    """A model and its values for every document: mean and variance of the field, and the probability."""

    model: TopicModel
    mean: FloatArray
    variance: FloatArray
    probability: FloatArray


class Refit(NamedTuple):
    """The judgements at one moment, and the values of a model that has learned them, to be adopted later."""

    fields: Fields
    judged: dict[int, bool]


class Highlight(NamedTuple):
    """Characters ``start`` to ``end`` of a text, and what they add to the document's field: positive counts for it."""

    start: int
    end: int
    weight: float


def prior_modes(knowledge: Knowledge, corpus: Corpus) -> FloatArray:
    """Return the expected weight of each column of the corpus; keywords overrule the description."""
    modes = np.zeros(corpus.n_terms)
    if not corpus.n_terms or knowledge.empty:
        return modes
    keywords = {
        with_title_words(keyword): sign * KEYWORD_MODE
        for sign, given in ((1, knowledge.keywords_for), (-1, knowledge.keywords_against))
        for keyword in given
    }
    described = _described(knowledge.description, corpus, DESCRIPTION_LENGTH)
    excluded = _described(knowledge.exclusion, corpus, EXCLUSION_LENGTH)
    named = from_keywords(keywords, corpus.vectorizer, variance=1.0, family=Gaussian, unknown="ignore")
    names = corpus.vectorizer.get_feature_names_out()
    modes = described - np.where(described != 0.0, 0.0, excluded)
    keyword_modes = named.resolve(corpus.n_terms, names).mode
    return np.where(keyword_modes != 0.0, keyword_modes, modes)


def _described(text: str, corpus: Corpus, length: float) -> FloatArray:
    """Return modes for the words of a text: its row, scaled to this length."""
    row = corpus.vectorizer.transform([with_title_words(text)])
    prior = from_description(
        with_title_words(text), corpus.vectorizer, mode=length * row.data.max(initial=0.0),
        relative=1.0, weighted=True, variance=1.0, family=Gaussian, unknown="ignore",
    )  # fmt: skip
    return np.asarray(prior.resolve(corpus.n_terms, corpus.vectorizer.get_feature_names_out()).mode)


def prior_model(corpus: Corpus, knowledge: Knowledge) -> TopicModel:
    """Return the belief before any judgement."""
    mean = np.append(prior_modes(knowledge, corpus), CONSTANT_MODE)
    variance = np.append(np.full(corpus.n_terms, VARIANCE), CONSTANT_VARIANCE)
    belief = prior_belief(len(mean), noise=NOISE, covariance="diagonal", prior_mean=mean, prior_covariance=variance)
    return TopicModel(belief, "prior")


def probabilities(mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the probability of relevance when the weights are integrated over the belief: Φ(f/√(σ² + s²))."""
    return np.asarray(ndtr(mean / np.sqrt(NOISE**2 + variance)))


def all_fields(model: TopicModel, corpus: Corpus) -> Fields:
    """Compute the fields of all documents under a model."""
    X = corpus.matrix
    mean, variance = field_moments(X.indptr, X.indices, X.data, model.belief.mean, model.variances)
    return Fields(model, mean, variance, probabilities(mean, variance))


def moved(fields: Fields, model: TopicModel, corpus: Corpus) -> Fields:
    """Return the fields under another model: only columns whose weights differ count, if they are few."""
    old, new = fields.model, model
    differ = (old.belief.mean != new.belief.mean) | (old.variances != new.variances)
    columns = np.flatnonzero(differ[:-1])
    X = corpus.columns
    if np.sum(X.indptr[columns + 1] - X.indptr[columns]) > X.nnz / 2:
        return all_fields(model, corpus)
    steps, growths = new.belief.mean - old.belief.mean, new.variances - old.variances
    mean, variance = fields.mean + steps[-1], fields.variance + growths[-1]
    moved_fields((X.indptr, X.indices, X.data), columns, steps[columns], growths[columns], mean, variance)
    # Rounding must not make a variance near zero negative.
    np.maximum(variance, 0.0, out=variance)
    return Fields(model, mean, variance, probabilities(mean, variance))


def learned(model: TopicModel, corpus: Corpus, judged: Mapping[int, bool], name: str) -> TopicModel:
    """Learn judgements, one after the other."""
    X = corpus.matrix[np.fromiter(judged, dtype=np.int64)]
    # The constant is the last column.
    X = sp.hstack([X, np.ones((len(judged), 1))], format="csr")
    rows = (X.indptr.astype(np.uint32), X.indices.astype(np.uint32), X.data)
    signs = np.where(np.fromiter(judged.values(), dtype=bool), 1.0, -1.0)
    return TopicModel(learn(model.belief, rows, signs, np.arange(len(judged))), name)


def estimator(model: TopicModel) -> BayesianLogisticRegression:
    """Return a belief's mean as a logistic regression, for use elsewhere."""
    mean = model.belief.mean
    return BayesianLogisticRegression.from_coefficients(
        mean[None, :-1], mean[-1:], classes=[0, 1], prior="gaussian", variance=1.0, n_jobs=1
    )


def highlights(model: TopicModel, corpus: Corpus, document: int) -> list[Highlight]:
    """Return the spans of words that count for or against a document, with what their columns add to its field."""
    text, title = corpus.texts[document], corpus.title_ends[document]
    row = corpus.matrix[[document]]
    added = dict(zip(row.indices.tolist(), (row.data * model.belief.mean[row.indices]).tolist(), strict=True))
    # This follows the rules of the vectorizer, which is made for many documents at once. A capital letter may become
    # two characters, of which the second ends a word.
    spans = [(*match.span(), WORD.findall(match.group().lower())) for match in WORD.finditer(text)]
    forms = [mark + word for word in {word for *_, words in spans for word in words} for mark in ("", TITLE_MARK)]
    stems = dict(zip(forms, Stemmer(STEMMER, 0).stemWords(forms), strict=True))
    column = corpus.vectorizer.vocabulary_
    found = []
    for begin, end, words in spans:
        marks = ("", TITLE_MARK) if end <= title else ("",)
        weight = sum(added.get(column.get(stems[mark + word]), 0.0) for word in words for mark in marks)
        if weight:
            found.append(Highlight(begin, end, weight))
    return found
