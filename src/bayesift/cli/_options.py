"""Options that several commands have."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_READING = "Reading the data"

Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, JSONL or Parquet file (.gz, .xz, .bz2 too), or a folder with one folder per label.",
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file, as 'bayesift train' writes it.")]
Text = Annotated[
    str | None, typer.Option("--text", metavar="COLUMN", help="Column of the texts.", rich_help_panel=_READING)
]
Label = Annotated[
    str | None, typer.Option("--label", metavar="COLUMN", help="Column of the labels.", rich_help_panel=_READING)
]
LabelSeparator = Annotated[
    str | None,
    typer.Option(metavar="MARK", help="Separator of several labels in a cell, such as ';'.", rich_help_panel=_READING),
]
Delimiter = Annotated[
    str | None, typer.Option(metavar="MARK", help="Field separator, such as ';'.", rich_help_panel=_READING)
]
Encoding = Annotated[str, typer.Option(help="Encoding of the texts.", rich_help_panel=_READING)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Write the result as JSON.")]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="PAGE.html", help="Write the report as a page of its own.")
]


class DataFormat(StrEnum):
    """Formats of a user's own data."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"
    folder = "folder"


InputFormat = Annotated[
    DataFormat | None,
    typer.Option("--input-format", help="Format, where the name does not tell.", rich_help_panel=_READING),
]
