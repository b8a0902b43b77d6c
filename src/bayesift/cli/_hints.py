"""What to try after an error, in terms of the command line."""

from __future__ import annotations

#: What helps against an error, by the name of its class, so that nothing needs to be imported.
_HINTS = {
    "EngineError": "finished shards and rounds are kept; run the same command again to continue",
    "EmptyVocabularyError": "does the column hold texts? --text names another",
    "FeaturesError": "--feature needs a linear model such as lasso or ridge, without --vectors; or train without it",
    "LabelNeededError": "name it with --of LABEL",
    "NoJudgementError": "give --judgements FILE, put 'topics' into the stream, or run this in a terminal",
    "NoLabelsError": "name the column of the labels with --label",
    "NoAveragingError": "train with --posterior auto and a model such as ridge",
    "NoPosteriorError": "train with --keep-posterior",
    "NoPriorError": "--prior-from works with lasso, ridge, polytomous and probit",
    "NotAModelFileError": "model files are written by 'bayesift train'; give MODEL first, then DATA",
    "NotPolytomousError": "train with --model polytomous",
    "OneLabelError": "a classifier needs texts with two or more different labels; is --label the right column?",
    "OneLabelModelError": "choose another model with --model",
    "OutputFormatError": "give -o OUT.csv, which spreadsheets can open, or --format csv (or tsv, jsonl, parquet)",
    "StrangeLabelsError": "is --label the right column? If cells hold several labels, --label-separator separates them",
    "TunedThresholdsError": "use --to onnx, which keeps them, or train with --threshold half",
    "VectorsError": "train with --vectors none",
    "UnknownCategoryError": "the names in the file must be among the labels",
}

#: How the parameters of the reading functions are spelled on the command line.
_OPTIONS = {
    "text": "--text",
    "labels": "--label",
    "label_separator": "--label-separator",
    "delimiter": "--delimiter",
    "encoding": "--encoding",
    "header": "--header and --no-header",
    "quotes": "--no-quotes",
    "features": "--feature",
}

_DEBUG = "this is a bug in bayesift; 'bayesift --debug …' shows where"


def hint_for(error: Exception) -> str:
    """Return a hint for an error, or nothing."""
    for kind in type(error).__mro__:
        if kind.__name__ in _HINTS:
            return _HINTS[kind.__name__]
    if isinstance(error, OSError | ValueError | ImportError | MemoryError):
        return _reading_hint(error)
    return _DEBUG


def _reading_hint(error: Exception) -> str:
    """Return a hint for an error in reading data, by its type and by what it is about."""
    from bayesift.datasets import (
        CellTooLongError,
        ColumnError,
        EncodingError,
        FormatError,
        HeaderError,
        MissingDataError,
        OptionError,
        QuoteError,
    )

    match error:
        case CellTooLongError():
            return "if the cell is meant to be that long, set the environment variable BAYESIFT_MAX_CELL to more bytes"
        case QuoteError():
            return "with --no-quotes, quotes are read like any other character"
        case HeaderError():
            return "if it is data, give --no-header and number the columns (--text 1 --label 2); if not, give --header"
        case OptionError(name=str(name)):
            return f"leave {_OPTIONS.get(name, name)} out"
        case ColumnError(delimiter=str(mark)):
            return f"--delimiter {mark!r} names the field separator"
        case ColumnError(name=None, role="labels"):
            return "name them with --text COLUMN and --label COLUMN (without a header: by number, with --no-header)"
        case ColumnError(name=None):
            return "name it with --text COLUMN"
        case ColumnError(role="feature"):
            return "the model needs the columns that it was trained with (--feature)"
        case ColumnError():
            return "use the names in the first line of the file for --text and --label"
        case FormatError(format="svmlight"):
            return "bbrtrain and bayesift.linear take vectors; this command takes texts"
        case FormatError(format="xlsx" | "parquet" as format) if not str(error.path).endswith(f".{format}"):
            return f"use --input-format {format} to read a file of that kind"
        case FormatError(format=None):
            return "--input-format csv (or tsv, json, jsonl, parquet, xlsx, folder) says what it is"
        case EncodingError(probable=str(encoding)):
            return f"use --encoding {encoding} if it is that"
        case EncodingError():
            return "--encoding cp1252 (or cp1250, cp1251, utf-16, gb18030, shift_jis, …) names the encoding of the file"
        case FileNotFoundError() if not isinstance(error, MissingDataError):
            return "check the path; the order of the arguments is in --help"
        case _:
            return ""
