"""Tables 4 and 5 and figure 2 of Chai, Ng & Chieu (2002), on TREC-9 where it is at hand and on other collections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesift.evaluate import recall, wilcoxon_test
from bayesift.plots import PALETTE
from reproduction.catalogue import Claim, Figure, Outcome, Runner, Table, published, require_pyplot
from reproduction.chai2002.filtering import SEEDS, SYSTEMS, Filtered, filtered_by_all, measures
from reproduction.chai2002.streams import STREAMS, Stream, available, stream_of

#: The streams and seeds of a quick run.
QUICK_STREAMS, QUICK_SEEDS = ("reviews-few",), (0,)

_DECIMALS = {"retrieved": 0, "relevant retrieved": 0, "mean scaled utility": 3, "zero returns": 0}
_ABSENT = (
    "TREC-9 itself was not run: its MEDLINE records (ohsumed.87, ohsumed.88-91) and training judgements are not in the "
    "data root. The other collections have fewer documents, of which many more are relevant; the printed numbers are "
    "those of TREC-9."
)
_Runs = Mapping[str, Mapping[str, Sequence[Filtered]]]


def table4(runner: Runner) -> Outcome:
    """Compare filters with and without retraining and queries, on each stream."""
    runs, notes = _runs(runner)
    printed = published("chai2002")["table4"]
    tables, claims = [], []
    for name, systems in runs.items():
        found = {system: [measures(filtered) for filtered in results] for system, results in systems.items()}
        ours = {system: _means(values) for system, values in found.items()}
        tables.append(
            Table.of(
                _title(stream_of(name)),
                ours,
                printed,
                errors={system: _errors(values) for system, values in found.items() if len(values) > 1},
                decimals={column: _DECIMALS.get(column, 1) for column in next(iter(ours.values()))},
                corner="system",
                note=_note(stream_of(name)),
                comparable=name == "trec9",
            )
        )
        claims += _recall_claims(name, systems)
    return Outcome(tuple(tables), tuple(claims), notes=notes)


def retraining(tables: tuple[Table, ...]) -> tuple[Claim, ...]:
    """See what retraining on past relevant documents (rel) adds, and which system has the higher mean T9P, as printed.

    In print, without rel 5 % fewer relevant documents are retrieved, and 8 % fewer beside queries for information.
    """
    printed = published("chai2002")["table4"]
    claims = []
    for table in tables:
        for more, less in (("pptron+rel", "pptron"), ("pptron+rel+ig", "pptron+ig")):
            found = [table.ours(system, "relevant retrieved") or 0.0 for system in (more, less)]
            drop = 100 * (1 - found[1] / max(found[0], 1.0))
            less_or_more = "fewer" if drop >= 0 else "more"
            claims.append(
                Claim(
                    f"{table.title}: {more} retrieves more relevant documents than {less}",
                    found[0] > found[1],
                    f"{found[0]:.0f} and {found[1]:.0f}; without rel {abs(drop):.1f} % {less_or_more}",
                )
            )
        for first, second in (("pptron+rel+ig", "pptron+ig"), ("pptron+ig", "pptron+rnd"), ("pptron+ig", "pptron")):
            ours = [table.ours(system, "mean T9P, %") or 0.0 for system in (first, second)]
            theirs = [printed.value(system, "mean T9P, %") or 0.0 for system in (first, second)]
            claims.append(
                Claim(
                    f"{table.title}: {first} has a higher mean T9P than {second}",
                    ours[0] > ours[1],
                    f"{ours[0]:.1f} and {ours[1]:.1f} %; printed, of TREC-9, {theirs[0]:.1f} and {theirs[1]:.1f}",
                )
            )
    return tuple(claims)


def _recall_claims(name: str, systems: Mapping[str, Sequence[Filtered]]) -> list[Claim]:
    """See whether queries by information raise recall over no queries and over random ones."""
    mean = {
        system: np.mean([recall(filtered.outcomes()) for filtered in results], axis=0)
        for system, results in systems.items()
    }
    pairs = (("pptron+ig", "pptron"), ("pptron+ig", "pptron+rnd"), ("pptron+rel+ig", "pptron+rel"))
    claims = []
    for better, worse in pairs:
        test = wilcoxon_test(mean[better], mean[worse])
        detail = (
            f"{100 * mean[better].mean():.1f} and {100 * mean[worse].mean():.1f} %; {test.wins} topics better, "
            f"{test.losses} worse, signed ranks p = {test.p_value:.2g}"
        )
        holds = bool(mean[better].mean() > mean[worse].mean())
        claims.append(Claim(f"{name}: {better} has a higher macro recall than {worse}", holds, detail))
    return claims


def table5(runner: Runner) -> Outcome:
    """Break down what was retrieved: by the classifier proper, or by a query for information or at random."""
    runs, notes = _runs(runner)
    printed = published("chai2002")["table5"]
    tables, claims = [], []
    for name, systems in runs.items():
        parts = {"by the classifier": False, "queried": True, "all": None}
        ours: dict[str, dict[str, float]] = {row: {} for row in parts}
        for short in ("ig", "rnd"):
            for row, queried in parts.items():
                counts = np.mean([_counts(filtered, queried) for filtered in systems[f"pptron+{short}"]], axis=0)
                for column, value in zip(("relevant", "other", "all"), (*counts, counts.sum()), strict=True):
                    ours[row][f"{short}, {column}"] = float(value)
        stream = stream_of(name)
        tables.append(
            Table.of(_title(stream), ours, printed, decimals=0, note=_note(stream), comparable=name == "trec9")
        )
        claims += _query_claims(name, ours, float(np.sum(systems["pptron"][0].outcomes().tp)))
    return Outcome(tuple(tables), tuple(claims), notes=notes)


def _query_claims(name: str, ours: Mapping[str, Mapping[str, float]], plain: float) -> list[Claim]:
    """See whether queries by information find relevant documents, and teach the classifier to find more."""
    asked = ours["queried"]
    shares = {short: asked[f"{short}, relevant"] / max(asked[f"{short}, all"], 1.0) for short in ("ig", "rnd")}
    taught = ours["by the classifier"]["ig, relevant"]
    return [
        Claim(
            f"{name}: of queries for information more are relevant than of random ones",
            shares["ig"] > shares["rnd"],
            f"{100 * shares['ig']:.1f} and {100 * shares['rnd']:.1f} %",
        ),
        Claim(
            f"{name}: what they teach lets the classifier proper find more relevant documents than without queries",
            taught > plain,
            f"{taught:.0f} and {plain:.0f}",
        ),
    ]


def figure2(runner: Runner) -> Outcome:
    """Follow the number of features as relevant documents are retrieved."""
    runs, notes = _runs(runner)
    curves = {name: {system: _curve(results) for system, results in systems.items()} for name, systems in runs.items()}
    rows = {
        f"{name}, {system}": {
            "features at the start": features[0],
            "features at the end": features[-1],
            "relevant retrieved": found[-1],
        }
        for name, systems in curves.items()
        for system, (found, features) in systems.items()
    }
    claims = []
    for name, systems in curves.items():
        ig, plain = (systems[system][1][-1] for system in ("pptron+ig", "pptron"))
        text = f"{name}: with queries for information more features are found"
        claims.append(Claim(text, bool(ig > plain), f"{ig:.1f} and {plain:.1f} at the end"))
    table = Table.of("Means over topics", rows, decimals=1, corner="stream and system")
    figure = Figure("features", "Features against relevant documents retrieved", lambda: _draw(curves))
    return Outcome((table,), tuple(claims), (figure,), notes)


def _runs(runner: Runner) -> tuple[_Runs, tuple[str, ...]]:
    """Run everything that can be run here; say what cannot."""
    found = available(QUICK_STREAMS if runner.quick else STREAMS)
    runs = filtered_by_all(runner, found, QUICK_SEEDS if runner.quick else SEEDS)
    return runs, () if "trec9" in found else (_ABSENT,)


def _title(stream: Stream) -> str:
    return f"{stream.name}: {len(stream.statements)} topics"


def _note(stream: Stream) -> str:
    n_judged, n_relevant = list(stream.n_judged.values()), list(stream.n_relevant.values())
    return (
        f"Batch phase of {len(stream.batch):,} documents, {np.median(n_judged):g} relevant to a topic in the median; "
        f"stream of {len(stream.documents):,}, {np.median(n_relevant):g} relevant in the median, "
        f"{100 * stream.share:.2f} % in the mean. Printed: TREC-9, 0.017 %."
    )


def _means(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {column: float(np.mean([value[column] for value in values])) for column in values[0]}


def _errors(values: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return standard errors of means over seeds."""
    return {c: float(np.std([value[c] for value in values], ddof=1) / np.sqrt(len(values))) for c in values[0]}


def _counts(filtered: Filtered, queried: bool | None) -> tuple[int, int]:
    found = filtered.outcomes(queried)
    return int(np.sum(found.tp)), int(np.sum(found.fp))


def _curve(results: Sequence[Filtered]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    places = np.linspace(0, results[0].n_documents, 101)
    found, features = np.mean([filtered.growth(places) for filtered in results], axis=0)
    return found, features


def _draw(curves: Mapping[str, Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]]) -> Any:
    pyplot = require_pyplot()
    figure, axes = pyplot.subplots(
        1, len(curves), figsize=(3.2 * len(curves), 3.2), layout="constrained", squeeze=False
    )
    colors = {"information": PALETTE[0], "random": PALETTE[2], None: PALETTE[1]}
    for axis, (name, systems) in zip(axes[0], curves.items(), strict=True):
        for system, (found, features) in systems.items():
            style = "--" if SYSTEMS[system]["relearn_relevant"] else "-"
            axis.plot(found, features, style, color=colors[SYSTEMS[system]["query"]], label=system)
        axis.set(title=name, xlabel="relevant documents retrieved", ylabel="features")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, fontsize=8)
    return figure
