"""Files of individual priors: ``feature mode variance [ABS] [skew]``, ``class CLASS feature …``, topics."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

from bayesift.bbr._files import FormatError, Source, name_of, quoted, read_lines, write_text
from bayesift.bbr._words import Words, one_line, one_word, written

Skew = Literal[-1, 0, 1]

#: The constant term: feature 0, or this word in files with symbolic features.
CONSTANT = "@constant"


@dataclass(frozen=True)
class IndividualPrior:
    """The prior of one coefficient, or of the coefficients of one feature in all classes.

    Parameters
    ----------
    feature : str
        The feature; ``"0"`` or ``"@constant"`` is the constant.
    mode : float
    variance : float
        A multiple of the common variance, or the variance itself if ``absolute``; infinity leaves the coefficient
        unpenalised, 0 fixes it at its mode.
    skew : {-1, 0, 1}
        Which side of the mode is allowed; 0 means both.
    class_name : str or None
        The class, if the prior is for one class only.
    absolute : bool
        Whether the variance is absolute (BXR's word ``ABS``).
    """

    feature: str
    mode: float
    variance: float
    skew: Skew = 0
    class_name: str | None = None
    absolute: bool = False

    @property
    def is_constant(self) -> bool:
        """Whether this is the prior of the constant term."""
        return self.feature in ("0", CONSTANT)


@dataclass(frozen=True)
class PriorSection:
    """The priors of one topic, or of a file without topics (None)."""

    priors: tuple[IndividualPrior, ...]
    topic: str | None = None


def read_priors(source: Source, *, symbolic: bool = False) -> tuple[PriorSection, ...]:
    r"""Read a file of individual priors, one for each coefficient.

    Parameters
    ----------
    source : str, path or binary stream
    symbolic : bool, default=False
        Whether features are words; otherwise they must be whole numbers of at least 0.

    Returns
    -------
    tuple of PriorSection
        One without a topic, or one for each ``topic NAME`` … ``endoftopic``.

    Examples
    --------
    >>> from io import BytesIO
    >>> from bayesift.bbr import read_priors
    >>> [section] = read_priors(BytesIO(b"4 2.0 0.5\nclass 2 17 0 inf\n"))
    >>> section.priors[1]
    IndividualPrior(feature='17', mode=0.0, variance=inf, skew=0, class_name='2', absolute=False)
    """
    name = name_of(source)
    sections: list[PriorSection] = []
    topic: str | None = None
    priors: dict[tuple[str | None, str], IndividualPrior] = {}
    lines = read_lines(source)
    for number, line in enumerate(lines, start=1):
        words = Words(name, [line], number)
        first = words.peek()
        if first is None or first.startswith("#"):
            continue
        if first == "topic" and topic is None and not priors:
            topic = _topic(words)
        elif first == "endoftopic" and topic is not None:
            words.take("endoftopic")
            words.end("the end of the line")
            sections.append(PriorSection(tuple(priors.values()), topic))
            topic, priors = None, {}
        elif first in ("topic", "endoftopic") or (topic is None and sections):
            words.fail(first, "'topic' and 'endoftopic' in turn, around all priors")
        else:
            prior = _prior(words, symbolic)
            key = (prior.class_name, "0" if prior.is_constant else prior.feature)
            if key in priors:
                raise FormatError(name, number, f"a second prior of {quoted(prior.feature)}", "every coefficient once")
            priors[key] = prior
    if topic is not None:
        raise FormatError(name, len(lines), "the end of the file", "the word 'endoftopic'")
    if not sections:
        sections.append(PriorSection(tuple(priors.values())))
    return tuple(sections)


def priors_of_one_model(
    path: str | None, classes: tuple[str, ...] = (), symbolic: bool = False
) -> tuple[IndividualPrior, ...]:
    """Read a prior file, which must not have several topics, nor lines for other classes than these."""
    if path is None:
        return ()
    sections = read_priors(path, symbolic=symbolic)
    if len(sections) > 1:
        raise FormatError(path, 1, f"{len(sections)} topics", "one, since one model is trained")
    for prior in sections[0].priors:
        if prior.class_name is not None and prior.class_name not in classes:
            expected = f"classes among {', '.join(classes)}" if classes else "no classes, since there is one model"
            raise ValueError(f"{path}: a prior for class {prior.class_name!r}; expected {expected}")
    return sections[0].priors


def write_priors(target: str | os.PathLike[str], sections: tuple[PriorSection, ...], digits: int | None = None) -> None:
    """Write a file of individual priors, whole or not at all.

    Parameters
    ----------
    target : str or path
    sections : tuple of PriorSection
        One without a topic, or any number with topics.
    digits : int, optional
        Digits after the decimal point; as many as are needed to restore every number by default.
    """
    if len(sections) != 1 and any(section.topic is None for section in sections):
        raise ValueError("sections mixes priors with and without a topic; expected one section, or a topic for each")
    lines: list[str] = []
    for section in sections:
        body = [_line(prior, digits) for prior in section.priors]
        lines += body if section.topic is None else [f"topic {one_line('topic', section.topic)}", *body, "endoftopic"]
    write_text(target, "".join(f"{line}\n" for line in lines or ["# no individual priors"]))


def _topic(words: Words) -> str:
    first = words.take("the word 'topic'")
    topic = " ".join(words.rest())
    if not topic:
        words.fail(first, "the name of a topic after it")
    return topic


def _prior(words: Words, symbolic: bool) -> IndividualPrior:
    class_name = str(words.take("a class")) if words.skip("class") else None
    feature = words.take("a feature")
    shown = str(feature) if symbolic else str(words.whole(feature, "a feature, a whole number of at least 0", least=0))
    mode = words.number(words.take("a mode"), "a finite number as mode")
    at_variance = words.take("a variance")
    variance = words.number(at_variance, "a variance of at least 0 or 'inf'", infinite=True)
    if variance < 0:
        words.fail(at_variance, "a variance of at least 0 or 'inf'")
    absolute = words.skip("ABS")
    skew = _skew(words)
    words.end("the end of the line")
    return IndividualPrior(shown, mode, variance, skew, class_name, absolute)


def _skew(words: Words) -> Skew:
    word = words.peek()
    if word is None:
        return 0
    found = words.whole(words.take("a skew"), "a skew of -1, 0 or 1")
    if found == 0:
        return 0
    if abs(found) > 1:
        words.fail(word, "a skew of -1, 0 or 1")
    return 1 if found > 0 else -1


def _line(prior: IndividualPrior, digits: int | None) -> str:
    feature = one_word("feature", prior.feature, ("class", "topic", "endoftopic"))
    parts = [] if prior.class_name is None else ["class", one_word("class_name", prior.class_name)]
    parts += [feature, written(prior.mode, digits), written(prior.variance, digits, infinite=True)]
    parts += ["ABS"] if prior.absolute else []
    parts += [str(prior.skew)] if prior.skew else []
    return " ".join(parts)
