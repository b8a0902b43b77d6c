"""What a system answers, and the systems that weigh words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reproduction.beyond.tasks import Task


class Answer(NamedTuple):
    """Decisions for each document and category, and their probabilities where the system has any."""

    decisions: NDArray[Any]
    probabilities: NDArray[np.float64] | None


class Fitted(Protocol):
    """A system that has learned."""

    @property
    def n_words(self) -> int | None:
        """Words with a weight for at least one category; None where the system has no weights for words."""

    def answer(self, texts: list[str]) -> Answer:
        """Decide about texts."""
        ...


class WordModel:
    """A vectorizer and a classifier of term vectors."""

    def __init__(self, task: Task, vectorizer: Any, model_of: Callable[[Any, Task], Any]) -> None:
        self.task, self.vectorizer = task, vectorizer
        X = vectorizer.fit_transform(task.train_texts)
        self.model = model_of(X, task).fit(X, _target(task))

    @property
    def n_words(self) -> int | None:
        """Words with a weight for at least one category."""
        if hasattr(self.model, "columns_"):
            return int(np.unique(np.concatenate(self.model.columns_)).size)
        parts = getattr(self.model, "estimators_", [self.model])
        if not all(hasattr(part, "coef_") for part in parts):
            return None
        weights = [part.coef_.toarray() if sp.issparse(part.coef_) else np.atleast_2d(part.coef_) for part in parts]
        return int(np.count_nonzero(np.any(np.vstack(weights) != 0, axis=0)))

    def answer(self, texts: list[str]) -> Answer:
        """Decide about texts, by the model's own rule."""
        X = self.vectorizer.transform(texts)
        decisions = _indicator(self.model.predict(X), self.task)
        if not hasattr(self.model, "predict_proba"):
            return Answer(decisions, None)
        probabilities = np.asarray(self.model.predict_proba(X))
        return Answer(decisions, probabilities[:, 1:] if self.task.kind == "yes-no" else probabilities)


def _target(task: Task) -> NDArray[Any]:
    """Return column numbers for one label each, else the indicator."""
    if task.kind == "yes-no":
        return task.train[:, 0]
    return np.argmax(task.train, axis=1) if task.kind == "one" else task.train


def _indicator(predicted: Any, task: Task) -> NDArray[Any]:
    if task.kind == "yes-no":
        return np.asarray(predicted)[:, None]
    if task.kind == "one":
        return (np.asarray(predicted)[:, None] == np.arange(len(task.categories))).astype(np.int64)
    return predicted.toarray() if sp.issparse(predicted) else np.asarray(predicted)
