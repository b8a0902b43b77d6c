"""Options that several commands have, alone and in groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import StrEnum
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from bayesift.cli._guard import Labelled, Written
from bayesift.cli._shell import say, shown

if TYPE_CHECKING:
    from bayesift.datasets import Split

_READING = "Reading the data"


class DataFormat(StrEnum):
    """Formats of a user's own data."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    json = "json"
    parquet = "parquet"
    xlsx = "xlsx"
    folder = "folder"


Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, JSON, JSONL, Parquet or Excel file (.gz too), or folder with one folder per label; - is stdin.",
    ),
    Labelled,
]
MoreData = Annotated[
    list[Path] | None,
    typer.Argument(metavar="MORE", help="More files with the same columns, where several are allowed."),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="Model file written by 'bayesift train'.")]
Text = Annotated[
    str | None, typer.Option("--text", metavar="COLUMN", help="Column of the texts.", rich_help_panel=_READING)
]
Texts = Annotated[
    list[str] | None,
    typer.Option(
        "--text", metavar="COLUMN", help="Column of the texts; several columns are joined.", rich_help_panel=_READING
    ),
]
Label = Annotated[
    str | None, typer.Option("--label", metavar="COLUMN", help="Column of the labels.", rich_help_panel=_READING)
]
LabelSeparator = Annotated[
    str | None,
    typer.Option(metavar="MARK", help="Separator between labels in a cell, such as ';'.", rich_help_panel=_READING),
]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="MARK", help="Field separator, such as ';' (default: detected).", rich_help_panel=_READING),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Encoding of the texts (default: UTF-8, or detected).", rich_help_panel=_READING),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line names the columns; otherwise they are called 1, 2, …",
        show_default=False,
        rich_help_panel=_READING,
    ),
]
Quotes = Annotated[
    bool,
    typer.Option(
        "--quotes/--no-quotes",
        help="Whether fields of a CSV or TSV file may be in double quotes.",
        show_default=False,
        rich_help_panel=_READING,
    ),
]
InputFormat = Annotated[
    DataFormat | None,
    typer.Option("--input-format", help="Format, if the file name does not show it.", rich_help_panel=_READING),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only errors.")]
Json = Annotated[bool, typer.Option("--json", help="Write the result as JSON.")]
Report = Annotated[
    Path | None, typer.Option("--report", metavar="PAGE.html", help="Write the report as an HTML page."), Written()
]


@dataclass(frozen=True)
class Reading:
    """How to read a file of texts and labels."""

    text: Texts = None
    label: Label = None
    label_separator: LabelSeparator = None
    delimiter: Delimiter = None
    header: Header = None
    quotes: Quotes = True
    encoding: Encoding = None
    input_format: InputFormat = None

    def for_other_data(self) -> Reading:
        """Return the same options for another file, in which the columns may have other names."""
        return replace(self, text=None, label=None)

    def read(
        self, data: Path, origin: dict[str, Any] | None = None, *, features: Iterable[str] = (), quiet: bool = False
    ) -> Split:
        """Read labelled texts as the options say, and otherwise like the data that a model learned from.

        The columns ``features`` are read with the texts. Unless ``quiet``, a message says what was detected or missing.
        """
        from bayesift.datasets import read_texts

        before = origin or {}
        found = read_texts(
            data,
            self.text or None,
            self.label,
            prefer=(before.get("text"), before.get("labels")),
            label_separator=before.get("label_separator") if self.label_separator is None else self.label_separator,
            delimiter=self.delimiter,
            header=self.header,
            quotes=self.quotes,
            encoding=self.encoding,
            features=tuple(features),
            format=None if self.input_format is None else self.input_format.value,
        )
        if found.origin is not None:
            for note in found.origin.notes:
                say(f"{shown(found.origin.path.name)}: {shown(note)}", quiet)
        return found

    def columns_of(self, data: Path) -> Split:
        """Find the columns of a file without reading its texts."""
        from bayesift.datasets import Split, iter_records

        given = self.for_shards()
        labels = given.pop("labels_column", None)
        return Split([], [], texts=[], origin=iter_records(data, labels=labels, **given).origin)

    def for_shards(self) -> dict[str, Any]:
        """Return the options that are given, in the form that :func:`bayesift.shards.write` takes."""
        text = self.text or []
        found = {
            "text": text[0] if len(text) == 1 else tuple(text) or None,
            "labels_column": self.label,
            "label_separator": self.label_separator,
            "delimiter": self.delimiter,
            "header": self.header,
            "quotes": None if self.quotes else False,
            "encoding": self.encoding,
            "format": None if self.input_format is None else self.input_format.value,
        }
        return {name: value for name, value in found.items() if value is not None}

    def read_unlabelled(self, data: Path, origin: dict[str, Any], *, quiet: bool = False) -> list[str]:
        """Read texts without labels, from the same columns as the labelled ones if the file has them."""
        from bayesift.datasets import open_texts

        with open_texts(
            data,
            prefer=origin.get("text"),
            encoding=self.encoding,
            delimiter=self.delimiter,
            quotes=self.quotes,
            header=self.header,
        ) as source:
            texts = [text for block in source.blocks for text in block.texts]
            for note in source.notes:
                say(f"{shown(data.name)}: {shown(note)}", quiet)
        return texts


@dataclass(frozen=True)
class Output:
    """What to print."""

    quiet: Quiet = False
    as_json: Json = False

    @property
    def is_silent(self) -> bool:
        """Whether to print neither progress nor a report."""
        return self.quiet or self.as_json


def with_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of its groups, which are the parameters whose type is a dataclass of options."""
    types = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in types.items() if is_dataclass(kind)}
    parameters = []
    for name, parameter in signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=types[name]))
            continue
        own = get_type_hints(groups[name], include_extras=True)
        parameters += [
            Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=own[field.name])
            for field in fields(groups[name])
        ]

    @wraps(command)
    def run(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**given, **made)

    run.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
