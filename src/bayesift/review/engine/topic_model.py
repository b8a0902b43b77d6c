"""What is believed about one topic: the prior, fits to all judgements, and single judgements learnt at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, ndtr
from Stemmer import Stemmer

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.linear import BayesianLogisticRegression
from bayesift.online import Belief, prior_belief
from bayesift.online.belief import learn
from bayesift.priors import Gaussian, from_description, from_keywords
from bayesift.review.engine._kernels import field_moments, moved_fields
from bayesift.review.engine.corpus import STEMMER, TITLE_MARK, WORD, Corpus, with_title_words

#: Length of the prior modes of a description's words: a text that says the same has this field before any judgement.
DESCRIPTION_LENGTH = 3.0

#: The same for the words of what is excluded, which speak against.
EXCLUSION_LENGTH = 1.0

#: Prior mode of a keyword's words.
KEYWORD_MODE = 2.0

#: Prior variances of the weights of a fit, and of its constant, whose mode is 0: even odds under the weights below.
FIT_VARIANCE, FIT_CONSTANT_VARIANCE = 10.0, 0.1

#: In a fit every relevant document counts once, and all irrelevant ones together a tenth of the relevant ones: the
#: irrelevant are many and have little in common.
IRRELEVANT_SHARE = 0.1

#: So many documents without a judgement stand in as irrelevant ones: together as one in the fit of the weights, and
#: each by this much where fields become log odds.
N_STAND_INS, STAND_IN_WEIGHT = 100, 1.0

#: Prior of the belief: a document taken at random is relevant with a probability near 0.05.
VARIANCE, CONSTANT_MODE, CONSTANT_VARIANCE = 1.0, -3.0, 4.0

#: Prior variance of the slope by which the fields of a fit become log odds, around 1.
SLOPE_VARIANCE = 25.0

#: Φ(f/1.7) is the logistic function of f within 0.01: fits are logistic, single judgements are learnt by a probit.
NOISE = 1.7


class Knowledge(NamedTuple):
    """What a person says about a topic: a description, words that speak for and against it, and what is excluded.

    Words of the ``exclusion`` that the description does not have are expected to speak against a document.

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
        """Take what the protocol of a review says: title, questions and inclusion criteria for, exclusion against.

        Parameters
        ----------
        protocol : mapping
            As of :attr:`bayesift.datasets.Collection.protocol`; parts that are missing are nothing said.

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
    """A model, and what it thinks of every document: mean and variance of the field, and the probability."""

    model: TopicModel
    mean: FloatArray
    variance: FloatArray
    probability: FloatArray


class Refit(NamedTuple):
    """The judgements of one moment, and what a model that has learnt them thinks: for adopting later."""

    fields: Fields
    judged: dict[int, bool]


class Highlight(NamedTuple):
    """Characters ``start`` to ``end`` of a text, and what they add to the document's field: positive speaks for it."""

    start: int
    end: int
    weight: float


class Examples(NamedTuple):
    """Rows of the corpus, which of them are relevant, and how much each counts in a fit."""

    rows: Int64Array
    relevant: BoolArray
    weights: FloatArray


def prior_modes(knowledge: Knowledge, corpus: Corpus) -> FloatArray:
    """Return the weight that each column of the corpus is expected to have; keywords overrule the description."""
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
    """Return modes for the words of a text: its row, made so long."""
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
    """Go through all documents under a model."""
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
    # Rounding must not make the variance of a document without a doubt negative.
    np.maximum(variance, 0.0, out=variance)
    return Fields(model, mean, variance, probabilities(mean, variance))


def learnt(model: TopicModel, corpus: Corpus, judged: Mapping[int, bool], name: str) -> TopicModel:
    """Learn judgements, one after the other."""
    X = corpus.matrix[np.fromiter(judged, dtype=np.int64)]
    # The constant is the last column.
    X = sp.hstack([X, np.ones((len(judged), 1))], format="csr")
    rows = (X.indptr.astype(np.uint32), X.indices.astype(np.uint32), X.data)
    signs = np.where(np.fromiter(judged.values(), dtype=bool), 1.0, -1.0)
    return TopicModel(learn(model.belief, rows, signs, np.arange(len(judged))), name)


