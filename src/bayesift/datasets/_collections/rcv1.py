"""RCV1-v2: the topic judgements of all documents, and three small subsets as term vectors."""

from __future__ import annotations

from io import BytesIO
from itertools import groupby
from operator import itemgetter

import numpy as np
from scipy.io import loadmat
from scipy.sparse import csr_matrix

from bayesift.datasets._collection import Collection
from bayesift.datasets._entry import Entry
from bayesift.datasets._holding import DOCUMENTS, Archive, Unpacked
from bayesift.datasets._selection import split_of
from bayesift.datasets._shelf import Shelf
from bayesift.datasets._source import Member
from bayesift.datasets._split import Split
from bayesift.datasets._table import Table
from bayesift.datasets.errors import MalformedFileError

PARSER_VERSION = 1
TRAINING_SIZE = 23_149
SUBSETS = (1, 2, 3)


def parse(members: list[Member]) -> Table:
    """Make the table of the judgements ``topic document 1``, one document's lines following each other."""
    [(name, content)] = members
    words = content.decode("ascii").split()
    if set(words[2::3]) != {"1"} or len(words) != 3 * len(content.splitlines()):
        raise _malformed(name, content.decode("ascii").splitlines())
    rows = zip(words[1::3], words[0::3], strict=True)
    documents = [
        (document, tuple(sorted({topic for _, topic in found}))) for document, found in groupby(rows, itemgetter(0))
    ]
    size = len(documents)
    return Table(
        ids=[document for document, _ in documents],
        groups=["train" if number < TRAINING_SIZE else "test" for number in range(size)],
        labels=[labels for _, labels in documents],
    )


def _malformed(name: str, lines: list[str]) -> MalformedFileError:
    """Find the first line that is not a topic, a document and 1."""
    fields = ((number, line.split()) for number, line in enumerate(lines, start=1))
    number, words = next(((n, words) for n, words in fields if len(words) != 3 or words[2] != "1"), (1, []))
    return MalformedFileError(name, number, f"expected a topic, a document and 1, found {' '.join(words)!r}")


def read_subset(content: bytes) -> tuple[csr_matrix, csr_matrix]:
    """Read the term matrix (documents × terms) and the label matrix (documents × topics) of a subset."""
    arrays = loadmat(BytesIO(content), variable_names=["data", "target"])
    return csr_matrix(arrays["data"], dtype=np.float64), csr_matrix(arrays["target"].T, dtype=np.int64)


def build(shelf: Shelf, *, subset: int | None = None) -> Collection:
    """Return the judgements without documents, or the vectors of one of the subsets."""
    if subset is None:
        table = shelf.table(parse, version=PARSER_VERSION)
        train, test = split_of(table, "train"), split_of(table, "test")
        categories = tuple(sorted({*train.categories, *test.categories}))
        return Collection(name=shelf.holding.name, train=train, test=test, categories=categories)
    if subset not in SUBSETS:
        raise ValueError(f"subset must be None, 1, 2 or 3, found {subset!r}")
    [(_, content)] = shelf.verified(f"subset{subset}").members()
    data, target = read_subset(content)
    names = tuple(f"topic{number:03d}" for number in range(1, target.shape[1] + 1))
    half = data.shape[0] // 2

    def part(rows: range) -> Split:
        pieces = np.split(target.indices, target.indptr[1:-1])[rows.start : rows.stop]
        labels = [tuple(names[number] for number in sorted(piece)) for piece in pieces]
        return Split(labels, [str(row) for row in rows], matrix=data[rows.start : rows.stop])

    return Collection(
        name=shelf.holding.name,
        train=part(range(half)),
        test=part(range(half, data.shape[0])),
        categories=names,
    )


ENTRY = Entry(
    name="rcv1",
    title="RCV1-v2 (LYRL2004), topic judgements and reduced subsets",
    summary=(
        "The topics of 804,414 Reuters stories, 103 topics, the first 23,149 for training: identifiers "
        "and labels only, no documents. With the option subset, 6,000 stories as 944 terms of value 0 "
        "or 1 (see train.matrix), names of terms and topics unknown; the first half of the file is "
        "given as train and the second as test."
    ),
    citation="D. D. Lewis, Y. Yang, T. G. Rose, F. Li, RCV1: a new benchmark collection, JMLR 5, 2004",
    terms="copyright Reuters; research use",
    homepage="http://www.jmlr.org/papers/volume5/lewis04a/",
    build=build,
    folders=("rcv1-v2", "rcv1"),
    archives=(
        Archive("rcv1-v2.topics.qrels.xz", "48b34c0958876b4c3805db0f7b5e6aaf1144e687fd8d29a53d7eb8ba95dab155"),
        Archive(
            "rcv1-v2.topics.qrels.gz",
            url="http://www.jmlr.org/papers/volume5/lewis04a/a08-topic-qrels/rcv1-v2.topics.qrels.gz",
        ),
        Archive(
            "rcv1subset1_top944.mat",
            "b2ee886a52fc33753a246afd5025e5e1bc91be8bc95533798e9abf87974f8495",
            part="subset1",
        ),
        Archive(
            "rcv1subset2_top944.mat",
            "dcf47e73085ddc9ecd845c7574fe7762559db66dcdd6dd47a2864424ddda28b6",
            part="subset2",
        ),
        Archive(
            "rcv1subset3_top944.mat",
            "09acb20453492a62b34fdd41190551a00caf21851fb4d63aa1f81d58a301640a",
            part="subset3",
        ),
    ),
    unpacked=(Unpacked(("rcv1-v2.topics.qrels",)),),
    needs=(DOCUMENTS,),
    options={"subset": "1, 2 or 3: vectors of a reduced subset (default: the judgements of all documents)"},
)
