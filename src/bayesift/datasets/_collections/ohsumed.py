"""OHSUMED, the first 20,000 documents of 1991, by cardiovascular and other disease categories."""

from __future__ import annotations

from bayesift.datasets._collection import Collection
from bayesift.datasets._entry import Entry
from bayesift.datasets._holding import Archive, Unpacked
from bayesift.datasets._selection import split_of
from bayesift.datasets._shelf import Shelf
from bayesift.datasets._source import Member
from bayesift.datasets._table import Table

PARSER_VERSION = 1

CATEGORIES = {
    "C01": "Bacterial Infections and Mycoses",
    "C02": "Virus Diseases",
    "C03": "Parasitic Diseases",
    "C04": "Neoplasms",
    "C05": "Musculoskeletal Diseases",
    "C06": "Digestive System Diseases",
    "C07": "Stomatognathic Diseases",
    "C08": "Respiratory Tract Diseases",
    "C09": "Otorhinolaryngologic Diseases",
    "C10": "Nervous System Diseases",
    "C11": "Eye Diseases",
    "C12": "Urologic and Male Genital Diseases",
    "C13": "Female Genital Diseases and Pregnancy Complications",
    "C14": "Cardiovascular Diseases",
    "C15": "Hemic and Lymphatic Diseases",
    "C16": "Neonatal Diseases and Abnormalities",
    "C17": "Skin and Connective Tissue Diseases",
    "C18": "Nutritional and Metabolic Diseases",
    "C19": "Endocrine Diseases",
    "C20": "Immunologic Diseases",
    "C21": "Disorders of Environmental Origin",
    "C22": "Animal Diseases",
    "C23": "Pathological Conditions, Signs and Symptoms",
}


def parse(members: list[Member]) -> Table:
    """Make the table of the distinct documents: a file that is in several categories is one document."""
    texts: dict[tuple[str, str], str] = {}
    labels: dict[tuple[str, str], list[str]] = {}
    for name, content in members:
        parts = name.split("/")
        if len(parts) < 3 or parts[-3] not in ("training", "test"):
            continue
        key = (parts[-3], parts[-1])
        texts[key] = content.decode("latin-1")
        labels.setdefault(key, []).append(parts[-2])
    keys = sorted(texts)
    return Table(
        ids=[number for _, number in keys],
        groups=[split for split, _ in keys],
        labels=[tuple(sorted(labels[key])) for key in keys],
        texts=[texts[key] for key in keys],
    )


def build(shelf: Shelf) -> Collection:
    """Return the split of the distribution."""
    table = shelf.table(parse, version=PARSER_VERSION)
    return Collection(
        name=shelf.holding.name,
        train=split_of(table, "training"),
        test=split_of(table, "test"),
        categories=tuple(CATEGORIES),
        descriptions=CATEGORIES,
    )


ENTRY = Entry(
    name="ohsumed",
    title="OHSUMED, first 20,000 documents, 23 disease categories",
    summary=(
        "Titles and abstracts from MEDLINE with one or more of the 23 MeSH disease categories C01 to "
        "C23: 6,286 documents for training and 7,643 for testing. In the distribution a document is a "
        "file in the folder of each of its categories."
    ),
    citation=(
        "W. Hersh et al., OHSUMED: an interactive retrieval evaluation and new large test collection "
        "for research, SIGIR 1994; selection by T. Joachims, distributed by A. Moschitti"
    ),
    terms="research use; MEDLINE text not for other use",
    homepage="http://disi.unitn.it/moschitti/corpora.htm",
    build=build,
    folders=("ohsumed", "ohsumed/ohsumed-first-20000-docs", "ohsumed-first-20000-docs"),
    archives=(
        Archive(
            "ohsumed-first-20000-docs.tar.xz",
            "d8dca5d226e0162565e4b9762e0f9982e4829922c2c82c6177e029b61eaddd12",
        ),
        Archive(
            "ohsumed-first-20000-docs.tar.gz",
            url="http://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",
        ),
    ),
    unpacked=(Unpacked(("training", "test")),),
)
