"""Models of several classes: files of BMRtrain, and of BXRtrain in its default form."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from bayesift.bbr._files import FormatError, Source, name_of, read_lines, write_text
from bayesift.bbr._words import Word, Words, one_line, one_word, split, word_at, written
from bayesift.bbr.binary_model import ascending
from bayesift.bbr.prior_files import CONSTANT

Feature = int | str


@dataclass(frozen=True)
class ClassCoefficients:
    """The coefficients of one class; those not listed are zero.

    Parameters
    ----------
    class_name : str
    features : tuple of int, or of str
        Ids, or words in a symbolic model, in the order of the file.
    coefficients : tuple of float
    intercept : float
    """

    class_name: str
    features: tuple[Feature, ...] = ()
    coefficients: tuple[float, ...] = ()
    intercept: float = 0.0

    def __post_init__(self) -> None:
        if len(self.features) != len(self.coefficients):
            raise ValueError(
                f"class {self.class_name} has {len(self.coefficients)} coefficients for {len(self.features)} features; "
                "expected one each"
            )

    def named(self, symbolic: bool) -> list[tuple[Feature, float]]:
        """Return features with their coefficients; the constant (if not 0) is last, under its name in files."""
        constant: Feature = CONSTANT if symbolic else 0
        listed = [*zip(self.features, self.coefficients, strict=True)]
        return [*listed, (constant, self.intercept)] if self.intercept else listed


Entry = tuple[Word, float]


def looks_symbolic(entries: list[Entry]) -> bool:
    """Return whether any feature is not a whole number."""
    return any(not feature.isascii() or not feature.isdigit() for feature, _ in entries)


def collected(words: Words, class_name: str, entries: list[Entry], symbolic: bool) -> ClassCoefficients:
    """Collect the coefficients of a class from words and numbers; a feature listed twice is an error."""
    found: dict[Feature, float] = {}
    for word, value in entries:
        feature: Feature = str(word)
        if not symbolic:
            feature = words.whole(word, "a feature, a whole number of at least 0", least=0)
        elif word == CONSTANT:
            feature = 0
        if feature in found:
            words.fail(word, f"every feature of class {class_name} once")
        found[feature] = value
    intercept = found.pop(0, 0.0)
    return ClassCoefficients(class_name, tuple(found), tuple(found.values()), intercept)


BMR_TITLE = "Bayesian Polytomous Regression model file ver"
BXR_TITLE = "Multinomial logistic regression model format: sparse"
_BMR_VERSION = "2.5"
_BXR_VERSION = "3.0"


@dataclass(frozen=True)
class BMRHeader:
    """What only BMRtrain writes.

    Parameters
    ----------
    trained_on : tuple of int
        Ids of the features, ascending (``topicFeats``).
    restricted_to : tuple of int or None
        The list after ``featRestrict``; None if there is none.
    keyword : bool
        Whether that list has its keyword, as in version 3; version 4 leaves it out.
    cosine_normalize, standardize : bool
    tf_method, idf_method, link, optimizer, threshold_rule, design : int
        Codes that are kept unchanged.
    """

    trained_on: tuple[int, ...] = ()
    restricted_to: tuple[int, ...] | None = None
    keyword: bool = True
    cosine_normalize: bool = False
    standardize: bool = False
    tf_method: int = 0
    idf_method: int = 0
    link: int = 1
    optimizer: int = 1
    threshold_rule: int = 0
    design: int = 0


@dataclass(frozen=True)
class PolytomousModel:
    """The content of a model file of BMRtrain or BXRtrain: the coefficients of each class.

    Parameters
    ----------
    classes : tuple of ClassCoefficients
        In the order of the file.
    name : str
    reference_class : str or None
        The class whose coefficients are fixed at zero, if the file says so.
    symbolic : bool
        Whether features are words.
    header : BMRHeader or None
        What only BMRtrain writes; None for a file of BXRtrain.
    producer : str
        The end of BXRtrain's title.
    """

    classes: tuple[ClassCoefficients, ...]
    name: str = ""
    reference_class: str | None = None
    symbolic: bool = False
    header: BMRHeader | None = None
    producer: str = field(default="produced by bayesift")

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes, in the order of the file."""
        return tuple(found.class_name for found in self.classes)

    @property
    def features(self) -> tuple[Feature, ...]:
        """All features that have a coefficient in some class; ids are ascending, words in order of appearance."""
        found = dict.fromkeys(feature for coefficients in self.classes for feature in coefficients.features)
        return tuple(found) if self.symbolic else tuple(sorted(found))


