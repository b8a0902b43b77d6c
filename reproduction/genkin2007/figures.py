"""Figures 5 to 7 of Genkin, Lewis & Madigan (2007), and the counts of features in its text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from bayesift.plots import PALETTE, ParallelCoordinatesDisplay
from reproduction.catalogue import Claim, Figure, NotPossibleError, Outcome, Runner, Table, published, require_pyplot
from reproduction.genkin2007.fits import Fit
from reproduction.genkin2007.runs import all_features, family, support_vectors
from reproduction.genkin2007.tables import ALGORITHMS, OTHER, OTHER_NOTE, available_collections
from reproduction.genkin2007.tasks import parts, task

#: The collections of figures 5 and 6, those with most categories.
LARGEST = ("ModApte", "RCV1-v2", "OHSUMED")


def _largest() -> list[str]:
    names = [name for name in LARGEST if name in available_collections()]
    if not names:
        raise NotPossibleError(f"none of {', '.join(LARGEST)} is at hand with its documents")
    return names


def figure5(runner: Runner) -> Outcome:
    """Show the test errors of each category by algorithm, default thresholds."""
    rows: dict[str, dict[str, float]] = {}
    claims, figures = [], []
    for collection in _largest():
        fits = {name: ALGORITHMS[name](runner, collection) for name in ("ridge", "lasso", "SVM")}
        errors = {name: np.array([fit.errors("default") for fit in found]) for name, found in fits.items()}
        rows[collection] = {name: float(found.sum()) for name, found in errors.items()}
        least = min(spearmanr(errors[a], errors[b]).statistic for a, b in (("ridge", "lasso"), ("lasso", "SVM")))
        claims.append(
            Claim(
                f"{collection}: a category is about as hard for one algorithm as for the others",
                bool(least > 0.9),
                f"rank correlation of errors at least {least:.2f}",
            )
        )
        names = [fit.category for fit in fits["lasso"]]
        caption = f"{collection}: test errors of each category, ln(1 + errors), a little jitter"
        figures.append(Figure(_slug(collection), caption, partial(_draw_errors, errors, names)))
    table = Table.of("Test errors, summed over categories", rows, decimals=0, corner="collection")
    return Outcome((table,), tuple(claims), tuple(figures), (OTHER_NOTE,))


def _slug(collection: str) -> str:
    return collection.lower().replace(" ", "-")


def _draw_errors(errors: Mapping[str, Any], names: Sequence[str]) -> Any:
    random = np.random.default_rng(0)
    values = np.array([np.log1p(found) for found in errors.values()])
    jittered = values + random.uniform(0, 0.1, values.shape)
    display = ParallelCoordinatesDisplay(jittered, list(errors), names, "ln(1 + test errors)")
    return display.plot().figure_


def figure6(runner: Runner) -> Outcome:
    """Show the features chosen by the lasso in each category, the variance by cross-validation."""
    rows, claims, figures = {}, [], []
    for collection in _largest():
        kept = np.array([fit.kept for fit in all_features(runner, collection, "lasso")])
        n_features = terms(runner, collection)
        rows[f"{collection}, CV"] = _spread(kept)
        claims.append(
            Claim(
                f"{collection}: always a small proportion of all features",
                bool(kept.max() < 0.05 * n_features),
                f"at most {kept.max()} of {n_features:,}",
            )
        )
        caption = f"{collection}: features chosen by the lasso, categories in order"
        figures.append(Figure(_slug(collection), caption, partial(_draw_counts, kept)))
    table = Table.of("Features chosen in a category", rows, decimals=_DECIMALS, corner="collection, variance")
    return Outcome((table,), tuple(claims), tuple(figures), (OTHER_NOTE,))


_DECIMALS = {"fewest": 0, "most": 0, "mean": 1, "SD": 1}


def _spread(kept: Any) -> dict[str, float]:
    values = np.asarray(kept, dtype=float)
    spread = float(values.std(ddof=1))
    return {"fewest": float(values.min()), "most": float(values.max()), "mean": float(values.mean()), "SD": spread}


def _draw_counts(kept: Any) -> Any:
    pyplot = require_pyplot()
    figure, axis = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    axis.vlines(np.arange(kept.size), 0, np.sort(kept)[::-1], color=PALETTE[0])
    axis.set(xlabel="category, by number of features", ylabel="features chosen")
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def figure7(runner: Runner) -> Outcome:
    """Show positive training documents against features chosen, ModApte."""
    fits = all_features(runner, "ModApte", "lasso")
    used = [fit for fit in fits if fit.kept and fit.positives]
    positives, kept = (np.log([getattr(fit, name) for fit in used]) for name in ("positives", "kept"))
    correlation = float(np.corrcoef(positives, kept)[0, 1])
    claim = Claim(
        "more positive documents go with more features",
        correlation > 0.7,
        f"correlation of the logarithms {correlation:.2f}, {len(used)} of {len(fits)} categories with a feature",
    )
    caption = "ModApte: positive training documents and features chosen by the lasso, natural logarithms"
    return Outcome((), (claim,), (Figure("scatter", caption, lambda: _draw_scatter(used, positives, kept)),))


def _draw_scatter(fits: Sequence[Fit], positives: Any, kept: Any) -> Any:
    pyplot = require_pyplot()
    figure, axis = pyplot.subplots(figsize=(5.4, 4), layout="constrained")
    axis.plot(positives, kept, "o", markersize=4, color=PALETTE[0], alpha=0.7)
    for place in np.argsort(-positives, kind="stable")[:3]:
        offset = {"xytext": (-4, 5), "textcoords": "offset points", "ha": "right", "fontsize": 9}
        axis.annotate(fits[place].category, (positives[place], kept[place]), **offset)
    axis.set(xlabel="ln(positive training documents)", ylabel="ln(features chosen)")
    axis.spines[["top", "right"]].set_visible(False)
    return figure


def features(runner: Runner) -> Outcome:
    """Count features as the text of section 6.2 does, and terms as section 5.2."""
    rows: dict[str, dict[str, float]] = {}
    means = {}
    for collection in _largest():
        for name, fits in (
            ("norm", all_features(runner, collection, "lasso", "norm")),
            ("CV", all_features(runner, collection, "lasso")),
            ("SVM", support_vectors(runner, collection)),
        ):
            rows[f"{collection}, {name}"] = _spread([fit.kept for fit in fits])
            means[collection, name] = rows[f"{collection}, {name}"]["mean"]
    claims = []
    for collection in _largest():
        ratio = means[collection, "norm"] / means[collection, "CV"]
        claims.append(
            Claim(
                f"{collection}: the norm-based variance keeps about 2–3 times as many features as cross-validation",
                bool(1.5 <= ratio <= 3.5),
                f"{ratio:.1f} times",
            )
        )
        more = means[collection, "SVM"] / means[collection, "CV"]
        claims.append(
            Claim(f"{collection}: the SVM includes many more features than lasso", more > 10, f"{more:.0f} times")
        )
        without = sum(not fit.constant for fit in all_features(runner, collection, "lasso"))
        claims.append(Claim(f"{collection}: the lasso never removes the intercept", without == 0, f"{without} times"))
    grid = published("genkin2007")["features"]
    tables = [
        Table.of(
            "Features in the model of a category",
            rows,
            grid,
            rows=[name for name in dict.fromkeys([*grid.rows, *rows]) if ("OHSUMED" in name) != comparable],
            decimals=_DECIMALS,
            corner="collection, how",
            note="" if comparable else OTHER_NOTE,
            comparable=comparable,
        )
        for comparable in (True, False)
    ]
    return Outcome((*tables, *_terms(runner)), tuple(claims))


def _terms(runner: Runner) -> list[Table]:
    """Count the distinct terms of the training documents, of WebKB in the largest of its divisions."""
    values = {
        collection: {"training documents": float(terms(runner, collection))} for collection in available_collections()
    }
    grid = published("genkin2007")["terms"]
    note = "The paper's tokens are not described to the letter; the counts tell how near ours come."
    columns = ["training documents"]
    return [
        Table.of(
            "Distinct terms",
            values,
            grid,
            rows=[name for name in dict.fromkeys([*grid.rows, *values]) if (name in OTHER) != comparable],
            columns=columns,
            decimals=0,
            note=note if comparable else OTHER_NOTE,
            comparable=comparable,
        )
        for comparable in (True, False)
    ]


def terms(runner: Runner, collection: str) -> int:
    """Count the distinct terms in the training documents of the largest division."""
    settings = [{"collection": collection, "part": part, "count": "terms"} for part in parts(collection)]
    return max(runner.pieces(family(collection), settings, _n_terms, stage=f"{collection}: terms"))


def _n_terms(setting: Mapping[str, Any]) -> int:
    return int(task(setting["collection"], setting["part"]).X_train.shape[1])
