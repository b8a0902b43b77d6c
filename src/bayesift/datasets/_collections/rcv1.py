"""RCV1-v2: the topic judgements of all documents, and three small subsets as term vectors."""

from __future__ import annotations

from io import BytesIO
from itertools import groupby
from operator import itemgetter

import numpy as np
from scipy.io import loadmat
from scipy.sparse import csr_matrix

from bayesift.datasets._collection import Collection, Split
from bayesift.datasets._files import Member
from bayesift.datasets._info import DatasetFiles
from bayesift.datasets._parsed import Parsed, split_of
from bayesift.datasets.errors import MalformedFileError

PARSER_VERSION = 1
TRAINING_SIZE = 23_149
SUBSETS = (1, 2, 3)


def parse(members: list[Member]) -> Parsed:
    """Return the judgements ``topic document 1``, one document's lines following each other."""
    [(name, content)] = members
    words = content.decode("ascii").split()
    if set(words[2::3]) != {"1"} or len(words) != 3 * len(content.splitlines()):
        raise _malformed(name, content.decode("ascii").splitlines())
    rows = zip(words[1::3], words[0::3], strict=True)
    documents = [
        (document, tuple(sorted({topic for _, topic in found}))) for document, found in groupby(rows, itemgetter(0))
    ]
    size = len(documents)
    return Parsed(
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


def build(files: DatasetFiles, *, subset: int | None = None) -> Collection:
    """Return the judgements without documents, or the vectors of one of the subsets."""
    if subset is None:
        parsed = files.parsed(parse, version=PARSER_VERSION)
        train, test = split_of(parsed, "train"), split_of(parsed, "test")
        categories = tuple(sorted({*train.categories, *test.categories}))
        return Collection(name=files.info.name, train=train, test=test, categories=categories)
    if subset not in SUBSETS:
        raise ValueError(f"subset must be None, 1, 2 or 3, found {subset!r}")
    _, content = files.only_file(f"subset{subset}")
    data, target = read_subset(content)
    names = tuple(f"topic{number:03d}" for number in range(1, target.shape[1] + 1))
    half = data.shape[0] // 2

    def part(rows: range) -> Split:
        pieces = np.split(target.indices, target.indptr[1:-1])[rows.start : rows.stop]
        labels = [tuple(names[number] for number in sorted(piece)) for piece in pieces]
        return Split(labels, [str(row) for row in rows], matrix=data[rows.start : rows.stop])

    return Collection(
        name=files.info.name,
        train=part(range(half)),
        test=part(range(half, data.shape[0])),
        categories=names,
    )
