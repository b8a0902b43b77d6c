"""Model files of BBRtrain, and those that BXRtrain writes in the same form."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from itertools import pairwise
from math import exp, log
from typing import Literal

from bayesift.bbr._files import FormatError, Source, name_of, read_lines, write_text
from bayesift.bbr._words import Word, Words, one_line, one_word, split, written

ThresholdUnit = Literal["log_odds", "probability"]

TITLE = "Bayesian Binary Regression ver"
_VERSION = "2"


class ThresholdUnitWarning(UserWarning):
    """The unit of a threshold had to be guessed, and both guesses are possible."""


@dataclass(frozen=True)
class BinaryModel:
    """The content of a model file of BBRtrain.

    The score of a document is intercept + Σ_j coefficients_j x_j; it belongs to the topic if the score reaches the
    threshold.

    Parameters
    ----------
    features : tuple of int
        Ids of the features with a coefficient, ascending.
    coefficients : tuple of float
    intercept : float
    threshold : float
        Log odds or probability, as ``threshold_unit`` says, from which a document is accepted.
    threshold_unit : {"log_odds", "probability"}
        BBRtrain writes log odds, BXRtrain probabilities; the file does not say which.
    restricted_to : tuple of int or None
        The features the model was trained on (``featRestrict``).
    class_name : str or None
        The class that BXRtrain writes after the word ``beta``; BBRtrain writes none.
    cosine_normalize : bool
        Whether documents are scaled to length 1 first.
    standardize : bool
        Whether columns were standardised in training; the coefficients are in raw units in any case.
    threshold_rule : int
        How the threshold was tuned, 0 to 5 as for ``-t``.
    name, topic : str
    tf_method, idf_method, link, optimizer, design : int
        Codes that are passed through unchanged.
    n_groups : int or None
    idf : tuple of float
    """

    features: tuple[int, ...]
    coefficients: tuple[float, ...]
    intercept: float
    threshold: float = 0.0
    threshold_unit: ThresholdUnit = "log_odds"
    restricted_to: tuple[int, ...] | None = None
    class_name: str | None = None
    cosine_normalize: bool = False
    standardize: bool = False
    threshold_rule: int = 0
    name: str = ""
    topic: str = "<class>"
    tf_method: int = 0
    idf_method: int = 0
    n_groups: int | None = None
    idf: tuple[float, ...] = ()
    link: int = 1
    optimizer: int = 1
    design: int = 0

    @property
    def log_odds_threshold(self) -> float:
        """The threshold on the scale of the scores.

        A probability of 0 or less counts as ½, as in BXRclassify; one of 1 or more accepts nothing.
        """
        if self.threshold_unit == "log_odds":
            return self.threshold
        if self.threshold <= 0.0:
            return 0.0
        return log(self.threshold / (1.0 - self.threshold)) if self.threshold < 1.0 else float("inf")

    @property
    def probability_threshold(self) -> float:
        """The threshold as a probability."""
        score = self.log_odds_threshold
        return 1.0 / (1.0 + exp(-score)) if score > 0 else exp(score) / (1.0 + exp(score))


def read_binary_model(source: Source, *, threshold_unit: ThresholdUnit | Literal["auto"] = "auto") -> BinaryModel:
    """Read a model file of BBRtrain, or one that BXRtrain wrote in this form.

    The file is read word by word; line ends matter only after ``modelname``.

    Parameters
    ----------
    source : str, path or binary stream
    threshold_unit : {"auto", "log_odds", "probability"}, default="auto"
        The unit of the threshold. ``"auto"`` means log odds in a file of BBRtrain and a probability in one of BXRtrain,
        which has the class after the word ``beta``, and warns if the number could be either.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.bbr import read_binary_model
    >>> text = '''Bayesian Binary Regression ver 2
    ... tfMethod 0 idfMethod 0 cosineNormalize 0 featRestrict 4 17 endofheader
    ... modelname
    ... topic <class> modelType 1 1 0 0 design 0
    ... topicFeats 4 17 beta 1.5 -2 0.25 threshold 0 endoftopic'''
    >>> model = read_binary_model(BytesIO(text.encode()))
    >>> model.features, model.coefficients, model.intercept
    ((4, 17), (1.5, -2.0), 0.25)
    """
    name, lines = name_of(source), read_lines(source)
    first = next(number for number, line in enumerate(lines) if split(line))
    if " ".join(split(lines[first])) != f"{TITLE} {_VERSION}":
        raise FormatError(name, first + 1, repr(lines[first][:60]), f"the title '{TITLE} {_VERSION}'")
    words = Words(name, lines[first + 1 :], first + 2)
    model = _topic(words, _header(words))
    words.end()
    return _with_unit(model, threshold_unit, name)


def write_binary_model(target: str | os.PathLike[str], model: BinaryModel, *, digits: int | None = None) -> None:
    """Write a model file in BBRtrain's form, completely or not at all.

    Parameters
    ----------
    target : str or path
    model : BinaryModel
    digits : int, optional
        Digits after the decimal point; BBRtrain writes 12. By default, as many as are needed to restore every number.
    """
    if len(model.features) != len(model.coefficients):
        raise ValueError(
            f"model has {len(model.coefficients)} coefficients for {len(model.features)} features; expected one each"
        )
    write_text(target, "".join(f"{line}\n" for line in _lines(model, digits)))


def _lines(model: BinaryModel, digits: int | None) -> list[str]:
    values = [written(value, digits) for value in (*model.coefficients, model.intercept)]
    class_name = [] if model.class_name is None else [one_word("class_name", model.class_name, ("threshold",))]
    optional = {
        "ngroups": None if model.n_groups is None else str(model.n_groups),
        "featRestrict": None if model.restricted_to is None else " ".join(map(str, model.restricted_to)),
        "idf": " ".join(written(value, digits) for value in model.idf) or None,
    }
    return [
        f"{TITLE} {_VERSION}",
        f"tfMethod {model.tf_method}",
        f"idfMethod {model.idf_method}",
        f"cosineNormalize {int(model.cosine_normalize)}",
        *(f"{keyword} {value}".rstrip() for keyword, value in optional.items() if value is not None),
        "endofheader",
        f"modelname {one_line('name', model.name)}",
        f"topic {one_line('topic', model.topic)}",
        f"modelType {model.link} {model.optimizer} {model.threshold_rule} {int(model.standardize)} ",
        f"design {model.design}",
        " ".join(["topicFeats", *map(str, model.features)]),
        " ".join(["beta", *class_name, *values]),
        f"threshold {written(model.threshold, digits)}",
        "endoftopic",
    ]


def _header(words: Words) -> BinaryModel:
    """Read up to ``endofheader``, into a model without coefficients."""
    codes = {}
    for keyword in ("tfMethod", "idfMethod", "cosineNormalize"):
        words.keyword(keyword)
        codes[keyword] = words.whole(words.take("a whole number"))
    n_groups = words.whole(words.take("a whole number"), least=0) if words.skip("ngroups") else None
    restricted_to = None
    if words.skip("featRestrict"):
        restricted_to = ascending(words, words.until("idf", "endofheader"))
    idf = tuple(words.number(word) for word in words.until("endofheader")) if words.skip("idf") else ()
    words.keyword("endofheader")
    return BinaryModel(
        features=(),
        coefficients=(),
        intercept=0.0,
        restricted_to=restricted_to,
        cosine_normalize=bool(codes["cosineNormalize"]),
        tf_method=codes["tfMethod"],
        idf_method=codes["idfMethod"],
        n_groups=n_groups,
        idf=idf,
    )


def _topic(words: Words, header: BinaryModel) -> BinaryModel:
    """Read from ``modelname`` to ``endoftopic``."""
    name = words.phrase(words.keyword("modelname").line, "topic")
    topic = words.phrase(words.keyword("topic").line, "modelType")
    words.keyword("modelType")
    link, optimizer, rule, standardize = (words.whole(words.take("a whole number")) for _ in range(4))
    words.keyword("design")
    design = words.whole(words.take("a whole number"))
    words.keyword("topicFeats")
    features = ascending(words, words.until("beta"))
    at_beta = words.keyword("beta")
    values = words.until("threshold")
    extra = len(values) - len(features) - 1
    if extra not in (0, 1):
        raise FormatError(
            words.name,
            at_beta.line,
            f"{len(values)} numbers after 'beta'",
            f"{len(features) + 1}, one for each of {len(features)} features and the constant",
        )
    class_name = str(values[0]) if extra else None
    *coefficients, intercept = (words.number(value) for value in values[extra:])
    words.keyword("threshold")
    threshold = words.number(words.take("a number"))
    words.keyword("endoftopic")
    return replace(
        header,
        features=features,
        coefficients=tuple(coefficients),
        intercept=intercept,
        threshold=threshold,
        class_name=class_name,
        standardize=bool(standardize),
        threshold_rule=rule,
        name=name,
        topic=topic,
        link=link,
        optimizer=optimizer,
        design=design,
    )


def ascending(words: Words, found: list[Word]) -> tuple[int, ...]:
    """Read feature ids, which must be ascending."""
    ids = tuple(words.whole(word, "a feature, a whole number of at least 1", least=1) for word in found)
    for place, (before, after) in enumerate(pairwise(ids), start=1):
        if after <= before:
            words.fail(found[place], f"a feature greater than {before}, the one before")
    return ids


def _with_unit(model: BinaryModel, unit: ThresholdUnit | Literal["auto"], name: str) -> BinaryModel:
    if unit not in ("auto", "log_odds", "probability"):
        raise ValueError(f"threshold_unit is {unit!r}; expected 'auto', 'log_odds' or 'probability'")
    if unit != "auto":
        return replace(model, threshold_unit=unit)
    assumed: ThresholdUnit = "log_odds" if model.class_name is None else "probability"
    if 0.0 < model.threshold < 1.0:
        warnings.warn(
            f"{name}: the threshold {model.threshold:g} could be log odds or a probability; it is read as "
            f"{'log odds, as BBRtrain' if assumed == 'log_odds' else 'a probability, as BXRtrain'} writes it. "
            "Pass threshold_unit to say which.",
            ThresholdUnitWarning,
            stacklevel=3,
        )
    return replace(model, threshold_unit=assumed)
