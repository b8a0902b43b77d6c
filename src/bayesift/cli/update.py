"""``bayesift update``: learn on from further texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    Text,
)
from bayesift.cli._shell import check_output, console, print_json, reading, steps


def update(
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="NEW", help="Model file to write (default: MODEL itself).")
    ] = None,
    strength: Annotated[
        float, typer.Option(min=1e-6, max=1e6, help="How much the earlier texts count, beside 1 for the new ones.")
    ] = 1.0,
    new_words: Annotated[
        bool, typer.Option("--new-words/--no-new-words", help="Add words that stand in two of the new texts.")
    ] = True,
    text: Text = None,
    label: Label = None,
    label_separator: LabelSeparator = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    input_format: InputFormat = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn on from further labelled texts: what the model knows is the prior.

    The earlier texts are not needed. How well the earlier model does on the new texts is told first, since that is a
    test it could not prepare for.
    """
    target = model if output is None else output
    check_output(target)
    with steps(quiet or as_json) as step:
        step("loading the libraries", 0, 0)
        from bayesift.cli import _show
        from bayesift.workflow import evaluate, facts, load_classifier, save_classifier
        from bayesift.workflow import update as update_classifier

        classifier, origin = load_classifier(model)
        step(f"reading {data.name}", 0, 0)
        texts = reading(data, text, label, label_separator, delimiter, encoding, input_format, origin)
        step("measuring", 0, 0)
        before = evaluate(
            classifier, texts.texts, texts.labels, on=f"{len(texts):,} new texts, before learning from them"
        )
        step("learning", 0, 0)
        today = update_classifier(classifier, texts.texts, texts.labels, strength=strength, new_words=new_words)
        history = [*origin.get("updates", []), {"data": data.name, "n_texts": len(texts)}]
        save_classifier(today, target, {**origin, "updates": history})
    found, words = facts(today), len(today.words()) - len(classifier.words())
    if as_json:
        print_json({"file": str(target), "before": before.as_dict(), "model": found.as_dict(), "new_words": words})
    elif not quiet:
        out = console()
        _show.show_evaluation(before, out)
        out.print(f"\nLearned from {len(texts):,} texts more, {found.n_texts:,} in all; {words:,} new words.")
        out.print(f"Written: {target}", soft_wrap=True)
