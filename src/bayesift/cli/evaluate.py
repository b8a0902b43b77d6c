"""``bayesift evaluate``: how good a model is on labelled texts."""

from __future__ import annotations

from bayesift.cli._options import (
    Data,
    Delimiter,
    Encoding,
    InputFormat,
    Json,
    Label,
    LabelSeparator,
    ModelFile,
    Quiet,
    Report,
    Text,
)
from bayesift.cli._shell import console, print_json, reading, steps


def evaluate(
    model: ModelFile,
    data: Data,
    report: Report = None,
    text: Text = None,
    label: Label = None,
    label_separator: LabelSeparator = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    input_format: InputFormat = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Compare what a model says with the labels of some texts."""
    with steps(quiet or as_json) as step:
        step("loading the libraries", 0, 0)
        from bayesift.cli import _show
        from bayesift.workflow import evaluate as evaluate_texts
        from bayesift.workflow import load_classifier
        from bayesift.workflow.pages import evaluation_page, write_page

        classifier, origin = load_classifier(model)
        step(f"reading {data.name}", 0, 0)
        texts = reading(data, text, label, label_separator, delimiter, encoding, input_format, origin)
        step("classifying", 0, 0)
        found = evaluate_texts(classifier, texts.texts, texts.labels, on=f"{len(texts):,} texts of {data.name}")
        if report is not None:
            write_page(evaluation_page(found, f"{model.name} on {data.name}"), report)
    if as_json:
        print_json(found.as_dict())
    elif not quiet:
        _show.show_evaluation(found, console())
