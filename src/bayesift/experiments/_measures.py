"""Measures that several papers share."""

from __future__ import annotations

from sklearn.metrics import f1_score

from bayesift._typing import AnyArray


def f1_percent(truth: AnyArray, decisions: AnyArray) -> tuple[float, float]:
    """Macro- and micro-averaged F1 in per cent; a category without positives and without acceptances counts 1."""
    return tuple(100.0 * f1_score(truth, decisions, average=kind, zero_division=1.0) for kind in ("macro", "micro"))
