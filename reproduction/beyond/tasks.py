"""The tasks: training and test texts of each collection, with one label each or with sets of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesift.datasets import Collection, load

#: A question of yes or no; one of several labels for each text; any set of them.
Kind = Literal["yes-no", "one", "sets"]


class Task(NamedTuple):
    """Texts and a 0/1 indicator of their labels; one column for a question of yes or no."""

    kind: Kind
    categories: tuple[str, ...]
    train_texts: list[str]
    train: NDArray[Any]
    test_texts: list[str]
    test: NDArray[Any]


def tasks_of(name: str) -> Iterator[Task]:
    """Return the parts of a task, one of :data:`TASKS`; their decisions and categories are counted together."""
    return TASKS[name].parts()


def _split(kind: Kind, collection: Collection, categories: Sequence[str] = ()) -> Task:
    """Take the split of the collection, and these categories or those that occur in both of its parts."""
    train, test = (collection.indicator(part).toarray() for part in ("train", "test"))
    used = [collection.categories.index(name) for name in categories] or np.flatnonzero(train.any(0) & test.any(0))
    names = tuple(collection.categories[k] for k in used)
    return Task(kind, names, collection.train.texts, train[:, used], collection.test.texts, test[:, used])


def _screening(review: str) -> Task:
    """Split the records of a review at random into two halves, with half of the inclusions by abstract in each."""
    records = load("cohen2006", review=review)
    included = records.indicator("train").toarray()[:, [records.categories.index("abstract")]]
    order = np.random.default_rng(0).permutation(len(records.train))
    order = order[np.argsort(included[order, 0], kind="stable")]
    train, test = np.sort(order[0::2]), np.sort(order[1::2])
    texts = records.train.texts
    return Task(
        "yes-no", (review,), [texts[i] for i in train], included[train], [texts[i] for i in test], included[test]
    )


_REVIEWS = (
    "ACEInhibitors",
    "ADHD",
    "Antihistamines",
    "AtypicalAntipsychotics",
    "BetaBlockers",
    "CalciumChannelBlockers",
    "Estrogens",
    "NSAIDS",
    "Opioids",
    "OralHypoglycemics",
    "ProtonPumpInhibitors",
    "SkeletalMuscleRelaxants",
    "Triptans",
    "UrinaryIncontinence",
)


class Parts(NamedTuple):
    """How to load the parts of a task, all of one kind."""

    kind: Kind
    parts: Callable[[], Iterator[Task]]


def _one_part(kind: Kind, name: str, *categories: str) -> Parts:
    return Parts(kind, lambda: iter([_split(kind, load(name), categories)]))


TASKS = {
    "newsroom": _one_part("sets", "newsroom"),
    "reuters21578": _one_part("sets", "reuters21578"),
    "ohsumed": _one_part("sets", "ohsumed"),
    "20newsgroups": _one_part("one", "20newsgroups"),
    "webkb": _one_part("one", "webkb"),
    "si650": _one_part("yes-no", "si650", "positive"),
    "sms": _one_part("yes-no", "sms", "spam"),
    "cohen2006": Parts("yes-no", lambda: map(_screening, _REVIEWS)),
}
