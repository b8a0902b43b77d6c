"""Texts with their features, and their labels (single ones or sets), in the form that the models take."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from bayesift._labels import TargetType, check_label_types
from bayesift._typing import AnyArray, FloatArray, Int64Array
from bayesift.datasets import USUAL_NAMES, FeaturedText, find_column
from bayesift.shards import Shards
from bayesift.workflow.errors import FeaturesError, NoLabelsError, OneLabelError, StrangeLabelsError

#: Number of parts that the training texts are divided into, one of which is held out.
N_FOLDS = 5
#: A label with more characters is no label but a text: every row would take the memory of the longest.
MOST_CHARACTERS = 1000


class Targets(NamedTuple):
    """What was found in the labels.

    ``classes`` are the labels in order; ``y`` has one of them for each text or, if texts have sets of labels, is an
    indicator matrix with a column for each label.
    """

    target_type: TargetType
    classes: AnyArray
    y: Any

    def indicator(self) -> Int64Array:
        """Mark the labels of every text, texts × classes."""
        if self.target_type == "multilabel-indicator":
            return np.asarray(self.y.toarray())
        return (self.y[:, None] == self.classes).astype(np.int64)

    def sets(self) -> list[tuple[Any, ...]]:
        """Return the labels of every text as a tuple."""
        if self.target_type != "multilabel-indicator":
            return [(label,) for label in self.y.tolist()]
        return [tuple(self.classes[row.indices].tolist()) for row in self.y]

    def counts(self) -> Int64Array:
        """Return how many texts have each label."""
        if self.target_type == "multilabel-indicator":
            return np.asarray(self.y.sum(axis=0)).ravel().astype(np.int64)
        return np.bincount(np.searchsorted(self.classes, self.y), minlength=self.classes.size)

    def shares(self) -> FloatArray:
        """Return the share of the texts that have each label."""
        return self.counts() / self.y.shape[0]


def read_targets(y: Any, multilabel: bool | Literal["auto"] = "auto") -> Targets:
    """Find out whether texts have one label each or sets of labels.

    Parameters
    ----------
    y : sequence of labels, or of sets, lists or tuples of labels
        One for each text.
    multilabel : bool or "auto", default="auto"
        Whether a text may have any number of labels; ``"auto"`` means yes if some set does not hold exactly one.

    Returns
    -------
    Targets
    """
    labels = list(y) if not isinstance(y, np.ndarray) else list(y.tolist())
    if not labels:
        raise ValueError("y is empty; expected a label, or a set of labels, for each text")
    grouped = [is_label_set(label) for label in labels]
    if any(grouped) and not all(grouped):
        odd = labels[grouped.index(False)]
        raise ValueError(f"y mixes sets of labels and single labels such as {odd!r}; expected one form for all texts")
    sets = [tuple(dict.fromkeys(found)) for found in label_sets(labels)]
    alone = [len(found) == 1 for found in sets]
    if multilabel is False and not all(alone):
        odd = labels[alone.index(False)]
        raise ValueError(f"y has {odd!r}; expected exactly one label for each text")
    if multilabel is not True and all(alone):
        return _one_label_each([found[0] for found in sets])
    classes = _sorted({name for found in sets for name in found})
    if not classes.size:
        raise NoLabelsError("y has no label at all; expected some texts with a label")
    return Targets("multilabel-indicator", classes, indicator(sets, classes.tolist()))


def targets_of(shards: Shards) -> Targets:
    """Return the labels stored with the rows of shards."""
    labels = shards.labels
    if labels is None or not shards.label_names:
        raise NoLabelsError(f"{shards!r} has no labels; expected a column of labels to learn from")
    classes = _sorted(set(shards.label_names))
    if sp.issparse(labels):
        return Targets("multilabel-indicator", classes, labels.astype(np.int64))
    return Targets(_kind_of(classes), classes, labels)


def one_column(values: Any, name: str) -> Iterable[Any]:
    """Return the values of a column: an iterable as it is, or the only column of a data frame or 2D array.

    Parameters
    ----------
    values : iterable, data frame or array
    name : str
        What an error calls it.
    """
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is a {type(values).__name__}; expected a list with an entry for each text")
    column: Any = values
    if hasattr(column, "columns"):
        columns = [str(found) for found in column.columns]
        if len(columns) != 1:
            raise ValueError(
                f"{name} is a table with {len(columns)} columns ({', '.join(columns[:5])}); expected one column"
            )
        column = column.to_numpy()
    if getattr(column, "ndim", 1) == 1:
        return values
    if column.ndim != 2 or column.shape[1] != 1:
        raise ValueError(f"{name} has shape {column.shape}; expected an entry for each text, or one column")
    return list(np.asarray(column)[:, 0].tolist())


def rows_of(texts: Any, features: Any = None, name: str = "texts") -> list[str]:
    """Return texts as a list, each with its features if there are any.

    Parameters
    ----------
    texts : iterable of str, or data frame
        With features, a data frame that has a column of texts and the features, or texts that are
        :class:`bayesift.datasets.FeaturedText`.
    features : sequence or mapping of str, optional
        Names of the features.
    name : str
        What an error calls the texts.

    Returns
    -------
    list of str
    """
    if features is None:
        return list(one_column(texts, name))
    wanted = list(features)
    if not hasattr(texts, "columns"):
        found = list(one_column(texts, name))
        for place, text in enumerate(found):
            check_has(text, wanted, f"{name}[{place}]")
        return found
    columns = [str(column) for column in texts.columns]
    if missing := [feature for feature in wanted if feature not in columns]:
        raise FeaturesError(
            f"{name} has no column for the feature {missing[0]!r}; its columns are {', '.join(columns)}"
        )
    others = [column for column in columns if column not in wanted]
    text = others[0] if len(others) == 1 else find_column(others, USUAL_NAMES["text"])
    if text is None:
        raise FeaturesError(
            f"{name} has these columns beside the features: {', '.join(others) or 'none'}; expected one column of "
            f"texts, or one that is called 'text'"
        )
    contents = texts[text].to_list()
    for place, content in enumerate(contents):
        if not isinstance(content, str):
            raise TypeError(f"{name}[{text!r}] has a {type(content).__name__} at {place}; expected a text")
    rows = zip(*(texts[feature].to_list() for feature in wanted), strict=True)
    return [
        FeaturedText(content, dict(zip(wanted, row, strict=True))) for content, row in zip(contents, rows, strict=True)
    ]


def check_has(text: Any, wanted: Sequence[str], what: str) -> None:
    """Refuse a text without some of the features."""
    found = getattr(text, "features", {})
    for feature in wanted:
        if feature not in found:
            raise FeaturesError(
                f"{what} has no feature {feature!r}; expected a data frame with this column, or texts that are "
                f"FeaturedText"
            )


def is_label_set(label: Any) -> bool:
    """Tell whether something is a set of labels rather than a label."""
    return isinstance(label, (set, frozenset, list, tuple))


def indicator(sets: Iterable[Sequence[Any]], classes: Sequence[Any]) -> sp.csr_matrix:
    """Mark the labels of every text in the columns of the classes; labels that are not among them are left out."""
    column = {label: place for place, label in enumerate(classes)}
    rows = [sorted(column[label] for label in found if label in column) for found in sets]
    indptr = np.cumsum([0, *map(len, rows)])
    indices = np.array([place for row in rows for place in row], dtype=np.int64)
    ones: AnyArray = np.ones(indices.size, dtype=np.int64)
    return sp.csr_matrix((ones, indices, indptr), shape=(len(rows), len(classes)))


def label_sets(y: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return the labels of every text as a tuple, whatever their form."""
    return [tuple(label) if is_label_set(label) else (label,) for label in y]


