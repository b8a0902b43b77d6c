"""The errors of this room, one class for each thing that a user can put right; all are ValueErrors."""

from __future__ import annotations


class NoLabelsError(ValueError):
    """No text has a label to learn from."""


class OneLabelError(ValueError):
    """All texts have the same label: there is nothing to tell apart."""


class OneLabelModelError(ValueError):
    """The model gives every text exactly one label, and there are texts with several or none."""


class UnknownCategoryError(ValueError):
    """Prior knowledge is about a category that no text has."""


class NoPriorError(ValueError):
    """The model has no prior that could hold prior knowledge."""


class NoPosteriorError(ValueError):
    """The model was trained without its posterior, which an update starts from."""


class NotPolytomousError(ValueError):
    """The target of a conversion takes polytomous models only."""


class LabelNeededError(ValueError):
    """There are several labels, and none of them was named."""


class NoJudgementError(ValueError):
    """A document was retrieved, and there is nothing and nobody to judge it."""
