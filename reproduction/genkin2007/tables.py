"""Tables 1 to 3 of Genkin, Lewis & Madigan (2007)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bayesift.evaluate import wilcoxon_test
from reproduction.catalogue import Claim, Grid, NotPossibleError, Outcome, Runner, Table, published
from reproduction.genkin2007.fits import Cut, Fit
from reproduction.genkin2007.runs import SIZES, all_features, few_features, support_vectors
from reproduction.genkin2007.tasks import COLLECTIONS, available

ALGORITHMS: Mapping[str, Callable[[Runner, str], list[Fit]]] = {
    "lasso": lambda runner, collection: all_features(runner, collection, "lasso"),
    "ridge": lambda runner, collection: all_features(runner, collection, "ridge"),
    "SVM": support_vectors,
}
PAIRS = (("lasso", "ridge"), ("lasso", "SVM"), ("ridge", "SVM"))
#: Collections whose documents here are others than the paper's: numbers are shown and not judged.
OTHER = {"OHSUMED"}
OTHER_NOTE = (
    "OHSUMED is not the paper's selection (233,445 records, 77 MeSH categories), which is not at hand, but the first "
    "20,000 documents of 1991 with 23 disease categories: printed and our numbers are of different tasks."
)


def macro(fits: Sequence[Fit], cut: Cut) -> float:
    """Return the mean F1 over categories, for WebKB also over universities."""
    return float(np.mean([fit.f1(cut) for fit in fits]))


def available_collections(*, comparable: bool | None = None) -> list[str]:
    """List the collections at hand; if asked for, those that are the paper's, or are not."""
    found = [name for name in COLLECTIONS if available(name)]
    if not found:
        raise NotPossibleError(f"none of {', '.join(COLLECTIONS)} is at hand with its documents")
    return [name for name in found if comparable is None or (name not in OTHER) == comparable]


def table1(runner: Runner) -> Outcome:
    """Compare the macro F1 of the three algorithms with both kinds of threshold."""
    values: dict[str, dict[str, float]] = {}
    for collection in available_collections():
        for algorithm, fit in ALGORITHMS.items():
            fits = fit(runner, collection)
            for cut in ("default", "tuned"):
                values.setdefault(f"{_capital(algorithm)}, {cut}", {})[collection] = macro(fits, cut)
    tables = _split("Macro-averaged F1 in per cent", values, "table1", "algorithm, threshold")
    tables.append(_other_folds(runner))
    return Outcome(tuple(table for table in tables if table.rows))


def orders(tables: tuple[Table, ...]) -> tuple[Claim, ...]:
    """See whether the lasso is above or below ridge and SVM where it is in print, on the paper's collections."""
    table = tables[0]
    return tuple(
        _as_printed(table, rival, collection, cut)
        for rival in ("Ridge", "SVM")
        for collection in table.columns
        for cut in ("default", "tuned")
        if table.ours(f"{rival}, {cut}", collection) is not None
    )


def _as_printed(table: Table, rival: str, collection: str, cut: str) -> Claim:
    lasso, other = (table.cell(f"{name}, {cut}", collection) for name in ("Lasso", rival))
    above = (lasso.published or 0.0) > (other.published or 0.0)
    ours = lasso.ours or 0.0, other.ours or 0.0
    return Claim(
        f"lasso is {'above' if above else 'below'} {rival.replace('Ridge', 'ridge')} on {collection}, {cut} thresholds",
        ours[0] > ours[1] if above else ours[0] < ours[1],
        f"{ours[0]:.2f} against {ours[1]:.2f}",
    )


def _capital(algorithm: str) -> str:
    return algorithm if algorithm == "SVM" else algorithm.capitalize()


def _split(title: str, values: Mapping[str, Mapping[str, float]], item: str, corner: str) -> list[Table]:
    """Make a table of the collections that are the paper's, and one of the others."""
    grid = published("genkin2007")[item]
    tables = []
    for comparable, note in ((True, ""), (False, OTHER_NOTE)):
        columns = [name for name in grid.columns if (name not in OTHER) == comparable]
        if comparable or any(column in row for row in values.values() for column in columns):
            tables.append(
                Table.of(title, values, grid, columns=columns, corner=corner, note=note, comparable=comparable)
            )
    return tables


