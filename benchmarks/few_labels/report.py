"""The tables and the pictures of the learning curves, and whether vectors beside words are better than words alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bayesift.evaluate import Results, compare
from benchmarks.few_labels.systems import SYSTEMS, System
from benchmarks.few_labels.tasks import NAMES, STRIPPED
from benchmarks.measuring import show

#: What one draw of labels gave: the score, the macro F1 where there is one, and which decisions were wrong.
Measured = dict[str, Any]
#: By collection, labels a class and system, what each draw gave.
Curves = dict[str, dict[str, dict[str, dict[int, Measured]]]]

#: What is no number of labels a class, and so not on the axis of the pictures.
_OFF_AXIS = ("all", "random")
_WORDS, _BOTH = "words", "words and vectors"
IMAGES = Path(__file__).parents[2] / "docs" / "images"

#: What the first picture shows beside ours: per cent of stripped messages with 1,000 labels, about 50 a group, as
#: published in the training results of model2vec.
PUBLISHED = {"bge-base": 67.4, "SetFit": 61.3, "model2vec, tuned": 57.9}
_COLLECTIONS_AT_A_GLANCE = {"20newsgroups": "whole messages", STRIPPED: "without headers, footers and quotes"}
_SYSTEMS_AT_A_GLANCE = (
    _BOTH,
    _WORDS,
    "naive Bayes by EM",
    "LSA + LogisticRegression",
    "tf-idf + LogisticRegression",
    "fastText with our vectors",
)


def write_report(curves: Curves, folder: Path = IMAGES) -> None:
    """Print a table for each collection, and draw the pictures whose collections are all there into a folder."""
    for name, by_size in curves.items():
        draws = [len(by_system.get(_BOTH, {})) for by_system in by_size.values()]
        rows = []
        for system in SYSTEMS:
            found = [by_system.get(system.name, {}) for by_system in by_size.values()]
            if any(found):
                rows.append((system.name, *map(_cell, found, draws)))
        rows.append(("*both against words*", *map(_signs, by_size.values())))
        rows.append(("*draws*", *map(str, draws)))
        show(name, ("system", *by_size), rows)
    if curves.keys() >= set(NAMES):
        draw(curves, folder / "few-labels.png")
    if curves.keys() >= _COLLECTIONS_AT_A_GLANCE.keys():
        draw_at_a_glance(curves, folder / "few-labels-20newsgroups.svg")


def _cell(by_draw: dict[int, Measured], usual: int) -> str:
    """Return the mean and the standard deviation, and how many draws if not as many as usual.

    Where texts have sets of labels, it is that of the micro F1, beside the mean of the macro F1.
    """
    if not by_draw:
        return ""
    scores = [found["score"] for found in by_draw.values()]
    macro = [found["macro"] for found in by_draw.values() if "macro" in found]
    mean = f"{np.mean(scores):.1f}" + (f" / {np.mean(macro):.1f}" if macro else "")
    spread = f" ± {np.std(scores, ddof=1):.1f}" if len(scores) > 1 else ""
    return mean + spread + (f" ({len(scores)})" if len(scores) != usual else "")


def _signs(by_system: dict[str, dict[int, Measured]]) -> str:
    """Count the draws in which both are better (≫, >), level (~) or worse (<, ≪), by the sign test on decisions."""
    words, both = by_system.get(_WORDS, {}), by_system.get(_BOTH, {})
    signs = [sign_of(words[draw], both[draw]) for draw in sorted(words.keys() & both.keys())]
    return " ".join(f"{signs.count(sign)} {sign}" for sign in "≫>~<≪" if sign in signs)


def sign_of(first: Measured, second: Measured) -> str:
    """Say whether the second is better (≫, >), worse (<, ≪) or level (~): two levels of significance, 0.01 and 0.05."""
    right = np.ones((2, first["n_decisions"]), dtype=bool)
    for row, found in zip(right, (first, second), strict=True):
        row[found["wrong"]] = False
    truth = np.ones(right.shape[1], dtype=bool)
    tests = compare(Results(truth, right[1]), Results(truth, right[0]), n_resamples=0).tests
    return tests["decisions (sign test)"].sign


def draw(curves: Curves, path: Path) -> None:
    """Draw the curves of all collections, for ours with bands of one standard deviation; needs matplotlib."""
    plt = _pyplot()
    figure, axes = plt.subplots(2, 4, figsize=(14, 7.5), layout="constrained")
    lines: dict[str, Any] = {}
    for axis, (name, by_size) in zip(axes.flat, curves.items(), strict=False):
        for system in SYSTEMS:
            line = _curve(axis, by_size, system)
            if line is not None:
                lines.setdefault(system.name, line)
        _label_axis(axis, by_size, name)
    for axis in axes[-1]:
        axis.set_xlabel("labels a class")
    figure.supylabel("accuracy, or micro F1 where texts have sets of labels, per cent")
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def draw_at_a_glance(curves: Curves, path: Path) -> None:
    """Draw the curves of 20 Newsgroups with their names beside them, and what is published."""
    plt = _pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(10.5, 4.4), sharey=True, layout="constrained")
    for axis, (name, title) in zip(axes, _COLLECTIONS_AT_A_GLANCE.items(), strict=True):
        by_size = curves.get(name, {})
        ends: dict[str, tuple[float, Any]] = {}
        for system in SYSTEMS:
            line = _curve(axis, by_size, system) if system.name in _SYSTEMS_AT_A_GLANCE else None
            if line is not None:
                ends[system.name] = float(line.get_ydata()[-1]), line.get_color()
        if name == STRIPPED:
            places = list(PUBLISHED.values())
            axis.plot([50] * len(places), places, "D", color="white", markeredgecolor="black", markersize=6, zorder=3)
            ends |= {f"{system} (published)": (place, "black") for system, place in PUBLISHED.items()}
        _name_ends(axis, ends)
        _label_axis(axis, by_size, f"20 Newsgroups, {title}")
        axis.set_xlabel("labels a group")
    axes[0].set_ylabel("test accuracy, per cent")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("Agg")
    # The same picture has the same bytes.
    matplotlib.rcParams["svg.hashsalt"] = "few-labels"
    import matplotlib.pyplot as plt

    return plt


def _curve(axis: Any, by_size: dict[str, dict[str, dict[int, Measured]]], system: System) -> Any:
    """Draw the means of a system over the labels a class; None where it was not measured."""
    points = {
        int(size): [found["score"] for found in by_system[system.name].values()]
        for size, by_system in by_size.items()
        if size not in _OFF_AXIS and system.name in by_system
    }
    if not points:
        return None
    place = [known.name for known in SYSTEMS].index(system.name)
    color = _pyplot().get_cmap("tab20")(2 * place if place < 10 else 2 * (place - 10) + 1)
    means = np.array([np.mean(scores) for scores in points.values()])
    style = {"linewidth": 2.4} if system.is_ours else {"linewidth": 1.1, "linestyle": "--"}
    [line] = axis.plot(list(points), means, marker=".", label=system.name, color=color, **style)
    if system.is_ours:
        spread = np.array([np.std(scores) for scores in points.values()])
        axis.fill_between(list(points), means - spread, means + spread, alpha=0.15, color=color, linewidth=0)
    return line


def _label_axis(axis: Any, by_size: dict[str, Any], title: str) -> None:
    sizes = [int(size) for size in by_size if size not in _OFF_AXIS]
    axis.set_xscale("log")
    axis.set_xticks(sizes, labels=list(map(str, sizes)))
    axis.minorticks_off()
    axis.set_title(title, fontsize=11, loc="left")
    axis.spines[["top", "right"]].set_visible(False)


def _name_ends(axis: Any, ends: dict[str, tuple[float, Any]], apart: float = 3.2) -> None:
    """Write the names of curves beside their ends, moved up and down until they can be read."""
    ordered = sorted(ends.items(), key=lambda end: end[1][0])
    heights = [height for _, (height, _) in ordered]
    up, down = list(heights), list(heights)
    for k in range(1, len(heights)):
        up[k] = max(up[k], up[k - 1] + apart)
        down[-k - 1] = min(down[-k - 1], down[-k] - apart)
    for (name, (_, color)), highest, lowest in zip(ordered, up, down, strict=True):
        axis.annotate(
            name,
            (1.0, 0.5 * (highest + lowest)),
            xycoords=("axes fraction", "data"),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            color=color,
        )
