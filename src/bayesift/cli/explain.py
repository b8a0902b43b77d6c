"""``bayesift explain``: by which words a model decides."""

from __future__ import annotations

from typing import Annotated

import typer

from bayesift.cli._options import Json, ModelFile, Quiet, Report
from bayesift.cli._shell import UserError, console, print_json, shown, steps


def explain(
    model: ModelFile,
    text: Annotated[
        list[str] | None, typer.Option("--text", metavar="TEXT", help="Explain this text; may be given again.")
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", metavar="LABEL", help="Show the words of this label only.")
    ] = None,
    words: Annotated[int, typer.Option("--words", "-k", min=1, help="How many words to show.")] = 10,
    report: Report = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show by which words a model decides, in general or about a text.

    The number of a word is its weight; about a text, its weight times its value in the text.
    """
    with steps(quiet or as_json) as step:
        step("loading the libraries", 0, 0)
        from bayesift.cli import _show
        from bayesift.workflow import load_classifier, telling_words
        from bayesift.workflow.pages import explanation_page, write_page

        classifier, _ = load_classifier(model)
        telling = telling_words(classifier, words)
        if label is not None and label not in telling:
            raise UserError(f"{model} has no label {label!r}", f"its labels are {', '.join(telling)}")
        if label is not None:
            telling = {label: telling[label]}
        why = list(zip(text or [], classifier.explain(text, words) if text else [], strict=True))
        if report is not None:
            write_page(explanation_page(telling, why, f"By which words {model.name} decides"), report)
    if as_json:
        found = [{"text": one, "reasons": [reason._asdict() for reason in reasons]} for one, reasons in why]
        print_json({"texts": found} if text else {"words": telling})
        return
    if quiet:
        return
    out = console()
    for one, reasons in why:
        _show.show_reasons(one, reasons, out)
    if text:
        return
    if not any(telling.values()):
        out.print("This model has no weights of words; --text explains a text by what each of its words changes.")
    for name, found_words in telling.items():
        out.print(f"\n{shown(name)}", style="bold")
        _show.show_bars(found_words, out)
