"""Two classifiers on the same texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from bayesift._typing import FloatArray
from bayesift.evaluate import Comparison, Results, micro_sign_test
from bayesift.evaluate import compare as compare_results
from bayesift.workflow._label_sets import check_known_labels, indicator, label_sets, rows_of, without_unlabelled
from bayesift.workflow.features import kinds_of
from bayesift.workflow.text_classifier import TextClassifier


def compare(
    first: TextClassifier,
    second: TextClassifier,
    texts: Iterable[str],
    y: Iterable[Any],
    *,
    names: tuple[str, str] = ("A", "B"),
) -> Comparison:
    """Compare two classifiers on labelled texts: measures, significance tests, and where they differ.

    If texts have one label each, the sign test is of texts (which of the two is right) and not of single decisions.
    What is 0/0 is left out of macro averages, as in :func:`evaluate`: the F1 of a label that no text has and none got.

    Parameters
    ----------
    first, second : TextClassifier
        Fitted; their labels may differ.
    texts : iterable of str
    y : iterable of labels or sets of labels
        The truth. Texts without a label are left out, unless a classifier itself may give a text none.
    names : pair of str
        The names of the classifiers.

    Returns
    -------
    Comparison
        Print it to see everything.

    Examples
    --------
    >>> from bayesift.workflow import TextClassifier, compare
    >>> texts, labels = ["wheat", "corn", "sea", "ship"] * 5, ["farm", "farm", "sea", "sea"] * 5
    >>> bayes, lasso = (TextClassifier(model, variance=1.0).fit(texts, labels) for model in ("nb", "lasso"))
    >>> compare(bayes, lasso, texts, labels).tests["texts right (sign test)"].sign
    '~'
    """
    features = {**_kinds(first), **_kinds(second)} or None
    documents, sets = rows_of(texts, features), label_sets(y)
    if len(documents) != len(sets):
        raise ValueError(f"texts and y must have the same length, found {len(documents)} and {len(sets)}")
    if not documents:
        raise ValueError("texts is empty; expected some texts to compare on")
    single = "multilabel-indicator" not in (first.target_type_, second.target_type_)
    if single:
        documents, sets = without_unlabelled(documents, sets)
    check_known_labels([*first.classes_, *second.classes_], sets)
    sets = [tuple(map(str, found)) for found in sets]
    labels = sorted({str(label) for one in (first, second) for label in one.classes_})
    truth = indicator(sets, labels).toarray() > 0
    # With two labels that exclude each other, one column tells all.
    shown = [1] if single and len(labels) == 2 else list(range(len(labels)))
    results, right = [], []
    for classifier, name in zip((first, second), names, strict=True):
        decisions, probabilities = (_spread(part, classifier, labels) for part in classifier.predictions(documents))
        results.append(
            Results(
                truth[:, shown],
                decisions[:, shown] > 0,
                np.clip(probabilities[:, shown], 0.0, 1.0),
                name=name,
                categories=[labels[place] for place in shown],
            )
        )
        right.append(np.all((decisions > 0) == truth, axis=1))
    # As in ``evaluate``.
    found = compare_results(*results, empty=np.nan)
    if not single:
        return found
    tests = {"texts right (sign test)": micro_sign_test(np.ones(len(documents), dtype=bool), *right)}
    return replace(
        found, tests=tests | {name: test for name, test in found.tests.items() if name != "decisions (sign test)"}
    )


def comparison_dict(found: Comparison) -> dict[str, Any]:
    """Return a comparison as values that JSON can hold."""
    return {
        "names": list(found.names),
        "n_texts": found.n_documents,
        "measures": {name: [_plain(value) for value in pair] for name, pair in found.measures.items()},
        "tests": {
            name: {**{key: _plain(value) for key, value in test._asdict().items()}, "sign": test.sign}
            for name, test in found.tests.items()
        },
        "differences": {
            name: {key: _plain(getattr(part, key)) for key in ("difference", "low", "high", "sign")}
            for name, part in found.intervals.items()
        },
        "f1": {
            label: [_plain(float(value)) for value in pair]
            for label, pair in zip(found.categories, found.f1.T, strict=True)
        },
    }


def _kinds(classifier: TextClassifier) -> dict[str, Any]:
    return {} if classifier.features is None else dict(kinds_of(classifier.features))


def _spread(part: Any, classifier: TextClassifier, labels: list[str]) -> FloatArray:
    """Move the columns of a classifier to those of all labels."""
    wide = np.zeros((len(part), len(labels)))
    wide[:, [labels.index(str(label)) for label in classifier.classes_]] = part
    return wide


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not np.isfinite(value) else value
