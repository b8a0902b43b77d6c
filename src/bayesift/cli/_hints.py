"""What to try after an error, in the words of the command line."""

from __future__ import annotations

#: What an error says, and what helps; the first that fits is taken.
_HINTS = (
    ("label must name one of", "--of LABEL names it"),
    ("is no model file", "model files are written by 'bayesift train'; the order is MODEL, then DATA"),
    ("gives every text exactly one label", "choose another model with --model"),
    ("no text has a label", "--label names the column of the labels"),
    ("y has one label only", "a classifier needs texts of two labels or more; is --label the right column?"),
    ("no term was found", "are these texts? --text names the column"),
    ("take a polytomous model", "train with --model polytomous"),
    ("has no posterior to go on from", "train with --posterior"),
    ("prior_knowledge names the category", "the names in the file must be those of the labels"),
    ("prior_knowledge needs a model with priors", "--prior-from works with lasso, ridge, polytomous and probit"),
    ("something went wrong that should not", "this is a fault of bayesift; 'bayesift --debug …' shows where"),
)


def hint_for(error: Exception) -> str:
    """Return a hint for an error, or nothing."""
    if found := _reading_hint(error):
        return found
    said = str(error)
    for mark, hint in _HINTS:
        if mark in said:
            return hint
    if isinstance(error, OSError | ValueError | ImportError | MemoryError):
        return ""
    return _HINTS[-1][1]


def _reading_hint(error: Exception) -> str:
    """Return a hint for an error in reading data, by its type and by what it is about."""
    from bayesift.datasets import ColumnError, EncodingError, FormatError, MissingDataError

    match error:
        case ColumnError(delimiter=str(mark)):
            return f"--delimiter {mark!r} names the field separator"
        case ColumnError(name=None, role="labels"):
            return "name them with --text COLUMN and --label COLUMN"
        case ColumnError(name=None):
            return "name it with --text COLUMN"
        case ColumnError():
            return "--text and --label take the names in the first line of the file"
        case FormatError(format=None):
            return "--input-format csv (or tsv, jsonl, parquet, folder) says what it is"
        case FormatError(format="svmlight"):
            return "bbrtrain and bayesift.linear take vectors; this command takes texts"
        case EncodingError():
            return "--encoding latin-1 (or cp1252, utf-16, …) says how the file is written"
        case FileNotFoundError() if not isinstance(error, MissingDataError):
            return "check the path; the order of the arguments is in --help"
        case _:
            return ""
