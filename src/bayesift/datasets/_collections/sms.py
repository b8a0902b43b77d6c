"""The SMS Spam Collection."""

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
TRAINING_SIZE = 1674

_NAMES = ("ham", "spam")
_ZIP_SHA256 = "1587ea43e58e82b14ff1f5425c88e17f8496bfcdb67a583dbff9eefaf9963ce3"


def parse(members: list[Member]) -> Table:
    """Make the table of all messages in the order of the file."""
    [(name, content)] = [member for member in members if member[0].rpartition("/")[2] == "SMSSpamCollection"]
    lines = labelled_lines(name, content.decode("utf-8"), _NAMES)
    return Table(
        ids=[str(number) for number in range(1, len(lines) + 1)],
        groups=["all"] * len(lines),
        labels=[(label,) for label, _ in lines],
        texts=[text for _, text in lines],
    )


def build(shelf: Shelf, *, seed: int | None = None) -> Collection:
    """Take the first 30 % of the messages for training, in file order or shuffled by a seed."""
    if seed is not None:
        check_seed(seed)
    table = shelf.table(parse, version=PARSER_VERSION)
    size = len(table.ids)
    order = list(range(size)) if seed is None else shuffled(size, seed)
    return Collection(
        name=shelf.holding.name,
        train=rows_of(table, order[:TRAINING_SIZE]),
        test=rows_of(table, order[TRAINING_SIZE:]),
        categories=_NAMES,
    )


ENTRY = Entry(
    name="sms",
    title="SMS Spam Collection v.1",
    summary=(
        "5,574 short messages, 4,827 ham and 747 spam. The collection has no split of its own: the "
        "first 1,674 messages (30 %) are for training and the other 3,900 for testing. Identifiers are "
        "line numbers."
    ),
    citation=(
        "T. A. Almeida, J. M. Gómez Hidalgo, A. Yamakami, Contributions to the study of SMS spam filtering, DocEng 2011"
    ),
    terms="free with citation (CC BY 4.0 at UCI)",
    homepage="https://archive.ics.uci.edu/dataset/228/sms+spam+collection",
    build=build,
    folders=("sms-spam", "sms", "."),
    archives=(
        Archive("SMSSpamCollection.xz", "1f4576654820847e5a894187871b7c9af4eda8879a702c6b06af46f33cd7f629"),
        Archive(
            "smsspamcollection.zip",
            _ZIP_SHA256,
            "https://archive.ics.uci.edu/ml/machine-learning-databases/00228/smsspamcollection.zip",
        ),
        Archive("sms+spam+collection.zip", _ZIP_SHA256),
    ),
    unpacked=(Unpacked(("SMSSpamCollection",)), Unpacked(("smsspamcollection/SMSSpamCollection",))),
    options={"seed": "shuffle the messages by this seed before the split (default: file order)"},
)