def _other_folds(runner: Runner, n_draws: int = 3) -> Table:
    """Show how much chance there is in the folds: ModApte with folds drawn anew."""
    rows: dict[str, dict[str, Any]] = {}
    if available("ModApte") and not runner.quick:
        for algorithm in ("lasso", "ridge"):
            for seed in range(n_draws):
                fits = all_features(runner, "ModApte", algorithm, seed=seed)
                for cut in ("default", "tuned"):
                    row = rows.setdefault(f"{_capital(algorithm)}, {cut}", {})
                    row["first draw" if seed == 0 else f"draw {seed + 1}"] = macro(fits, cut)
    note = "The variance is chosen by two of ten folds, drawn at random; the table above has the first draw."
    return Table.of("ModApte, folds drawn anew", rows, corner="algorithm, threshold", note=note, comparable=False)


def table2(runner: Runner) -> Outcome:
    """Do Wilcoxon's signed-ranks test on F1 of the categories, tuned thresholds."""
    values: dict[str, dict[str, float]] = {}
    claims = []
    grid = published("genkin2007")["table2"]
    for collection in available_collections():
        f1 = {name: [fit.f1("tuned") for fit in make(runner, collection)] for name, make in ALGORITHMS.items()}
        for first, second in PAIRS:
            row = f"{collection}, {first}-{second}"
            values[row] = signed_ranks(f1[first], f1[second])
            if collection not in OTHER:
                printed, ours = (_decision(numbers) for numbers in (_printed(grid, row), values[row]))
                claims.append(Claim(f"{collection}: {first} {printed} {second}", ours == printed, f"ours: {ours}"))
    decimals = {"positive": 1, "negative": 1, "p": 3}
    return Outcome(_split_rows("Sums of ranks, and two-tailed p", values, grid, decimals), tuple(claims))


def _split_rows(title: str, values: Mapping[str, Mapping[str, float]], grid: Grid, decimals: Any) -> tuple[Table, ...]:
    """Make a table of the collections that are the paper's, and one of the others; collections name the rows."""
    tables = []
    for comparable, note in ((True, ""), (False, OTHER_NOTE)):
        rows = [row for row in grid.rows if (row.partition(",")[0] not in OTHER) == comparable]
        if any(row in values for row in rows):
            options: dict[str, Any] = {"decimals": decimals, "note": note, "comparable": comparable}
            tables.append(Table.of(title, values, grid, rows=rows, **options))
    return tuple(tables)


def signed_ranks(first: Sequence[float], second: Sequence[float]) -> dict[str, float]:
    """Return the sums of the ranks of positive and negative differences, and the two-tailed p."""
    test = wilcoxon_test(first, second)
    n = test.wins + test.losses
    negative = n * (n + 1) / 2 - test.statistic
    return {"positive": test.statistic, "negative": negative, "p": min(1.0, 2 * min(test.p_value, test.p_reversed))}


def _printed(grid: Grid, row: str) -> dict[str, float]:
    return dict(zip(grid.columns, grid.row(row), strict=True))


def _decision(numbers: Mapping[str, float], level: float = 0.05) -> str:
    """Say what the test decides: one is better, or neither."""
    if numbers["p"] > level:
        return "no different from"
    return "better than" if numbers["positive"] > numbers["negative"] else "worse than"


def table3(runner: Runner) -> Outcome:
    """Compare lasso on all features with ridge on all or on few."""
    values: dict[str, dict[str, float]] = {}
    claims = []
    for collection in available_collections():
        few = few_features(runner, collection)
        # Ridge on all features with the norm-based variance, which is very large, takes longest of all fits.
        for column, variance in (("CV", "cv"),) if runner.quick else (("CV", "cv"), ("norm", "norm")):
            macros = {
                "lasso, all": macro(all_features(runner, collection, "lasso", variance), "tuned"),
                "ridge, all": macro(all_features(runner, collection, "ridge", variance), "tuned"),
                **{f"ridge, {size}": macro(few[f"{size} ridge {variance}"], "tuned") for size in SIZES},
            }
            for name, value in macros.items():
                values.setdefault(f"{collection}, {name}", {})[column] = value
            if collection not in OTHER:
                claims.append(_unbeaten(collection, column, macros))
    title = "Macro-averaged F1 in per cent, tuned thresholds"
    return Outcome(_split_rows(title, values, published("genkin2007")["table3"], 2), tuple(claims))


def _unbeaten(collection: str, column: str, macros: Mapping[str, float]) -> Claim:
    selected = {name: value for name, value in macros.items() if name not in ("lasso, all", "ridge, all")}
    best = max(selected, key=lambda name: selected[name])
    return Claim(
        f"{collection}, {column}: no feature selection lifts ridge above lasso",
        selected[best] <= macros["lasso, all"],
        f"lasso {macros['lasso, all']:.2f}, best {best} {selected[best]:.2f}",
    )
