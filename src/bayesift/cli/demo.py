"""``bayesift demo``: the embedded corpus from texts to telling words, trained classifiers and reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from bayesift.datasets import Collection
    from bayesift.linear import BayesianLogisticRegression
    from bayesift.text import TextVectorizer

#: For each topic and score, the best terms.
BestTerms = dict[str, dict[str, list[str]]]

#: How many parts the work has.
N_STEPS = 10


#: Words with their weights, or with what they add to a score.
WeightedWords = list[tuple[str, float]]


class TopicReport(NamedTuple):
    """How the classifier of a topic does, and by which words."""

    f1: float
    words_kept: int
    threshold: float
    relative_gap: float
    heaviest: WeightedWords


class Reasons(NamedTuple):
    """Why a test document has its topics: for each topic the probability and the words that speak for and against."""

    text: str
    topics: tuple[str, ...]
    by_topic: dict[str, tuple[float, WeightedWords]]


class Demo(NamedTuple):
    """What the demo found."""

    collection: Collection
    vectorizer: TextVectorizer
    best_terms: BestTerms
    model: BayesianLogisticRegression
    topics: dict[str, TopicReport]
    reasons: Reasons


def run_demo(n_terms: int = 10, step: Callable[[str], None] = lambda name: None) -> Demo:
    """Vectorise the embedded corpus, find the best terms of every topic, train the lasso and explain a document.

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
        The collection, the fitted vectoriser and model, the terms, reports and reasons.
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
    step("training a classifier for each topic (the first time, this compiles for half a minute)")
    from bayesift.linear import BayesianLogisticRegression

    model = BayesianLogisticRegression(runs=5, threshold="max_f1").fit(X, Y)
    reports = _report_topics(collection, vectorizer, model)
    return Demo(collection, vectorizer, best, model, reports, _explain(collection, vectorizer, model))


def _report_topics(
    collection: Collection, vectorizer: TextVectorizer, model: BayesianLogisticRegression, n_words: int = 6
) -> dict[str, TopicReport]:
    import numpy as np
    from sklearn.metrics import f1_score

    terms = vectorizer.get_feature_names_out()
    decisions = model.predict(vectorizer.transform(collection.test.texts))
    scores = f1_score(collection.indicator("test").toarray(), decisions, average=None, zero_division=1.0)
    reports = {}
    for k, topic in enumerate(collection.categories):
        heaviest = np.argsort(-np.abs(model.coef_[k]), kind="stable")[:n_words]
        reports[topic] = TopicReport(
            f1=float(scores[k]),
            words_kept=int(model.n_nonzero_[k]),
            threshold=float(1.0 / (1.0 + np.exp(-model.threshold_.thresholds_[k]))),
            relative_gap=float(model.certificate_.relative_gap[k]),
            heaviest=[(terms[j], float(model.coef_[k, j])) for j in heaviest if model.coef_[k, j] != 0],
        )
    return reports


def _explain(
    collection: Collection, vectorizer: TextVectorizer, model: BayesianLogisticRegression, n_words: int = 5
) -> Reasons:
    """Take the first test document with two topics, and give its words by what they add to the score of each."""
    import numpy as np

    place = next(i for i, labels in enumerate(collection.test.labels) if len(labels) > 1)
    text, topics = collection.test.texts[place], tuple(collection.test.labels[place])
    x = vectorizer.transform([text])
    terms = vectorizer.get_feature_names_out()
    probabilities = model.predict_proba(x)[0]
    by_topic = {}
    for k in np.argsort(-probabilities, kind="stable")[:3]:
        added = x.data * model.coef_[k, x.indices]
        order = np.argsort(-np.abs(added), kind="stable")[:n_words]
        words = [(terms[x.indices[j]], float(added[j])) for j in order if added[j] != 0]
        by_topic[collection.categories[k]] = (float(probabilities[k]), words)
    return Reasons(text, topics, by_topic)


def demo(
    terms: Annotated[int, typer.Option(min=1, help="How many terms to list for each score.")] = 10,
) -> None:
    """Show the main job on the embedded corpus."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    # Standard output is for the result alone; a bar that cannot move is of no use in a file either.
    errors = Console(stderr=True)
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        task = progress.add_task("starting", total=N_STEPS)
        result = run_demo(terms, lambda name: progress.update(task, advance=1, description=name))
    _show(result, Console())


def _show(result: Demo, console: Console) -> None:
    from rich.table import Table

    collection, vectorizer, best_terms = result[:3]
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
    _show_model(result, console)


def _show_model(result: Demo, console: Console) -> None:
    from rich.table import Table

    n_terms = len(result.vectorizer.vocabulary_)
    table = Table("topic", box=None, pad_edge=False, title="\nOne lasso for each topic", title_justify="left")
    for name in ("F1", f"words kept of {n_terms}", "threshold", "gap"):
        table.add_column(name, justify="right")
    table.add_column("heaviest words")
    for topic, report in result.topics.items():
        table.add_row(
            topic,
            f"{report.f1:.2f}",
            str(report.words_kept),
            f"{report.threshold:.2f}",
            f"{report.relative_gap:.0e}",
            ", ".join(f"{word} {weight:+.1f}" for word, weight in report.heaviest),
        )
    console.print(table)
    mean = sum(report.f1 for report in result.topics.values()) / len(result.topics)
    console.print(
        f"Mean F1 on the test documents: {mean:.2f}. The gap proves how far, as a share of its objective, a fit can be "
        "from the best there is.\n"
    )
    reasons = result.reasons
    console.print(f"[bold]A test document[/bold] ({', '.join(reasons.topics)}):\n{reasons.text}\n", highlight=False)
    why = Table("topic", box=None, pad_edge=False, title="What its words add to the log odds", title_justify="left")
    why.add_column("probability", justify="right")
    why.add_column("words")
    for topic, (probability, words) in reasons.by_topic.items():
        why.add_row(topic, f"{probability:.2f}", ", ".join(f"{word} {added:+.1f}" for word, added in words))
    console.print(why)
