"""Facts and figures in sentences, for the terminal and for pages."""

from __future__ import annotations

from math import isfinite

from bayesift.workflow.evaluation import Evaluation
from bayesift.workflow.examination import counted
from bayesift.workflow.facts import Facts


def fact_lines(found: Facts, seconds: float | None = None) -> list[tuple[str, str]]:
    """Return the facts as names and values."""
    lines = []
    if found.n_kept is None or found.n_kept == found.n_terms:
        lines.append(("words", f"{found.n_terms:,}"))
    else:
        lines.append(("words kept", f"{found.n_kept:,} of {found.n_terms:,}"))
    if found.prior is not None:
        lines.append(("prior", f"{found.prior}{_variance(found)}"))
    if found.gap is not None:
        lines.append(("proof", f"no fit can be better by more than {found.gap:.0e} of its objective (duality gap)"))
    elif found.residual is not None:
        lines.append(("proof", f"no slope is steeper than {found.residual:.0e} at the optimum"))
    if found.policy != "half":
        lines.append(("thresholds", f"{found.policy}: {_range(list(found.thresholds.values()))} on the score"))
    if seconds is not None:
        lines.append(("time", f"{seconds:.1f} s"))
    return lines


def summary_lines(found: Evaluation) -> list[str]:
    """Return the figures of all labels together, a sentence each."""
    what = "All labels right" if found.kind == "multilabel" else "Right"
    lines = [
        f"{what}: {found.accuracy:.1%} of texts (always the most frequent: {found.baseline:.1%}). "
        f"F1: micro {found.micro_f1:.3f}, macro {_number(found.macro_f1)}.",
        f"Probabilities are {found.calibration_error:.3f} off on average (calibration error); "
        f"Brier score {found.brier:.4f}, log loss {found.log_loss:.4f}.",
    ]
    if found.confusions:
        pairs = ", ".join(f"{row.label} as {row.given} ({row.n})" for row in found.confusions[:3])
        lines.append(f"Most often confused: {pairs}.")
    if found.unknown:
        number = sum(found.unknown.values())
        names = ", ".join(repr(label) for label in list(found.unknown)[:5])
        lines.append(f"! {counted(number, 'label')} that the model does not know, counted as errors: {names}")
    return lines


def _variance(found: Facts) -> str:
    if found.variance is None:
        return ""
    values = list(found.variance.values()) if isinstance(found.variance, dict) else [found.variance]
    how = "" if found.variance_by in (None, "given") else f" by {found.variance_by}"
    return f", variance {_range(values)}{how}"


def _range(values: list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def _number(value: float) -> str:
    return f"{value:.3f}" if isfinite(value) else "–"
