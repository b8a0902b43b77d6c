"""Inputs and outputs of the original BBR programs, for tests; they stand beside the folder that BAYESIFT_DATA names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from bayesift.bbr import read_binary_model, read_binary_results, read_data, read_priors, to_prior
from bayesift.priors import Prior

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
    data = read_data(FOLDER / name, n_features=N_FEATURES)
    return data.X, data.numeric_labels()


def model(case: str) -> Model:
    """Read a model file of BBRtrain."""
    found = read_binary_model(FOLDER / f"{case}.model", threshold_unit="log_odds")
    columns = np.array(found.features, dtype=int) - 1
    return Model(columns, np.array(found.coefficients), found.intercept, found.threshold)


def probabilities(case: str) -> np.ndarray:
    """Probabilities in a result file of BBRclassify."""
    return np.array([result.probability for result in read_binary_results(FOLDER / f"{case}.results")])


def individual_prior(family: type[Prior]) -> Prior:
    """Read priors.txt: variances are multiples of the common one; a skew keeps the two-sided rate, so v is halved."""
    [section] = read_priors(FOLDER / "priors.txt")
    return to_prior(section.priors, family)


def commands() -> dict[str, list[list[str]]]:
    """Every case with its command lines, each as a list of words; none where the files are missing."""
    found = {}
    if FOLDER.is_dir():
        for line in (FOLDER / "commands.txt").read_text().splitlines():
            case, _, text = line.partition(": ")
            found[case] = [command.split() for command in text.split(" ; ")]
    return found
