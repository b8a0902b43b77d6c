"""Collections of labelled documents: the standard ones by name, a user's own from files, one embedded."""

from bayesift.datasets._collection import Collection, Split
from bayesift.datasets._columns import USUAL_NAMES, FeaturedText, Origin, TextColumns, find_column
from bayesift.datasets._documents import RIS_NAMES, Document, read_documents
from bayesift.datasets._fetching import ProgressBar, fetch
from bayesift.datasets._files import cache_root, data_root
from bayesift.datasets._formats import Format
from bayesift.datasets._info import DatasetFiles, DatasetInfo, Description
from bayesift.datasets._json import stream_objects
from bayesift.datasets._reading import Record, Records, iter_records, read, read_texts
from bayesift.datasets._registry import available, dataset_files, describe, known, known_stop_words, load, stop_words
from bayesift.datasets._tables import Table, open_table
from bayesift.datasets._texts import TextBlock, TextFormat, TextRow, TextStream, open_texts
from bayesift.datasets.errors import (
    CellTooLongError,
    ChecksumError,
    ColumnError,
    DamagedFileError,
    EncodingError,
    ExpansionError,
    FetchError,
    FormatError,
    HeaderError,
    MalformedFileError,
    MissingDataError,
    OptionError,
    QuoteError,
)

__all__ = [
    "RIS_NAMES",
    "USUAL_NAMES",
    "CellTooLongError",
    "ChecksumError",
    "Collection",
    "ColumnError",
    "DamagedFileError",
    "DatasetFiles",
    "DatasetInfo",
    "Description",
    "Document",
    "EncodingError",
    "ExpansionError",
    "FeaturedText",
    "FetchError",
    "Format",
    "FormatError",
    "HeaderError",
    "MalformedFileError",
    "MissingDataError",
    "OptionError",
    "Origin",
    "ProgressBar",
    "QuoteError",
    "Record",
    "Records",
    "Split",
    "Table",
    "TextBlock",
    "TextColumns",
    "TextFormat",
    "TextRow",
    "TextStream",
    "available",
    "cache_root",
    "data_root",
    "dataset_files",
    "describe",
    "fetch",
    "find_column",
    "iter_records",
    "known",
    "known_stop_words",
    "load",
    "open_table",
    "open_texts",
    "read",
    "read_documents",
    "read_texts",
    "stop_words",
    "stream_objects",
]
