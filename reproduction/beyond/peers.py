"""Peers that need more than a line: fastText, and logistic regression with a searched strength."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from reproduction.beyond.tasks import Task
from reproduction.beyond.word_model import Answer

#: Two or more letters or digits, as TfidfVectorizer has it.
_WORD = re.compile(r"\b\w\w+\b")


class FastText:
    """fastText with the learning rate of its tutorial, 0.5, and 25 epochs.

    It takes the lines as they come, epoch for epoch, so they are shuffled: many collections are sorted by category. It
    parts words at white space only, so it is given the words that the other systems read. It skips lines without a
    label, so a text of no category gets a label of its own. Other options of its trainer may be given.
    """

    n_words = None

    def __init__(self, task: Task, **options: Any) -> None:
        # Not among what the package needs: only where it is installed does it take part.
        import fasttext

        self.task = task
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "train.txt"
            order = np.random.default_rng(0).permutation(len(task.train_texts))
            lines = (f"{_marks(task.train[i])} {_line(task.train_texts[i])}" for i in order)
            file.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")
            settings = {"lr": 0.5, "epoch": 25, "thread": 2, "seed": 0, "verbose": 0, **options}
            loss = "ova" if task.kind == "sets" else "softmax"
            self.model = fasttext.train_supervised(input=str(file), loss=loss, **settings)

    def answer(self, texts: list[str]) -> Answer:
        """Decide about texts: the most probable label, or every label with at least one half."""
        probabilities = np.zeros((len(texts), len(self.task.categories)))
        for i, text in enumerate(texts):
            # Its predict() repeats the first probability for a list of texts, and fails for one text with numpy 2.
            for value, name in self.model.f.predict(f"{_line(text)}\n", -1, 0.0, "strict"):
                if (place := name.removeprefix("__label__")) != "none":
                    # Sums in single precision exceed 1 by rounding.
                    probabilities[i, int(place)] = min(value, 1.0)
        if self.task.kind == "one":
            best = probabilities.argmax(axis=1)
            return Answer((best[:, None] == np.arange(probabilities.shape[1])).astype(np.int64), probabilities)
        return Answer((probabilities >= 0.5).astype(np.int64), probabilities)


def _marks(row: NDArray[Any]) -> str:
    return " ".join(f"__label__{place}" for place in np.flatnonzero(row)) or "__label__none"


def _line(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


_FOLDS = 3


class SearchedLogistic(ClassifierMixin, BaseEstimator):
    """``LogisticRegressionCV`` with C of 1, 10 or 100 by three folds, or ``LogisticRegression`` for small classes.

    By default it tries ten strengths in five folds; fewer keep the comparison within minutes. A class needs a document
    in every fold, else it is fitted without a search.
    """

    def __init__(self, l1_ratio: float, solver: str) -> None:
        self.l1_ratio = l1_ratio
        self.solver = solver

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the model to term vectors."""
        self.classes_, counts = np.unique(y, return_counts=True)
        if counts.min() < _FOLDS:
            model = LogisticRegression(l1_ratio=self.l1_ratio, solver=self.solver)
        else:
            model = LogisticRegressionCV(
                Cs=(1.0, 10.0, 100.0),
                cv=_FOLDS,
                l1_ratios=(self.l1_ratio,),
                solver=self.solver,
                scoring="neg_log_loss",
                use_legacy_attributes=False,
            )
        self.model_ = model.fit(X, y)
        self.coef_ = self.model_.coef_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class."""
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return probabilities of the classes."""
        return self.model_.predict_proba(X)
