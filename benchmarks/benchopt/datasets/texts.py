"""One category of a collection: texts as log TF × IDF rows of length one."""

import numpy as np
from benchopt import BaseDataset

from bayesift.datasets import load
from bayesift.text import TextVectorizer


class Dataset(BaseDataset):
    """Training documents of a collection, one category against the rest."""

    name = "texts"
    parameters = {"collection, category": [("newsroom", "courts"), ("reuters21578", "earn")]}

    def get_data(self):
        """Return the matrix, and labels of −1 and 1."""
        train = load(self.collection).train
        X = TextVectorizer("lsc", min_df=2).fit_transform(train.texts)
        return {"X": X.tocsr(), "y": np.array([1.0 if self.category in labels else -1.0 for labels in train.labels])}
