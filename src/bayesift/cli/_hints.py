"""What to try after an error, in the words of the command line."""

from __future__ import annotations

#: What helps against an error, by the name of its class: asking for a name imports nothing.
_HINTS = {
    "EngineError": "finished shards and rounds are kept: the same command goes on from there",
    "EmptyVocabularyError": "does the column hold texts? --text names another",
    "FeaturesError": "--feature is for linear models such as lasso and ridge, without --vectors; or train without it",
    "LabelNeededError": "--of LABEL names it",
    "NoJudgementError": "give --judgements FILE, put 'topics' into the stream, or run this in a terminal",
    "NoLabelsError": "--label names the column of the labels",
    "NoAveragingError": "train with --posterior auto and a model such as ridge",
    "NoPosteriorError": "train with --keep-posterior",
    "NoPriorError": "--prior-from works with lasso, ridge, polytomous and probit",
    "NotAModelFileError": "model files are written by 'bayesift train'; the order is MODEL, then DATA",
    "NotPolytomousError": "train with --model polytomous",
    "OneLabelError": "a classifier needs texts with two or more different labels; is --label the right column?",
    "OneLabelModelError": "choose another model with --model",
    "OutputFormatError": "give -o OUT.csv, which spreadsheets open, or --format csv (or tsv, jsonl, parquet)",
    "StrangeLabelsError": "is --label the right column? --label-separator parts several labels in a cell",
    "TunedThresholdsError": "--to onnx keeps them; or train with --threshold half",
    "VectorsError": "train with --vectors none",
    "UnknownCategoryError": "the names in the file must be among the labels",
}

#: How parameters of the functions that read are spelled on the command line.
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
            return "if it is meant to be, set the environment variable BAYESIFT_MAX_CELL to more bytes"
        case QuoteError():
            return "--no-quotes reads quotes like any other character"
        case HeaderError():
            return "--no-header reads it as data, with --text 1 --label 2 and so on for the columns; --header as names"
        case OptionError(name=str(name)):
            return f"leave {_OPTIONS.get(name, name)} out"
        case ColumnError(delimiter=str(mark)):
            return f"--delimiter {mark!r} names the field separator"
        case ColumnError(name=None, role="labels"):
            return "name them with --text COLUMN and --label COLUMN (by number with --no-header, if it has no header)"
        case ColumnError(name=None):
            return "name it with --text COLUMN"
        case ColumnError(role="feature"):
            return "the model needs the columns that it was trained with (--feature)"
        case ColumnError():
            return "--text and --label take the names in the first line of the file"
        case FormatError(format="svmlight"):
            return "bbrtrain and bayesift.linear take vectors; this command takes texts"
        case FormatError(format="xlsx" | "parquet" as format) if not str(error.path).endswith(f".{format}"):
            return f"--input-format {format} reads a file of that kind"
        case FormatError(format=None):
            return "--input-format csv (or tsv, json, jsonl, parquet, xlsx, folder) says what it is"
        case EncodingError(probable=str(encoding)):
            return f"--encoding {encoding} reads it so"
        case EncodingError():
            return "--encoding cp1252 (or cp1250, cp1251, utf-16, gb18030, shift_jis, …) names the encoding of the file"
        case FileNotFoundError() if not isinstance(error, MissingDataError):
            return "check the path; the order of the arguments is in --help"
        case _:
            return ""
