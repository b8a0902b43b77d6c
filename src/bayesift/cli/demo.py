"""``bayesift demo``: the main task on the embedded corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from bayesift.cli._shell import console, steps, table

if TYPE_CHECKING:
    from rich.console import Console

    from bayesift.workflow.demo import Demo


def demo(
    everything: Annotated[
        bool, typer.Option("--all", help="Show everything: topics, best terms by six scores, models and reasons.")
    ] = False,
    terms: Annotated[int, typer.Option(min=1, help="With --all: how many terms to list for each score.")] = 10,
) -> None:
    """Show the main task on the embedded corpus, on one screen."""
    with steps(quiet=False) as step:
        step("loading the libraries")
        from bayesift.workflow.demo import run_demo

        result = run_demo(terms, step)
    out = console()
    if everything:
        _show_terms(result, out)
        _show_models(result, out)
        _show_reasons(result, out)
    else:
        _show_screen(result, out)


def _show_screen(result: Demo, out: Console) -> None:
    """Show what was learned and why a document has its topics, in two dozen lines of 80 characters."""
    collection, reasons = result.collection, result.reasons
    out.print(
        f"{collection.name}: learned {len(collection.categories)} topics from {len(collection.train)} documents, "
        f"tested on {len(collection.test)}",
        style="bold",
    )
    models = table("topic", ">F1", ">words", "heaviest words of its model")
    for topic, report in result.topics.items():
        heaviest = ", ".join(f"{word} {weight:+.0f}" for word, weight in report.heaviest[:3])
        models.add_row(topic, f"{report.f1:.2f}", str(report.words_kept), heaviest)
    out.print(models)
    mean = sum(report.f1 for report in result.topics.values()) / len(result.topics)
    gap = max(report.relative_gap for report in result.topics.values())
    out.print(
        f"Mean F1 {mean:.2f}. Proved: no model of this kind fits better by more than {gap:.0e} of its objective.\n"
    )
    title = reasons.text.partition("\n")[0]
    out.print(f'Why is "{title}" about {" and ".join(reasons.topics)}?', style="bold")
    why = table("topic", ">probability", "what its words add to the log odds")
    for topic, (probability, words) in reasons.by_topic.items():
        why.add_row(topic, f"{probability:.2f}", ", ".join(f"{word} {added:+.1f}" for word, added in words[:3]))
    out.print(why)
    out.print("\nMore: bayesift demo --all. Your own: bayesift train DATA.csv -o MODEL.bayesift")


def _show_terms(result: Demo, out: Console) -> None:
    collection = result.collection
    n_terms = len(result.vectorizer.vocabulary_)
    out.print(
        f"{collection.name}: {len(collection.train)} training and {len(collection.test)} test documents, "
        f"{len(collection.categories)} topics, {n_terms} terms in two training documents or more\n",
        style="bold",
    )
    split = table("topic", ">train", ">test", title="Documents by topic")
    counts = [collection.indicator(part).sum(axis=0).A1 for part in ("train", "test")]
    for topic, train, test in zip(collection.categories, *counts, strict=True):
        split.add_row(topic, str(int(train)), str(int(test)))
    out.print(split)
    out.print("\nBest terms of each topic; of terms with equal scores, those in more documents come first.")
    for topic, by_score in result.best_terms.items():
        best = table("score", "best terms", title=f"\n{topic}")
        for name, found in by_score.items():
            best.add_row(name, ", ".join(found))
        out.print(best)


def _show_models(result: Demo, out: Console) -> None:
    kept = f">words kept of {len(result.vectorizer.vocabulary_)}"
    models = table("topic", ">F1", kept, ">threshold", ">gap", "heaviest words", title="\nOne lasso for each topic")
    for topic, report in result.topics.items():
        models.add_row(
            topic,
            f"{report.f1:.2f}",
            str(report.words_kept),
            f"{report.threshold:.2f}",
            f"{report.relative_gap:.0e}",
            ", ".join(f"{word} {weight:+.1f}" for word, weight in report.heaviest),
        )
    out.print(models)
    mean = sum(report.f1 for report in result.topics.values()) / len(result.topics)
    out.print(
        f"Mean F1 on the test documents: {mean:.2f}. The gap proves how far a fit can be, at most, from the best "
        "possible one, as a share of its objective.\n"
    )


def _show_reasons(result: Demo, out: Console) -> None:
    reasons = result.reasons
    out.print(f"A test document ({', '.join(reasons.topics)}):", style="bold")
    out.print(f"{reasons.text}\n")
    why = table("topic", ">probability", "words", title="What its words add to the log odds")
    for topic, (probability, words) in reasons.by_topic.items():
        why.add_row(topic, f"{probability:.2f}", ", ".join(f"{word} {added:+.1f}" for word, added in words))
    out.print(why)
