"""``bbrtrain``: train a yes/no classifier as BBRtrain does."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesift.cli.bbr._options import add_common_options, add_files, add_prior_options, variance_choice
from bayesift.cli.bbr._shell import Parser, echo, opened, probability, run, whole

if TYPE_CHECKING:
    from bayesift.cli.bbr._binary import BinaryTrained, BinaryTraining

_RULES = ("", "Sum Error", "T11U", "F1", "Balanced error rate", "T13U")
_UTILITIES = ("Pearson's correlation", "Yule's Q", "Chi-square", "BNS")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.pos and options.neg:
        parser.error("--pos and --neg exclude each other")
    choice = variance_choice(parser, options, one_sided=options.pos or options.neg)

    def body() -> None:
        from bayesift.cli.bbr._binary import BinaryTraining
        from bayesift.cli.bbr._files import individual_priors

        training = BinaryTraining(
            prior=options.prior,
            variance=choice,
            individual=individual_priors(options.priors),
            sign=int(options.pos) - int(options.neg),
            threshold_rule=0 if options.probthres else options.threshold,
            probability_threshold=options.probthres,
            n_selected=options.features,
            utility=options.utility,
            cosine=options.cosnorm,
            standardize=options.standardize,
            epsilon=options.eps,
            max_iter=options.iter,
            solver=options.solver,
            name=options.modelname,
        )
        _train(options, training)

    return run(parser.prog, body)


def _parser() -> Parser:
    parser = Parser("bbrtrain", "Train a yes/no classifier by Bayesian logistic regression, as BBRtrain does.")
    add = parser.add_argument
    add_prior_options(parser)
    add("--autosearch", action="store_true", help="search the variance without a grid")
    add("--pos", action="store_true", help="no coefficient below 0")
    add("--neg", action="store_true", help="no coefficient above 0")
    add(
        "-t",
        "--threshold",
        type=whole(0, 5),
        default=0,
        help="tune the threshold: 0 no, 1 sum of errors, 2 T11U, 3 F1, 4 balanced error, 5 T13U (default 0)",
    )
    add("--probthres", type=probability, help="probability to accept from (default 0.5); switches -t off")
    add("-f", "--features", type=whole(0), default=0, help="keep so many features (default 0: all)")
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
    return parser


def _train(options: Namespace, training: BinaryTraining) -> None:
    from bayesift.cli.bbr._binary import train_binary
    from bayesift.cli.bbr._files import required_row_ids
    from bayesift.formats.bbr import read_data, write_binary_model, write_binary_results
    from bayesift.formats.bbr._files import replaced

    data = required_row_ids(read_data(opened(options.datafile)), options.datafile, options.rowid)
    trained = train_binary(data, training)
    with replaced(options.modelfile) as path:
        write_binary_model(path, trained.model, digits=12)
        if options.results:
            write_binary_results(options.results, trained.decisions.results(), digits=12)
    for line in _report(options, training, trained):
        echo(line)


def _report(options: Namespace, training: BinaryTraining, trained: BinaryTrained) -> list[str]:
    """Write what was asked, what was found, and how the model does on its training documents."""
    from bayesift.cli.bbr._report import beta_lines, confusion_lines, shown, utility_lines

    model, decisions = trained.model, trained.decisions
    figures = decisions.figures
    n_rows, n_positive = decisions.scores.size, figures.tp + figures.fn
    n_dropped = trained.n_used + 1 - trained.n_moved
    intercept = "" if trained.constant_moved else "\tIntercept dropped."
    lines = [
        *_settings(options, training),
        f"Training data {n_rows} rows",
        f"Features in training data: {trained.n_features}",
        *_selection(training, trained),
        f"Class sizes in training, 1/0: {n_positive} / {n_rows - n_positive}",
        f"Total number of feature occurrences:{trained.n_entries}",
        f"Design: {trained.n_used + 1} variables",
    ]
    if trained.mean_square_norm is not None:
        norm = f"Avg square norm (no const term) {shown(trained.mean_square_norm, 6)}"
        lines.append(f"{norm} Prior var {shown(trained.variance, 6)}")
    lines += [
        f"Final prior variance value {shown(trained.variance, 6)}",
        f"Built ZO model {trained.passes} iterations",
        f"Beta components dropped finally: {n_dropped} Left: {trained.n_moved}{intercept}",
        *beta_lines(zip(map(str, model.features), model.coefficients, strict=True), model.intercept),
    ]
    if model.threshold_rule:
        lines.append(f"\tTuned threshold: {shown(model.threshold, 12)}")
    average = shown(decisions.log_likelihood / n_rows, 12)
    return [
        *lines,
        "",
        "---Resubstitution results---",
        *confusion_lines(figures, 12),
        *utility_lines(figures, 12),
        f"Training set loglikelihood {shown(decisions.log_likelihood, 12)} Average {average}",
        f"Log prior (penalty) {shown(trained.log_prior, 12)} "
        f"Log posterior {shown(trained.log_prior + decisions.log_likelihood, 12)}",
        f"ROC area under curve {shown(decisions.roc_area, 12)}",
    ]


def _settings(options: Namespace, training: BinaryTraining) -> list[str]:
    choice = training.variance
    way = "Cross-validation" if len(choice.values) > 1 else "Fixed" if choice.values else "Norm-based default"
    rule = f"Tune threshold: {_RULES[training.threshold_rule]}"
    if not training.threshold_rule:
        rule = f"Threshold probability: {training.probability_threshold or 0.5:g}"
    return [
        "",
        "Bayesian Binary Regression - Training. \tbayesift",
        f"Log Level: {options.log}",
        f"PriorType: {'Laplace' if training.prior == 1 else 'normal diagonal'}",
        f"HyperParameter: {'Search' if choice.search else way}",
        *([f"Individual Priors file: {options.priors}\t Mode: Relative"] if options.priors else []),
        f"Feature Utility Function: {_UTILITIES[training.utility]}",
        f"#Features To Select: {training.n_selected or 'use all'}",
        f"Cosine normalization: {_yes(training.cosine)}",
        f"Model - link function: Logistic \tOptimizer: ZO\t{rule}",
        f"Standardize: {_yes(training.standardize)}",
        f"Convergence threshold: {training.epsilon:g}\tIterations limit: {training.max_iter}",
        f"Data file for Training: {options.datafile}",
        f"Write Model file: {options.modelfile}",
        f"Results file: {options.results or ' no'}",
    ]


def _selection(training: BinaryTraining, trained: BinaryTrained) -> list[str]:
    from bayesift.cli.bbr._report import shown

    if trained.least_utility is None:
        return []
    name = ("Correlation", *_UTILITIES[1:])[training.utility]
    return [
        f"Feature selection, {training.n_selected} of {trained.n_features}",
        f"{name} - Threshold for feature selection {shown(trained.least_utility, 6)}",
    ]


def _yes(value: bool) -> str:
    return "Yes" if value else "No"


if __name__ == "__main__":
    sys.exit(main())
