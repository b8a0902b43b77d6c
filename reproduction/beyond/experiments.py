"""The comparisons as experiments of the catalogue: one table for each collection."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from reproduction.beyond.measuring import Row, measure, signs
from reproduction.beyond.systems import SYSTEMS, systems_for
from reproduction.beyond.tasks import TASKS, Task, tasks_of
from reproduction.beyond.unknown_terms import QUICK, better_rule, unknown_terms
from reproduction.catalogue import Cell, Claim, Experiment, Family, Outcome, Runner, Table

#: Rooms whose code the numbers come from.
_MODULES = tuple(
    f"bayesift.{room}" for room in ("text", "select", "priors", "linear", "generative", "ard", "online", "decide")
) + tuple(f"reproduction.beyond.{module}" for module in ("tasks", "systems", "word_model", "peers", "measuring"))
_COLUMNS = {
    "micro F1": "micro_f1",
    "macro F1": "macro_f1",
    "accuracy": "accuracy",
    "log loss": "log_loss",
    "calibration error": "calibration_error",
    "words kept": "n_words",
    "fit, CPU s": "fit_seconds",
    "documents/CPU s": "documents_per_second",
}
_DECIMALS = {"log loss": 4, "calibration error": 4, "words kept": 0, "documents/CPU s": 0}
_QUICK = ("lasso", "naive Bayes", "LinearSVC", "ComplementNB")


def compare_systems(collection: str, runner: Runner) -> Outcome:
    """Measure all systems on a collection.

    Parameters
    ----------
    collection : str
        One of :data:`TASKS`.
    runner : Runner
        Keeps what was measured.

    Returns
    -------
    Outcome
        One table; :func:`level` says whether the best of ours is at least level with the best of theirs.
    """
    wanted = [system for system in systems_for(TASKS[collection].kind) if not runner.quick or system.name in _QUICK]
    absent = {system.name for system in wanted if system.needs and find_spec(system.needs) is None}
    systems = {system.name: system for system in wanted if system.name not in absent}
    tasks = cache(lambda: list(tasks_of(collection)))

    def compute(setting: Mapping[str, Any]) -> dict[str, Any]:
        system = systems[setting["system"]]
        # The first use of a model compiles it or reads it from the cache.
        measure(system, [_beginning(task) for task in tasks()[:1]])
        return measure(system, tasks())._asdict()

    family = Family(f"beyond-{collection}", _MODULES, (collection,))
    found = runner.pieces(family, [{"system": name} for name in systems], compute, stage=f"systems on {collection}")
    rows = {name: Row(**values) for name, values in zip(systems, found, strict=True)}
    notes = tuple(f"{name} is not installed here: pip install --group peers." for name in sorted(absent))
    return Outcome((_table(collection, rows),), notes=notes)


def _beginning(task: Task) -> Task:
    """Take a few documents, with all categories that they can have."""
    few = np.unique(np.concatenate([np.flatnonzero(column)[:3] for column in [*task.train.T, *(1 - task.train).T]]))
    return task._replace(train_texts=[task.train_texts[i] for i in few], train=task.train[few])


_OURS = {system.name for system in SYSTEMS if system.ours}


def _best(rows: Mapping[str, float], *, ours: bool) -> str:
    return max((name for name in rows if (name in _OURS) == ours), key=lambda name: rows[name])


def _table(collection: str, rows: Mapping[str, Row]) -> Table:
    """Put the measures side by side, with signs of the s-test and the S-test against the best peer."""
    rivals = [
        _best({name: getattr(row, kind) for name, row in rows.items()}, ours=False) for kind in ("micro_f1", "macro_f1")
    ]
    cells: dict[str, dict[str, Cell]] = {}
    for name, row in rows.items():
        cells[name] = {column: Cell.of(getattr(row, field)) for column, field in _COLUMNS.items()}
        if name in _OURS:
            for place, column in enumerate(("micro F1", "macro F1")):
                mark = signs(row, rows[rivals[place]])[place]
                cells[name][column] = cells[name][column]._replace(mark=mark)
    note = (
        f"Signs: better (>, ≫) or worse (<, ≪) at the levels 0.05 and 0.01, or not (~), by the s-test against "
        f"{rivals[0]} beside micro F1 and by the S-test against {rivals[1]} beside macro F1. The s-test counts wrong "
        f"decisions, of which the higher F1 can have more."
    )
    return Table.of(f"Text to decisions on {collection}", cells, decimals=_DECIMALS, corner="system", note=note)


def level(tables: tuple[Table, ...]) -> tuple[Claim, ...]:
    """Say whether our best system is level with the best peer in F1, and none the worse by the sign test beside it.

    Its F1 is no lower, or lower by what the test takes for chance; and the test does not find it worse, as it can where
    the higher F1 comes with more wrong decisions.
    """
    [table] = tables
    claims = []
    for column in ("micro F1", "macro F1"):
        cells = {name: table.cell(name, column) for name in table.rows}
        values = {name: cell.ours or 0.0 for name, cell in cells.items()}
        ours, theirs = (_best(values, ours=side) for side in (True, False))
        sign = cells[ours].mark
        claims.append(
            Claim(
                f"The best of ours is at least level with the best peer in {column}.",
                sign not in ("<", "≪") and (values[ours] >= values[theirs] or sign == "~"),
                f"{ours} {values[ours]:.2f}, {theirs} {values[theirs]:.2f} {f'({sign})' if sign else ''}".strip(),
            )
        )
    return tuple(claims)


_NOTES = (
    "Times are processor seconds of all threads, from texts to a model and from texts to decisions. Ours read texts "
    "with TextVectorizer, peers with TfidfVectorizer(sublinear_tf=True), both keep words of at least two documents.",
    "Ours choose the prior variance by cross-validation. Where texts have sets of labels, the cut of each category "
    "makes the fewest training errors; cuts of the greatest F1, tried first, accept everything where a category has "
    "one document and no word, and gave the lasso a micro F1 of 27 on reuters21578. Peers decide at one half: part of "
    "what ours gain on sets of labels is the cuts.",
    "LogisticRegressionCV tries C = 1, 10 and 100 in three folds; its defaults are ten values in five folds.",
    "fastText gets shuffled lines of the same words, 25 epochs with learning rate 0.5. Pairs of words (wordNgrams=2) "
    "cost it half a point on 20newsgroups and much more on newsroom, and were left out with these numbers in view.",
)
#: Minutes, whole and quick, of collections that take longer than seconds.
_MINUTES = {
    "reuters21578": (3, 0.2),
    "20newsgroups": (3, 0.2),
    "ohsumed": (1.5, 0.2),
    "webkb": (1.7, 0.2),
    "cohen2006": (0.8, 0.1),
}

_COMPARISONS = tuple(
    Experiment(
        name=f"beyond/{collection}",
        paper="Beyond the papers",
        item=collection,
        shows="All our models beside their peers, from texts to decisions.",
        run=partial(compare_systems, collection),
        conclusions=level,
        minutes=_MINUTES.get(collection, (0.1, 0.1))[0],
        quick_minutes=_MINUTES.get(collection, (0.1, 0.1))[1],
        collections=(collection,),
        quick=f"Only {', '.join(_QUICK)}.",
        notes=_NOTES,
    )
    for collection in TASKS
)

EXPERIMENTS = (
    *_COMPARISONS,
    Experiment(
        name="beyond/unknown-terms",
        paper="Beyond the papers",
        item="Terms that no training text holds",
        shows="Whether they should count in the length of a text, as in Genkin, Lewis & Madigan (2007), or be ignored.",
        run=unknown_terms,
        conclusions=better_rule,
        minutes=2,
        quick_minutes=0.1,
        any_of=tuple(TASKS),
        quick=f"Only {', '.join(QUICK)}.",
        notes=(
            "lsc weights of all words, lasso and ridge with the variance by cross-validation, each category by itself, "
            "decisions at one half. Training texts have no unknown terms, so that both rules have the same model.",
            "The halves of the fourteen reviews of cohen2006 count together; macro F1 is then the mean of the reviews.",
        ),
    ),
)
