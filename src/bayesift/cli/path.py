"""``bayesift path``: which words enter as the prior loosens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesift.cli._options import Data, Delimiter, Encoding, InputFormat, Json, Label, LabelSeparator, Quiet, Text
from bayesift.cli._shell import console, print_json, reading, shown, steps, table


def path(
    data: Data,
    of: Annotated[
        str | None, typer.Option("--of", metavar="LABEL", help="Which label (default: the rarer of two).")
    ] = None,
    n_steps: Annotated[int, typer.Option("--steps", min=2, max=500, help="How many fits.")] = 20,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="PICTURE", help="Draw it: .png, .svg or .pdf.")
    ] = None,
    text: Text = None,
    label: Label = None,
    label_separator: LabelSeparator = None,
    delimiter: Delimiter = None,
    encoding: Encoding = "utf-8",
    input_format: InputFormat = None,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Follow the lasso of one label from the strongest prior to the weakest: which words enter, and when."""
    with steps(quiet or as_json) as step:
        step("loading the libraries", 0, 0)
        from bayesift.cli._compiling import say_if_compiling
        from bayesift.workflow import trace

        step(f"reading {data.name}", 0, 0)
        texts = reading(data, text, label, label_separator, delimiter, encoding, input_format)
        say_if_compiling("lasso", quiet=quiet or as_json)
        step("fitting", 0, 0)
        found = trace(texts, of, n_steps=n_steps)
        if output is not None:
            _draw(found, output)
    if as_json:
        print_json({"label": found.label, "steps": found.steps()})
        return
    if quiet:
        return
    out = console()
    out.print(f"{shown(found.label)} against the rest, from the strongest prior to the weakest", style="bold")
    rows = table(">variance", ">words", ">log likelihood", "words that enter")
    for line in found.steps():
        more = f" and {len(line['new']) - 8} more" if len(line["new"]) > 8 else ""
        words = ", ".join(shown(word) for word in line["new"][:8]) + more
        rows.add_row(f"{line['variance']:.3g}", f"{line['words']:,}", f"{line['log_likelihood']:.1f}", words)
    out.print(rows)
    if output is not None:
        out.print(f"Drawn: {output}", soft_wrap=True)


def _draw(found: object, output: Path) -> None:
    from bayesift._extras import require
    from bayesift._files import atomic_path
    from bayesift.cli._shell import UserError
    from bayesift.plots import RegularizationPathDisplay

    if output.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise UserError(f"{output} has the ending {output.suffix!r}", "pictures are .png, .svg or .pdf")
    require("matplotlib", extra="plot", purpose="drawing").use("agg")
    display = RegularizationPathDisplay(found.path).plot()  # type: ignore[attr-defined]
    with atomic_path(output) as temporary:
        display.figure_.savefig(temporary, dpi=150)
