"""The errors and warnings of this room, one class for each thing that a user can put right.

All errors are ValueErrors, all warnings UserWarnings.
"""

from __future__ import annotations


class NoLabelsError(ValueError):
    """No text has a label to learn from."""


class OneLabelError(ValueError):
    """All texts have the same label: there is nothing to tell apart."""


class OneLabelModelError(ValueError):
    """The model gives every text exactly one label, and there are texts with several or none."""


class StrangeLabelsError(ValueError):
    """The model knows none of the labels of the texts that it is to be measured on."""


class UnknownCategoryError(ValueError):
    """Prior knowledge is about a category that no text has."""


class NoPriorError(ValueError):
    """The model has no prior that could hold prior knowledge."""


class NoAveragingError(ValueError):
    """A model without a posterior over which probabilities could be averaged, or of which intervals could be taken."""


class NoPosteriorError(ValueError):
    """The model was trained without its posterior, which an update starts from."""


class NotPolytomousError(ValueError):
    """The target of a conversion takes polytomous models only."""


class TunedThresholdsError(ValueError):
    """The target of a conversion has no place for thresholds."""


class VectorsError(ValueError):
    """The model cannot have vectors of words, or what is asked for cannot be done with them."""


class FeaturesError(ValueError):
    """Features beside the texts are missing, are of no use to the model, or stand in the way of what is asked for."""


class LabelNeededError(ValueError):
    """There are several labels, and none of them was named."""


class NoJudgementError(ValueError):
    """A document was retrieved, and there is nothing and nobody to judge it."""


class OutputFormatError(ValueError):
    """A file is to be written in a format that cannot be written."""


class NoWordsWarning(UserWarning):
    """Texts hold no word, or a model keeps none: they say nothing about labels."""


class FeatureWarning(UserWarning):
    """Values of features are missing or not known: they say nothing about labels."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular or the plural."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def texts_without_words(number: int) -> str:
    """Say what becomes of texts without words."""
    verb = "holds" if number == 1 else "hold"
    return f"{counted(number, 'text')} that {verb} no word: the label is the one that is most probable without reading"


def training_texts_without_words(number: int) -> str:
    """Say how many training texts are without words."""
    verb = "holds" if number == 1 else "hold"
    return f"{counted(number, 'text')} that {verb} no word: nothing can be learned from such texts"