def without_unlabelled(
    texts: Sequence[str], sets: Sequence[tuple[Any, ...]]
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Leave out texts without a label if every text must have one."""
    kept = [place for place, found in enumerate(sets) if any(is_given(label) for label in found)]
    if not kept:
        raise NoLabelsError("no text has a label; expected some texts with one")
    return [texts[place] for place in kept], [sets[place] for place in kept]


def check_known_labels(known: Iterable[Any], sets: Iterable[tuple[Any, ...]]) -> None:
    """Refuse labels of texts to measure on if none of them is known, so that nothing could be right."""
    names = {str(label) for label in known}
    found = dict.fromkeys(str(label) for one in sets for label in one if is_given(label))
    if found and names.isdisjoint(found):
        given, expected = (
            ", ".join(map(repr, [*some][:5])) + ", …" * (len(some) > 5) for some in (found, sorted(names))
        )
        raise StrangeLabelsError(
            f"none of the labels of these texts is known to the model: {given}; it gives {expected}"
        )


def fingerprint(texts: Sequence[str], labels: Sequence[Any]) -> str:
    """Return a hash of these texts and labels, in this order."""
    digest = hashlib.sha256()
    for text, found in zip(texts, label_sets(labels), strict=True):
        # Features belong to the texts.
        beside = [f"{name}={value}" for name, value in getattr(text, "features", {}).items()]
        for part in (text, *beside, *sorted(map(str, found))):
            content = part.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(content))
            digest.update(content)
        digest.update(b"\n")
    return digest.hexdigest()


def is_given(label: Any) -> bool:
    """Tell whether there is a label: neither None nor NaN nor an empty string."""
    return not (label is None or label == "" or label != label)


def assign_folds(texts: Sequence[str], sets: Sequence[tuple[Any, ...]], n_folds: int) -> Int64Array:
    """Return the fold of each text, reproducibly; every fold has about the same share of every label set.

    Copies of a text are in the same fold, because a held-out copy would be known from the other.
    """
    first: dict[str, int] = {}
    for place, text in enumerate(texts):
        first.setdefault(text, place)
    distinct = np.fromiter(first.values(), dtype=np.int64, count=len(first))
    order = np.random.default_rng(0).permutation(distinct)
    ranked = sorted(order.tolist(), key=lambda place: tuple(map(str, sets[place])))
    fold = dict(zip(ranked, (np.arange(len(ranked)) % n_folds).tolist(), strict=True))
    return np.fromiter((fold[first[text]] for text in texts), dtype=np.int64, count=len(texts))


def _one_label_each(labels: list[Any]) -> Targets:
    classes = _sorted(set(labels))
    return Targets(_kind_of(classes), classes, np.array(labels, dtype=classes.dtype))


def _kind_of(classes: AnyArray) -> TargetType:
    """Tell whether there are two labels or more; a single one is refused."""
    if classes.size < 2:
        raise OneLabelError(f"the texts have only one label, {classes.tolist()[0]!r}; expected at least two")
    return "binary" if classes.size == 2 else "multiclass"


def _sorted(labels: set[Any]) -> AnyArray:
    check_label_types(list(labels))
    if any(isinstance(label, str) and len(label) > MOST_CHARACTERS for label in labels):
        raise ValueError(f"a label has more than {MOST_CHARACTERS:,} characters; expected names, not texts")
    return np.array(sorted(labels))
