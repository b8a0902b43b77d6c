"""Write the pages of the reference, one for each room, from what the rooms export."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

ROOMS = {
    "datasets": "Collections of documents, and your own files.",
    "text": "From texts to sparse matrices.",
    "vectors": "Word vectors from unlabelled texts.",
    "shards": "Data larger than memory.",
    "select": "Scores of terms against categories.",
    "priors": "Prior knowledge.",
    "posterior": "Posteriors of logistic and probit regression.",
    "linear": "Logistic, softmax and probit regression.",
    "ard": "Automatic relevance determination.",
    "generative": "Models of the documents of every class.",
    "online": "Beliefs that change with every judgement.",
    "filtering": "Filtering a stream.",
    "conjugate": "Beliefs in closed form.",
    "concepts": "Concepts from positive examples.",
    "decide": "From scores to decisions.",
    "evaluate": "Measures, calibration, effort, significance.",
    "plots": "Plots.",
    "workflow": "From a file of texts to a classifier: what the commands do, as functions.",
    "formats": "The model file.",
    "bbr": "Files and commands of BBR, BMR and BXR.",
}


def page(room: str, summary: str) -> str:
    """Return the page of a room: its classes, its functions, and the names of its constants."""
    module = import_module(f"bayesift.{room}")
    exported = sorted(module.__all__, key=str.lower)
    constants = [name for name in exported if name.isupper()]
    classes = [name for name in exported if inspect.isclass(getattr(module, name))]
    functions = [name for name in exported if name not in classes and name not in constants]
    title = f"bayesift.{room}"
    lines = [title, "=" * len(title), "", summary, "", f".. currentmodule:: {title}"]
    for kind, names in (("Classes", classes), ("Functions", functions)):
        if names:
            lines += [
                "",
                f".. rubric:: {kind}",
                "",
                ".. autosummary::",
                "   :toctree: generated",
                "   :nosignatures:",
                "",
            ]
            lines += [f"   {name}" for name in names]
    if constants:
        lines += ["", ".. rubric:: Constants", "", ", ".join(f"``{name}``" for name in constants)]
    return "\n".join(lines) + "\n"


def write_if_changed(target: Path, text: str) -> None:
    """Write a page unless it is there already, so that nothing is built again without need."""
    target.parent.mkdir(exist_ok=True)
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def write_pages(folder: Path) -> None:
    """Write the pages that have changed into a folder."""
    for room, summary in ROOMS.items():
        write_if_changed(folder / f"{room}.rst", page(room, summary))
