"""Screening for systematic reviews with their protocols (SYNERGY, De Bruin et al. 2023)."""

from __future__ import annotations

import csv
import json
from io import StringIO

from bayesift.datasets._collection import Collection, Split
from bayesift.datasets._files import Member
from bayesift.datasets._info import DatasetFiles
from bayesift.datasets._parsed import Parsed, split_of
from bayesift.datasets.errors import MalformedFileError

PARSER_VERSION = 1

CRITERIA = "criteria"

#: What a protocol says, in the order of the file.
PROTOCOL = ("title", "inclusion_criteria", "exclusion_criteria", "research_questions", "objectives")

_COLUMNS = ("doi", "title", "abstract", "label_included")


def parse(members: list[Member]) -> Parsed:
    """Return the records of one review."""
    [(name, content)] = members
    review = name.rpartition("/")[2].split(".")[0]
    reader = csv.DictReader(StringIO(content.decode("utf-8-sig"), newline=""))
    lacking = [column for column in _COLUMNS if column not in (reader.fieldnames or ())]
    if lacking:
        raise MalformedFileError(
            name, 1, f"expected the columns {', '.join(_COLUMNS)}, found no {' and no '.join(lacking)}"
        )
    records = list(reader)
    return Parsed(
        ids=[record["doi"] or f"record {number}" for number, record in enumerate(records)],
        groups=[review] * len(records),
        labels=[("included",) if record["label_included"] == "1" else () for record in records],
        texts=["\n".join(filter(None, (record["title"], record["abstract"]))) for record in records],
    )


def parse_criteria(members: list[Member]) -> Parsed:
    """Return one document for each review: its protocol as JSON."""
    [(name, content)] = members
    try:
        found = json.loads(content.decode("utf-8-sig"))
        protocols = {
            str(review): {part: str(said.get(part, "")) for part in PROTOCOL} for review, said in found.items()
        }
    except (json.JSONDecodeError, AttributeError) as error:
        raise MalformedFileError(name, 1, f"expected a JSON object of protocols by review, found {error}") from error
    return Parsed(
        ids=list(protocols),
        groups=list(protocols),
        labels=[()] * len(protocols),
        texts=[json.dumps(said) for said in protocols.values()],
    )


def build(files: DatasetFiles, *, review: str = "van_der_Valk_2021") -> Collection:
    """Return the records of one review, all in the training part, and its protocol."""
    reviews = sorted(part for part in files.info.needs if part != CRITERIA)
    if review not in reviews:
        raise ValueError(f"review must be one of {', '.join(reviews)}, found {review!r}")
    parsed = files.parsed(parse, version=PARSER_VERSION, part=review)
    protocols = files.parsed(parse_criteria, version=PARSER_VERSION, part=CRITERIA)
    said = dict(zip(protocols.ids, protocols.texts or [], strict=True)).get(review, "{}")
    protocol = {part: text for part, text in json.loads(said).items() if text}
    about = ("title", "research_questions", "inclusion_criteria")
    return Collection(
        name=files.info.name,
        train=split_of(parsed, review),
        test=Split([], [], []),
        categories=("included",),
        descriptions={"included": "\n".join(protocol[part] for part in about if part in protocol)},
        protocol=protocol,
    )
