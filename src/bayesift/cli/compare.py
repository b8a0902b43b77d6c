"""``bayesift compare``: two models on the same texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesift.cli._options import Data, Delimiter, Encoding, InputFormat, Json, Label, LabelSeparator, Quiet, Text
from bayesift.cli._shell import console, print_json, reading, shown, steps


def compare(
    first: Annotated[Path, typer.Argument(metavar="MODEL_A", help="A model file.")],
    second: Annotated[Path, typer.Argument(metavar="MODEL_B", help="Another.")],
    data: Data,
    text: Text = None,
    label: Label = None,
    label_separator: LabelSeparator = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    input_format: InputFormat = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compare two models on labelled texts, with significance tests."""
    with steps(quiet or as_json) as step:
        step("loading the libraries", 0, 0)
        from bayesift.workflow import compare as compare_texts
        from bayesift.workflow import comparison_dict, load_classifier

        a, origin = load_classifier(first)
        b, _ = load_classifier(second)
        step(f"reading {data.name}", 0, 0)
        texts = reading(data, text, label, label_separator, delimiter, encoding, input_format, origin)
        step("comparing", 0, 0)
        found = compare_texts(a, b, texts.texts, texts.labels, names=(first.name, second.name))
    if as_json:
        print_json(comparison_dict(found))
    elif not quiet:
        out = console()
        for line in str(found).splitlines():
            out.print(shown(line), soft_wrap=True)
