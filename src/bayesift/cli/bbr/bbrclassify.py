"""``bbrclassify``: decide about documents by a model of ``bbrtrain`` or BBRtrain."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayesift.cli.bbr._options import add_files
from bayesift.cli.bbr._shell import Parser, echo, opened, probability, run, whole

if TYPE_CHECKING:
    from bayesift.cli.bbr._binary import BinaryDecisions
    from bayesift.formats.bbr import BinaryModel


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = Parser("bbrclassify", "Decide about documents by a model of BBRtrain.")
    add = parser.add_argument
    add("-r", "--resultfile", dest="results", metavar="FILE", help="probability and decision of each document")
    add("--probthres", type=probability, help="probability to accept from, instead of the model's threshold")
    add("-l", "--log", type=whole(0, 2), default=0, help="how much is printed, 0 to 2 (default 0)")
    add("-R", "--rowid", action="store_true", help="write the names in '# UID: name' comments with the results")
    add(
        "--threshunit",
        choices=("auto", "log_odds", "probability"),
        default="auto",
        help="what the model's threshold is; auto: log odds, or a probability in a file of BXRtrain (default auto)",
    )
    add_files(parser, "the model file")
    options = parser.parse_args(arguments)
    return run(parser.prog, lambda: _classify(options))


def _classify(options: Namespace) -> None:
    from bayesift.cli.bbr._binary import classify_binary
    from bayesift.cli.bbr._files import required_row_ids
    from bayesift.formats.bbr import read_binary_model, read_data, write_binary_results

    model = read_binary_model(options.modelfile, threshold_unit=options.threshunit)
    data = required_row_ids(read_data(opened(options.datafile)), options.datafile, options.rowid)
    decisions = classify_binary(data, model, options.probthres)
    if options.results:
        write_binary_results(options.results, decisions.results(), digits=12)
    for line in _report(options, model, decisions):
        echo(line)


def _report(options: Namespace, model: BinaryModel, decisions: BinaryDecisions) -> list[str]:
    from bayesift.cli.bbr._report import confusion_lines, shown, utility_lines

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
    """Say what the threshold is taken for, where it is not ½ anyway."""
    if options.probthres is not None or model.threshold == 0.0:
        return []
    unit = "log odds" if model.threshold_unit == "log_odds" else "a probability"
    chance = f"accepting from probability {model.probability_threshold:g}"
    return [f"Threshold {model.threshold:g} taken for {unit}, {chance}"]


if __name__ == "__main__":
    sys.exit(main())
