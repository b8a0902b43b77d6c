"""Several categories for a model that knows only two classes: one model for each.

scikit-learn's ``OneVsRestClassifier`` does not fit here: it takes document weights only with metadata routing switched
on, it replaces a category without documents by a constant instead of refusing it, it reports no progress, and it does
not follow the protocol that explanations of texts and thresholds rely on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from bayesift import progress
from bayesift._classifier import ScoreClassifier
from bayesift._labels import categories_of
from bayesift._state import State
from bayesift._typing import FloatArray


@dataclass(eq=False, repr=False)
class BinaryRelevance(ScoreClassifier):
    """A two-class model for each class or category, trained against all other documents.

    The scores are those of the models; probabilities of classes that exclude each other are scaled to a sum of one.

    Parameters
    ----------
    estimator : classifier
        A two-class model whose ``decision_function`` returns log odds.

    Attributes
    ----------
    classes_ : ndarray
        The labels; column numbers for an indicator matrix.
    target_type_ : {"binary", "multiclass", "multilabel-indicator"}
        The kind of labels.
    models_ : list of classifier
        The model of each category; a single one for two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesift.ard import RelevanceTaggingMachine
    >>> from bayesift.workflow import BinaryRelevance
    >>> X = np.tile(np.eye(3), (8, 1))
    >>> model = BinaryRelevance(RelevanceTaggingMachine()).fit(X, np.tile(["gold", "sea", "wheat"], 8))
    >>> model.predict(np.eye(3)).tolist()
    ['gold', 'sea', 'wheat']
    """

    estimator: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train a model for each class, or for each column of an indicator matrix.

        Parameters
        ----------
        X : sparse matrix or array of shape (n_documents, n_features)
        y : array of shape (n_documents,), or indicator matrix of shape (n_documents, n_categories)
        sample_weight : array of shape (n_documents,), optional
            Weights of documents, for models that take them.

        Returns
        -------
        self
        """
        categories = categories_of(y, type(self).__name__)
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        models: list[Any] = []
        for place, members in enumerate(categories.members):
            if not 0 < len(members) < categories.n_documents:
                name = categories.classes[place]
                raise ValueError(
                    f"category {name} has all documents or none; expected some documents with it and some without it"
                )
            target = (categories.target(place) > 0).astype(np.int64)
            with progress.callback(None):
                models.append(clone(self.estimator).fit(X, target, **options))
            progress.report(len(models), len(categories.members))
        self.classes_, self.target_type_ = categories.classes, categories.target_type
        self.models_ = models
        self.n_features_in_ = models[0].n_features_in_
        if hasattr(models[0], "feature_names_in_"):
            self.feature_names_in_ = models[0].feature_names_in_
        return self

    def _check_state(self, state: State) -> None:
        n, (classes, kind) = state.features(), state.targets()
        for model in state.entries("models_", 1 if kind == "binary" else classes.size):
            fitted = isinstance(model, ScoreClassifier) and getattr(model, "target_type_", None) == "binary"
            state.require(fitted and model.n_features_in_ == n, "models")

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of the models, one for each category; a single one for two classes."""
        check_is_fitted(self)
        scores = np.column_stack([model.decision_function(X) for model in self.models_])
        return scores[:, 0] if self.target_type_ == "binary" else scores

    def word_weights(self) -> Any:
        """Return the weights of the models, a row for each; None if a model has none."""
        check_is_fitted(self)
        weights = [model.word_weights() for model in self.models_]
        return None if any(row is None for row in weights) else sp.csr_matrix(sp.vstack([*map(sp.csr_matrix, weights)]))
