"""How much every word weighs in a model, whatever the model is."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesift._typing import FloatArray


def word_weights(model: Any) -> Any:
    """Return what one unit of each word adds to the score of each class, or None where a model has no such weights.

    Parameters
    ----------
    model : fitted classifier
        Linear models have their coefficients; the perceptron the means of its belief; generative models log ratios:
        ln p(word | class) less that of the other classes together.

    Returns
    -------
    ndarray or csr_matrix of shape (n_categories, n_features)
        One row for two classes, that of the second.
    """
    if hasattr(model, "coef_"):
        coef = model.coef_
        # The softmax of two classes has a row for each.
        two = coef.shape[0] == 2 and len(model.classes_) == 2 and not getattr(model, "multilabel_", False)
        two = two and getattr(model, "target_type_", "binary") == "binary"
        return coef[[1]] - coef[[0]] if two else coef
    if hasattr(model, "mean_"):
        return model.mean_[:, : model.n_features_in_]
    if hasattr(model, "word_weights"):
        return model.word_weights()
    return None


def row(weights: Any, place: int) -> FloatArray:
    """Return one row as an array."""
    found = weights[[place]]
    return np.asarray(found.toarray() if sp.issparse(found) else found).ravel()


def nonzero_words(weights: Any) -> int:
    """Count the words with a weight in any category."""
    if sp.issparse(weights):
        return int(np.unique(weights.nonzero()[1]).size)
    return int(np.count_nonzero(np.any(weights != 0, axis=0)))
