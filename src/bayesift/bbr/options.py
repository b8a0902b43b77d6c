"""What the six commands share: reading options and reporting errors."""

from __future__ import annotations

import argparse
import sys
import warnings
from argparse import ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NoReturn

from bayesift._ending import ending_when_asked
from bayesift._same_files import SameFileError, check_distinct

if TYPE_CHECKING:
    from bayesift.bbr._files import Source
    from bayesift.bbr._fitting import VarianceChoice

#: Names of standard input.
STDIN = ("-", "=")

#: Exit status of every error.
FAILURE = 2


class Parser(argparse.ArgumentParser):
    """Reads options as the original programs do; an error is one sentence and status 2."""

    def __init__(self, program: str, description: str) -> None:
        super().__init__(prog=program, description=description, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Report an error in one line."""
        self.exit(FAILURE, f"{self.prog}: {message}\n")

    def refuse(self, *names: str, because: str, takes_value: bool = False) -> None:
        """Recognise an option of the originals only to refuse it with a reason."""
        self.add_argument(
            *names, action=_Refuse, nargs=None if takes_value else 0, reason=because, help=argparse.SUPPRESS
        )

    def parse_args(self, *given: Any, **named: Any) -> Any:
        """Read the options; an output file that is also an input, or given twice, is an error."""
        options = super().parse_args(*given, **named)
        # The name of an option, or that of the argument itself.
        names = {
            action.dest: action.option_strings[-1] if action.option_strings else action.dest for action in self._actions
        }
        found = [
            (names[key], value) for key, value in vars(options).items() if isinstance(value, InputFile | OutputFile)
        ]
        reads = {name: "-" if value in STDIN else value for name, value in found if isinstance(value, InputFile)}
        writes: dict[str, str] = {name: value for name, value in found if isinstance(value, OutputFile)}
        for name, value in writes.items():
            if value == "-":
                self.error(f"{name} is '-'; expected the name of a file (for standard output, give /dev/stdout)")
        try:
            check_distinct(reads, writes | {"standard output": "-"})
        except SameFileError as error:
            self.error(str(error))
        return options


class InputFile(str):
    """The name of a file that is read."""

    __slots__ = ()


class OutputFile(str):
    """The name of a file that is written."""

    __slots__ = ()


class _Refuse(argparse.Action):
    def __init__(self, *positional: Any, reason: str, **named: Any) -> None:
        super().__init__(*positional, **named)
        self.reason = reason

    def __call__(self, parser: argparse.ArgumentParser, *arguments: Any) -> None:
        parser.error(f"{arguments[-1]} is not supported: {self.reason}")


def run(program: str, body: Callable[[], None]) -> int:
    """Run a command; return its exit status.

    Expected errors become one sentence on standard error, as does every warning.
    """
    try:
        with ending_when_asked(program), _warnings_as_sentences(program):
            body()
    except (OSError, ValueError, ImportError) as error:
        sys.stderr.write(f"{program}: {_sentence(error)}\n")
        return FAILURE
    return 0


@contextmanager
def _warnings_as_sentences(program: str) -> Iterator[None]:
    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        sys.stderr.write(f"{program}: warning: {' '.join(str(message).split())}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def echo(lines: Iterable[str]) -> None:
    """Print the lines of a report."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def opened(name: str) -> Source:
    """Return the data file; ``-`` and ``=`` are standard input."""
    if name not in STDIN:
        return name
    stream: IO[bytes] = sys.stdin.buffer
    return stream


def positive_number(text: str) -> float:
    """Read a number greater than 0."""
    value = number(text)
    if not 0.0 < value < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a finite number greater than 0")
    return value


def probability(text: str) -> float:
    """Read a probability between 0 and 1, both excluded."""
    value = number(text)
    if not 0.0 < value < 1.0:
        raise ArgumentTypeError(f"{text!r} is not a probability between 0 and 1")
    return value


def number_list(text: str) -> tuple[float, ...]:
    """Read numbers greater than 0, separated by commas."""
    return tuple(positive_number(part) for part in text.split(","))


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a function that reads whole numbers within limits."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least or (most is not None and value > most):
            limits = f"of at least {least}" if most is None else f"from {least} to {most}"
            raise ArgumentTypeError(f"{text!r} is not a whole number {limits}")
        return value

    return read


def folds_and_runs(text: str) -> tuple[int, int]:
    """Read ``folds[,runs]``; all folds are left out in turn unless a number of runs is given."""
    parts = [whole(1)(part) for part in text.split(",")]
    if len(parts) > 2 or parts[0] < 2 or parts[-1] > parts[0]:
        raise ArgumentTypeError(f"{text!r} is not folds[,runs], at least 2 folds and no more runs than folds")
    return parts[0], parts[-1]


def number(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a number") from None


def add_prior_options(parser: Parser, *, extended: bool = True) -> None:
    """Add the options for the prior and its variance; BMRtrain lacks the ``extended`` ones."""
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
    add("-I", "--indPriorsFile", dest="priors", type=InputFile, metavar="FILE", help="individual priors")
    if extended:
        add("--autosearch", action="store_true", help="search the variance without a grid")
        add("--pos", action="store_true", help="no coefficient below 0")
        add("--neg", action="store_true", help="no coefficient above 0")
    else:
        parser.set_defaults(autosearch=False, pos=False, neg=False)


def add_common_options(parser: Parser, tolerance: float, rounds: int) -> None:
    """Add the options for data, stopping and output."""
    add = parser.add_argument
    add("-c", "--cosnorm", action="store_true", help="scale documents to length 1")
    add("-e", "--eps", type=positive_number, default=tolerance, help=f"stopping tolerance (default {tolerance})")
    add("--iter", type=whole(1), default=rounds, help=f"limit of passes (default {rounds})")
    add_results(parser, "results on the training documents")
    add_log(parser)
    add("--modelname", default="", help="name of the model, kept in its file")


def add_class_options(parser: Parser) -> None:
    """Add the options for several classes, and refuse obsolete ones."""
    add = parser.add_argument
    add("-R", "--refClass", dest="reference", metavar="CLASS", help="a class whose coefficients are zero")
    add("-z", "--zerovars", action="store_true", help="zero for a feature in a class if none of its documents has it")
    parser.refuse("-y", because="it was already obsolete in BMRtrain")
    add("-o", dest="optimizer", type=optimizer, default=1, help="1, as there is no other choice left")


def optimizer(text: str) -> int:
    """Read the number of an optimiser; there is one."""
    if text != "1":
        raise ArgumentTypeError(
            f"{text!r} is not 1: the quasi-Newton optimisers 2 and 3 were for research, and all find the same model"
        )
    return 1


def add_log(parser: Parser) -> None:
    """Add the option for how much is printed."""
    parser.add_argument("-l", "--log", type=whole(0, 2), default=0, help="how much is printed, 0 to 2 (default 0)")


def add_results(parser: Parser, meaning: str, *, required: bool = False) -> None:
    """Add the option that names the file of results."""
    parser.add_argument(
        "-r", "--resultfile", dest="results", type=OutputFile, metavar="FILE", required=required, help=meaning
    )


def add_files(parser: Parser, model_help: str | None = None) -> None:
    """Add the data file and the model file, which is read if ``model_help`` describes it, and otherwise written."""
    parser.add_argument("datafile", type=InputFile, help="documents; - or = is standard input")
    kind = OutputFile if model_help is None else InputFile
    parser.add_argument("modelfile", type=kind, help=model_help or "the model file to write")


def variance_choice(parser: Parser, options: Namespace) -> VarianceChoice:
    """Read the options for the variance, at most one of which may be given.

    ``-S`` and ``-H`` are in native units: the rate of a Laplace prior, the variance of a Gaussian one.
    """
    if options.pos and options.neg:
        parser.error("--pos and --neg exclude each other")
    native = options.native_grid or ((options.native,) if options.native else None)
    ways = {"-V": options.variance, "-S or -H": native, "--autosearch": options.autosearch}
    chosen = [name for name, value in ways.items() if value]
    if len(chosen) > 1 or (options.native_grid and options.native):
        parser.error(f"{' and '.join(chosen if len(chosen) > 1 else ['-S', '-H'])} exclude each other")
    values = options.variance or ()
    if native:
        one_sided = options.pos or options.neg
        values = native if options.prior == 2 else tuple((1.0 if one_sided else 2.0) / rate**2 for rate in native)
    folds, runs = options.cv
    from bayesift.bbr._fitting import VarianceChoice

    return VarianceChoice(values, options.autosearch, folds, runs, options.errbar)
