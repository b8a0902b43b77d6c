"""Eyheramendy, Genkin, Ju, Lewis & Madigan (2003), Sparse Bayesian classifiers for text categorization.

The readings that come nearest to the tables: documents with at least one of the 90 categories, title and body, stop
words removed, no stems, no cosine norm; the best terms by Pearson correlation for each category; the constant under the
same prior; thresholds of the least training errors, the middle one of equally good cuts. The paper's γ is the Laplace
*rate* of its tables (its formula for the M-step has γ where the text implies √γ), and its EM stops early. *Exact* are
the modes that EM would reach, for Jeffreys priors from a firmer start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from bayesift.plots import PALETTE
from reproduction.catalogue import (
    Claim,
    Experiment,
    Figure,
    NotPossibleError,
    Outcome,
    Runner,
    Table,
    Within,
    published,
    require_pyplot,
)
from reproduction.eyheramendy2003.fits import (
    CATEGORIES,
    GAMMAS,
    LOG_IDF,
    RAW,
    Result,
    Setting,
    rcv1,
    run_settings,
)

_TEN, _JEFFREYS = Setting("laplace", 10.0), Setting("jeffreys")
_LOGISTIC = Setting("gaussian", 0.01, "logistic", LOG_IDF)
_PRIORS = {"Jeffreys": _JEFFREYS, **{f"γ={gamma:g}": Setting("laplace", gamma) for gamma in GAMMAS}}

#: The columns of each table that are fitted here.
SETTINGS: Mapping[str, Mapping[str, Setting]] = {
    "table1": {"Laplace γ=10": _TEN},
    "table2": {
        "Jeffreys, raw TF": _JEFFREYS._replace(weighting=RAW),
        "Jeffreys, log TF": _JEFFREYS,
        "Laplace γ=10, raw TF": _TEN._replace(weighting=RAW),
        "Laplace γ=10, log TF": _TEN,
    },
    "table3": _PRIORS,
    "table4": _PRIORS,
    "table5": {
        "Jeffreys, 300": _JEFFREYS,
        "Jeffreys, 1000": _JEFFREYS._replace(n_terms=1000),
        "Laplace γ=10, 300": _TEN,
        "Laplace γ=10, 1000": _TEN._replace(n_terms=1000),
    },
    "table6": {
        "probit, Gaussian": Setting("gaussian", 0.01),
        "probit, Laplace": _TEN,
        "logistic, Gaussian": _LOGISTIC,
        "logistic, Laplace": _LOGISTIC._replace(prior="laplace", strength=10.0),
    },
    "footnote": {
        "Pearson": _TEN,
        "χ²": _TEN._replace(score="chi_square"),
        "Yule's Q": _TEN._replace(score="yules_q"),
    },
}
_RCV1: Mapping[str, Setting] = {
    "probit Jeffreys 300": _JEFFREYS,
    "probit Laplace 300": Setting("laplace", 25.0),
    "probit Gaussian 300": Setting("gaussian", 0.001),
    "logistic Laplace 300": Setting("laplace", 25.0, "logistic", LOG_IDF),
    "logistic Laplace 3000": Setting("laplace", 25.0, "logistic", LOG_IDF, 3000),
    "logistic Gaussian 3000": Setting("gaussian", 0.01, "logistic", LOG_IDF, 3000),
}

#: F1 of the categories, then the macro and the micro average, by the name of a column.
F1 = Mapping[str, Sequence[float]]
_MACRO = len(CATEGORIES)


def _fitted(runner: Runner, item: str, *, exact: bool = False) -> tuple[list[str], dict[str, Result]]:
    """Fit the columns of a table, and their exact modes beside them where these are of interest."""
    columns = dict(SETTINGS[item])
    if exact:
        columns |= {f"{name}, exact": setting._replace(exact=True) for name, setting in SETTINGS[item].items()}
    categories = [name for name in CATEGORIES if not runner.quick or name in ("grain", "wheat", "corn")]
    found = run_settings(runner, list(columns.values()), categories)
    return categories, {name: found[setting] for name, setting in columns.items()}


def f1_table(item: str, title: str, claims: Callable[[F1], list[Claim]], runner: Runner) -> Outcome:
    """Make a table of F1 by category, and see whether the paper's conclusions hold."""
    categories, found = _fitted(runner, item, exact=item == "table3")
    rows = [*categories, "macro", "micro"]
    values = {row: {name: result.f1[place] for name, result in found.items()} for place, row in enumerate(rows)}
    table = Table.of(f"F1 in per cent, {title}", values, published("eyheramendy2003").grids.get(item), decimals=1)
    figures = (_boxplots(table),) if item == "table1" and not runner.quick else ()
    told = claims({name: result.f1 for name, result in found.items()}) if not runner.quick else []
    return Outcome((table,), tuple(told), figures)


