"""``bayesift train``: from a file of texts and labels to a model file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesift.cli._options import (
    Data,
    Delimiter,
    Encoding,
    InputFormat,
    Json,
    Label,
    LabelSeparator,
    Quiet,
    Report,
    Text,
)
from bayesift.cli._shell import check_output, console, print_json, reading, steps

if TYPE_CHECKING:
    from bayesift.workflow import Examination, TextClassifier

_WORDS, _CHECK, _MODEL = "Words", "Measuring", "Model"


class ModelName(StrEnum):
    """The models; tested to be those of the workflow."""

    lasso = "lasso"
    ridge = "ridge"
    polytomous = "polytomous"
    polytomous_ridge = "polytomous-ridge"
    probit = "probit"
    probit_ridge = "probit-ridge"
    jeffreys = "jeffreys"
    nb = "nb"
    bernoulli = "bernoulli"
    dcm = "dcm"
    rtm = "rtm"
    rvm = "rvm"
    perceptron = "perceptron"
    process = "process"


class Policy(StrEnum):
    """How thresholds are chosen."""

    half = "half"
    min_error = "min_error"
    max_f1 = "max_f1"
    t11u = "t11u"
    t13u = "t13u"
    balanced_error = "balanced_error"


class Score(StrEnum):
    """Scores of terms against a category."""

    binormal_separation = "binormal_separation"
    chi_square = "chi_square"
    likelihood_ratio = "likelihood_ratio"
    mutual_information = "mutual_information"
    pearson = "pearson"
    yules_q = "yules_q"


def train(
    data: Data,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="MODEL", help="Model file to write.")],
    model: Annotated[ModelName, typer.Option(help="The model.", rich_help_panel=_MODEL)] = ModelName.lasso,
    variance: Annotated[
        str,
        typer.Option(
            metavar="cv|norm|auto|NUMBER", help="Prior variance, or how to choose it.", rich_help_panel=_MODEL
        ),
    ] = "cv",
    threshold: Annotated[
        Policy, typer.Option(help="When a label is given: probability ½, or the best cut.", rich_help_panel=_MODEL)
    ] = Policy.half,
    prior_from: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml", help='What is known of the labels: label = "description".', rich_help_panel=_MODEL
        ),
    ] = None,
    posterior: Annotated[
        bool | None,
        typer.Option(
            "--posterior/--no-posterior",
            help="Keep what 'update' needs (default: unless it is large).",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Deals folds and orders texts.", rich_help_panel=_MODEL)] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is all cores.", rich_help_panel=_MODEL)] = -1,
    test: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Measure on these texts.", rich_help_panel=_CHECK)
    ] = None,
    cv: Annotated[
        bool, typer.Option("--cv", help="Measure on every text, held out in turn (5 fits).", rich_help_panel=_CHECK)
    ] = False,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Measure on a fifth held out (1 fit).", rich_help_panel=_CHECK)
    ] = True,
    report: Report = None,
    stop_words: Annotated[
        str | None,
        typer.Option(metavar="english|smart", help="Leave these words out.", rich_help_panel=_WORDS),
    ] = None,
    stemmer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Reduce words to stems: porter, english, german, …", rich_help_panel=_WORDS),
    ] = None,
    weighting: Annotated[
        str | None,
        typer.Option(metavar="TRIPLE", help="SMART weights such as lsc or nnn.", rich_help_panel=_WORDS),
    ] = None,
    ngrams: Annotated[
        int, typer.Option(min=1, max=5, help="Up to so many neighbouring words make a term.", rich_help_panel=_WORDS)
    ] = 1,
    min_df: Annotated[
        int | None, typer.Option(min=1, help="Leave out words in fewer texts.", rich_help_panel=_WORDS)
    ] = None,
    select: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep the N best words only.", rich_help_panel=_WORDS)
    ] = None,
    select_by: Annotated[
        Score, typer.Option(help="The score that says which are best.", rich_help_panel=_WORDS)
    ] = Score.likelihood_ratio,
    text: Text = None,
    label: Label = None,
    label_separator: LabelSeparator = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    input_format: InputFormat = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Learn from labelled texts and write a model file.

    Looks at the texts, learns, measures on texts held out, and says by which words.
    """
    if test is not None and cv:
        raise typer.BadParameter("--test and --cv both say what to measure on; give one of them", param_hint="--cv")
    check_output(output, report)
    amount = _variance(variance)
    quiet = quiet or as_json
    with steps(quiet) as step:
        step("loading the libraries", 0, 0)
        from bayesift.cli import _show
        from bayesift.cli._compiling import say_if_compiling
        from bayesift.workflow import TextClassifier, provenance_of, read_knowledge, save_classifier
        from bayesift.workflow import train as train_texts
        from bayesift.workflow.pages import training_page, write_page

        how = label_separator, delimiter, encoding, input_format
        knowledge = None if prior_from is None else read_knowledge(prior_from)
        step(f"reading {data.name}", 0, 0)
        texts = reading(data, text, label, *how)
        note = provenance_of(texts, label_separator)
        others = None if test is None else reading(test, None, None, *how, note)
        classifier = TextClassifier(
            str(model),
            threshold=str(threshold),
            variance=amount,
            knowledge=knowledge,
            posterior="auto" if posterior is None else posterior,
            n_jobs=jobs,
            random_state=seed,
        )
        _set_words(classifier, stop_words, stemmer, weighting, ngrams, min_df, len(texts))
        _set_selection(classifier, select, select_by)
        say_if_compiling(str(model), quiet=quiet)
        out = console()

        def show(found: Examination) -> None:
            if not quiet:
                with step.paused():
                    _show.show_data(texts, found, out)

        trained = train_texts(
            texts,
            classifier,
            test=others,
            how="cv" if cv else "held-out" if check else "none",
            step=step,
            seen=show,
        )
        step(f"writing {output.name}", 0, 0)
        if trained.evaluation is not None:
            figures = trained.evaluation.as_dict()
            note["evaluation"] = {name: figures[name] for name in ("on", "n_texts", "accuracy", "macro_f1")}
        save_classifier(trained.classifier, output, note)
        if report is not None:
            write_page(training_page(trained, data.name), report)
    if as_json:
        print_json({"file": str(output), **trained.as_dict()})
    if quiet:
        return
    _show.show_facts(trained.facts, out, trained.seconds)
    for remark in trained.notes:
        out.print(f"! {remark}", style="yellow")
    if trained.evaluation is not None:
        _show.show_evaluation(trained.evaluation, out)
        if test is None:
            out.print("The model itself learned from all texts.")
    _show.show_telling(trained.telling, out)
    size = output.stat().st_size
    out.print(f"\nWritten: {output} ({size / 1000:,.0f} kB)", soft_wrap=True)
    if report is not None:
        out.print(f"Report: {report}", soft_wrap=True)
    out.print(f"Next: bayesift classify {output} NEW.csv -o OUT.csv", soft_wrap=True)


