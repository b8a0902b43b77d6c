"""``bayesift info``: what a model file contains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayesift.cli._options import Json, ModelFile
from bayesift.cli._shell import console, list_of, print_json, shown, table

if TYPE_CHECKING:
    from bayesift.formats import ModelDescription
    from bayesift.workflow import ModelInfo


def info(model: ModelFile, as_json: Json = False) -> None:
    """Show what a model is, how its prior was chosen, what it learned from, and which versions wrote it."""
    from bayesift.cli._show import show_comparison
    from bayesift.formats import describe
    from bayesift.workflow import load_classifier, model_info

    classifier, _ = load_classifier(model)
    found, file = model_info(classifier), describe(model)
    if as_json:
        print_json({**found.as_dict(), "file": _file(file), "origin": file.provenance})
        return
    out = console()
    rows = table("", "")
    rows.show_header = False
    for name, value in _lines(found, file):
        rows.add_row(name, shown(value))
    out.print(f"{model.name}: {found.model}, {found.about}", style="bold")
    out.print(rows)
    show_comparison(found, out)


def _lines(found: ModelInfo, file: ModelDescription) -> list[tuple[str, str]]:
    origin = file.provenance
    kinds = {"binary": "one of two", "multiclass": "one of several", "multilabel-indicator": "any number of them"}
    more = f" and {len(found.labels) - 12} more" if len(found.labels) > 12 else ""
    lines = [("labels", f"{', '.join(found.labels[:12])}{more} ({kinds[found.target_type]})")]
    lines += found.lines()
    lines.append(("weights", found.weighting))
    lines.append(("thresholds", found.policy)) if found.policy == "half" else None
    source = f" of {origin['data']}" if origin.get("data") else ""
    columns = [column for name in ("text", "labels") if origin.get(name) for column in list_of(origin[name])]
    where = f" (columns {', '.join(columns)})" if columns else ""
    lines.append(("learned from", f"{found.n_texts:,} texts{source}{where}"))
    lines.append(("fingerprint", found.fingerprint[:16]))
    if (measured := origin.get("evaluation")) is not None:
        lines.append(("measured", f"{measured['accuracy']:.1%} right on {measured['on']}"))
    versions = ", ".join(f"{name} {number}" for name, number in file.versions.items())
    lines.append(("written by", versions))
    size = f"{file.n_bytes / 1000:,.0f} kB, {file.n_bytes_unpacked / 1000:,.0f} kB unpacked"
    lines.append(("file", f"{size}, protocol {file.protocol}, checksum {'right' if file.is_intact else 'WRONG'}"))
    return lines


def _file(file: ModelDescription) -> dict[str, Any]:
    return {name: getattr(file, name) for name in ("protocol", "versions", "is_intact", "n_bytes", "n_bytes_unpacked")}
