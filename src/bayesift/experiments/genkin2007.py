"""Genkin, Lewis & Madigan (2007), Large-scale Bayesian logistic regression for text categorization."""

from __future__ import annotations

from functools import partial

from bayesift.experiments import _genkin2007_paths as paths
from bayesift.experiments._genkin2007_descriptions import descriptions
from bayesift.experiments.catalogue import Experiment

_PAPER = "Genkin, Lewis & Madigan (2007)"
_EIGHT = (
    "The paper does not say which data its eight predictors come from. Here: scikit-learn's diabetes data, "
    "standardised; the class is progress above the median, the predictors are all but age and sex.",
)

EXPERIMENTS = (
    Experiment(
        name="genkin2007/figure1",
        paper=_PAPER,
        item="Figure 1",
        shows="Posterior modes of eight coefficients against the variance of Gaussian priors.",
        run=partial(paths.figure, "gaussian"),
        minutes=0.1,
        quick_minutes=0.1,
        notes=_EIGHT,
    ),
    Experiment(
        name="genkin2007/figure2",
        paper=_PAPER,
        item="Figure 2",
        shows="Posterior modes of eight coefficients against the variance of Laplace priors: some are exactly 0.",
        run=partial(paths.figure, "laplace"),
        minutes=0.1,
        quick_minutes=0.1,
        notes=_EIGHT,
    ),
    Experiment(
        name="genkin2007/descriptions",
        paper=_PAPER,
        item="Section 7, priors from descriptions",
        shows="What a one-line description of the category is worth when there are few positive documents.",
        run=descriptions,
        minutes=1,
        quick_minutes=0.3,
        collections=("reuters21578", "smart"),
        quick="1 and 20 positives, one sample each.",
        notes=(
            "The paper names the idea and prints no numbers. Reuters describes 36 of the 90 categories in a few words; "
            "for the others there is one line of our own.",
            "The terms of the description get a prior mode of 5 and ten times the variance; the numbers were chosen "
            "among four pairs by their F1 on half of the categories, so that the height of the upper curve is a little "
            "flattering.",
        ),
    ),
)
