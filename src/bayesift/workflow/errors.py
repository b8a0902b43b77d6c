"""The errors and warnings of this room, one class for each problem that a user can solve.

All errors are ValueErrors, all warnings UserWarnings.
"""

from __future__ import annotations


class NoLabelsError(ValueError):
    """No text has a label to learn from."""


class OneLabelError(ValueError):
    """All texts have the same label, so there is nothing to tell apart."""


class OneLabelModelError(ValueError):
    """The model gives every text exactly one label, but there are texts with several labels or none."""


class StrangeLabelsError(ValueError):
    """The model knows none of the labels of the texts that it is to be measured on."""


class UnknownCategoryError(ValueError):
    """Prior knowledge is about a category that no text has."""


class NoPriorError(ValueError):
    """The model has no prior that could express prior knowledge."""


class NoAveragingError(ValueError):
    """The model has no posterior to average probabilities over or to take intervals from."""


class NoPosteriorError(ValueError):
    """The model was trained without its posterior, which an update starts from."""


class NotPolytomousError(ValueError):
    """The target of a conversion takes only polytomous models."""


class TunedThresholdsError(ValueError):
    """The target of a conversion has no place for thresholds."""


class VectorsError(ValueError):
    """The model cannot have vectors of words, or the task cannot be done with them."""


class FeaturesError(ValueError):
    """Features beside the texts are missing, cannot be used by the model, or prevent what is asked for."""


class LabelNeededError(ValueError):
    """There are several labels, and none of them was named."""


class NoJudgementError(ValueError):
    """A document was retrieved, and there is no judgement of it and nobody to ask."""


class OutputFormatError(ValueError):
    """A file should be written in a format that cannot be written."""


class NoWordsWarning(UserWarning):
    """Texts have no word, or a model keeps none, so that they say nothing about labels."""


class FeatureWarning(UserWarning):
    """Values of features are missing or unknown, so that they say nothing about labels."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular or plural."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def texts_without_words(number: int) -> str:
    """Say how texts without words are classified."""
    verb = "gets" if number == 1 else "get"
    return f"{counted(number, 'text')} without a word {verb} the label that is most probable for any text"


def training_texts_without_words(number: int) -> str:
    """Say how many training texts have no words."""
    return f"{counted(number, 'text')} without a word: nothing can be learned from such texts"
