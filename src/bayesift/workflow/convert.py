"""Write classifiers for other programs: BBR, BMR, BXR, scikit-learn, ONNX."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

from bayesift._files import atomic_path
from bayesift.bbr import (
    BinaryModel,
    BMRHeader,
    PolytomousModel,
    from_estimator,
    write_binary_model,
    write_polytomous_model,
)
from bayesift.linear import BayesianLogisticRegression, BayesianMultinomialRegression
from bayesift.workflow._onnx_graph import onnx_bytes
from bayesift.workflow._plain_pipeline import plain_pipeline
from bayesift.workflow.errors import FeaturesError, NotPolytomousError, VectorsError
from bayesift.workflow.text_classifier import TextClassifier
from bayesift.workflow.words_and_vectors import WordsAndVectors

Target = Literal["bbr", "bmr", "bxr", "sklearn", "onnx"]

TARGETS: tuple[Target, ...] = ("bbr", "bmr", "bxr", "sklearn", "onnx")


def convert(
    classifier: TextClassifier, to: Target, path: str | os.PathLike[str], *, locale: str | None = None
) -> list[Path]:
    """Write a classifier for another program.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted, with a linear model.
    to : {"bbr", "bmr", "bxr", "sklearn", "onnx"}
        ``"bbr"``: a model file of BBRtrain, for a lasso or ridge with two labels; ``"bmr"``: one of BMRtrain, for a
        polytomous model. Both refer to words by numbers, which a second file ending in ``.words`` lists with their
        factors. ``"bxr"``: a model file of BXRtrain, which names the words themselves. ``"sklearn"``: a plain
        scikit-learn pipeline of ``TfidfVectorizer`` and ``LogisticRegression`` that decides by the same thresholds,
        written with skops. ``"onnx"``: the same for ONNX, from texts to labels; only this takes vectors of words.
    path : path
        Where to write.
    locale : str, optional
        For ONNX, the locale by which the runtime lower-cases texts; it must exist where the model runs. By default none
        is needed: words with letters beyond English are known in lower case, in upper case and with a capital first,
        and in other mixtures if few of their letters have capitals.

    Returns
    -------
    list of Path
        The files written.
    """
    target, *words = converted_files(to, path)
    if isinstance(classifier.model_, WordsAndVectors) and to != "onnx":
        raise VectorsError(
            f"to is {to!r}, but the model has vectors of words; expected 'onnx', or a model trained with vectors=None"
        )
    if classifier.features is not None:
        raise FeaturesError(
            "the model has features beside the texts, which other programs do not know; expected one without them"
        )
    if words and (odd := [word for word in classifier.words() if "\n" in word or "\t" in word]):
        raise ValueError(
            f"term {odd[0]!r} does not fit in a list with a word per line; expected no white space except ' '"
        )
    if to == "bbr":
        write_binary_model(target, _binary(classifier))
    elif to in ("bmr", "bxr"):
        write_polytomous_model(target, _polytomous(classifier, named=to == "bxr"))
    else:
        content = _skops(plain_pipeline(classifier)) if to == "sklearn" else onnx_bytes(classifier, locale)
        with atomic_path(target) as temporary:
            temporary.write_bytes(content)
    for list_of_words in words:
        _write_words(classifier, list_of_words)
    return [target, *words]


def converted_files(to: Target, path: str | os.PathLike[str]) -> list[Path]:
    """List the files that :func:`convert` writes.

    Parameters
    ----------
    to : {"bbr", "bmr", "bxr", "sklearn", "onnx"}
        The program to write for.
    path : path
        Where to write.

    Returns
    -------
    list of Path
        The model and, for programs that refer to words by numbers, the list of words.
    """
    if to not in TARGETS:
        raise ValueError(f"to is {to!r}; expected one of {', '.join(TARGETS)}")
    target = Path(path)
    return [target, target.with_name(f"{target.name}.words")] if to in ("bbr", "bmr") else [target]


def _binary(classifier: TextClassifier) -> BinaryModel:
    model = classifier.model_
    if not isinstance(model, BayesianLogisticRegression) or classifier.target_type_ != "binary":
        raise ValueError(
            f"to='bbr' needs a logistic model (lasso, ridge) with two labels, found {type(model).__name__} with "
            f"{len(classifier.classes_)} labels; polytomous models go to 'bmr' or 'bxr', for labels that come together "
            "train a model for each"
        )
    found = from_estimator(model)
    return BinaryModel(
        found.features,
        found.coefficients,
        found.intercept,
        float(classifier.threshold_.thresholds_[0]),
        restricted_to=tuple(range(1, len(classifier.words()) + 1)),
        name="bayesift",
        topic="_".join(str(classifier.classes_[1]).split()),
    )


def _polytomous(classifier: TextClassifier, *, named: bool) -> PolytomousModel:
    model = classifier.model_
    if not isinstance(model, BayesianMultinomialRegression):
        raise NotPolytomousError(f"to='bmr' and 'bxr' need a polytomous model, found {type(model).__name__}")
    spaced = [str(label) for label in classifier.classes_ if len(str(label).split()) != 1]
    if spaced:
        raise ValueError(f"label {spaced[0]!r} is not a single word, which BMR and BXR need")
    n_words = len(classifier.words())
    if not named:
        header = BMRHeader(trained_on=tuple(range(1, n_words + 1)))
        return from_estimator(model, PolytomousModel((), name="bayesift", header=header))
    words = classifier.words().tolist()
    odd = [word for word in words if len(word.split()) != 1 or ":" in word]
    if odd:
        raise ValueError(f"term {odd[0]!r} is not a single word, which BXR needs")
    return from_estimator(model, PolytomousModel((), name="bayesift"), words)


def _write_words(classifier: TextClassifier, path: Path) -> None:
    """List number, word and factor of every column; the header says how values are computed."""
    idf = classifier.vectorizer_.idf_
    if classifier.selector_ is not None:
        idf = idf[classifier.selector_.get_support()]
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        unknown = classifier.vectorizer_.unknown_idf()
        note = f"; unknown words count in the norm with the factor {unknown!r}" if unknown else ""
        stream.write(
            f"# number, word, factor for its document frequency; weighting {classifier.vectorizer_.weighting}{note}\n"
        )
        for number, (word, factor) in enumerate(zip(classifier.words(), idf, strict=True), start=1):
            stream.write(f"{number}\t{word}\t{float(factor)!r}\n")


def _skops(pipeline: Any) -> bytes:
    from skops.io import dumps

    return dumps(pipeline)
