"""Collections of labelled documents: the standard ones by name, a user's own from files, one embedded."""

from bayesift.datasets._collection import Collection
from bayesift.datasets._description import Description
from bayesift.datasets._errors import (
    ChecksumError,
    DamagedFileError,
    FetchError,
    MalformedFileError,
    MissingDataError,
)
from bayesift.datasets._fetching import ProgressBar, fetch
from bayesift.datasets._loading import available, describe, known, load
from bayesift.datasets._origin import Origin
from bayesift.datasets._paths import cache_root, data_root
from bayesift.datasets._reading import read
from bayesift.datasets._records import Record, Records, iter_records
from bayesift.datasets._split import Split
from bayesift.datasets._stop_words import known_stop_words, stop_words

__all__ = [
    "ChecksumError",
    "Collection",
    "DamagedFileError",
    "Description",
    "FetchError",
    "MalformedFileError",
    "MissingDataError",
    "Origin",
    "ProgressBar",
    "Record",
    "Records",
    "Split",
    "available",
    "cache_root",
    "data_root",
    "describe",
    "fetch",
    "iter_records",
    "known",
    "known_stop_words",
    "load",
    "read",
    "stop_words",
]
