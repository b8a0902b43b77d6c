"""``bayesift demo``: the embedded corpus from texts to telling words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from bayesift.datasets import Collection
    from bayesift.text import TextVectorizer

#: For each topic and score, the best terms.
BestTerms = dict[str, dict[str, list[str]]]

#: How many parts the work has.
N_STEPS = 9


class Demo(NamedTuple):
    """What the demo found."""

    collection: Collection
    vectorizer: TextVectorizer
    best_terms: BestTerms


def run_demo(n_terms: int = 10, step: Callable[[str], None] = lambda name: None) -> Demo:
    """Vectorise the embedded corpus and find the best terms of every topic by every score.

    Of terms with equal scores, those in more documents come first.

    Parameters
    ----------
    n_terms : int
        How many terms to list.
    step : callable
        Told the name of each part of the work before it begins.

    Returns
    -------
    Demo
        The collection, the fitted vectoriser and the terms.
    """
    step("loading the libraries")
    import numpy as np

    from bayesift import select
    from bayesift.datasets import load
    from bayesift.text import TextVectorizer

    step("loading the corpus")
    collection = load("newsroom")
    step("turning texts into numbers (the first time, this compiles for some seconds)")
    # Terms of a single document tell nothing about a topic.
    vectorizer = TextVectorizer(stop_words="english", drop_numbers=True, min_df=2)
    X = vectorizer.fit_transform(collection.train.texts)
    Y = collection.indicator("train")
    n_documents = X.getnnz(axis=0)
    terms = vectorizer.get_feature_names_out()
    best: BestTerms = {topic: {} for topic in collection.categories}
    for score in (
        select.pearson,
        select.chi_square,
        select.binormal_separation,
        select.yules_q,
        select.likelihood_ratio,
        select.mutual_information,
    ):
        name = score.__name__.replace("_", " ")
        step(f"scoring terms by {name}")
        for topic, scores in zip(collection.categories, score(X, Y), strict=True):
            # Yule's Q is 1 for every term that is found in no other topic, however rare it is.
            order = np.lexsort((-n_documents, -scores))[:n_terms]
            best[topic][name] = terms[order].tolist()
    return Demo(collection, vectorizer, best)


def demo(
    terms: Annotated[int, typer.Option(min=1, help="How many terms to list for each score.")] = 10,
) -> None:
    """Show the main job on the embedded corpus."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    # Standard output is for the result alone; a bar that can not move is of no use in a file either.
    errors = Console(stderr=True)
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task("starting", total=N_STEPS)
        result = run_demo(terms, lambda name: progress.update(task, advance=1, description=name))
    _show(result, Console())


def _show(result: Demo, console: Console) -> None:
    from rich.table import Table

    collection, vectorizer, best_terms = result
    console.print(
        f"[bold]{collection.name}[/bold]: {len(collection.train)} training and {len(collection.test)} test documents, "
        f"{len(collection.categories)} topics, {len(vectorizer.vocabulary_)} terms in two training documents or more\n"
    )
    split = Table("topic", box=None, pad_edge=False, title="Documents by topic", title_justify="left")
    split.add_column("train", justify="right")
    split.add_column("test", justify="right")
    counts = [collection.indicator(part).sum(axis=0).A1 for part in ("train", "test")]
    for topic, train, test in zip(collection.categories, *counts, strict=True):
        split.add_row(topic, str(int(train)), str(int(test)))
    console.print(split)
    console.print("\nBest terms of each topic; of terms with equal scores, those in more documents come first.")
    for topic, by_score in best_terms.items():
        table = Table("score", "best terms", box=None, pad_edge=False, title=f"\n{topic}", title_justify="left")
        for name, found in by_score.items():
            table.add_row(name, ", ".join(found))
        console.print(table)
