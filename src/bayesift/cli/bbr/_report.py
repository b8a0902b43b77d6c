"""The lines that the commands print, as the original programs print them."""

from __future__ import annotations

from collections.abc import Iterable

from bayesift.cli.bbr._decisions import PolytomousDecisions
from bayesift.formats.bbr import BinaryFigures


def shown(value: float, digits: int) -> str:
    """Write a number with so many significant digits."""
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
