"""The pictures of ``docs/review_simulation.md``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.review.ours import REVIEWS
from benchmarks.review.runs import EFFORTS

IMAGES = Path(__file__).parents[2] / "docs" / "images"
COLOURS = {"peer": "#888888", "ours": "#2b5c8a", "line": "#c8742a"}
NAMES = {"peer": "ASReview 3.0.8, two records", "ours": "ours, the same two records", "line": "ours, one line of text"}


def draw(found: dict[str, Any], stops: dict[str, Any]) -> None:
    """Draw the recall curves of all reviews, and where the rules stopped."""
    _curves(found)
    _stops(stops)


def _curves(found: dict[str, Any]) -> None:
    figure, axes = plt.subplots(3, 5, figsize=(13, 7.5), sharex=True, sharey=True, layout="constrained")
    for name, axis in zip(REVIEWS, axes.flat, strict=False):
        for way, colour in COLOURS.items():
            curves = np.array([result["curve"] for result in found[way][name]])
            axis.plot(EFFORTS, curves.mean(axis=0), color=colour, lw=1.6, label=NAMES[way])
            if way != "line":
                axis.fill_between(EFFORTS, curves.min(axis=0), curves.max(axis=0), color=colour, alpha=0.15, lw=0)
        axis.plot([0, 1], [0, 1], color="#bbbbbb", lw=0.8, ls=":")
        axis.axhline(0.95, color="#bbbbbb", lw=0.8)
        axis.set_title(name, fontsize=10, loc="left")
        axis.spines[["top", "right"]].set_visible(False)
    axes.flat[-1].axis("off")
    axes.flat[-1].legend(*axes.flat[0].get_legend_handles_labels(), loc="center", frameon=False, fontsize=9)
    figure.supxlabel("share of the records read", fontsize=10)
    figure.supylabel("recall", fontsize=10)
    figure.savefig(IMAGES / "review-recall.png", dpi=110)
    plt.close(figure)


def _stops(stops: dict[str, Any]) -> None:
    every = [(name, result["stops"]) for name, results in stops.items() for result in results]
    rules = list(every[0][1])
    figure, axes = plt.subplots(2, 4, figsize=(13, 6), sharex=True, sharey=True, layout="constrained")
    for rule, axis in zip(rules, axes.flat, strict=True):
        effort = np.array([stop[rule]["effort"] for _, stop in every])
        recall = np.array([stop[rule]["recall"] for _, stop in every])
        missed = recall < 0.95
        axis.scatter(effort[~missed], recall[~missed], s=12, color="#2b5c8a", alpha=0.6)
        axis.scatter(effort[missed], recall[missed], s=12, color="#c0392b", alpha=0.6)
        axis.axhline(0.95, color="#bbbbbb", lw=0.8)
        axis.set_title(f"{rule}: {1 - missed.mean():.0%} reach 95 %", fontsize=10, loc="left")
        axis.spines[["top", "right"]].set_visible(False)
    figure.supxlabel("share of the records read when the rule stopped", fontsize=10)
    figure.supylabel("recall really reached", fontsize=10)
    figure.savefig(IMAGES / "review-stopping.png", dpi=110)
    plt.close(figure)
