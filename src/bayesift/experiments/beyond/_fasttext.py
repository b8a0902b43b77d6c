"""fastText as a system: it reads a file of labelled lines and has threads of its own."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import numpy as np

from bayesift._extras import require
from bayesift._typing import AnyArray
from bayesift.experiments.beyond.tasks import Task
from bayesift.experiments.beyond.word_model import Answer

#: Two or more letters or digits, as TfidfVectorizer has it.
_WORD = re.compile(r"\b\w\w+\b")


class FastText:
    """fastText with the learning rate of its tutorial, 0.5, and 25 epochs.

    It takes the lines as they come, epoch for epoch, so they are shuffled: many collections are sorted by category. It
    parts words at white space only, so it is given the words that the other systems read. It skips lines without a
    label, so a text of no category gets a label of its own.
    """

    n_words = None

    def __init__(self, task: Task) -> None:
        fasttext = require("fasttext", extra="peers", purpose="the comparison with fastText")
        self.task = task
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "train.txt"
            order = np.random.default_rng(0).permutation(len(task.train_texts))
            lines = (f"{_marks(task.train[i])} {_line(task.train_texts[i])}" for i in order)
            file.write_text("\n".join(lines) + "\n", encoding="utf-8", errors="replace")
            self.model = fasttext.train_supervised(
                input=str(file),
                lr=0.5,
                epoch=25,
                loss="ova" if task.kind == "sets" else "softmax",
                thread=2,
                seed=0,
                verbose=0,
            )

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


def _marks(row: AnyArray) -> str:
    return " ".join(f"__label__{place}" for place in np.flatnonzero(row)) or "__label__none"


def _line(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
