"""``bayesift compare``: two models on the same texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesift.cli._options import Data, Output, Reading, with_option_groups
from bayesift.cli._shell import console, print_json, shown, steps


@with_option_groups
def compare(
    first: Annotated[Path, typer.Argument(metavar="MODEL_A", help="A model file.")],
    second: Annotated[Path, typer.Argument(metavar="MODEL_B", help="Another model file.")],
    data: Data,
    *,
    reading: Reading,
    output: Output,
) -> None:
    """Compare two models on labelled texts, with significance tests."""
    with steps(output.is_silent) as step:
        step("loading the libraries")
        from bayesift.workflow import compare as compare_texts
        from bayesift.workflow import comparison_dict, load_classifier
        from bayesift.workflow.errors import counted

        a, origin = load_classifier(first)
        b, _ = load_classifier(second)
        step(f"reading {data.name}")
        features = dict.fromkeys([*(a.features or ()), *(b.features or ())])
        texts = reading.read(data, origin, features=features, quiet=output.is_silent)
        step("comparing")
        found = compare_texts(a, b, texts.texts, texts.labels, names=(first.name, second.name))
    if output.as_json:
        print_json(comparison_dict(found))
    elif not output.quiet:
        out = console()
        for line in str(found).splitlines():
            out.print(shown(line), soft_wrap=True)
        if left_out := len(texts) - found.n_documents:
            out.print(f"! {counted(left_out, 'text')} without a label left out", style="yellow")
