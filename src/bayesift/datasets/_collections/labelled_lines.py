"""Collections of one document a line: UMICH SI650, sentences of opinion, and the SMS Spam Collection."""

from __future__ import annotations

from collections.abc import Collection as Values
from numbers import Integral

import numpy as np

from bayesift.datasets._collection import Collection
from bayesift.datasets._files import Member
from bayesift.datasets._info import DatasetFiles
from bayesift.datasets._parsed import Parsed, rows_of
from bayesift.datasets.errors import MalformedFileError

PARSER_VERSION = 1
SI650_LABELS = {"0": "negative", "1": "positive"}
SI650_TRAINING_SIZE = 1000
SMS_LABELS = ("ham", "spam")
SMS_TRAINING_SIZE = 1674


def parse_si650(members: list[Member]) -> Parsed:
    """Return the distinct lines in the order of their first appearance."""
    [(name, content)] = members
    lines = list(dict.fromkeys(labelled_lines(name, content.decode("utf-8"), SI650_LABELS)))
    return _parsed([(SI650_LABELS[label], text) for label, text in lines], first=0)


def build_si650(files: DatasetFiles, *, seed: int = 0) -> Collection:
    """Shuffle the distinct sentences by the seed; the first thousand are for training."""
    check_seed(seed)
    parsed = files.parsed(parse_si650, version=PARSER_VERSION)
    return _divided(files, parsed, seed, SI650_TRAINING_SIZE, tuple(SI650_LABELS.values()))


def parse_sms(members: list[Member]) -> Parsed:
    """Return all messages in the order of the file."""
    [(name, content)] = [member for member in members if member[0].rpartition("/")[2] == "SMSSpamCollection"]
    return _parsed(labelled_lines(name, content.decode("utf-8"), SMS_LABELS), first=1)


def build_sms(files: DatasetFiles, *, seed: int | None = None) -> Collection:
    """Take the first 30 % of the messages for training, in file order or shuffled by a seed."""
    if seed is not None:
        check_seed(seed)
    parsed = files.parsed(parse_sms, version=PARSER_VERSION)
    return _divided(files, parsed, seed, SMS_TRAINING_SIZE, SMS_LABELS)


def check_seed(seed: object) -> None:
    """Refuse what is not a seed, before any work."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, found {seed!r}")


def labelled_lines(name: str, content: str, labels: Values[str]) -> list[tuple[str, str]]:
    """Split the lines of a file at their first tab.

    Lines end at newlines only: the texts hold other characters that Python takes for line ends.

    Parameters
    ----------
    name : str
        The file, for messages.
    content : str
        Its text.
    labels : collection of str
        The labels that may occur.

    Returns
    -------
    list of (str, str)
        Label and text of each line, in order.
    """
    rows = []
    for number, line in enumerate(content.removesuffix("\n").split("\n"), start=1):
        label, tab, text = line.partition("\t")
        if not tab or label not in labels:
            raise MalformedFileError(
                name, number, f"expected one of {', '.join(labels)}, a tab and the text, found {line[:40]!r}"
            )
        rows.append((label, text.removesuffix("\r")))
    return rows


def _parsed(lines: list[tuple[str, str]], first: int) -> Parsed:
    """Return the documents, numbered from the first number on."""
    return Parsed(
        ids=[str(number) for number in range(first, first + len(lines))],
        groups=["all"] * len(lines),
        labels=[(label,) for label, _ in lines],
        texts=[text for _, text in lines],
    )


def _divided(
    files: DatasetFiles, parsed: Parsed, seed: int | None, training_size: int, categories: tuple[str, ...]
) -> Collection:
    """Divide the documents, in file order or in that of ``numpy.random.default_rng(seed).permutation``."""
    size = len(parsed.ids)
    order = list(range(size)) if seed is None else np.random.default_rng(seed).permutation(size).tolist()
    return Collection(
        name=files.info.name,
        train=rows_of(parsed, order[:training_size]),
        test=rows_of(parsed, order[training_size:]),
        categories=categories,
    )
