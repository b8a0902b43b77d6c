"""Regularisation path of a label: which words enter as the prior loosens."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesift.datasets import Split
from bayesift.linear import RegularizationPath, regularization_path
from bayesift.text import TextVectorizer
from bayesift.workflow._models import least_documents
from bayesift.workflow.errors import LabelNeededError, OneLabelError, counted
from bayesift.workflow.explain import WeightedWords


@dataclass(frozen=True)
class LabelPath:
    """The path of one label.

    Parameters
    ----------
    label : str
    path : RegularizationPath
        Fits from the strongest prior to the weakest, with the words as names.
    """

    label: str
    path: RegularizationPath

    def steps(self) -> list[dict[str, Any]]:
        """Return an entry for every fit: variance, words kept, log likelihood, and the words that are new."""
        names = self.path.feature_names
        lines, before = [], set[int]()
        for place, variance in enumerate(self.path.variances.tolist()):
            row = self.path.coef[[place]]
            now = set(row.indices[row.data != 0].tolist())
            size = dict(zip(row.indices.tolist(), np.abs(row.data).tolist(), strict=True))
            fresh = sorted(now - before, key=lambda column: -size[column])
            lines.append(
                {
                    "variance": variance,
                    "words": len(now),
                    "log_likelihood": float(self.path.log_likelihood[place]),
                    "new": [str(column if names is None else names[column]) for column in fresh],
                }
            )
            before |= now
        return lines

    def last(self, k: int) -> WeightedWords:
        """Return the words with the largest weights at the end of the path."""
        row = self.path.coef[[-1]]
        order = np.argsort(-np.abs(row.data), kind="stable")[:k]
        names = self.path.feature_names
        return [
            (str(row.indices[j] if names is None else names[row.indices[j]]), float(row.data[j]))
            for j in order.tolist()
        ]

    def draw(self, picture: str | os.PathLike[str]) -> None:
        """Draw the path to a file, whose ending decides the format: ``.png``, ``.svg`` or ``.pdf``."""
        from bayesift.plots import RegularizationPathDisplay
        from bayesift.plots.display import save_plot

        save_plot(RegularizationPathDisplay(self.path).plot, picture)


def label_path(data: Split, label: str | None = None, *, n_steps: int = 20, prior: Any = "laplace") -> LabelPath:
    """Follow the lasso (or ridge) of one label against all others, from the strongest prior to the weakest.

    Parameters
    ----------
    data : Split
        Texts and labels.
    label : str, optional
        Which label; by default the rarer of two, and required if there are more.
    n_steps : int, default=20
        Number of fits.
    prior : {"laplace", "gaussian"}, default="laplace"

    Returns
    -------
    LabelPath
    """
    names = data.categories
    if label is None:
        if len(names) < 2:
            raise OneLabelError(f"the texts have {counted(len(names), 'label')}; expected two or more")
        if len(names) > 2:
            raise LabelNeededError(f"label must name one of {', '.join(map(repr, names))}")
        label = min(names, key=lambda name: sum(name in found for found in data.labels))
    if label not in names:
        raise ValueError(f"label is {label!r}; expected one of {', '.join(map(repr, names))}")
    vectorizer = TextVectorizer(min_df=least_documents(len(data)))
    X = vectorizer.fit_transform(data.texts)
    y = np.array([label in found for found in data.labels])
    if y.all():
        raise ValueError(f"all texts have the label {label!r}; expected some texts without it")
    options: dict[str, Any] = {"prior": prior, "feature_names": vectorizer.get_feature_names_out()}
    if prior == "laplace":
        options["n_steps"] = n_steps
    return LabelPath(label, regularization_path(X, y, **options))
