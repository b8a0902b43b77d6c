"""``bmrtrain``: train a classifier of several classes as BMRtrain does."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesift.cli.bbr._options import (
    add_class_options,
    add_common_options,
    add_files,
    add_prior_options,
    variance_choice,
)
from bayesift.cli.bbr._shell import Parser, echo, opened, run

if TYPE_CHECKING:
    from bayesift.cli.bbr._options import VarianceChoice
    from bayesift.cli.bbr._polytomous import PolytomousTrained


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = Parser("bmrtrain", "Train a classifier of several classes, as BMRtrain does.")
    add = parser.add_argument
    add_prior_options(parser)
    add_class_options(parser)
    add("-s", "--standardize", action="store_true", help="standardise columns; the model is in raw units")
    add("--rscore", action="store_true", help="write linear scores, not probabilities, as results")
    add_common_options(parser, tolerance=0.001, rounds=10000)
    add_files(parser)
    options = parser.parse_args(arguments)
    choice = variance_choice(parser, options)
    return run(parser.prog, lambda: _train(options, choice))


def _train(options: Namespace, choice: VarianceChoice) -> None:
    from bayesift.cli.bbr._files import individual_priors, whole_labels
    from bayesift.cli.bbr._polytomous import PolytomousTraining, train_polytomous
    from bayesift.formats.bbr import read_data, write_dense_results, write_polytomous_model
    from bayesift.formats.bbr._files import replaced

    data = whole_labels(read_data(opened(options.datafile)), options.datafile)
    classes = tuple(sorted(set(data.labels), key=int))
    training = PolytomousTraining(
        classes=classes,
        prior=options.prior,
        variance=choice,
        individual=individual_priors(options.priors, classes),
        reference_class=options.reference,
        exclude_absent=options.zerovars,
        cosine=options.cosnorm,
        standardize=options.standardize,
        epsilon=options.eps,
        max_iter=options.iter,
        name=options.modelname,
    )
    trained = train_polytomous(data, training)
    with replaced(options.modelfile) as path:
        write_polytomous_model(path, trained.model, digits=12)
        if options.results:
            write_dense_results(options.results, trained.decisions.results(options.rscore), digits=12)
    for line in report(options, trained):
        echo(line)


def report(options: Namespace, trained: PolytomousTrained, *, like_bxr: bool = False) -> list[str]:
    """Write what was found, and how the model does on its training documents.

    Parameters
    ----------
    options : Namespace
    trained : PolytomousTrained
    like_bxr : bool, default=False
        Whether the constant counts as a feature and ROC areas are not computed, as in BXRtrain.

    Returns
    -------
    list of str
    """
    from bayesift.cli.bbr._report import one_against_rest_lines, polytomous_lines, shown

    decisions = trained.decisions
    n_classes = len(decisions.class_names)
    n_all = (trained.n_features + 1) * n_classes
    n_free = n_all - (trained.n_features + 1) * (trained.model.reference_class is not None)
    lines = [
        "",
        "Bayesian Multinomial Logistic Regression - Training \tbayesift",
        f"Log Level: {options.log}",
        f"PriorType: {'Laplace' if options.prior == 1 else 'normal diagonal'}",
        f"Data file for Training: {options.datafile}",
        f"Write Model file: {options.modelfile}",
        f"Cases in training data: {decisions.scores.shape[0]}",
        f"Features in training data: {trained.n_features + like_bxr}",
        f"Classes in training data: {n_classes}",
    ]
    if trained.mean_square_norm is not None:
        norm = f"Avg square norm (no const term) {shown(trained.mean_square_norm, 6)}"
        lines.append(f"{norm} Prior var {shown(trained.variance, 6)}")
    return [
        *lines,
        f"Final prior variance value {shown(trained.variance, 6)}",
        f"Total parameters: {n_free}\t Of them fixed: {trained.n_fixed}",
        f"Built ZO model {trained.passes} iterations",
        f"Beta components dropped finally: {n_all - trained.n_moved} Left: {trained.n_moved}",
        "",
        "---Resubstitution results---",
        *polytomous_lines(decisions, "Training", 12),
        f"Log prior (penalty) {shown(trained.log_prior, 6)} "
        f"Log posterior {shown(trained.log_prior + decisions.log_likelihood, 6)}",
        *one_against_rest_lines(decisions, areas=not like_bxr),
    ]


if __name__ == "__main__":
    sys.exit(main())
