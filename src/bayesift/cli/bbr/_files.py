"""Reading that the commands share."""

from __future__ import annotations

from dataclasses import replace

from bayesift.formats.bbr import Data, FormatError, IndividualPrior, read_priors


def individual_priors(
    path: str | None, classes: tuple[str, ...] = (), symbolic: bool = False
) -> tuple[IndividualPrior, ...]:
    """Read a prior file, which must not have several topics, nor lines for other classes than these."""
    if path is None:
        return ()
    sections = read_priors(path, symbolic=symbolic)
    if len(sections) > 1:
        raise FormatError(path, 1, f"{len(sections)} topics", "one, since one model is trained")
    for prior in sections[0].priors:
        if prior.class_name is not None and prior.class_name not in classes:
            expected = f"classes among {', '.join(classes)}" if classes else "no classes, since there is one model"
            raise ValueError(f"{path}: a prior for class {prior.class_name!r}; expected {expected}")
    return sections[0].priors


def whole_labels(data: Data, name: str) -> Data:
    """Write labels as whole numbers, in the form that all programs write them: +1 becomes 1."""
    known: dict[str, str] = {}
    for label in dict.fromkeys(data.labels):
        value = float(label)
        if not value.is_integer():
            raise ValueError(f"{name}: the label {label!r} is not a whole number, as classes must be")
        known[label] = str(int(value))
    return replace(data, labels=tuple(known[label] for label in data.labels))


def required_row_ids(data: Data, name: str, wanted: bool) -> Data:
    """Make sure that every document has a name, if names are wanted; else leave the names out."""
    if not wanted:
        return replace(data, row_ids=None)
    if data.row_ids is None or not all(data.row_ids):
        raise ValueError(f"{name}: -R needs a line '# UID: name' before every document")
    return data
