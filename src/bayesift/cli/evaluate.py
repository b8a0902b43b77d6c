"""``bayesift evaluate``: how good a model is on labelled texts."""

from __future__ import annotations

from bayesift.cli._options import Data, ModelFile, Output, Reading, Report, with_option_groups
from bayesift.cli._shell import console, print_json, steps


@with_option_groups
def evaluate(model: ModelFile, data: Data, *, report: Report = None, reading: Reading, output: Output) -> None:
    """Compare a model's predictions with the labels of texts."""
    with steps(output.is_silent) as step:
        step("loading the libraries")
        from bayesift.cli import _show
        from bayesift.workflow import evaluate as evaluate_texts
        from bayesift.workflow import load_classifier
        from bayesift.workflow.errors import counted
        from bayesift.workflow.report import evaluation_report, write_report

        classifier, origin = load_classifier(model)
        step(f"reading {data.name}")
        texts = reading.read(data, origin, features=classifier.features or (), quiet=output.is_silent)
        step("classifying")
        found = evaluate_texts(
            classifier, texts.texts, texts.labels, on=f"{counted(len(texts), 'text')} of {data.name}"
        )
        if report is not None:
            write_report(evaluation_report(found, f"{model.name} on {data.name}"), report)
    if output.as_json:
        print_json(found.as_dict())
    elif not output.quiet:
        _show.show_evaluation(found, console())
