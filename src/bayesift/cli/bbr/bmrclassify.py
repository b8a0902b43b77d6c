"""``bmrclassify``: classify documents by a model of ``bmrtrain`` or BMRtrain."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from bayesift.cli.bbr._options import add_files
from bayesift.cli.bbr._shell import Parser, echo, opened, run, whole


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = Parser("bmrclassify", "Classify documents by a model of BMRtrain.")
    add = parser.add_argument
    add("-r", "--resultfile", dest="results", metavar="FILE", help="label, probabilities and class of each document")
    add("--rscore", action="store_true", help="write linear scores, not probabilities, as results")
    add("-l", "--log", type=whole(0, 2), default=0, help="how much is printed, 0 to 2 (default 0)")
    add_files(parser, "the model file")
    options = parser.parse_args(arguments)
    return run(parser.prog, lambda: _classify(options))


def _classify(options: Namespace) -> None:
    from bayesift.cli.bbr._decisions import decide_between
    from bayesift.cli.bbr._files import whole_labels
    from bayesift.cli.bbr._report import one_against_rest_lines, polytomous_lines
    from bayesift.formats.bbr import read_data, read_polytomous_model, write_dense_results

    model = read_polytomous_model(options.modelfile)
    data = whole_labels(read_data(opened(options.datafile)), options.datafile)
    decisions = decide_between(data, model)
    if options.results:
        write_dense_results(options.results, decisions.results(options.rscore), digits=12)
    lines = [
        "",
        "Bayesian Multinomial Logistic Regression - Classification \tbayesift",
        f"Data file for Testing: {options.datafile}",
        f"Read Model file: {options.modelfile}",
        f"Results file: {options.results or ' no'}",
        "",
        "---Validation results---",
        *polytomous_lines(decisions, "Test", 6),
        *one_against_rest_lines(decisions, areas=True),
    ]
    for line in lines:
        echo(line)


if __name__ == "__main__":
    sys.exit(main())
