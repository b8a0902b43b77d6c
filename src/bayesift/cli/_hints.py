"""What to try after an error, in the words of the command line."""

from __future__ import annotations

#: What an error says, and what helps; the first that fits is taken.
_HINTS = (
    ("are the fields parted by", "--delimiter ';' says what parts the fields"),
    ("label must name one of", "--of LABEL names it"),
    ("text must name a column", "name it with --text COLUMN"),
    ("labels must name a column", "name them with --text COLUMN and --label COLUMN"),
    ("has no column", "--text and --label take the names in the first line of the file"),
    ("cannot be told from its name", "--input-format csv (or tsv, jsonl, parquet, folder) says what it is"),
    ("not utf-8", "--encoding latin-1 (or cp1252, utf-16, …) says how the file is written"),
    ("holds vectors, not texts", "bbrtrain and bayesift.linear take vectors; this command takes texts"),
    ("is no model file", "model files are written by 'bayesift train'; the order is MODEL, then DATA"),
    ("gives every text exactly one label", "choose another model with --model"),
    ("no text has a label", "--label names the column of the labels"),
    ("y has one label only", "a classifier needs texts of two labels or more; is --label the right column?"),
    ("no term was found", "are these texts? --text names the column"),
    ("take a polytomous model", "train with --model polytomous"),
    ("has no posterior to go on from", "train with --posterior"),
    ("knowledge names the category", "the names in the file must be those of the labels"),
    ("knowledge needs a model with priors", "--prior-from works with lasso, ridge, polytomous and probit"),
    ("does not exist", "check the path; the order of the arguments is in --help"),
    ("No such file", "check the path; the order of the arguments is in --help"),
    ("something went wrong that should not", "this is a fault of bayesift; 'bayesift --debug …' shows where"),
)


def hint_for(error: Exception) -> str:
    """Return a hint for an error, or nothing."""
    said = str(error)
    for mark, hint in _HINTS:
        if mark in said:
            return hint
    if isinstance(error, OSError | ValueError | ImportError | MemoryError):
        return ""
    return _HINTS[-1][1]