def table4(runner: Runner) -> Outcome:
    """Count the coefficients that are not zero, of 301 with the constant."""
    categories, found = _fitted(runner, "table4", exact=True)
    values = {row: {name: result.kept[place] for name, result in found.items()} for place, row in enumerate(categories)}
    title = "Coefficients that are not zero, of 301"
    table = Table.of(title, values, published("eyheramendy2003")["table4"], decimals=0)
    sums = [sum(found[f"γ={gamma:g}"].kept) for gamma in GAMMAS]
    detail = ", ".join(map(str, sums))
    claims = [Claim("a greater γ leaves fewer coefficients", all(a > b for a, b in pairwise(sums)), detail)]
    if not runner.quick:
        zero = [100 * (1 - kept / 301) for kept in found["γ=10"].kept]
        least, most = (CATEGORIES[zero.index(extreme(zero))] for extreme in (min, max))
        text = "with γ = 10, from 27 % (earn, the fewest) to 86 % (wheat, the most) of the coefficients are zero"
        near = abs(min(zero) - 27) <= 5 and abs(max(zero) - 86) <= 5
        detail = f"{min(zero):.0f} % ({least}) to {max(zero):.0f} % ({most})"
        claims.append(Claim(text, (least, most) == ("earn", "wheat") and near, detail))
    return Outcome((table,), tuple(claims))


def rcv1_table(item: str, runner: Runner) -> Outcome:
    """Compare models on RCV1-v2, where its texts are at hand."""
    documents = rcv1()
    if documents is None:
        raise NotPossibleError("the texts of RCV1-v2 are not in the data root, only its judgements")
    grid = published("eyheramendy2003")[item]
    columns = {name: _RCV1[name] for name in grid.columns if name in _RCV1}
    found = run_settings(runner, list(columns.values()), documents.categories, "rcv1")
    averages = {name: found[setting].f1[-2:] for name, setting in columns.items()}
    values = {row: {name: pair[place] for name, pair in averages.items()} for place, row in enumerate(grid.rows)}
    return Outcome((Table.of("F1 in per cent, RCV1-v2, 101 topics", values, grid, decimals=1),))


def _higher(text: str, f1: F1, first: str, second: str) -> Claim:
    """Claim that one column has a greater macro average than another."""
    a, b = f1[first][_MACRO], f1[second][_MACRO]
    return Claim(text, a > b, f"macro {a:.1f} against {b:.1f}")


def _near(text: str, f1: F1, first: str, second: str, least: float, most: float) -> Claim:
    """Claim that the macro average of a column is above another's by something between two numbers."""
    gain = f1[first][_MACRO] - f1[second][_MACRO]
    return Claim(text, least <= gain <= most, f"macro {gain:+.1f}; counted as such from {least:+g} to {most:+g}")


def _for_most(text: str, f1: F1, first: str, second: str) -> Claim:
    """Claim that one column is greater than another in more categories than it is less."""
    pairs = list(zip(f1[first][:_MACRO], f1[second][:_MACRO], strict=True))
    more, less = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
    return Claim(text, more > less, f"higher in {more} categories, lower in {less}")


def _against_others(f1: F1) -> list[Claim]:
    """See where the sparse model is farthest behind the printed logistic regression on 10,000 terms."""
    printed = published("eyheramendy2003")["table1"].column("logistic, 10,000 terms")
    behind = {
        category: theirs - ours for category, theirs, ours in zip(CATEGORIES, printed, f1["Laplace γ=10"], strict=False)
    }
    worst = max(behind, key=lambda name: behind[name])
    text = "the sparse model does well but for interest, where it is farthest behind logistic regression"
    return [Claim(text, worst == "interest", f"{worst}, {behind[worst]:.1f} behind; interest {behind['interest']:.1f}")]


def _term_weights(f1: F1) -> list[Claim]:
    return [
        claim
        for prior in ("Jeffreys", "Laplace γ=10")
        for claim in (
            _higher(f"log TF is better than raw TF, {prior}", f1, f"{prior}, log TF", f"{prior}, raw TF"),
            _for_most(f"log TF is better for most topics, {prior}", f1, f"{prior}, log TF", f"{prior}, raw TF"),
        )
    ]


def _priors(f1: F1) -> list[Claim]:
    """See whether Laplace is above Jeffreys for most classes over a range of rates, and best at γ = 10."""
    best = max(GAMMAS, key=lambda gamma: f1[f"γ={gamma:g}"][_MACRO])
    claims = [Claim("γ = 10 is the best of the Laplace priors", best == 10.0, f"ours: γ = {best:g}")]
    printed = published("eyheramendy2003")["table3"]
    jeffreys = printed.column("Jeffreys")[:_MACRO]
    for gamma in GAMMAS:
        pairs = list(zip(printed.column(f"γ={gamma:g}")[:_MACRO], jeffreys, strict=True))
        if sum(a > b for a, b in pairs) > sum(a < b for a, b in pairs):
            text = f"Laplace, γ = {gamma:g}, is better than Jeffreys for most classes"
            claims.append(_for_most(text, f1, f"γ={gamma:g}", "Jeffreys"))
    return claims


def _more_terms(f1: F1) -> list[Claim]:
    return [
        _near("1,000 terms help Laplace moderately", f1, "Laplace γ=10, 1000", "Laplace γ=10, 300", 0.1, 3.0),
        _near("1,000 terms hardly matter for Jeffreys", f1, "Jeffreys, 1000", "Jeffreys, 300", -1.0, 1.0),
    ]