def _variance(variance: str) -> Any:
    if variance in ("cv", "norm", "auto"):
        return variance
    try:
        amount = float(variance)
    except ValueError:
        amount = -1.0
    if not amount > 0:
        raise typer.BadParameter(
            f"{variance!r} is none of cv, norm, auto and no number above 0", param_hint="--variance"
        )
    return amount


def _set_words(
    classifier: TextClassifier,
    stop_words: str | None,
    stemmer: str | None,
    weighting: str | None,
    ngrams: int,
    min_df: int | None,
    n_texts: int,
) -> None:
    """Return a classifier the vectoriser of the options, where there are any."""
    from bayesift.text import TextVectorizer
    from bayesift.text._terms import resolve_stop_words
    from bayesift.workflow import MODELS, least_documents

    if (stop_words, stemmer, weighting, ngrams, min_df) == (None, None, None, 1, None):
        return
    classifier.vectorizer = TextVectorizer(
        weighting or MODELS[classifier.model].weighting,
        stop_words=stop_words,
        stemmer=stemmer,
        ngram_range=(1, ngrams),
        min_df=least_documents(n_texts) if min_df is None else min_df,
        n_jobs=classifier.n_jobs,
    )
    # Before anything is shown of the data.
    classifier.vectorizer._check_parameters()
    resolve_stop_words(stop_words)


def _set_selection(classifier: TextClassifier, select: int | None, score: Score) -> None:
    if select is not None:
        from bayesift.select import TermSelector

        classifier.selector = TermSelector(str(score), k=select)
