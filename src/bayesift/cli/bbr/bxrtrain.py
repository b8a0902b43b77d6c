"""``bxrtrain``: train a classifier of two or more classes as BXRtrain does."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bayesift.cli.bbr._options import (
    add_class_options,
    add_common_options,
    add_files,
    add_prior_options,
    variance_choice,
)
from bayesift.cli.bbr._shell import Parser, echo, opened, positive_number, probability, run, whole

if TYPE_CHECKING:
    from pathlib import Path

    from bayesift.cli.bbr._options import VarianceChoice
    from bayesift.cli.bbr._polytomous import PolytomousTrained
    from bayesift.formats.bbr import BinaryModel, Data, PolytomousModel

#: The class that is not the topic, in yes/no classification.
NEGATIVE = "-1"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.pos and options.neg:
        parser.error("--pos and --neg exclude each other")
    if options.binary:
        options.reference = options.reference or NEGATIVE
    if options.outputformat == 1 and options.reference != NEGATIVE:
        parser.error("--outputformat 1 needs -R -1 (or -b 1): its files hold the coefficients of one class only")
    if options.outputformat == 1 and options.symbolic:
        parser.error("--outputformat 1 and --symbolic exclude each other: features of its files are whole numbers")
    if options.probthres and options.outputformat != 1:
        parser.error("--probthres needs --outputformat 1: the other files hold no threshold")
    choice = variance_choice(parser, options, one_sided=options.pos or options.neg)
    return run(parser.prog, lambda: _train(options, choice))


def _parser() -> Parser:
    parser = Parser("bxrtrain", "Train a classifier of two or more classes, as BXRtrain does.")
    add = parser.add_argument
    add_prior_options(parser)
    add_class_options(parser)
    add("--autosearch", action="store_true", help="search the variance without a grid")
    add("-b", "--binary", type=whole(0, 1), default=0, help="1: label 1 against all others (default 0)")
    add("--symbolic", action="store_true", help="classes and features are words")
    add("--outputformat", type=whole(1, 3), default=2, help="1 as BBR's, 2 as BMR's, 3 sparse (default 2)")
    add("--init", metavar="FILE", help="a model to start from")
    add("--testfile", metavar="FILE", help="documents to test the model on")
    add("--loglikelihood", action="store_true", help="has no effect: the log likelihood is printed anyway")
    add("--stopcriterion", type=whole(1, 2), default=1, help="1 linear scores, 2 probability of change; both are met")
    add("--stopCountThreshold", type=positive_number, default=0.1, help="for --stopcriterion 2 (default 0.1)")
    add("--stopCountRatio", type=positive_number, default=0.01, help="for --stopcriterion 2 (default 0.01)")
    add("--pos", action="store_true", help="no coefficient below 0")
    add("--neg", action="store_true", help="no coefficient above 0")
    add("--probthres", type=probability, help="probability to accept from (default 0.5)")
    parser.refuse("--legacywm", because="what it brought back is not documented")
    for name, long_name in (("-s", "--standardize"), ("-f", "--features"), ("-u", "--utility"), ("-t", "--threshold")):
        because = "BXRtrain has no such option; bbrtrain has"
        parser.refuse(name, long_name, because=because, takes_value=name != "-s")
    add_common_options(parser, tolerance=0.001, rounds=10000)
    add_files(parser)
    return parser


def _train(options: Namespace, choice: VarianceChoice) -> None:
    from bayesift.cli.bbr._files import individual_priors
    from bayesift.cli.bbr._polytomous import PolytomousTraining, train_polytomous
    from bayesift.cli.bbr.bmrtrain import report
    from bayesift.formats.bbr import write_dense_results
    from bayesift.formats.bbr._files import replaced

    data = _documents(options, options.datafile)
    test = _documents(options, options.testfile) if options.testfile else None
    classes = tuple(dict.fromkeys(data.labels))
    if options.outputformat == 1 and len(classes) != 2:
        raise ValueError(f"{options.datafile}: {len(classes)} classes; --outputformat 1 is for two")
    training = PolytomousTraining(
        classes=classes,
        prior=options.prior,
        variance=choice,
        individual=individual_priors(options.priors, classes, symbolic=options.symbolic),
        sign=int(options.pos) - int(options.neg),
        reference_class=options.reference,
        exclude_absent=options.zerovars,
        cosine=options.cosnorm,
        epsilon=options.eps,
        max_iter=options.iter,
        name=options.modelname or f"{options.datafile}.model",
        by_appearance=True,
        start=_start(options),
    )
    trained = train_polytomous(data, training)
    with replaced(options.modelfile) as path:
        _write(options, path, trained.model)
        if options.results:
            write_dense_results(options.results, trained.decisions.results(), digits=12)
    for line in [*report(options, trained, like_bxr=True), *(_tested(test, trained) if test is not None else [])]:
        echo(line)


def _documents(options: Namespace, name: str) -> Data:
    """Read documents; with ``-b 1``, every label but 1 becomes -1."""
    from bayesift.cli.bbr._files import whole_labels
    from bayesift.formats.bbr import read_data, read_symbolic_data

    source = opened(name)
    data = read_symbolic_data(source) if options.symbolic else whole_labels(read_data(source), name)
    if not options.binary:
        return data
    return replace(data, labels=tuple("1" if label == "1" else NEGATIVE for label in data.labels))


def _start(options: Namespace) -> PolytomousModel | None:
    """Read the model to start from."""
    from bayesift.cli.bbr._models import as_polytomous
    from bayesift.formats.bbr import read_models

    if not options.init:
        return None
    models = read_models(options.init, threshold_unit="probability")
    if len(models) != 1:
        raise ValueError(f"{options.init}: {len(models)} models; expected one to start from")
    return as_polytomous(models[0])


def _write(options: Namespace, path: Path, model: PolytomousModel) -> None:
    from bayesift.formats.bbr import write_binary_model, write_polytomous_model, write_sparse_models

    if options.outputformat == 1:
        write_binary_model(path, _as_binary(options, model), digits=12)
    elif options.outputformat == 2:
        write_polytomous_model(path, replace(model, header=None), digits=12)
    else:
        write_sparse_models(path, [model])


def _as_binary(options: Namespace, model: PolytomousModel) -> BinaryModel:
    """Return the class that is not the reference in BBR's form, the threshold as a probability."""
    from bayesift.formats.bbr import BinaryModel

    [topic] = [found for found in model.classes if found.class_name != NEGATIVE]
    listed = sorted(zip(map(int, topic.features), topic.coefficients, strict=True))
    return BinaryModel(
        features=tuple(feature for feature, _ in listed),
        coefficients=tuple(value for _, value in listed),
        intercept=topic.intercept,
        threshold=options.probthres or 0.5,
        threshold_unit="probability",
        restricted_to=None if model.header is None else model.header.trained_on,
        class_name=topic.class_name,
        cosine_normalize=options.cosnorm,
        name=model.name,
    )


def _tested(test: Data, trained: PolytomousTrained) -> list[str]:
    from bayesift.cli.bbr._decisions import decide_between
    from bayesift.cli.bbr._report import one_against_rest_lines, polytomous_lines

    decisions = decide_between(test, trained.model, by_name=True)
    lines = [*polytomous_lines(decisions, "Test", 6), *one_against_rest_lines(decisions, areas=False)]
    return ["", "---Validation results---", *lines]


if __name__ == "__main__":
    sys.exit(main())
