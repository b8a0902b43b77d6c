"""Genkin, Lewis & Madigan (2007), Large-scale Bayesian logistic regression for text categorization."""

from __future__ import annotations

from functools import partial

from bayesift.experiments import _genkin2007_figures as figures
from bayesift.experiments import _genkin2007_paths as paths
from bayesift.experiments import _genkin2007_tables as tables
from bayesift.experiments._genkin2007_descriptions import descriptions
from bayesift.experiments.catalogue import Experiment, SameDecision, Within

_PAPER = "Genkin, Lewis & Madigan (2007)"
_EIGHT = (
    "The paper does not say which data its eight predictors come from. Here: scikit-learn's diabetes data, "
    "standardised; the class is progress above the median, the predictors are all but age and sex.",
)

_QUICK = "Every 9th category of ModApte, 6th of OHSUMED and 20 Newsgroups, 2nd of WebKB with one university."
_TEXTS: tuple[str, ...] = ()
_ALL = ("reuters21578", "ohsumed", "webkb", "20newsgroups", "rcv1")
_LARGEST = ("reuters21578", "ohsumed", "rcv1")

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
        name="genkin2007/table1",
        paper=_PAPER,
        item="Table 1",
        shows="Macro F1 of lasso, ridge and SVM with default and tuned thresholds on five collections.",
        run=tables.table1,
        minutes=10,
        quick_minutes=1,
        collections=("smart",),
        any_of=_ALL,
        quick=_QUICK,
        rule=Within(3),
        notes=_TEXTS,
    ),
    Experiment(
        name="genkin2007/table2",
        paper=_PAPER,
        item="Table 2",
        shows="Which differences in the F1 of categories are significant by Wilcoxon's signed-ranks test.",
        run=tables.table2,
        minutes=10,
        quick_minutes=1,
        collections=("smart",),
        any_of=_ALL,
        quick=_QUICK,
        rule={"p": SameDecision(0.05)},
        notes=_TEXTS,
    ),
    Experiment(
        name="genkin2007/table3",
        paper=_PAPER,
        item="Table 3",
        shows="No selection of features by bi-normal separation lifts ridge above lasso on all features.",
        run=tables.table3,
        minutes=10,
        quick_minutes=1,
        collections=("smart",),
        any_of=_ALL,
        quick=_QUICK,
        rule=Within(3),
        notes=_TEXTS,
    ),
    Experiment(
        name="genkin2007/figure5",
        paper=_PAPER,
        item="Figure 5",
        shows="Test errors of every category by ridge, lasso and SVM: a category is hard for all or for none.",
        run=figures.figure5,
        minutes=5,
        quick_minutes=0.5,
        collections=("smart",),
        any_of=_LARGEST,
        quick=_QUICK,
        notes=_TEXTS,
    ),
    Experiment(
        name="genkin2007/figure6",
        paper=_PAPER,
        item="Figure 6",
        shows="How many features the lasso chooses in each category.",
        run=figures.figure6,
        minutes=5,
        quick_minutes=0.5,
        collections=("smart",),
        any_of=_LARGEST,
        quick=_QUICK,
        notes=_TEXTS,
    ),
    Experiment(
        name="genkin2007/figure7",
        paper=_PAPER,
        item="Figure 7",
        shows="More positive training documents go with more features chosen.",
        run=figures.figure7,
        minutes=5,
        quick_minutes=0.5,
        collections=("reuters21578", "smart"),
        quick=_QUICK,
        notes=_TEXTS,
    ),
    Experiment(
        name="genkin2007/features",
        paper=_PAPER,
        item="Section 6.2, counts of features",
        shows="How many features lasso and SVM have, with both choices of the variance.",
        run=figures.features,
        minutes=5,
        quick_minutes=0.5,
        collections=("smart",),
        any_of=_LARGEST,
        quick=_QUICK,
        rule={name: Within(0.25, relative=True) for name in ("most", "mean", "SD")},
        notes=_TEXTS,
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
