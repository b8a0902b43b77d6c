"""``bayesift train``: from a file of texts and labels to a model file."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from bayesift.cli._guard import Labelled, Written, check_picture
from bayesift.cli._options import Data, MoreData, Output, Reading, Report, with_option_groups
from bayesift.cli._shards import ShardOptions
from bayesift.cli._shell import console, print_json, say_if_compiling, steps
from bayesift.cli._words import WORDS, Words

if TYPE_CHECKING:
    from bayesift.workflow import DataSummary
    from bayesift.workflow.train import Validation

_CHECK, _MODEL = "Evaluation", "Model"


class ModelName(StrEnum):
    """The models; a test compares them with those of the workflow."""

    auto = "auto"
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


class MeasureName(StrEnum):
    """What models are compared by; a test compares these names with those of the workflow."""

    auto = "auto"
    log_likelihood = "log_likelihood"
    accuracy = "accuracy"
    f1 = "f1"


class CalibrationName(StrEnum):
    """Whether probabilities are calibrated on held-out texts."""

    auto = "auto"
    sigmoid = "sigmoid"
    none = "none"


_CALIBRATIONS: dict[CalibrationName, Literal["auto", "sigmoid"] | None] = {
    CalibrationName.auto: "auto",
    CalibrationName.sigmoid: "sigmoid",
    CalibrationName.none: None,
}


class PosteriorMethod(StrEnum):
    """How a posterior is computed."""

    auto = "auto"
    ep = "ep"
    gibbs = "gibbs"
    laplace = "laplace"


class ClassWeight(StrEnum):
    """Weights of the labels."""

    balanced = "balanced"


class Policy(StrEnum):
    """How thresholds are chosen."""

    auto = "auto"
    half = "half"
    min_error = "min_error"
    max_f1 = "max_f1"
    max_f1_of_rest = "max_f1_of_rest"
    t11u = "t11u"
    t13u = "t13u"
    balanced_error = "balanced_error"


@with_option_groups
def train(
    data: Data,
    more: MoreData = None,
    *,
    model_file: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="Model file to write."), Written()
    ],
    model: Annotated[
        ModelName,
        typer.Option(help="The model; auto compares a few on held-out texts.", rich_help_panel=_MODEL),
    ] = ModelName.auto,
    measure: Annotated[
        MeasureName,
        typer.Option(help="What auto compares models by; auto: F1 if a label is rare.", rich_help_panel=_MODEL),
    ] = MeasureName.auto,
    class_weight: Annotated[
        ClassWeight | None,
        typer.Option(help="Give all labels the same total weight.", rich_help_panel=_MODEL),
    ] = None,
    variance: Annotated[
        str,
        typer.Option(
            metavar="cv|norm|auto|evidence|NUMBER", help="Prior variance, or how to choose it.", rich_help_panel=_MODEL
        ),
    ] = "cv",
    unlabelled: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DATA",
            help="Texts without labels, to learn about words from; may be repeated.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    vectors: Annotated[
        str,
        typer.Option(
            metavar="auto|pile|none|FILE",
            help="Vectors of words, made from all texts: if they help, always, or never; or read from a file.",
            rich_help_panel=_MODEL,
        ),
    ] = "auto",
    feature: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN[=number|category|text]",
            help="Column to use in addition to the texts: numbers, categories or texts; may be repeated.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    apart: Annotated[
        bool,
        typer.Option(
            "--apart",
            help="Keep the words of several --text columns apart: after the first column they are named COLUMN:word.",
            rich_help_panel=WORDS,
        ),
    ] = False,
    threshold: Annotated[
        Policy,
        typer.Option(
            help="When to give a label: at probability ½ or a cut tuned on held-out texts; auto: tuned if one is rare.",
            rich_help_panel=_MODEL,
        ),
    ] = Policy.auto,
    prior_from: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.toml", help='Prior knowledge about the labels: label = "description".', rich_help_panel=_MODEL
        ),
    ] = None,
    calibration: Annotated[
        CalibrationName,
        typer.Option(
            help="Calibrate probabilities on held-out texts; auto: with 100 texts or more, if all words are kept.",
            rich_help_panel=_MODEL,
        ),
    ] = CalibrationName.auto,
    posterior: Annotated[
        PosteriorMethod | None,
        typer.Option(
            help="Average probabilities over the posterior, computed by this method; gives them intervals.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    keep_posterior: Annotated[
        bool | None,
        typer.Option(
            "--keep-posterior/--no-keep-posterior",
            help="Keep what 'update' needs (default: yes, unless it is large).",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of folds and of the order.", rich_help_panel=_MODEL)] = 0,
    jobs: Annotated[int, typer.Option(help="Threads; -1 is all cores.", rich_help_panel=_MODEL)] = -1,
    test: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Evaluate on these texts.", rich_help_panel=_CHECK), Labelled
    ] = None,
    cv: Annotated[
        bool, typer.Option("--cv", help="Evaluate on all texts, each held out once (5 fits).", rich_help_panel=_CHECK)
    ] = False,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Evaluate on a held-out fifth (1 fit).", rich_help_panel=_CHECK)
    ] = True,
    curve: Annotated[
        Path | None,
        typer.Option(
            metavar="PICTURE",
            help="Draw how good it is with fewer texts, and what more would gain (.png, .svg, .pdf; 35 fits).",
            rich_help_panel=_CHECK,
        ),
        Written(),
    ] = None,
    report: Report = None,
    words: Words,
    sharding: ShardOptions,
    reading: Reading,
    output: Output,
) -> None:
    """Learn from labelled texts and write a model file.

    Summarises the texts, fits the model, evaluates it on held-out texts, and shows the words with the largest weights.
    With --shards the texts need not fit in memory. None of them is held out then; to evaluate the model, give --test.
    """
    if test is not None and cv:
        raise typer.BadParameter("--test and --cv both say what to evaluate on; give one of them", param_hint="--cv")
    if curve is not None:
        check_picture(curve)
    amount = _variance(variance)
    features = _features(feature or [])
    if sharding.shards is None:
        sharding.refuse_without_folder(more or [])
    else:
        sharding.refuse_others(
            {
                "--cv": cv,
                "--curve": curve,
                "--unlabelled": unlabelled,
                "--vectors": vectors not in ("auto", "none"),
                "--feature": feature,
                "--apart": apart,
                "--select": words.select,
                "--posterior": posterior,
            }
        )
    if apart:
        columns = reading.text or []
        if len(columns) < 2:
            raise typer.BadParameter("it needs two or more columns of texts; repeat --text", param_hint="--apart")
        features = {**dict.fromkeys(columns[1:], "text"), **features}
        reading = replace(reading, text=columns[:1])
    with steps(output.is_silent) as step:
        step("loading the libraries")
        from bayesift.cli import _show
        from bayesift.workflow import TextClassifier, provenance_of, read_prior_knowledge, suited_vectorizer
        from bayesift.workflow import train as train_texts
        from bayesift.workflow.report import training_report, write_report

        knowledge = None if prior_from is None else read_prior_knowledge(prior_from)
        step(f"reading {data.name}")
        if sharding.shards is None:
            texts = reading.read(data, features=features, quiet=output.is_silent)
        else:
            texts = reading.columns_of(data)
        origin = provenance_of(texts, reading.label_separator)
        others = (
            None
            if test is None
            else reading.for_other_data().read(test, origin, features=features, quiet=output.is_silent)
        )
        pile = [
            text for file in unlabelled or () for text in reading.read_unlabelled(file, origin, quiet=output.is_silent)
        ]
        changes = words.vectorizer_options()
        # Impossible settings are refused before anything is shown.
        suited_vectorizer(model.value, len(texts), **changes)
        classifier = TextClassifier(
            sharding.model_for(model.value),
            measure=measure.value,
            vectorizer=changes or None,
            threshold=threshold.value,
            variance=amount,
            vectors=_vectors(vectors, step),
            features=features or None,
            class_weight=None if class_weight is None else class_weight.value,
            prior_knowledge=knowledge,
            calibration=_CALIBRATIONS[calibration],
            posterior=None if posterior is None else posterior.value,
            keep_posterior="auto" if keep_posterior is None else keep_posterior,
            n_jobs=jobs,
            random_state=seed,
        )
        if words.select is not None:
            from bayesift.select import TermSelector

            classifier.selector = TermSelector(words.select_by.value, k=words.select)
        say_if_compiling(model.value, quiet=output.is_silent)
        out = console()

        def show(found: DataSummary) -> None:
            if not output.is_silent:
                with step.paused():
                    _show.show_data(texts, found, out, len(more or ()))

        if sharding.shards is not None:
            trained = sharding.train([data, *(more or ())], classifier, reading, others, step, show, output.is_silent)
        else:
            validation: Validation = "cv" if cv else "held-out" if check else None
            trained = train_texts(
                texts,
                classifier,
                test=others,
                unlabelled=pile,
                validation=validation,
                curve=curve is not None,
                step=step,
                on_summary=show,
            )
        trained.notes.extend([*sharding.notes(model.value), *words.notes()])
        step(f"writing {model_file.name}")
        trained.save(model_file, origin)
        if curve is not None and trained.curve is not None:
            step(f"drawing {curve.name}")
            trained.curve.draw(curve)
        if report is not None:
            write_report(training_report(trained, data.name), report)
    if output.as_json:
        print_json({"file": str(model_file), **trained.as_dict()})
    if output.is_silent:
        return
    _show.show_model(trained.info, out, trained.seconds)
    for note in trained.notes:
        out.print(f"! {note}", style="yellow")
    if trained.evaluation is not None:
        _show.show_evaluation(trained.evaluation, out)
        if test is None:
            out.print("The model itself was trained on all texts.")
    if trained.curve is not None:
        out.print(trained.curve.sentence())
    _show.show_top_words(trained.top_words, out)
    out.print(f"\nWritten: {model_file} ({model_file.stat().st_size / 1000:,.0f} kB)", soft_wrap=True)
    if curve is not None and trained.curve is not None:
        out.print(f"Learning curve: {curve}", soft_wrap=True)
    if report is not None:
        out.print(f"Report: {report}", soft_wrap=True)
    out.print(f"Next: bayesift classify {model_file} NEW.csv -o OUT.csv", soft_wrap=True)


def _features(given: list[str]) -> dict[str, Any]:
    """Return the features and, if given, what they hold."""
    found = {}
    for one in given:
        name, mark, kind = one.rpartition("=")
        # Names may contain an equals sign.
        is_said = bool(mark) and kind in ("number", "category", "text")
        found[name if is_said else one] = kind if is_said else "auto"
    return found


def _vectors(setting: str, step: Any) -> Any:
    """Return the setting of the classifier: a word, None, or the vectors read from a file."""
    if setting in ("auto", "pile"):
        return setting
    if setting == "none":
        return None
    from bayesift.vectors import WordVectors

    path = Path(setting)
    if not path.is_file():
        raise typer.BadParameter(
            f"{setting!r} is neither auto, pile or none nor the name of a file", param_hint="--vectors"
        )
    step(f"reading {path.name}")
    return WordVectors.read(path)


def _variance(variance: str) -> Any:
    if variance in ("cv", "norm", "auto", "evidence"):
        return variance
    try:
        amount = float(variance)
    except ValueError:
        amount = -1.0
    if not amount > 0:
        raise typer.BadParameter(
            f"{variance!r} is neither cv, norm, auto or evidence nor a number above 0", param_hint="--variance"
        )
    return amount
