"""OHSUMED, the first 20,000 documents of 1991, by cardiovascular and other disease categories."""

from __future__ import annotations

from bayesift.datasets._collection import Collection
from bayesift.datasets._files import Member
from bayesift.datasets._info import DatasetFiles
from bayesift.datasets._parsed import Parsed, split_of

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


def parse(members: list[Member]) -> Parsed:
    """Return the distinct documents: a file that is in several categories is one document."""
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
    return Parsed(
        ids=[number for _, number in keys],
        groups=[split for split, _ in keys],
        labels=[tuple(sorted(labels[key])) for key in keys],
        texts=[texts[key] for key in keys],
    )


def build(files: DatasetFiles) -> Collection:
    """Return the split of the distribution."""
    parsed = files.parsed(parse, version=PARSER_VERSION)
    return Collection(
        name=files.info.name,
        train=split_of(parsed, "training"),
        test=split_of(parsed, "test"),
        categories=tuple(CATEGORIES),
        descriptions=CATEGORIES,
    )
