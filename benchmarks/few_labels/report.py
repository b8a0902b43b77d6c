"""The tables and the picture of the learning curves, and whether vectors beside words are better than words alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bayesift.evaluate import Results, compare
from benchmarks.few_labels.systems import SYSTEMS

#: What one draw of labels gave: the score, the macro F1 where there is one, and which decisions were wrong.
Measured = dict[str, Any]
#: By collection, labels a class and system, what each draw gave.
Curves = dict[str, dict[str, dict[str, dict[int, Measured]]]]

#: What is no number of labels a class, and so not on the axis of the picture.
_OFF_AXIS = ("all", "random")
_WORDS, _BOTH = "words", "words and vectors"
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "few-labels.png"


def write_report(curves: Curves) -> None:
    """Print a table for each collection as Markdown, and draw the curves."""
    for name, by_size in curves.items():
        print(f"\n### {name}\n")
        print(f"| system | {' | '.join(by_size)} |\n|---|{'---:|' * len(by_size)}")
        for system in SYSTEMS:
            cells = [_cell(by_system.get(system.name, {})) for by_system in by_size.values()]
            if any(cells):
                print(f"| {system.name} | {' | '.join(cells)} |")
        for title, line in (
            ("both against words", [_signs(by_system) for by_system in by_size.values()]),
            ("draws", [str(max(map(len, by_system.values()))) for by_system in by_size.values()]),
        ):
            print(f"| *{title}* | {' | '.join(line)} |")
    draw(curves)


def _cell(by_draw: dict[int, Measured]) -> str:
    """Return the mean and the standard deviation; micro and macro F1 where texts have sets of labels."""
    if not by_draw:
        return ""
    scores = [found["score"] for found in by_draw.values()]
    macro = [found["macro"] for found in by_draw.values() if "macro" in found]
    mean = f"{np.mean(scores):.1f}" + (f" / {np.mean(macro):.1f}" if macro else "")
    return mean + (f" ± {np.std(scores, ddof=1):.1f}" if len(scores) > 1 else "")


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


def draw(curves: Curves, path: Path = PICTURE) -> None:
    """Draw the means over the labels a class, for ours with bands of one standard deviation; needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, 4, figsize=(14, 7.5), layout="constrained")
    lines: dict[str, Any] = {}
    for axis, (name, by_size) in zip(axes.flat, curves.items(), strict=False):
        for place, system in enumerate(SYSTEMS):
            points = {
                int(size): [found["score"] for found in by_system[system.name].values()]
                for size, by_system in by_size.items()
                if size not in _OFF_AXIS and system.name in by_system
            }
            if not points:
                continue
            means = np.array([np.mean(scores) for scores in points.values()])
            style = {"linewidth": 2.4} if system.is_ours else {"linewidth": 1.1, "linestyle": "--"}
            color = plt.get_cmap("tab20")(2 * place if place < 10 else 2 * (place - 10) + 1)
            [line] = axis.plot(list(points), means, marker=".", label=system.name, color=color, **style)
            lines.setdefault(system.name, line)
            if system.is_ours:
                spread = np.array([np.std(scores) for scores in points.values()])
                axis.fill_between(list(points), means - spread, means + spread, alpha=0.15, color=color, linewidth=0)
        sizes = [int(size) for size in by_size if size not in _OFF_AXIS]
        axis.set_xscale("log")
        axis.set_xticks(sizes, labels=list(map(str, sizes)))
        axis.minorticks_off()
        axis.set_title(name, fontsize=11, loc="left")
        axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[-1]:
        axis.set_xlabel("labels a class")
    figure.supylabel("accuracy, or micro F1 where texts have sets of labels, per cent")
    figure.legend(lines.values(), lines.keys(), loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, dpi=100)
    plt.close(figure)
