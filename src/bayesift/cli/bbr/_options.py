"""Options that the training commands share, and what they mean."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from dataclasses import dataclass
from typing import Any

from bayesift.cli.bbr._shell import Parser, folds_and_runs, number_list, positive_number, whole


@dataclass(frozen=True)
class VarianceChoice:
    """How the common prior variance is found.

    Parameters
    ----------
    values : tuple of float
        None of them: by the norm of the documents; one: this; several: the best of them by cross-validation.
    search : bool
        Search without a grid instead.
    folds, runs : int
    one_standard_error : bool
    """

    values: tuple[float, ...] = ()
    search: bool = False
    folds: int = 10
    runs: int = 10
    one_standard_error: bool = False

    @property
    def by_norm(self) -> bool:
        """Whether the norm of the documents gives the variance."""
        return not (self.values or self.search)

    def known(self, mean_square_norm: float | None, n_features: int) -> float | None:
        """Return the variance where no search is needed; the programs count the constant as a feature."""
        if mean_square_norm is not None:
            return (n_features + 1) / mean_square_norm
        return self.values[0] if len(self.values) == 1 else None

    def searching(self) -> dict[str, Any]:
        """Return the parameters of an estimator that searches."""
        return {
            "variance": "auto" if self.search else "cv",
            "grid": self.values or None,
            "folds": self.folds,
            "runs": self.runs,
            "one_standard_error": self.one_standard_error,
        }


def add_prior_options(parser: Parser) -> None:
    """Add the options on the prior and its variance."""
    add = parser.add_argument
    add("-p", "--prior", type=whole(1, 2), default=2, help="1 Laplace, 2 Gaussian (default 2)")
    several = "prior variance; several: choose by cross-validation"
    add("-V", "--variance", type=number_list, metavar="V[,V…]", help=several)
    add(
        "-C",
        "--cv",
        type=folds_and_runs,
        default=(10, 10),
        metavar="FOLDS[,RUNS]",
        help="folds, and how many are left out in turn (default 10,10)",
    )
    add("--errbar", action="store_true", help="the strongest penalty within one standard error of the best")
    add("-S", dest="native_grid", type=number_list, metavar="H[,H…]", help="deprecated: see -V")
    add("-H", dest="native", type=positive_number, metavar="H", help="deprecated: see -V")
    add("-I", "--indPriorsFile", dest="priors", metavar="FILE", help="individual priors")


def add_common_options(parser: Parser, tolerance: float, rounds: int) -> None:
    """Add the options on data, stopping and output."""
    add = parser.add_argument
    add("-c", "--cosnorm", action="store_true", help="scale documents to length 1")
    add("-e", "--eps", type=positive_number, default=tolerance, help=f"stopping tolerance (default {tolerance})")
    add("--iter", type=whole(1), default=rounds, help=f"limit of passes (default {rounds})")
    add("-r", "--resultfile", dest="results", metavar="FILE", help="results on the training documents")
    add("-l", "--log", type=whole(0, 2), default=0, help="how much is printed, 0 to 2 (default 0)")
    add("--modelname", default="", help="name of the model, kept in its file")


def add_class_options(parser: Parser) -> None:
    """Add the options on several classes, and refuse what is gone."""
    add = parser.add_argument
    add("-R", "--refClass", dest="reference", metavar="CLASS", help="a class whose coefficients are zero")
    add("-z", "--zerovars", action="store_true", help="zero for a feature in a class none of whose documents holds it")
    parser.refuse("-y", because="it was obsolete in BMRtrain already")
    add("-o", dest="optimizer", type=optimizer, default=1, help="1, as there is no other choice left")


def optimizer(text: str) -> int:
    """Read the number of an optimiser; there is one."""
    if text != "1":
        raise ArgumentTypeError(
            f"{text!r} is not 1: the quasi-Newton optimisers 2 and 3 were for research, all find the same model"
        )
    return 1


def add_files(parser: Parser, model_help: str = "the model file to write") -> None:
    """Add the data file and the model file."""
    parser.add_argument("datafile", help="documents; - or = is standard input")
    parser.add_argument("modelfile", help=model_help)


def variance_choice(parser: Parser, options: Namespace, one_sided: bool = False) -> VarianceChoice:
    """Read the options on the variance, of which at most one way may be chosen.

    ``-S`` and ``-H`` are in native units: the rate of a Laplace prior, the variance of a Gaussian one.
    """
    search = getattr(options, "autosearch", False)
    native = options.native_grid or ((options.native,) if options.native else None)
    ways = {"-V": options.variance, "-S or -H": native, "--autosearch": search}
    chosen = [name for name, value in ways.items() if value]
    if len(chosen) > 1 or (options.native_grid and options.native):
        parser.error(f"{' and '.join(chosen if len(chosen) > 1 else ['-S', '-H'])} exclude each other")
    values = options.variance or ()
    if native:
        values = native if options.prior == 2 else tuple((1.0 if one_sided else 2.0) / rate**2 for rate in native)
    folds, runs = options.cv
    return VarianceChoice(values, search, folds, runs, options.errbar)
