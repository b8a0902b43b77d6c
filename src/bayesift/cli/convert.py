"""``bayesift convert``: write a model for another program."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from bayesift.cli._guard import Written
from bayesift.cli._options import ModelFile, Output, with_option_groups
from bayesift.cli._shell import console, print_json

_ENDINGS = {"bbr": ".bbr", "bmr": ".bmr", "bxr": ".bxr", "sklearn": ".skops", "onnx": ".onnx"}


class Target(StrEnum):
    """Programs that models can be written for."""

    bbr = "bbr"
    bmr = "bmr"
    bxr = "bxr"
    sklearn = "sklearn"
    onnx = "onnx"


@with_option_groups
def convert(
    model: ModelFile,
    *,
    to: Annotated[Target, typer.Option("--to", help="Program to write the model for.")],
    converted: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write (default: MODEL with the program's file extension)."
        ),
        Written(),
    ] = None,
    output: Output,
) -> None:
    """Write a model for BBR, BMR, BXR, scikit-learn or ONNX."""
    from bayesift._same_files import check_distinct
    from bayesift.workflow import convert as convert_classifier
    from bayesift.workflow import converted_files, load_classifier

    target = model.with_suffix(_ENDINGS[to]) if converted is None else converted
    files = converted_files(to.value, target)
    check_distinct({"MODEL": model}, dict(zip(("the converted model", "its list of words"), files, strict=False)))
    classifier, _ = load_classifier(model)
    written = [str(path) for path in convert_classifier(classifier, to.value, target)]
    if output.as_json:
        print_json({"files": written})
    elif not output.quiet:
        out = console()
        out.print(f"Written: {', '.join(written)}", soft_wrap=True)
        if to in (Target.sklearn, Target.onnx):
            out.print(_USES[to], soft_wrap=True)


_USES = {
    Target.sklearn: "Use it: skops.io.load(file, trusted=[]).predict(texts)",
    Target.onnx: "Use it: onnxruntime.InferenceSession(file).run(None, {'text': numpy.array(texts)})",
}
