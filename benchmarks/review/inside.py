"""Where our stopping rules would have stopped ASReview; needs ASReview 3 and the extension in the same Python.

    PYTHONPATH=extensions/asreview-bayesift/src python -m benchmarks.review.inside [--seeds 2] [REVIEW ...]

Whole replays by ASReview's Python interface from one relevant and one irrelevant record, with its default model and
with ours; the rules look after every record. The texts are written to files, which the rule of the model reads.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from asreview import ActiveLearningCycle, Simulate, load_dataset
from asreview.models.models import get_ai_config
from asreview.models.queriers import Max
from asreview_bayesift import Bayesift, Model, Queue, Words

from bayesift._typing import BoolArray
from bayesift.datasets import load
from bayesift.review.simulate import starting_pair
from benchmarks.measuring import show
from benchmarks.review.stopping import SYNERGY

REVIEWS = ("Antihistamines", "Donners_2021", "Estrogens", "NSAIDS", "OralHypoglycemics", "Sep_2021")

RECALL = 0.95

CYCLES = {
    "ours": lambda: ActiveLearningCycle(Max(), Bayesift(), feature_extractor=Words()),
    "ASReview's": lambda: ActiveLearningCycle.from_meta(get_ai_config("elas_u4")["value"]),
}


def written(name: str, path: Path) -> BoolArray:
    """Write the records of a review as ASReview reads them; return which are relevant."""
    records = load("synergy" if name in SYNERGY else "cohen2006", review=name).train
    truth = records.indicator(("included",)).toarray().ravel() > 0
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["title", "abstract", "included"])
        for text, relevant in zip(records.texts, truth.tolist(), strict=True):
            title, _, abstract = text.partition("\n")
            writer.writerow([title.strip(), abstract.strip(), int(relevant)])
    return truth


def order_of(path: Path, truth: BoolArray, cycle: Any, seed: int) -> Any:
    """Return the results of a whole replay."""
    with load_dataset(str(path)) as records:
        replay = Simulate(records.input.get_df(), truth.astype(int), [cycle], stopper=-1, print_progress=False)
        replay.label(list(starting_pair(truth, seed)))
        replay.review()
    return replay._results


def stopped(rule: Any, results: Any, truth: BoolArray) -> tuple[float, float, float]:
    """Return recall, share read, and what of that was read after the target was reached."""
    n = next((n for n in range(2, len(truth)) if rule.stop(results[:n], truth)), len(truth))
    found = np.cumsum(results["label"].to_numpy(dtype=int))
    reached = 1 + int(np.argmax(found >= RECALL * truth.sum()))
    return found[n - 1] / truth.sum(), n / len(truth), max(n - reached, 0) / len(truth)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("reviews", nargs="*", default=list(REVIEWS))
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    table: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    with TemporaryDirectory() as folder:
        for name in given.reviews:
            path = Path(folder) / f"{name}.csv"
            truth = written(name, path)
            for model, cycle in CYCLES.items():
                for seed in range(given.seeds):
                    results = order_of(path, truth, cycle(), seed)
                    for letter, rule in (("B", Queue(RECALL)), ("C", Model(str(path), RECALL))):
                        table.setdefault((model, letter), []).append(stopped(rule, results, truth))
    rows = []
    for (model, letter), runs in table.items():
        recall, read, overshoot = np.transpose(runs)
        missed = f"{int((recall < RECALL).sum())} of {len(runs)}"
        rows.append((model, letter, missed, f"{recall.mean():.3f}", f"{read.mean():.0%}", f"{overshoot.mean():.3f}"))
    show(f"{len(given.reviews)} reviews", ("model", "rule", "missed", "recall", "read", "overshoot"), rows)


if __name__ == "__main__":
    main()
