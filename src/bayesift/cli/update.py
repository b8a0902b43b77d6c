"""``bayesift update``: learn from more texts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesift.cli._guard import Written
from bayesift.cli._options import Data, ModelFile, Output, Reading, with_option_groups
from bayesift.cli._shell import console, print_json, steps


@with_option_groups
def update(
    model: ModelFile,
    data: Data,
    *,
    new_model: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="NEW", help="Model file to write (default: MODEL itself, in place)."),
        Written(in_place_of="model"),
    ] = None,
    strength: Annotated[
        float, typer.Option(min=1e-6, max=1e6, help="Weight of the earlier texts; the new ones have weight 1.")
    ] = 1.0,
    new_words: Annotated[
        bool, typer.Option("--new-words/--no-new-words", help="Add words that occur in at least two of the new texts.")
    ] = True,
    reading: Reading,
    output: Output,
) -> None:
    """Learn from more labelled texts, with what the model knows as the prior.

    The earlier texts are not needed. The earlier model is first evaluated on the new texts, which it has not seen.
    """
    target = model if new_model is None else new_model
    with steps(output.is_silent) as step:
        step("loading the libraries")
        from bayesift.cli import _show
        from bayesift.formats import save
        from bayesift.workflow import evaluate, load_classifier, model_info
        from bayesift.workflow import update as update_classifier
        from bayesift.workflow.errors import counted

        classifier, origin = load_classifier(model)
        step(f"reading {data.name}")
        texts = reading.read(data, origin, features=classifier.features or (), quiet=output.is_silent)
        step("measuring")
        before = evaluate(
            classifier, texts.texts, texts.labels, on=f"{counted(len(texts), 'new text')}, before learning from them"
        )
        step("learning")
        updated = update_classifier(classifier, texts.texts, texts.labels, strength=strength, new_words=new_words)
        n_texts = before.n_texts
        history = [*origin.get("updates", []), {"data": data.name, "n_texts": n_texts}]
        save(updated, target, provenance={**origin, "updates": history})
    found, words = model_info(updated), len(updated.words()) - len(classifier.words())
    if output.as_json:
        print_json({"file": str(target), "before": before.as_dict(), "model": found.as_dict(), "new_words": words})
    elif not output.quiet:
        out = console()
        _show.show_evaluation(before, out)
        out.print(
            f"\nLearned from {counted(n_texts, 'more text')}, {found.n_texts:,} in all; {counted(words, 'new word')}."
        )
        out.print(f"Written: {target}", soft_wrap=True)
