"""Chai, Ng & Chieu (2002), Bayesian online classifiers for text classification and filtering."""

from __future__ import annotations

from typing import Any

from bayesift.experiments._chai2002_classifiers import table2, table3
from bayesift.experiments._chai2002_tables import figure2, table4, table5
from bayesift.experiments.catalogue import Experiment, Within

__all__ = ["EXPERIMENTS", "figure2", "table2", "table3", "table4", "table5"]

_PAPER = "Chai, Ng & Chieu (2002)"
_STREAMS: Any = {
    "minutes": 5.0,
    "quick_minutes": 0.2,
    "collections": ("reuters21578", "ohsumed", "cohen2006", "smart"),
    "quick": "The drug reviews only, and one seed of the random queries.",
}

EXPERIMENTS = (
    Experiment(
        name="chai2002/table2",
        paper=_PAPER,
        item="Table 2",
        shows="F1 on Reuters ModApte of the online perceptron, Gaussian processes and support vector machines.",
        run=table2,
        minutes=5,
        quick_minutes=1.5,
        collections=("reuters21578", "smart"),
        quick="No polynomial and RBF kernels.",
        rule=Within(2.0),
    ),
    Experiment(
        name="chai2002/table3",
        paper=_PAPER,
        item="Table 3",
        shows="Sign tests between these classifiers with thresholds of the best training F1.",
        run=table3,
        minutes=5,
        quick_minutes=1.5,
        collections=("reuters21578", "smart"),
        quick="No polynomial and RBF kernels.",
    ),
    Experiment(
        name="chai2002/table4",
        paper=_PAPER,
        item="Table 4",
        shows="Batch-adaptive filtering with and without retraining, queries for information and random queries.",
        run=table4,
        **_STREAMS,
    ),
    Experiment(
        name="chai2002/table5",
        paper=_PAPER,
        item="Table 5",
        shows="How many of the documents retrieved by the classifier proper and by queries are relevant.",
        run=table5,
        **_STREAMS,
    ),
    Experiment(
        name="chai2002/figure2",
        paper=_PAPER,
        item="Figure 2",
        shows="The number of features as relevant documents are retrieved.",
        run=figure2,
        **_STREAMS,
    ),
)
