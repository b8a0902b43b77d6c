"""UMICH SI650: sentences of opinion on four books and films."""

from __future__ import annotations

from bayesift.datasets._collection import Collection
from bayesift.datasets._entry import Entry
from bayesift.datasets._holding import Archive, Unpacked
from bayesift.datasets._labelled_lines import labelled_lines
from bayesift.datasets._selection import check_seed, rows_of, shuffled
from bayesift.datasets._shelf import Shelf
from bayesift.datasets._source import Member
from bayesift.datasets._table import Table

PARSER_VERSION = 1
TRAINING_SIZE = 1000

_NAMES = {"0": "negative", "1": "positive"}


def parse(members: list[Member]) -> Table:
    """Make the table of the distinct lines in the order of their first appearance."""
    [(name, content)] = members
    lines = list(dict.fromkeys(labelled_lines(name, content.decode("utf-8"), _NAMES)))
    return Table(
        ids=[str(number) for number in range(len(lines))],
        groups=["all"] * len(lines),
        labels=[(_NAMES[label],) for label, _ in lines],
        texts=[text for _, text in lines],
    )


def build(shelf: Shelf, *, seed: int = 0) -> Collection:
    """Shuffle the distinct sentences by the seed; the first thousand are for training."""
    check_seed(seed)
    table = shelf.table(parse, version=PARSER_VERSION)
    order = shuffled(len(table.ids), seed)
    return Collection(
        name=shelf.holding.name,
        train=rows_of(table, order[:TRAINING_SIZE]),
        test=rows_of(table, order[TRAINING_SIZE:]),
        categories=tuple(_NAMES.values()),
    )


ENTRY = Entry(
    name="si650",
    title="UMICH SI650, sentiment of sentences",
    summary=(
        "Sentences of opinion, positive or negative: 1,411 distinct of 7,086 lines, 1,000 for training "
        "and 411 for testing by a random split. One sentence is there with both labels. Identifiers are "
        "positions among the distinct lines."
    ),
    citation="University of Michigan SI650, sentiment classification, Kaggle in Class, 2011",
    terms="competition data, terms not stated",
    homepage="https://www.kaggle.com/c/si650winter11",
    build=build,
    folders=("umich-si650", "si650"),
    archives=(Archive("training.txt.xz", "88d9a7a49b4140b77a609ef290cff4af2719d039e4584860a752acc3ca5012ec"),),
    unpacked=(Unpacked(("training.txt",)),),
    options={"seed": "of the split: numpy.random.default_rng(seed).permutation(1411), first 1000 train (0)"},
)
