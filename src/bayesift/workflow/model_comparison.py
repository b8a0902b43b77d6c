"""Models compared on held-out texts: the candidates, how they did, and which one is chosen and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from bayesift._typing import FloatArray
from bayesift.workflow._models import AUTO, MODELS
from bayesift.workflow.words_and_vectors import LINEAR_MODELS

Measure = Literal["auto", "log_likelihood", "accuracy", "f1"]

#: What candidates can be compared by, and the name of each in a sentence.
MEASURES = {
    "log_likelihood": "log likelihood per text",
    "accuracy": "share of texts that are right",
    "f1": "mean F1 of the labels",
}

#: A difference of a measure that does not matter to anybody if it is no larger.
LEAST_DIFFERENCE = {"log_likelihood": 0.01, "accuracy": 0.002, "f1": 0.002}

#: How many texts are added to the spread of paired differences. Few texts are right by only one of two models, and a
#: single one would be more than its standard error, so half a text is added to each side (Agresti & Min, Statistics
#: in Medicine 24, 2005).
ONE_TEXT = {"log_likelihood": 0.0, "accuracy": 1.0, "f1": 0.0}


class Candidate(NamedTuple):
    """A model that may be chosen.

    ``pairs`` says whether pairs of neighbouring words are terms as well, ``one_label`` that it is possible only if
    every text has exactly one label, ``least_texts`` how many texts it needs, ``least_of_a_label`` how many texts half
    of the labels must have, ``vectors`` whether vectors of words, learned from a pile of texts, are used as well.
    """

    name: str
    model: str
    pairs: bool = False
    one_label: bool = False
    least_texts: int = 0
    least_of_a_label: int = 0
    vectors: bool = False


#: With fewer texts the lasso, which has to find the words that matter, was behind on every collection measured so far.
#: Besides, a first run on small data need not wait until its loops are compiled.
_ENOUGH_FOR_LASSO = 500

#: With fewer texts per label, naive Bayes was behind the ridge on each of four collections, and the few held-out texts
#: did not always show it.
_ENOUGH_FOR_NB = 20

#: What is compared, the simplest first: the first of those that are equally good is taken. Pairs of words are tried
#: with the model that is best without them.
CANDIDATES = (
    Candidate("ridge", "ridge"),
    Candidate("lasso", "lasso", least_texts=_ENOUGH_FOR_LASSO),
    Candidate("nb", "nb", one_label=True, least_of_a_label=_ENOUGH_FOR_NB),
    Candidate("ridge with pairs", "ridge", pairs=True),
    Candidate("lasso with pairs", "lasso", pairs=True, least_texts=_ENOUGH_FOR_LASSO),
    Candidate("nb with pairs", "nb", pairs=True, one_label=True, least_of_a_label=_ENOUGH_FOR_NB),
    Candidate("ridge with vectors", "ridge", vectors=True),
)


def candidates_of(model: str) -> list[Candidate]:
    """Return what is compared for a model given by name: it may be open whether vectors are used."""
    if model == AUTO:
        return list(CANDIDATES)
    return [Candidate(model, model), Candidate(f"{model} with vectors", model, vectors=True)]


def candidate_named(name: str) -> Candidate | None:
    """Return the candidate with a name, if there is one."""
    known = [*CANDIDATES, *(candidate for model in LINEAR_MODELS for candidate in candidates_of(model))]
    return next((candidate for candidate in known if candidate.name == name), None)


@dataclass(frozen=True)
class ComparedModel:
    """How a candidate did on held-out texts.

    Parameters
    ----------
    name, model, pairs
        Which candidate it is, see :data:`CANDIDATES`.
    score : float
        The measure asked for.
    behind : float
        By how much it is less than that of the best candidate.
    error : float
        Standard error of that difference, from the paired differences of texts.
    log_likelihood : float
        Mean log likelihood of a text.
    average_precision : float
        Mean average precision of the labels: how well texts with a label are ranked before those without, whatever the
        threshold.
    n_words : int
        Number of words and pairs of words.
    """

    name: str
    model: str
    pairs: bool
    score: float
    behind: float
    error: float
    log_likelihood: float
    average_precision: float
    n_words: int


@dataclass(frozen=True)
class ModelComparison:
    """Which candidate was chosen, and why.

    Parameters
    ----------
    chosen : str
        Name of the candidate.
    reason : str
        Why, in a sentence.
    measure : str
        What was compared; a key of :data:`MEASURES`.
    n_texts, n_held_out : int
        How many texts were compared on, and how many of them were held out.
    models : list of ComparedModel
        In the order of :data:`CANDIDATES`, or with few labels those with vectors first; empty if there were too few
        texts to compare on.
    """

    chosen: str
    reason: str
    measure: str
    n_texts: int
    n_held_out: int
    models: list[ComparedModel]

    @property
    def candidate(self) -> Candidate:
        """The candidate that was chosen."""
        found = candidate_named(self.chosen)
        assert found is not None
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as values that JSON and a model file can hold."""
        return asdict(self)

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Return the header and the rows of a table; all columns except the first have numbers."""
        second = "average_precision" if self.measure == "f1" else "log_likelihood"
        header = ["model", *(name.replace("_", " ") for name in (second, self.measure)), "behind", "error", "terms"]
        rows = [
            [
                f"{model.name} (chosen)" if model.name == self.chosen else model.name,
                *(f"{value:.3f}" for value in (getattr(model, second), model.score, model.behind, model.error)),
                f"{model.n_words:,}",
            ]
            for model in self.models
        ]
        # The measure compared is not shown twice.
        first = 2 if self.measure == "log_likelihood" else 1
        return [header[0], *header[first:]], [[row[0], *row[first:]] for row in rows]

    def about(self) -> str:
        """Say how models were compared."""
        folds = f"{self.n_held_out:,} of {self.n_texts:,} texts held out"
        return f"Models compared on {folds}, by the {MEASURES[self.measure]}"

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Self:
        """Make a comparison from what :meth:`as_dict` returned; anything else raises a ValueError."""
        try:
            made = cls(**{**found, "models": [ComparedModel(**model) for model in found["models"]]})
            numbers = [value for model in made.models for value in (model.score, model.behind, model.error)]
            numbers += [value for model in made.models for value in (model.log_likelihood, model.average_precision)]
            counts = [made.n_texts, made.n_held_out, *(model.n_words for model in made.models)]
            words = [made.chosen, made.reason, *(model.name for model in made.models)]
            fits = (
                made.measure in MEASURES
                and all(type(value) is float and isfinite(value) for value in numbers)
                and all(type(count) is int and count >= 0 for count in counts)
                and all(type(word) is str for word in words)
                and all(type(model.pairs) is bool and model.model in MODELS for model in made.models)
                and candidate_named(made.chosen) is not None
                and (not made.models or any(made.chosen == model.name for model in made.models))
            )
        except (TypeError, KeyError) as error:
            raise ValueError("the comparison of models is damaged") from error
        if not fits:
            raise ValueError("the comparison of models is damaged")
        return made


class Performance(NamedTuple):
    """What each held-out text adds to the measure and to the log likelihood, which are the means of these."""

    candidate: Candidate
    parts: FloatArray
    log_likelihood: FloatArray
    average_precision: float
    n_words: int


def chosen_place(found: Sequence[Performance], weights: FloatArray, measure: str) -> int:
    """Return the position of the candidate to choose."""
    if measure == "f1":
        sums = [float(np.average(one.parts, weights=weights)) + one.average_precision for one in found]
        return next(place for place, total in enumerate(sums) if max(sums) - total <= LEAST_DIFFERENCE["f1"])
    parts, logs = ([getattr(one, name) for one in found] for name in ("parts", "log_likelihood"))
    equal = as_good(parts, weights, range(len(found)), measure)
    return as_good(logs, weights, equal, "log_likelihood")[0]


def as_good(parts: Sequence[FloatArray], weights: FloatArray, among: Sequence[int], measure: str) -> list[int]:
    """Return the positions of candidates that are behind the best by no more than a standard error of the difference.

    Those behind by next to nothing, :data:`LEAST_DIFFERENCE`, are included.
    """
    best = max(among, key=lambda place: float(np.average(parts[place], weights=weights)))
    kept = []
    for place in among:
        behind, error = difference(parts[best], parts[place], weights, ONE_TEXT[measure])
        if behind <= max(error, LEAST_DIFFERENCE[measure]):
            kept.append(place)
    return kept


def difference(
    first: FloatArray, second: FloatArray, weights: FloatArray, one_text: float = 0.0
) -> tuple[float, float]:
    """Return the weighted mean of paired differences and its standard error; ``one_text`` is added to the spread."""
    apart = first - second
    mean = float(np.average(apart, weights=weights))
    squares = (weights / weights.sum()) ** 2
    return mean, float(np.sqrt(np.sum(squares * ((apart - mean) ** 2 + one_text**2 / len(apart)))))


def comparison_of(found: Sequence[Performance], weights: FloatArray, n_texts: int, measure: str) -> ModelComparison:
    """Summarise the comparison in numbers and a sentence."""
    place = chosen_place(found, weights, measure)
    means = [float(np.average(one.parts, weights=weights)) for one in found]
    best = int(np.argmax(means))
    models = []
    for one, mean in zip(found, means, strict=True):
        behind, error = difference(found[best].parts, one.parts, weights, ONE_TEXT[measure])
        log_likelihood = float(np.average(one.log_likelihood, weights=weights))
        second = log_likelihood, one.average_precision
        models.append(ComparedModel(*one.candidate[:3], mean, behind, error, *second, one.n_words))
    equal = as_good([one.parts for one in found], weights, range(len(found)), measure)
    reason = _reason(models, place, equal, measure)
    return ModelComparison(models[place].name, reason, measure, n_texts, weights.size, models)


def _reason(models: Sequence[ComparedModel], place: int, equal: Sequence[int], measure: str) -> str:
    """Say why a candidate was chosen."""
    chosen = models[place]
    others = [model for model in models if model is not chosen]
    said = f"{chosen.name}, because its held-out {MEASURES[measure]} is {chosen.score:.3f}"
    if not others:
        return said
    rival = max(others, key=lambda model: model.score + (model.average_precision if measure == "f1" else 0.0))
    said += f" against {rival.score:.3f} for {rival.name}"
    if measure == "f1":
        both = f"and its average precision is {chosen.average_precision:.3f}"
        return f"{said}, {both} against {rival.average_precision:.3f}"
    same = [models[other] for other in equal if other != place]
    if not same:
        return said
    # Simpler candidates that were not taken have a lower likelihood.
    likely = max([model for model in same if models.index(model) < place] or same, key=lambda one: one.log_likelihood)
    if (
        measure == "log_likelihood"
        or chosen.log_likelihood - likely.log_likelihood <= LEAST_DIFFERENCE["log_likelihood"]
    ):
        return f"{said}, which is as good within a standard error, and it is the simplest of those"
    return (
        f"{said}, as good within a standard error, and its log likelihood per text is {chosen.log_likelihood:.3f} "
        f"against {likely.log_likelihood:.3f} for {likely.name}"
    )
