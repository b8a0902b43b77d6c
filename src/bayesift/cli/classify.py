"""``bayesift classify``: labels for new texts, in a stream."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesift.cli._guard import Written
from bayesift.cli._options import (
    Delimiter,
    Encoding,
    Header,
    ModelFile,
    MoreData,
    Output,
    Quotes,
    Texts,
    with_option_groups,
)
from bayesift.cli._shards import Engine
from bayesift.cli._shell import Steps, console, list_of, print_json, say, say_if_compiling, shown, steps

if TYPE_CHECKING:
    from bayesift.workflow import Classified


class SourceFormat(StrEnum):
    """Formats of texts to classify."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    json = "json"
    lines = "lines"
    parquet = "parquet"
    xlsx = "xlsx"
    folder = "folder"


class OutputFormat(StrEnum):
    """Formats that can be written."""

    csv = "csv"
    tsv = "tsv"
    jsonl = "jsonl"
    parquet = "parquet"


@with_option_groups
def classify(
    model: ModelFile,
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA", help="CSV, TSV, JSON, JSONL, Parquet, Excel or text file, folder of files; - is stdin."
        ),
    ],
    more: MoreData = None,
    *,
    target: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="OUT", help="File to write, or folder for several; - is standard output."
        ),
        Written(or_dash=True, or_folder=True),
    ] = Path("-"),
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every label.")] = False,
    explain: Annotated[
        int, typer.Option(min=0, metavar="K", help="Add the K words that count most for and against.")
    ] = 0,
    interval: Annotated[
        float | None,
        typer.Option(
            metavar="MASS",
            help="Add every probability with an interval that contains it with this probability, such as 0.9.",
        ),
    ] = None,
    abstain: Annotated[
        bool,
        typer.Option("--abstain", help="Give only labels that are sure; column 'unsure' lists those left to a person."),
    ] = False,
    certainty: Annotated[
        float, typer.Option(metavar="SHARE", help="How sure a label must be with --abstain, above 0.5.")
    ] = 0.9,
    brief: Annotated[
        bool, typer.Option("--brief", help="Write no column of DATA except 'id' (or the row number).")
    ] = False,
    format: Annotated[
        OutputFormat | None, typer.Option("--format", help="Output format (default: by the name of OUT, or as DATA).")
    ] = None,
    text: Texts = None,
    delimiter: Delimiter = None,
    header: Header = None,
    quotes: Quotes = True,
    encoding: Encoding = None,
    input_format: Annotated[
        SourceFormat | None,
        typer.Option("--input-format", help="Format of DATA, if neither its name nor its first line shows it."),
    ] = None,
    engine: Engine = None,
    output: Output,
) -> None:
    """Add predicted labels to any number of texts.

    Several files are written to the folder OUT, each under its own name; after a kill, only the missing ones.
    """
    to_stdout = str(target) == "-"
    if output.as_json and to_stdout:
        raise typer.BadParameter("the texts already go to standard output; give -o OUT", param_hint="--json")
    if interval is not None and not 0 < interval < 1:
        raise typer.BadParameter(f"{interval:g} is not between 0 and 1", param_hint="--interval")
    if not 0.5 < certainty < 1:
        raise typer.BadParameter(f"{certainty:g} is not between 0.5 and 1", param_hint="--certainty")
    options: dict[str, Any] = {
        "proba": proba,
        "explain": explain,
        "interval": interval,
        "abstain": abstain,
        "certainty": certainty,
        "brief": brief,
        "format": None if format is None else format.value,
        "text": text or None,
        "source_format": None if input_format is None else input_format.value,
        "encoding": encoding,
        "delimiter": delimiter,
        "header": header,
        "quotes": quotes,
    }
    if more or target.is_dir():
        with steps(output.is_silent) as step:
            _classify_files(model, [data, *(more or ())], target, engine or "threads", options, step, output)
        return
    if engine is not None:
        raise typer.BadParameter("it needs several files, and a folder for -o", param_hint="--engine")
    with steps(output.is_silent) as step:
        step("loading the libraries")
        from bayesift.workflow import classify as classify_texts
        from bayesift.workflow import load_classifier
        from bayesift.workflow.errors import counted

        classifier, origin = load_classifier(model)
        say_if_compiling(quiet=output.is_silent)
        found = classify_texts(
            classifier,
            str(data),
            str(target),
            prefer=origin.get("text"),
            label_separator=origin.get("label_separator") or ";",
            progress=lambda n_texts: step("classifying", n_texts),
            **options,
        )
    if output.as_json:
        print_json({"file": str(target), **found.as_dict()})
    elif not output.quiet:
        for note in found.notes:
            say(f"{'standard input' if str(data) == '-' else data.name}: {shown(note)}")
        names = [] if found.text is None or found.format == "lines" else list_of(found.text)
        column = "".join(f", column {shown(name)!r}" for name in names)
        say(f"{counted(found.n_texts, 'text')} ({found.format}{column})" + ("" if to_stdout else f" → {target}"))
        if found.n_unsure is not None:
            say(f"{found.n_unsure:,} of them are left to a person, at least in part (see column 'unsure')")
        if not to_stdout:
            out = console()
            for label, number in list(found.counts.items())[:10]:
                out.print(f"{number:>10,}  {shown(label) or '(no label)'}")


def _classify_files(
    model: Path, files: list[Path], target: Path, engine: str, options: dict[str, Any], step: Steps, output: Output
) -> None:
    """Classify several files into a folder, and print a line about each when it is done."""
    looks_like_a_file = target.suffix.lower() in (".csv", ".tsv", ".jsonl", ".parquet", ".gz") and not target.is_dir()
    if str(target) == "-" or target.is_file() or looks_like_a_file:
        raise typer.BadParameter("several files are written to a folder; give -o FOLDER", param_hint="--output")
    step("loading the libraries")
    from bayesift.workflow import classify_files, load_classifier
    from bayesift.workflow.errors import counted

    # A file that is not a model is refused before any work is done.
    load_classifier(model)
    say_if_compiling(quiet=output.is_silent)
    step("classifying", 0, len(files))
    done: list[Path] = []

    def tell(written: Path, found: Classified) -> None:
        done.append(written)
        step("classifying", len(done), len(files))
        if not output.is_silent:
            with step.paused():
                for note in found.notes:
                    say(f"{shown(files[len(done) - 1].name)}: {shown(note)}")
                say(f"{counted(found.n_texts, 'text')} → {shown(target / written.name)}")

    found = classify_files(model, files, target, engine=engine, on_file=tell, **options)
    if output.as_json:
        print_json({"folder": str(target), "files": {name: one.as_dict() for name, one in found.items()}})