def fitted(corpus: Corpus, prior: TopicModel, judged: Mapping[int, bool], seed: int) -> TopicModel:
    """Fit all judgements: weights from a fit in which the classes are balanced, then their scale and the constant.

    The first fit is good at ranking, but its fields are no log odds. A second one of two parameters, a slope and a
    constant, makes them so, by the judged documents, each under the weights that it would have without itself.
    """
    examples = _examples(len(corpus), prior, judged, seed)
    rows = corpus.matrix[examples.rows]
    columns = np.unique(rows.indices)
    fit = _balanced_fit(rows[:, columns], prior.belief.mean[columns], examples)
    slope, constant = _scale(fit, rows[:, columns], examples, len(judged))
    mean = prior.belief.mean * slope
    mean[columns] = slope * fit.coef_[0]
    mean[-1] = constant
    own = rows[: len(judged)]
    p = expit(own @ mean[:-1] + constant)
    information = np.append((own.multiply(own)).T @ (p * (1 - p)), np.sum(p * (1 - p)))
    variance = 1.0 / (1.0 / prior.variances + information)
    return TopicModel(prior.belief._replace(mean=mean, covariance=variance), f"refit {len(judged)}")


def estimator(model: TopicModel) -> BayesianLogisticRegression:
    """Return a belief's mean as a logistic regression, for use elsewhere."""
    mean = model.belief.mean
    return BayesianLogisticRegression.from_coefficients(
        mean[None, :-1], mean[-1:], classes=[0, 1], prior="gaussian", variance=1.0, n_jobs=1
    )


def highlights(model: TopicModel, corpus: Corpus, document: int) -> list[Highlight]:
    """Return the spans of the words that speak for or against a document, with what their columns add to its field."""
    text, title = corpus.texts[document], corpus.title_ends[document]
    row = corpus.matrix[[document]]
    added = dict(zip(row.indices.tolist(), (row.data * model.belief.mean[row.indices]).tolist(), strict=True))
    # The rules of the vectorizer, which itself is made for many documents at once. A capital letter may become two
    # characters, of which the second ends a word.
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


def _balanced_fit(X: sp.csr_matrix, modes: FloatArray, examples: Examples) -> BayesianLogisticRegression:
    # Knowledge alone ranks before any relevant document is found: a row without words and weight stands for the class.
    X = sp.vstack([X, sp.csr_matrix((1, X.shape[1]))], format="csr")
    labels = np.append(examples.relevant, True).astype(np.int64)
    own = Gaussian(FIT_VARIANCE, mode=modes, intercept_variance=FIT_CONSTANT_VARIANCE)
    fit = BayesianLogisticRegression(own, tol=1e-4, n_jobs=1)
    return fit.fit(X, labels, sample_weight=np.append(examples.weights, 0.0))


def _scale(fit: BayesianLogisticRegression, X: sp.csr_matrix, examples: Examples, n_judged: int) -> tuple[float, float]:
    """Return slope and constant that make the fields log odds: of judged documents, and of stand-ins by half."""
    field = fit.decision_function(X)
    sign = np.where(examples.relevant, 1.0, -1.0)
    # A document moves its own field by v xᵀx times the slope of its loss; without it the field would be about this.
    own = FIT_VARIANCE * np.asarray(X.multiply(X).sum(axis=1)).ravel()
    without = field - sign * own * examples.weights * expit(-sign * field)
    # A last one of no weight stands for the relevant, of which there may be none.
    weights = np.append(np.where(np.arange(len(field)) < n_judged, 1.0, STAND_IN_WEIGHT), 0.0)
    prior = Gaussian(SLOPE_VARIANCE, mode=1.0, intercept_mode=CONSTANT_MODE, intercept_variance=CONSTANT_VARIANCE)
    line = BayesianLogisticRegression(prior, tol=1e-4, n_jobs=1)
    line.fit(np.append(without, 0.0)[:, None], np.append(sign > 0, True).astype(np.int64), sample_weight=weights)
    return max(float(line.coef_[0, 0]), 0.1), float(line.intercept_[0])


def _examples(n: int, prior: TopicModel, judged: Mapping[int, bool], seed: int) -> Examples:
    """Return the judged documents and then the stand-ins."""
    own = np.array(list(judged), dtype=np.int64)
    order = np.random.default_rng([seed, 1]).permutation(n)
    stand_ins = order[~np.isin(order, own)][:N_STAND_INS]
    relevant = np.append(np.array(list(judged.values()), dtype=bool), np.zeros(len(stand_ins), dtype=bool))
    counts = np.append(np.ones(len(own)), np.full(len(stand_ins), 1.0 / max(len(stand_ins), 1)))
    # What a person said about the topic counts as one relevant document; where there is neither, so does hope.
    n_relevant = max(relevant.sum() + float(np.any(prior.belief.mean[:-1])), 1.0)
    share = IRRELEVANT_SHARE * n_relevant / max(counts[~relevant].sum(), IRRELEVANT_SHARE * n_relevant)
    return Examples(np.append(own, stand_ins), relevant, np.where(relevant, 1.0, share * counts))