def read_polytomous_model(source: Source, *, symbolic: bool | None = None) -> PolytomousModel:
    """Read a model file of BMRtrain (with or without the word ``featRestrict``), or of BXRtrain's default form.

    The classes must be those of the header.

    Parameters
    ----------
    source : str, path or binary stream
    symbolic : bool, optional
        Whether features are words; by default they are if any of them is not a whole number.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.bbr import read_polytomous_model
    >>> text = '''Multinomial logistic regression model format: sparse 3.0
    ... endofheader
    ... modelname grain
    ... betaClassSparse wheat 0:0.5 12:1.25
    ... betaClassSparse corn'''
    >>> read_polytomous_model(BytesIO(text.encode())).classes[0]
    ClassCoefficients(class_name='wheat', features=(12,), coefficients=(1.25,), intercept=0.5)
    """
    name, lines = name_of(source), read_lines(source)
    first = next(number for number, line in enumerate(lines) if split(line))
    title = " ".join(split(lines[first]))
    words = Words(name, lines[first + 1 :], first + 2)
    if title == f"{BMR_TITLE} {_BMR_VERSION}":
        class_names, model_name, reference, header = _bmr_header(words)
        found = _classes(words, symbolic=False if symbolic is None else symbolic, sorted_ids=True)
        if (listed := tuple(coefficients.class_name for coefficients in found[0])) != class_names:
            expected = f"the classes {', '.join(class_names)} of the header in this order"
            raise FormatError(name, len(lines), f"coefficients of {', '.join(listed) or 'no class'}", expected)
        return PolytomousModel(found[0], model_name, reference, found[1], header, "")
    if (title + " ").startswith(f"{BXR_TITLE} {_BXR_VERSION} "):
        words.keyword("endofheader")
        model_name = words.phrase(words.keyword("modelname").line, "betaClassSparse")
        found = _classes(words, symbolic, sorted_ids=False)
        producer = title.removeprefix(f"{BXR_TITLE} {_BXR_VERSION}").strip()
        return PolytomousModel(found[0], model_name, None, found[1], None, producer)
    expected = f"the title '{BMR_TITLE} {_BMR_VERSION}' or '{BXR_TITLE} {_BXR_VERSION}'"
    raise FormatError(name, first + 1, repr(lines[first][:60]), expected)


def write_polytomous_model(
    target: str | os.PathLike[str], model: PolytomousModel, *, digits: int | None = None
) -> None:
    """Write a model file, completely or not at all: in BMRtrain's form if it has such a header, else in BXRtrain's.

    Parameters
    ----------
    target : str or path
    model : PolytomousModel
    digits : int, optional
        Digits after the decimal point; the original programs write 12. By default, as many as are needed to restore
        every number.
    """
    lines = _bxr_head(model) if model.header is None else _bmr_head(model, model.header)
    for coefficients in model.classes:
        pairs = [
            f"{_feature(feature)}:{written(value, digits)}" for feature, value in coefficients.named(model.symbolic)
        ]
        lines.append(" ".join(["betaClassSparse", one_word("class_name", coefficients.class_name), *pairs]))
    write_text(target, "".join(f"{line}\n" for line in lines))


def _feature(feature: Feature) -> str:
    return one_word("features", str(feature), ("betaClassSparse",))


def _bxr_head(model: PolytomousModel) -> list[str]:
    title = f"{BXR_TITLE} {_BXR_VERSION} {one_line('producer', model.producer)}".rstrip()
    return [title, "endofheader", f"modelname {one_line('name', model.name)}"]


