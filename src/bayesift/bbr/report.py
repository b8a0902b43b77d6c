"""The lines that the commands print, as the original programs print them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable

from bayesift.bbr.binary_model import BinaryModel
from bayesift.bbr.binary_training import BinaryTrained, BinaryTraining
from bayesift.bbr.decisions import BinaryDecisions, BinaryFigures, PolytomousDecisions
from bayesift.bbr.polytomous_training import PolytomousTrained

_RULES = ("", "Sum Error", "T11U", "F1", "Balanced error rate", "T13U")
_UTILITIES = ("Pearson's correlation", "Yule's Q", "Chi-square", "BNS")


def shown(value: float, digits: int) -> str:
    """Write a number with this many significant digits."""
    return f"{value:.{digits}g}"


def confusion_lines(figures: BinaryFigures, digits: int) -> list[str]:
    """Write the counts of a yes/no decision and the first measures."""
    return [
        "Confusion matrix:   Relevant\tNot Relevant",
        f"\tRetrieved    \t{figures.tp}\t{figures.fp}",
        f"\tNot Retrieved\t{figures.fn}\t{figures.tn}",
        f"Precision = {shown(figures.precision, digits)}",
        f"Recall  = {shown(figures.recall, digits)}",
        f"F1 = {shown(figures.f1, digits)}",
    ]


def utility_lines(figures: BinaryFigures, digits: int) -> list[str]:
    """Write the utilities of the filtering tracks and the error rate."""
    return [
        f"T11U = {figures.t11u}",
        f"T11NU = {shown(figures.t11nu, digits)}",
        f"T11SU = {shown(figures.t11su, digits)}",
        f"T11F = {shown(figures.t11f, digits)}",
        f"T13U = {figures.t13u}",
        f"% errors = {shown(figures.error_rate, digits)}",
    ]


def polytomous_lines(decisions: PolytomousDecisions, what: str, digits: int) -> list[str]:
    """Write the table of classes by the class assigned, and the log likelihood."""
    table = decisions.table
    n_known, n_wrong = int(table.sum()), int(table.sum() - table.trace())
    rate = 100.0 * n_wrong / n_known if n_known else 0.0
    likelihood = decisions.log_likelihood
    lines = [
        "Confusion Table:",
        "   Belongs\\Assigned " + "".join(f"{name:>8}" for name in decisions.class_names),
        *(
            f"{name:>20}" + "".join(f"{count:>8}" for count in row)
            for name, row in zip(decisions.class_names, table.tolist(), strict=True)
        ),
        f"Total errors: {n_wrong} out of {n_known}, {shown(rate, 6)}%",
    ]
    if decisions.n_unseen:
        lines.append(f"Cases of classes not seen in training: {decisions.n_unseen}")
    average = shown(likelihood / max(n_known, 1), digits)
    lines.append(f"{what} set loglikelihood {shown(likelihood, digits)} Average {average}")
    return lines


def one_against_rest_lines(decisions: PolytomousDecisions, *, areas: bool) -> list[str]:
    """Write a view of each class against the rest; BXRtrain prints -1 for ROC areas, which it does not compute."""
    lines = []
    for code, name in enumerate(decisions.class_names):
        area = shown(decisions.printed_roc_area(code), 6) if areas else "-1"
        lines += ["", f"One-vs-All view: Class {name}", *confusion_lines(decisions.one_against_rest(code), 6)]
        lines.append(f"ROC area under curve {area}")
    return lines


def beta_lines(named: Iterable[tuple[str, float]], intercept: float) -> list[str]:
    """List coefficients from the least to the greatest, and the constant."""
    ranked = sorted(named, key=lambda pair: pair[1])
    lines = [f"{shown(value, 12):>20}\t{name}\t{name}" for name, value in ranked]
    return ["Beta:", *lines, f"{shown(intercept, 12):>20}\t<Intercept>"]


def binary_training_lines(options: Namespace, training: BinaryTraining, trained: BinaryTrained) -> list[str]:
    """Write the settings, the result, and how well the model does on its training documents."""
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
    lines += _norm_lines(trained)
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


def _norm_lines(trained: BinaryTrained | PolytomousTrained) -> list[str]:
    """Write how the norm of the documents gives the variance, if it does."""
    if trained.mean_square_norm is None:
        return []
    norm = f"Avg square norm (no const term) {shown(trained.mean_square_norm, 6)}"
    return [f"{norm} Prior var {shown(trained.variance, 6)}"]


def _selection(training: BinaryTraining, trained: BinaryTrained) -> list[str]:
    if trained.least_utility is None:
        return []
    name = ("Correlation", *_UTILITIES[1:])[training.utility]
    return [
        f"Feature selection, {training.n_selected} of {trained.n_features}",
        f"{name} - Threshold for feature selection {shown(trained.least_utility, 6)}",
    ]


def _yes(value: bool) -> str:
    return "Yes" if value else "No"


def binary_test_lines(options: Namespace, model: BinaryModel, decisions: BinaryDecisions) -> list[str]:
    """Write what was read, and how the model does on the documents."""
    average = shown(decisions.log_likelihood / decisions.scores.size, 6)
    return [
        "",
        "Bayesian Binary Regression - Classification. \tbayesift",
        f"Data file for Testing: {options.datafile}",
        f"Read Model file: {options.modelfile}",
        f"Results file: {options.results or ' no'}",
        *_threshold_lines(options, model),
        "",
        "---Validation results---",
        *confusion_lines(decisions.figures, 6),
        *utility_lines(decisions.figures, 6),
        f"Test set loglikelihood {shown(decisions.log_likelihood, 6)} Average {average}",
        f"ROC area under curve {shown(decisions.roc_area, 6)}",
    ]


def _threshold_lines(options: Namespace, model: BinaryModel) -> list[str]:
    """Write the unit in which the threshold is read, unless it is ½ in any case."""
    if options.probthres is not None or model.threshold == 0.0:
        return []
    unit = "log odds" if model.threshold_unit == "log_odds" else "a probability"
    chance = f"accepting from probability {model.probability_threshold:g}"
    return [f"Threshold {model.threshold:g} read as {unit}, {chance}"]


def polytomous_training_lines(options: Namespace, trained: PolytomousTrained, *, like_bxr: bool = False) -> list[str]:
    """Write the result, and how well the model does on its training documents.

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
    lines += _norm_lines(trained)
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


def validation_lines(decisions: PolytomousDecisions, *, areas: bool) -> list[str]:
    """Write how well a model does on documents that it was not trained on."""
    lines = [*polytomous_lines(decisions, "Test", 6), *one_against_rest_lines(decisions, areas=areas)]
    return ["---Validation results---", *lines]


def polytomous_test_lines(options: Namespace, decisions: PolytomousDecisions) -> list[str]:
    """Write what was read, and how the model does on the documents."""
    return [
        "",
        "Bayesian Multinomial Logistic Regression - Classification \tbayesift",
        f"Data file for Testing: {options.datafile}",
        f"Read Model file: {options.modelfile}",
        f"Results file: {options.results or ' no'}",
        "",
        *validation_lines(decisions, areas=True),
    ]
