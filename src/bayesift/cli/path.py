"""``bayesift path``: which words enter as the prior loosens."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesift.cli._guard import Written, check_picture
from bayesift.cli._options import Data, Output, Reading, with_option_groups
from bayesift.cli._shell import console, print_json, say_if_compiling, shown, steps, table


@with_option_groups
def path(
    data: Data,
    *,
    of: Annotated[
        str | None, typer.Option("--of", metavar="LABEL", help="The label to follow (default: the rarer of two).")
    ] = None,
    n_steps: Annotated[int, typer.Option("--steps", min=2, max=500, help="Number of fits.")] = 20,
    picture: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PICTURE", help="Draw the path to a .png, .svg or .pdf file."),
        Written(),
    ] = None,
    reading: Reading,
    output: Output,
) -> None:
    """Show which words enter the lasso of one label, and when, from the strongest prior to the weakest."""
    if picture is not None:
        check_picture(picture)
    with steps(output.is_silent) as step:
        step("loading the libraries")
        from bayesift.workflow import label_path

        step(f"reading {data.name}")
        texts = reading.read(data, quiet=output.is_silent)
        say_if_compiling("lasso", quiet=output.is_silent)
        step("fitting")
        found = label_path(texts, of, n_steps=n_steps)
        if picture is not None:
            found.draw(picture)
    if output.as_json:
        print_json({"label": found.label, "steps": found.steps()})
    if output.is_silent:
        return
    out = console()
    out.print(f"{shown(found.label)} against the rest, from the strongest prior to the weakest", style="bold")
    rows = table(">variance", ">words", ">log likelihood", "words that enter")
    for line in found.steps():
        more = f" and {len(line['new']) - 8} more" if len(line["new"]) > 8 else ""
        words = ", ".join(shown(word) for word in line["new"][:8]) + more
        rows.add_row(f"{line['variance']:.3g}", f"{line['words']:,}", f"{line['log_likelihood']:.1f}", words)
    out.print(rows)
    if picture is not None:
        out.print(f"Drawn: {picture}", soft_wrap=True)