def _bmr_head(model: PolytomousModel, header: BMRHeader) -> list[str]:
    restricted = [] if header.restricted_to is None else [" ".join(map(str, header.restricted_to))]
    codes = (
        header.link,
        header.optimizer,
        header.threshold_rule,
        int(header.standardize),
        model.reference_class or "0",
    )
    return [
        f"{BMR_TITLE} {_BMR_VERSION}",
        " ".join(["classes", *(one_word("class_name", name) for name in model.class_names)]),
        f"tfMethod {header.tf_method}",
        f"idfMethod {header.idf_method}",
        f"cosineNormalize {int(header.cosine_normalize)}",
        *(f"{'featRestrict' if header.keyword else ''} {ids}" for ids in restricted),
        f"modelname {one_line('name', model.name)}",
        f"nDesignParams {len(header.trained_on) + 1}",
        f"modelType {' '.join(map(str, codes))} ",
        f"design {header.design}",
        " ".join(["topicFeats", *map(str, header.trained_on)]),
        "endofheader",
    ]


def _bmr_header(words: Words) -> tuple[tuple[str, ...], str, str | None, BMRHeader]:
    words.keyword("classes")
    class_names = tuple(map(str, words.until("tfMethod")))
    codes = []
    for keyword in ("tfMethod", "idfMethod", "cosineNormalize"):
        words.keyword(keyword)
        codes.append(words.whole(words.take("a whole number")))
    # Version 4 forgets the keyword and writes the bare list.
    with_keyword = words.skip("featRestrict")
    listed = words.until("modelname")
    restricted_to = ascending(words, listed) if listed or with_keyword else None
    name = words.phrase(words.keyword("modelname").line, "nDesignParams")
    at_count = words.keyword("nDesignParams")
    count = words.whole(words.take("a whole number"), least=1)
    words.keyword("modelType")
    link, optimizer, rule, standardize = (words.whole(words.take("a whole number")) for _ in range(4))
    reference = str(words.take("the reference class, or 0"))
    words.keyword("design")
    design = words.whole(words.take("a whole number"))
    words.keyword("topicFeats")
    trained_on = ascending(words, words.until("endofheader"))
    words.keyword("endofheader")
    if count != len(trained_on) + 1:
        found = f"nDesignParams {count}"
        expected = f"{len(trained_on) + 1}, one for each of {len(trained_on)} features and the constant"
        raise FormatError(words.name, at_count.line, found, expected)
    header = BMRHeader(
        trained_on=trained_on,
        restricted_to=restricted_to,
        keyword=with_keyword or restricted_to is None,
        tf_method=codes[0],
        idf_method=codes[1],
        cosine_normalize=bool(codes[2]),
        link=link,
        optimizer=optimizer,
        threshold_rule=rule,
        standardize=bool(standardize),
        design=design,
    )
    return class_names, name, None if reference == "0" else reference, header


def _classes(words: Words, symbolic: bool | None, sorted_ids: bool) -> tuple[tuple[ClassCoefficients, ...], bool]:
    """Read the lines ``betaClassSparse CLASS feature:value …`` to the end of the file."""
    listed: dict[str, list[Entry]] = {}
    while words.peek() is not None:
        words.keyword("betaClassSparse")
        at_class = words.take("a class")
        if at_class in listed:
            words.fail(at_class, "every class once")
        entries: list[Entry] = []
        while (word := words.peek()) is not None and word != "betaClassSparse":
            entries.append(_entry(words, words.take("feature:value")))
        listed[str(at_class)] = entries
    if not listed:
        words.fail_at_end("the word 'betaClassSparse'")
    if symbolic is None:
        symbolic = any(looks_symbolic(entries) for entries in listed.values())
    classes = tuple(collected(words, name, entries, symbolic) for name, entries in listed.items())
    if sorted_ids:
        for entries in listed.values():
            ascending(words, [word for word, _ in entries if word != "0"])
    return classes, symbolic


def _entry(words: Words, pair: Word) -> Entry:
    feature, colon, value = pair.rpartition(":")
    if not colon or not feature:
        words.fail(pair, "feature:value")
    return word_at(feature, pair.line), words.number(word_at(value, pair.line), "a finite number after the colon")
