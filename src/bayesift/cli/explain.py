"""``bayesift explain``: which words a model's decisions depend on."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayesift.cli._options import ModelFile, Output, Report, with_option_groups
from bayesift.cli._shell import UserError, console, print_json, shown, steps


@with_option_groups
def explain(
    model: ModelFile,
    *,
    text: Annotated[
        list[str] | None, typer.Option("--text", metavar="TEXT", help="Explain this text; may be repeated.")
    ] = None,
    feature: Annotated[
        list[str] | None,
        typer.Option("--feature", metavar="NAME=VALUE", help="Value of a feature of the texts; may be repeated."),
    ] = None,
    label: Annotated[
        str | None, typer.Option("--label", metavar="LABEL", help="Show the words of this label only.")
    ] = None,
    similar: Annotated[
        str | None,
        typer.Option("--similar", metavar="WORD", help="Show the words that are used most like this one."),
    ] = None,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="With --similar: only words that occur in labelled texts.")
    ] = False,
    words: Annotated[int, typer.Option("--words", "-k", min=1, help="How many words to show.")] = 10,
    report: Report = None,
    output: Output,
) -> None:
    """Show which words a model's decisions depend on, in general or for a text.

    The number next to a word is its weight; for a text, its weight times its value in the text. With vectors of words,
    the second number is the part of it that comes from words used like it. If the model keeps its posterior, intervals
    contain the probabilities and weights with probability 0.9.
    """
    with steps(output.is_silent) as step:
        step("loading the libraries")
        from bayesift.cli import _show
        from bayesift.workflow import load_classifier, top_word_intervals, top_words
        from bayesift.workflow.report import explanation_report, write_report

        classifier, _ = load_classifier(model)
        if similar is not None:
            _show_similar(classifier, model.name, similar, words, labelled, output)
            return
        if text and label is not None:
            raise UserError(
                "--label does not choose among the labels of a text",
                "leave out --label, or --text for the words in general",
            )
        if labelled:
            raise UserError("--labelled needs --similar", "add --similar WORD")
        by_label = top_words(classifier, words)
        if label is not None and label not in by_label:
            raise UserError(f"{model} has no label {label!r}", f"its labels are {', '.join(by_label)}")
        if label is not None:
            by_label = {label: by_label[label]}
        spans = top_word_intervals(classifier, by_label)
        texts = _with_features(text or [], feature or [], classifier)
        why = list(zip(texts, classifier.explain(texts, words) if texts else [], strict=True))
        if report is not None:
            write_report(explanation_report(by_label, why, f"Which words {model.name} decides by"), report)
    if output.as_json:
        found = [{"text": one, "reasons": [reason._asdict() for reason in reasons]} for one, reasons in why]
        words_of = {"words": by_label, **({"intervals": spans} if any(spans.values()) else {})}
        print_json({"texts": found} if text else words_of)
        return
    if output.quiet:
        return
    out = console()
    for one, reasons in why:
        _show.show_reasons(one, reasons, out)
    if text:
        return
    if not any(by_label.values()):
        out.print("This model has no word weights; --text explains a text by what each of its words changes.")
    for name, found_words in by_label.items():
        out.print(f"\n{shown(name)}", style="bold")
        _show.show_bars(found_words, out, intervals=spans[name])


def _with_features(texts: list[str], given: list[str], classifier: Any) -> list[str]:
    """Give texts the values of features; those that are not given count as missing."""
    from bayesift.datasets import FeaturedText

    known = list(classifier.features or ())
    values: dict[str, Any] = dict.fromkeys(known)
    for one in given:
        # Names may contain an equals sign.
        name = next((name for name in known if one.startswith(f"{name}=")), None)
        if name is None:
            listed = f"NAME=VALUE with one of {', '.join(known)}" if known else "none: the model has no features"
            raise typer.BadParameter(
                f"{one!r} is not a feature of the model; expected {listed}", param_hint="--feature"
            )
        values[name] = one[len(name) + 1 :]
    return [FeaturedText(text, values) for text in texts] if known else texts


def _show_similar(classifier: Any, name: str, word: str, k: int, labelled: bool, output: Output) -> None:
    """Show the words that are used most like one."""
    try:
        found = classifier.similar(word, k, labelled=labelled)
    except KeyError as error:
        raise UserError(f"{name}: {error.args[0]}", "try it in lower case, as the model reads words") from None
    if not found:
        raise UserError(f"{name} has no vectors of words", "train with --unlabelled FILE or --vectors pile")
    if output.as_json:
        print_json({"word": word, "similar": found})
    elif not output.quiet:
        from bayesift.cli import _show

        _show.show_bars(found, console())
