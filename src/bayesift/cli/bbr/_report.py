"""The lines that the commands print, as the original programs print them."""

from __future__ import annotations

from collections.abc import Iterable

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


def beta_lines(named: Iterable[tuple[str, float]], intercept: float) -> list[str]:
    """List coefficients from the least to the greatest, and the constant."""
    ranked = sorted(named, key=lambda pair: pair[1])
    lines = [f"{shown(value, 12):>20}\t{name}\t{name}" for name, value in ranked]
    return ["Beta:", *lines, f"{shown(intercept, 12):>20}\t<Intercept>"]
