"""``bxrclassify``: score documents by one or more models."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from bayesift.cli.bbr._options import add_files
from bayesift.cli.bbr._shell import Parser, number, opened, run, whole

SCALES = ("prob", "logprob", "odds", "logodds", "linear")
CRITERIA = ("all", *SCALES, "maxlinear", "maxlinearall", "maxproball", "predicted")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; gives the exit status."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.includethresh is not None and options.criterion not in SCALES:
        parser.error(f"-t needs -c {'|'.join(SCALES)}: the criterion {options.criterion} has no threshold")
    return run(parser.prog, lambda: _classify(options))


def _parser() -> Parser:
    parser = Parser("bxrclassify", "Score documents by a model, or by all models of a folder.")
    add = parser.add_argument
    add("-r", "--resultfile", dest="results", metavar="FILE", required=True, help="the result file to write")
    add("-k", action="store_true", dest="dense", help="a line for each document: label, probabilities, class")
    add("-c", "--criterion", choices=CRITERIA, default="predicted", help="which classes to list (default predicted)")
    least = "list a class from this score; default 1/K, ln 1/K, 1/(K-1), ln 1/(K-1), 0 for the five scores"
    add("-t", "--includethresh", type=number, help=least)
    add("-s", "--scale", choices=(*SCALES, "all"), default="linear", help="which score to write (default linear)")
    add("-o", "--omit", metavar="CLASS", action="append", default=[], help="a class not to list; may be repeated")
    add("-L", "--labels", metavar="FILE", help="true classes, DOCID MODEL CLASS a line")
    add("-j", action="store_true", dest="print_true", help="write the true class too")
    add("-p", action="store_true", dest="print_predicted", help="write the class predicted too")
    add("-I", action="store_true", dest="integer", help="classes are whole numbers: +1 equals 1")
    add("-l", "--log", type=whole(0, 2), default=0, help="how much is printed, 0 to 2 (default 0)")
    parser.refuse("--trace", because="what the original traced is not documented", takes_value=True)
    add_files(parser, "a model file, or a folder of them")
    return parser


def _classify(options: Namespace) -> None:
    from bayesift.cli.bbr._models import as_polytomous, models_at
    from bayesift.cli.bbr._scores import Listing, dense_results, score_results
    from bayesift.formats.bbr import (
        read_data,
        read_labels,
        read_symbolic_data,
        true_class,
        write_dense_results,
        write_score_results,
    )

    models = models_at(options.modelfile)
    polytomous = [as_polytomous(model) for model in models]
    words = any(model.symbolic or not all(map(_is_whole, model.class_names)) for model in polytomous)
    data = (read_symbolic_data if words else read_data)(opened(options.datafile))
    labels = true_class(read_labels(options.labels)) if options.labels else None
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
        write_score_results(options.results, score_results(data, models, labels, listing), digits=8)
        return
    if len(models) != 1:
        raise ValueError(f"{options.modelfile}: {len(models)} models; -k is for one")
    write_dense_results(options.results, dense_results(data, models[0], labels, listing), digits=8)


def _is_whole(name: str) -> bool:
    return name.lstrip("+-").isdigit() and name.isascii()


if __name__ == "__main__":
    sys.exit(main())
