"""Learning curves with few labels and a pile of texts without: words, vectors from the pile, both, and peers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from rich.console import Console
from sklearn.exceptions import ConvergenceWarning

from bayesift.evaluate import f_beta
from benchmarks.few_labels.report import Curves, write_report
from benchmarks.few_labels.systems import SYSTEMS, System
from benchmarks.few_labels.tasks import NAMES, STRIPPED, Material
from benchmarks.measuring import show
from reproduction.catalogue import Family, PieceCache, Runner

#: So many texts at random get labels, as in the published numbers for stripped messages; and where texts have sets of
#: labels, since as many texts of each label are then another mixture than that of the test texts.
RANDOM = 1000
AT_RANDOM = (STRIPPED, "reuters21578", "ohsumed")
#: Most draws of labels.
DRAWS = 10
_ALL = ("bayesift.text", "bayesift.vectors", "benchmarks.few_labels.tasks")
_OURS = ("bayesift.priors", "bayesift.linear", "bayesift.decide", "benchmarks.few_labels.systems")
_PEERS = ("benchmarks.few_labels.peers",)
#: What chooses for ``TextClassifier``.
_BY_DEFAULT = ("bayesift.workflow",)
_material = cache(Material)


def settings(name: str, draw: int) -> Iterator[dict[str, Any]]:
    """Yield what is measured on a collection with a draw of labels; all labels are there once."""
    sizes: list[Any] = [size for size in _material(name).sizes() if size is not None or draw == 0]
    if name in AT_RANDOM:
        sizes.append("random")
    for size in sizes:
        for system in SYSTEMS:
            if draw < system.draws and _takes_part(system, name, size):
                yield {"collection": name, "size": size, "draw": draw, "system": system.name}


def _takes_part(system: System, name: str, size: Any) -> bool:
    if system.needs and find_spec(system.needs) is None:
        return False
    if size is None and system.uses_pile_only:
        return False
    return system.for_sets or not _material(name).has_sets


def measured(setting: dict[str, Any]) -> dict[str, Any]:
    """Return the measures of a system, in per cent, and the places of its wrong decisions."""
    material = _material(setting["collection"])
    is_random = setting["size"] == "random"
    draw = material.draw_any if is_random else material.draw
    rows = draw(RANDOM if is_random else setting["size"], setting["draw"])
    with warnings.catch_warnings():
        # Tiny classes, and peers that reach their own limit of iterations, are part of the comparison.
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        answer = _system(setting).answer(material, rows)
    errors = material.errors(answer)
    found: dict[str, Any] = {"n_labelled": rows.size, "n_decisions": errors.size, "wrong": errors.ravel().nonzero()[0]}
    if material.has_sets:
        truth = material.task.test
        found["score"] = 100.0 * float(f_beta(truth.ravel(), answer.ravel()))
        found["macro"] = 100.0 * float(f_beta(truth, answer).mean())
    else:
        found["score"] = 100.0 * float(1.0 - errors.mean())
    return found


def _family(setting: dict[str, Any]) -> Family:
    system = _system(setting)
    modules = _OURS if system.is_ours else _PEERS
    if system.by_default:
        modules += _BY_DEFAULT
    return Family("few-labels", (*_ALL, *modules), (setting["collection"].partition(",")[0],))


def _system(setting: dict[str, Any]) -> System:
    [system] = [system for system in SYSTEMS if system.name == setting["system"]]
    return system


def run(repeats: int) -> None:
    """Measure with so many draws of labels, at most ten, and write the tables; what was measured before is kept.

    An interrupted run goes on where it stopped. The tables hold all draws that there are.
    """
    measure(repeats, lambda setting: True)


def measure(repeats: int, wanted: Callable[[dict[str, Any]], bool], names: Sequence[str] = NAMES) -> None:
    """Measure what is wanted of the settings of some collections, and write the tables of all there is of these."""
    console = Console(stderr=True)
    runner = Runner()
    try:
        for draw in range(min(repeats, DRAWS)):
            for name in names:
                for setting in filter(wanted, settings(name, draw)):
                    runner.piece(_family(setting), setting, lambda setting=setting: measured(setting))
                    console.print(*setting.values())
    except KeyboardInterrupt:
        console.print("interrupted; the tables hold what there is")
    curves, spent = _found(runner.cache, names)
    write_report(curves)
    rows = [(name, f"{len(seconds):,}", f"{sum(seconds) / 60:.0f}") for name, seconds in spent.items()]
    show("what it took", ("collection", "answers", "processor minutes"), rows)


def _found(pieces: PieceCache, names: Sequence[str]) -> tuple[Curves, dict[str, list[float]]]:
    """Return what each draw of some collections gave, by collection, size and system, and processor seconds."""
    curves: Curves = {}
    spent: dict[str, list[float]] = {}
    for name in names:
        for draw in range(DRAWS):
            for setting in settings(name, draw):
                piece = pieces.get(_family(setting), setting)
                if piece is not None:
                    by_system = curves.setdefault(name, {}).setdefault(str(setting["size"] or "all"), {})
                    by_system.setdefault(setting["system"], {})[draw] = piece.value
                    spent.setdefault(name, []).append(piece.cpu_seconds)
    return curves, spent
