"""The six commands ``bbrtrain``, ``bbrclassify``, ``bmrtrain``, ``bmrclassify``, ``bxrtrain`` and ``bxrclassify``.

Each reads its options and files, calls a function that returns data, and writes the result. Slow imports are done after
the options are read.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayesift import bbr
from bayesift.bbr.options import (
    InputFile,
    Parser,
    add_class_options,
    add_common_options,
    add_files,
    add_log,
    add_prior_options,
    add_results,
    echo,
    number,
    opened,
    positive_number,
    probability,
    run,
    variance_choice,
    whole,
)

if TYPE_CHECKING:
    from pathlib import Path

    from bayesift.bbr._fitting import VarianceChoice

#: The class that is not the topic, in yes/no classification.
NEGATIVE = "-1"

_SCALES = ("prob", "logprob", "odds", "logodds", "linear")
_CRITERIA = ("all", *_SCALES, "maxlinear", "maxlinearall", "maxproball", "predicted")


def bbrtrain(arguments: Sequence[str] | None = None) -> int:
    """Train a yes/no classifier as BBRtrain does; return the exit status."""
    parser = Parser("bbrtrain", "Train a yes/no classifier by Bayesian logistic regression, as BBRtrain does.")
    add = parser.add_argument
    add_prior_options(parser)
    add(
        "-t",
        "--threshold",
        type=whole(0, 5),
        default=0,
        help="tune the threshold: 0 no, 1 sum of errors, 2 T11U, 3 F1, 4 balanced error, 5 T13U (default 0)",
    )
    add("--probthres", type=probability, help="probability to accept from (default 0.5); switches -t off")
    add("-f", "--features", type=whole(0), default=0, help="keep this many features (default 0: all)")
    add(
        "-u",
        "--utility",
        type=whole(0, 3),
        default=0,
        help="rank features by 0 correlation, 1 Yule's Q, 2 chi-square, 3 bi-normal separation (default 0)",
    )
    add("-s", "--standardize", action="store_true", help="standardise columns; the model is in raw units")
    add("--accurate", action="store_true", help="has no effect: sums are accurate")
    add(
        "--solver",
        choices=("clg", "newton"),
        default="clg",
        help="clg: the steps of BBRtrain, to the last digit; newton: the exact optimum, faster (default clg)",
    )
    add("-R", "--rowid", action="store_true", help="write the names in '# UID: name' comments with the results")
    groups = "the model of group indicators is not documented; write them as features instead"
    parser.refuse("-g", "--groups", because=groups, takes_value=True)
    parser.refuse("--gvar", because=groups, takes_value=True)
    add_common_options(parser, tolerance=0.0005, rounds=1000)
    add_files(parser)
    options = parser.parse_args(arguments)
    choice = variance_choice(parser, options)
    return run(parser.prog, lambda: _train_binary(options, choice))


def _settings(options: Namespace, choice: VarianceChoice) -> dict[str, Any]:
    """Return the settings from the options that all training commands share."""
    return {
        "prior": options.prior,
        "variance": choice,
        "sign": int(options.pos) - int(options.neg),
        "cosine": options.cosnorm,
        "epsilon": options.eps,
        "max_iter": options.iter,
    }


def _train_binary(options: Namespace, choice: VarianceChoice) -> None:
    from bayesift._files import atomic_path
    from bayesift.bbr.binary_training import BinaryTraining, train_binary
    from bayesift.bbr.data import required_row_ids
    from bayesift.bbr.prior_files import priors_of_one_model
    from bayesift.bbr.report import binary_training_lines

    training = BinaryTraining(
        **_settings(options, choice),
        individual=priors_of_one_model(options.priors),
        threshold_rule=0 if options.probthres else options.threshold,
        probability_threshold=options.probthres,
        n_selected=options.features,
        utility=options.utility,
        standardize=options.standardize,
        solver=options.solver,
        name=options.modelname,
    )
    data = required_row_ids(bbr.read_data(opened(options.datafile)), options.datafile, options.rowid)
    trained = train_binary(data, training)
    with atomic_path(options.modelfile) as path:
        bbr.write_binary_model(path, trained.model, digits=12)
        if options.results:
            bbr.write_binary_results(options.results, trained.decisions.results(), digits=12)
    echo(binary_training_lines(options, training, trained))


def bbrclassify(arguments: Sequence[str] | None = None) -> int:
    """Decide about documents with a model of ``bbrtrain`` or BBRtrain; return the exit status."""
    parser = Parser("bbrclassify", "Decide about documents with a model of BBRtrain.")
    add = parser.add_argument
    add_results(parser, "probability and decision of each document")
    add("--probthres", type=probability, help="probability to accept from, instead of the model's threshold")
    add_log(parser)
    add("-R", "--rowid", action="store_true", help="write the names in '# UID: name' comments with the results")
    add(
        "--threshunit",
        choices=("auto", "log_odds", "probability"),
        default="auto",
        help="what the model's threshold is; auto: log odds, or a probability in a file of BXRtrain (default auto)",
    )
    add_files(parser, "the model file")
    options = parser.parse_args(arguments)
    return run(parser.prog, lambda: _classify_binary(options))


def _classify_binary(options: Namespace) -> None:
    from bayesift.bbr.binary_training import classify_binary
    from bayesift.bbr.data import required_row_ids
    from bayesift.bbr.report import binary_test_lines

    model = bbr.read_binary_model(options.modelfile, threshold_unit=options.threshunit)
    data = required_row_ids(bbr.read_data(opened(options.datafile)), options.datafile, options.rowid)
    decisions = classify_binary(data, model, options.probthres)
    if options.results:
        bbr.write_binary_results(options.results, decisions.results(), digits=12)
    echo(binary_test_lines(options, model, decisions))


def bmrtrain(arguments: Sequence[str] | None = None) -> int:
    """Train a classifier of several classes as BMRtrain does; return the exit status."""
    parser = Parser("bmrtrain", "Train a classifier of several classes, as BMRtrain does.")
    add = parser.add_argument
    add_prior_options(parser, extended=False)
    add_class_options(parser)
    add("-s", "--standardize", action="store_true", help="standardise columns; the model is in raw units")
    add("--rscore", action="store_true", help="write linear scores, not probabilities, as results")
    add_common_options(parser, tolerance=0.001, rounds=10000)
    add_files(parser)
    options = parser.parse_args(arguments)
    choice = variance_choice(parser, options)
    return run(parser.prog, lambda: _train_polytomous(options, choice))


def _train_polytomous(options: Namespace, choice: VarianceChoice) -> None:
    from bayesift._files import atomic_path
    from bayesift.bbr.data import whole_labels
    from bayesift.bbr.polytomous_training import PolytomousTraining, train_polytomous
    from bayesift.bbr.prior_files import priors_of_one_model
    from bayesift.bbr.report import polytomous_training_lines

    data = whole_labels(bbr.read_data(opened(options.datafile)), options.datafile)
    classes = tuple(sorted(set(data.labels), key=int))
    training = PolytomousTraining(
        classes=classes,
        **_settings(options, choice),
        individual=priors_of_one_model(options.priors, classes),
        reference_class=options.reference,
        exclude_absent=options.zerovars,
        standardize=options.standardize,
        name=options.modelname,
    )
    trained = train_polytomous(data, training)
    with atomic_path(options.modelfile) as path:
        bbr.write_polytomous_model(path, trained.model, digits=12)
        if options.results:
            bbr.write_dense_results(options.results, trained.decisions.results(options.rscore), digits=12)
    echo(polytomous_training_lines(options, trained))


def bmrclassify(arguments: Sequence[str] | None = None) -> int:
    """Classify documents with a model of ``bmrtrain`` or BMRtrain; return the exit status."""
    parser = Parser("bmrclassify", "Classify documents with a model of BMRtrain.")
    add = parser.add_argument
    add_results(parser, "label, probabilities and class of each document")
    add("--rscore", action="store_true", help="write linear scores, not probabilities, as results")
    add_log(parser)
    add_files(parser, "the model file")
    options = parser.parse_args(arguments)
    return run(parser.prog, lambda: _classify_polytomous(options))


def _classify_polytomous(options: Namespace) -> None:
    from bayesift.bbr.data import whole_labels
    from bayesift.bbr.decisions import decide_between
    from bayesift.bbr.report import polytomous_test_lines

    model = bbr.read_polytomous_model(options.modelfile)
    data = whole_labels(bbr.read_data(opened(options.datafile)), options.datafile)
    decisions = decide_between(data, model)
    if options.results:
        bbr.write_dense_results(options.results, decisions.results(options.rscore), digits=12)
    echo(polytomous_test_lines(options, decisions))


def bxrtrain(arguments: Sequence[str] | None = None) -> int:
    """Train a classifier of two or more classes as BXRtrain does; return the exit status."""
    parser = Parser("bxrtrain", "Train a classifier of two or more classes, as BXRtrain does.")
    add = parser.add_argument
    add_prior_options(parser)
    add_class_options(parser)
    add("-b", "--binary", type=whole(0, 1), default=0, help="1: label 1 against all others (default 0)")
    add("--symbolic", action="store_true", help="classes and features are words")
    add("--outputformat", type=whole(1, 3), default=2, help="1 as BBR's, 2 as BMR's, 3 sparse (default 2)")
    add("--init", type=InputFile, metavar="FILE", help="a model to start from")
    add("--testfile", type=InputFile, metavar="FILE", help="documents to test the model on")
    add("--loglikelihood", action="store_true", help="has no effect: the log likelihood is printed anyway")
    add("--stopcriterion", type=whole(1, 2), default=1, help="1 linear scores, 2 probability of change; both are met")
    add("--stopCountThreshold", type=positive_number, default=0.1, help="for --stopcriterion 2 (default 0.1)")
    add("--stopCountRatio", type=positive_number, default=0.01, help="for --stopcriterion 2 (default 0.01)")
    add("--probthres", type=probability, help="probability to accept from (default 0.5)")
    parser.refuse("--legacywm", because="what it brought back is not documented")
    for name, long_name in (("-s", "--standardize"), ("-f", "--features"), ("-u", "--utility"), ("-t", "--threshold")):
        because = "BXRtrain has no such option; bbrtrain has"
        parser.refuse(name, long_name, because=because, takes_value=name != "-s")
    add_common_options(parser, tolerance=0.001, rounds=10000)
    add_files(parser)
    options = parser.parse_args(arguments)
    if options.binary:
        options.reference = options.reference or NEGATIVE
    if options.outputformat == 1 and options.reference != NEGATIVE:
        parser.error("--outputformat 1 needs -R -1 (or -b 1): its files hold the coefficients of one class only")
    if options.outputformat == 1 and options.symbolic:
        parser.error("--outputformat 1 and --symbolic exclude each other: features of its files are whole numbers")
    if options.probthres and options.outputformat != 1:
        parser.error("--probthres needs --outputformat 1: the other files hold no threshold")
    choice = variance_choice(parser, options)
    return run(parser.prog, lambda: _train_any(options, choice))


def _train_any(options: Namespace, choice: VarianceChoice) -> None:
    from bayesift._files import atomic_path
    from bayesift.bbr.decisions import decide_between
    from bayesift.bbr.polytomous_training import PolytomousTraining, train_polytomous
    from bayesift.bbr.prior_files import priors_of_one_model
    from bayesift.bbr.report import polytomous_training_lines, validation_lines

    data = _documents(options, options.datafile)
    test = _documents(options, options.testfile) if options.testfile else None
    classes = tuple(dict.fromkeys(data.labels))
    if options.outputformat == 1 and len(classes) != 2:
        raise ValueError(f"{options.datafile}: {len(classes)} classes; --outputformat 1 needs two")
    training = PolytomousTraining(
        classes=classes,
        **_settings(options, choice),
        individual=priors_of_one_model(options.priors, classes, symbolic=options.symbolic),
        reference_class=options.reference,
        exclude_absent=options.zerovars,
        name=options.modelname or f"{options.datafile}.model",
        by_appearance=True,
        start=_start(options),
    )
    trained = train_polytomous(data, training)
    with atomic_path(options.modelfile) as path:
        _write_model(options, path, trained.model)
        if options.results:
            bbr.write_dense_results(options.results, trained.decisions.results(), digits=12)
    echo(polytomous_training_lines(options, trained, like_bxr=True))
    if test is not None:
        echo(["", *validation_lines(decide_between(test, trained.model, by_name=True), areas=False)])


def _documents(options: Namespace, name: str) -> bbr.Data:
    """Read documents; with ``-b 1``, every label but 1 becomes -1."""
    from bayesift.bbr.data import whole_labels

    source = opened(name)
    data = bbr.read_symbolic_data(source) if options.symbolic else whole_labels(bbr.read_data(source), name)
    if not options.binary:
        return data
    return replace(data, labels=tuple("1" if label == "1" else NEGATIVE for label in data.labels))


def _start(options: Namespace) -> bbr.PolytomousModel | None:
    """Read the model to start from."""
    from bayesift.bbr.models import as_polytomous

    if not options.init:
        return None
    models = bbr.read_models(options.init, threshold_unit="probability")
    if len(models) != 1:
        raise ValueError(f"{options.init}: {len(models)} models; expected one to start from")
    return as_polytomous(models[0])


def _write_model(options: Namespace, path: Path, model: bbr.PolytomousModel) -> None:
    from bayesift.bbr.models import as_binary

    if options.outputformat == 1:
        binary = as_binary(
            model, negative=NEGATIVE, threshold=options.probthres or 0.5, cosine_normalize=options.cosnorm
        )
        bbr.write_binary_model(path, binary, digits=12)
    elif options.outputformat == 2:
        bbr.write_polytomous_model(path, replace(model, header=None), digits=12)
    else:
        bbr.write_sparse_models(path, [model])


def bxrclassify(arguments: Sequence[str] | None = None) -> int:
    """Score documents with one or more models as BXRclassify does; return the exit status."""
    parser = Parser("bxrclassify", "Score documents with a model, or with all models of a folder.")
    add = parser.add_argument
    add_results(parser, "the result file to write", required=True)
    add("-k", action="store_true", dest="dense", help="a line for each document: label, probabilities, class")
    add("-c", "--criterion", choices=_CRITERIA, default="predicted", help="which classes to list (default predicted)")
    least = "list a class from this score; default 1/K, ln 1/K, 1/(K-1), ln 1/(K-1), 0 for the five scores"
    add("-t", "--includethresh", type=number, help=least)
    add("-s", "--scale", choices=(*_SCALES, "all"), default="linear", help="which score to write (default linear)")
    add("-o", "--omit", metavar="CLASS", action="append", default=[], help="a class not to list; may be repeated")
    add("-L", "--labels", type=InputFile, metavar="FILE", help="true classes, one line DOCID MODEL CLASS each")
    add("-j", action="store_true", dest="print_true", help="write the true class too")
    add("-p", action="store_true", dest="print_predicted", help="write the class predicted too")
    add("-I", action="store_true", dest="integer", help="classes are whole numbers: +1 equals 1")
    add_log(parser)
    parser.refuse("--trace", because="what the original traced is not documented", takes_value=True)
    add_files(parser, "a model file, or a folder of them")
    options = parser.parse_args(arguments)
    if options.includethresh is not None and options.criterion not in _SCALES:
        parser.error(f"-t needs -c {'|'.join(_SCALES)}: the criterion {options.criterion} has no threshold")
    return run(parser.prog, lambda: _classify_any(options))


def _classify_any(options: Namespace) -> None:
    from bayesift.bbr.listing import Listing, dense_results, score_results
    from bayesift.bbr.models import has_words, models_at

    models = models_at(options.modelfile)
    data = (bbr.read_symbolic_data if has_words(models) else bbr.read_data)(opened(options.datafile))
    labels = bbr.true_class(bbr.read_labels(options.labels)) if options.labels else None
    listing = Listing(
        criterion=options.criterion,
        threshold=options.includethresh,
        scale=options.scale,
        omit=tuple(options.omit),
        integer_names=options.integer,
        print_true=options.print_true,
        print_predicted=options.print_predicted,
    )
    if not options.dense:
        bbr.write_score_results(options.results, score_results(data, models, labels, listing), digits=8)
        return
    if len(models) != 1:
        raise ValueError(f"{options.modelfile}: {len(models)} models; -k needs exactly one")
    bbr.write_dense_results(options.results, dense_results(data, models[0], labels, listing), digits=8)
