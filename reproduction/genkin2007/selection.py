"""Section 6.2 of Genkin, Lewis & Madigan (2007): three measures of features, with ridge, lasso and SVM."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from reproduction.catalogue import Claim, NotPossibleError, Outcome, Runner, Table
from reproduction.genkin2007.fits import SCORES, Cut, Fit
from reproduction.genkin2007.runs import SIZES, all_features, few_features, support_vectors
from reproduction.genkin2007.tables import available_collections, macro

#: What is fitted to the features that each measure chooses; machines, which take long, only where BNS chooses.
WAYS = ("ridge cv", "lasso cv")
#: The collection of the comparison, that with the most categories of those that are the paper's.
COLLECTION = "ModApte"

CUTS: tuple[Cut, ...] = ("default", "tuned")

_Found = Mapping[tuple[str, int, str], list[Fit]]


def selection(runner: Runner) -> Outcome:
    """Fit ridge and lasso to 5, 50 and 500 features chosen by each measure, and machines to those by BNS."""
    if COLLECTION not in available_collections():
        raise NotPossibleError(f"{COLLECTION} is not at hand with its documents")
    few = {(score, size, way): fits for score in SCORES for (size, way), fits in _chosen(runner, score, WAYS).items()}
    machines = {size: fits for (size, _), fits in _chosen(runner, "BNS", ("svm",)).items()}
    every = {way: all_features(runner, COLLECTION, _name(way), "cv") for way in WAYS}
    all_svm = support_vectors(runner, COLLECTION)
    tables = (*(_models(cut, few, every) for cut in CUTS), _machines(machines, all_svm))
    return Outcome(tables, (*_claims(few, every), *_machine_claims(machines, all_svm)))


def _chosen(runner: Runner, score: str, ways: tuple[str, ...]) -> dict[tuple[int, str], list[Fit]]:
    found = few_features(runner, COLLECTION, score, ways)
    return {(size, way): found[f"{size} {way}"] for size, way in product(SIZES, ways)}


def _models(cut: Cut, few: _Found, every: Mapping[str, list[Fit]]) -> Table:
    rows = {"all": {_name(way): macro(fits, cut) for way, fits in every.items()}}
    for size, score in product(SIZES, SCORES):
        rows[f"{size} by {score}"] = {_name(way): macro(few[score, size, way], cut) for way in WAYS}
    return Table.of(f"{COLLECTION}, macro F1 in per cent, {cut} thresholds", rows, corner="features")


def _name(way: str) -> str:
    return way.split()[0]


def _machines(few: Mapping[int, list[Fit]], every: list[Fit]) -> Table:
    rows = {"all": every} | {f"{size} by BNS": fits for size, fits in few.items()}
    values = {name: {str(cut): macro(fits, cut) for cut in CUTS} for name, fits in rows.items()}
    note = "On few features C is 0.1, 1 or 10, by three folds; on all features as in table 1."
    return Table.of(f"{COLLECTION}, macro F1 of SVM in per cent", values, corner="features", note=note)


def _claims(few: _Found, every: Mapping[str, list[Fit]]) -> list[Claim]:
    """See what the text says of the measures, of ridge and of lasso, with the default thresholds that it names."""
    f1 = {place: macro(fits, "default") for place, fits in few.items()}
    ridge, lasso = (macro(every[way], "default") for way in WAYS)
    claims = []
    for size in SIZES:
        found = {score: f1[score, size, "ridge cv"] for score in SCORES}
        detail = ", ".join(f"{score} {value:.2f}" for score, value in found.items())
        claims.append(
            Claim(f"BNS is the best measure for ridge, {size} features", found["BNS"] == max(found.values()), detail)
        )
    selected = {
        way: {f"{size} by {score}": f1[score, size, way] for size, score in product(SIZES, SCORES)} for way in WAYS
    }
    best = {way: max(found, key=found.__getitem__) for way, found in selected.items()}
    top = {way: selected[way][best[way]] for way in WAYS}
    told = {way: f"best {best[way]} {top[way]:.2f}" for way in WAYS}
    return [
        *claims,
        Claim("some selection improves ridge", top["ridge cv"] > ridge, f"all {ridge:.2f}, {told['ridge cv']}"),
        Claim(
            "no selection lifts ridge above lasso on all features",
            top["ridge cv"] <= lasso,
            f"lasso {lasso:.2f}, {told['ridge cv']}",
        ),
        Claim("no selection improves lasso", top["lasso cv"] <= lasso, f"all {lasso:.2f}, {told['lasso cv']}"),
    ]


def _machine_claims(few: Mapping[int, list[Fit]], every: list[Fit]) -> list[Claim]:
    """See what the text says of machines: selection can help default thresholds, and never helps tuned ones."""
    claims = []
    texts = (
        "selection improves SVM with default thresholds for some number of features",
        "no selection improves SVM with tuned thresholds",
    )
    for cut, text in zip(CUTS, texts, strict=True):
        selected = {size: macro(fits, cut) for size, fits in few.items()}
        best, own = max(selected, key=lambda size: selected[size]), macro(every, cut)
        better = selected[best] > own
        detail = f"all {own:.2f}, best {best} features {selected[best]:.2f}"
        claims.append(Claim(text, better if cut == "default" else not better, detail))
    return claims
