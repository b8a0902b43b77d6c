"""Inputs and outputs of the original BBR programs, for tests; they stand beside the folder that BAYESIFT_DATA names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from bayesift.priors import Laplace, Prior

FOLDER = Path(os.environ.get("BAYESIFT_DATA", "missing")).parent / "golden" / "bbr"
N_FEATURES = 400

needs_golden = pytest.mark.skipif(
    not FOLDER.is_dir(), reason="needs golden/bbr beside the folder that BAYESIFT_DATA names"
)


class Model(NamedTuple):
    """What a model file says; columns count from 0."""

    columns: np.ndarray
    coefficients: np.ndarray
    intercept: float
    threshold: float

    @property
    def coef(self) -> np.ndarray:
        """All coefficients, by column."""
        coef = np.zeros(N_FEATURES)
        coef[self.columns] = self.coefficients
        return coef


def documents(name: str):
    """Matrix and labels of a data file."""
    return load_svmlight_file(str(FOLDER / name), n_features=N_FEATURES)


def model(case: str) -> Model:
    """Read a model file of BBRtrain."""
    fields = {}
    for line in (FOLDER / f"{case}.model").read_text().splitlines():
        word, _, rest = line.partition(" ")
        fields[word] = rest.split()
    beta = np.array(fields["beta"], dtype=float)
    columns = np.array(fields["topicFeats"], dtype=int) - 1
    return Model(columns, beta[:-1], beta[-1], float(fields["threshold"][0]))


def probabilities(case: str) -> np.ndarray:
    """Probabilities in a result file of BBRclassify."""
    return np.loadtxt(FOLDER / f"{case}.results", usecols=0)


def individual_prior(family: type[Prior]) -> Prior:
    """Read priors.txt: variances are multiples of the common one; a skew keeps the two-sided rate, so v is halved."""
    modes, relative, signs = {}, {}, {}
    for line in (FOLDER / "priors.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        feature, mode, variance, *skew = line.split()
        column = int(feature) - 1
        if column >= 0:
            modes[column] = float(mode)
            signs[column] = int(skew[0]) if skew else 0
            relative[column] = float(variance) / (2 if skew and family is Laplace else 1)
    return family(mode=modes, relative=relative, sign=signs, intercept_variance=np.inf)