def _links(f1: F1) -> list[Claim]:
    better, little = "logistic is better than probit", "sparse models lose little"
    return [
        *(_higher(f"{p} priors: {better}", f1, f"logistic, {p}", f"probit, {p}") for p in ("Gaussian", "Laplace")),
        *(_near(f"{m}: {little}", f1, f"{m}, Laplace", f"{m}, Gaussian", -2.0, 100.0) for m in ("probit", "logistic")),
    ]


def _measures(f1: F1) -> list[Claim]:
    """See whether Pearson's correlation chooses better than measures of binary data, by at least a point."""
    return [
        _near(f"Pearson's correlation is much better than {other}", f1, "Pearson", other, 1.0, 100.0)
        for other in ("χ²", "Yule's Q")
    ]


def _boxplots(table: Table) -> Figure:
    return Figure("boxplots", "F1 of the ten categories, published and ours (figure 2)", partial(_draw_boxes, table))


def _draw_boxes(table: Table) -> Any:
    """Draw a box from quartile to quartile and the extremes, for each column, published and ours."""
    pyplot = require_pyplot()
    boxes: list[tuple[str, list[float], str]] = []
    for which, color in (("published", PALETTE[0]), ("ours", PALETTE[1])):
        for column in table.columns:
            values = [getattr(table.cell(row, column), which) for row in CATEGORIES]
            if None not in values:
                boxes.append((f"{column}\n{which}", values, color))
    figure, axis = pyplot.subplots(figsize=(8, 3.8), layout="constrained")
    drawn = axis.boxplot([values for _, values, _ in boxes], whis=(0, 100), patch_artist=True, widths=0.5)
    for patch, (_, _, color) in zip(drawn["boxes"], boxes, strict=True):
        patch.set(facecolor=color, alpha=0.6)
    for line in drawn["medians"]:
        line.set_color("black")
    axis.set_xticks(range(1, len(boxes) + 1), [name for name, _, _ in boxes], fontsize=9)
    axis.set_ylabel("F1, per cent")
    axis.spines[["top", "right"]].set_visible(False)
    return figure


_COMMON: dict[str, Any] = {
    "paper": "Eyheramendy, Genkin, Ju, Lewis & Madigan (2003)",
    "collections": ("reuters21578", "smart"),
    "quick": "Three of the ten categories: grain, wheat and corn.",
    "rule": Within(3),
    "notes": (
        "Documents with at least one of the 90 categories, title and body, stop words removed, no stems, no cosine "
        "norm; the best terms by Pearson correlation; the constant under the same prior; the middle one of the "
        "thresholds of least training errors. The paper leaves these open, and they come nearest.",
        "γ is the Laplace rate of the paper's M-step, and EM stops when the coefficients change by 2 %; of the "
        "logistic model, which is fitted without EM, the rate is √γ, as the paper's formula (5) has it. *Exact* are "
        "the modes that EM would reach, for Jeffreys priors from a firmer start.",
    ),
}
_F1_TABLES: dict[str, tuple[str, str, Callable[[F1], list[Claim]]]] = {
    "table1": (
        "beside other methods",
        "A sparse probit model beside naive Bayes, logistic regression and SVM.",
        _against_others,
    ),
    "table2": ("raw and log TF", "Logarithms of term frequencies do better than raw ones.", _term_weights),
    "table3": ("priors", "Jeffreys prior and Laplace priors of six strengths.", _priors),
    "table5": ("300 and 1,000 terms", "More terms help Laplace priors a little.", _more_terms),
    "table6": ("probit and logistic", "Probit and logistic models, sparse and not.", _links),
    "footnote": (
        "measures of terms",
        "Pearson's correlation of weights chooses better terms than χ² and Yule's Q of presence.",
        _measures,
    ),
}


def _experiment(item: str, shows: str, run: Callable[[Runner], Outcome], **changes: Any) -> Experiment:
    where = f"Table {item.removeprefix('table')}" if item.startswith("table") else "Section 4, footnote 2"
    fields = {**_COMMON, "minutes": 0.1, "quick_minutes": 0.1, **changes}
    return Experiment(name=f"eyheramendy2003/{item}", item=where, shows=shows, run=run, **fields)


_TABLES = {
    item: _experiment(item, shows, partial(f1_table, item, title, claims))
    for item, (title, shows, claims) in _F1_TABLES.items()
} | {
    "table4": _experiment(
        "table4",
        "How many coefficients each prior leaves in the model.",
        table4,
        rule=Within(0.15, relative=True, least=5),
    ),
    **{
        item: _experiment(
            item,
            f"{what} on RCV1-v2, macro and micro F1.",
            partial(rcv1_table, item),
            collections=("rcv1", "smart"),
            quick="",
        )
        for item, what in (("table7", "Sparse models beside other methods"), ("table8", "Sparse models and others"))
    },
}

EXPERIMENTS = tuple(_TABLES[item] for item in sorted(_TABLES, key=lambda item: (item == "footnote", item)))
