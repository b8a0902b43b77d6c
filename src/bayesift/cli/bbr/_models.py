"""Models of any file as one kind, with classes and linear scores."""

from __future__ import annotations

from pathlib import Path

from bayesift.formats.bbr import BinaryModel, BMRHeader, ClassCoefficients, FormatError, PolytomousModel, read_models
from bayesift.formats.bbr.models import AnyModel


def as_polytomous(model: AnyModel) -> PolytomousModel:
    """Return a yes/no model as one of two classes, the other being -1 with no coefficients."""
    if isinstance(model, PolytomousModel):
        return model
    topic = ClassCoefficients(model.class_name or "1", model.features, model.coefficients, model.intercept)
    trained_on = model.restricted_to or model.features
    header = BMRHeader(trained_on, model.restricted_to, cosine_normalize=model.cosine_normalize)
    return PolytomousModel((topic, ClassCoefficients("-1")), model.name, "-1", False, header)


def models_at(path: str) -> list[AnyModel]:
    """Read one model file, or all files of a folder in the order of their names; hidden ones do not count."""
    place = Path(path)
    if not place.is_dir():
        return list(read_models(path))
    files = sorted(file for file in place.iterdir() if file.is_file() and not file.name.startswith("."))
    if not files:
        raise FormatError(path, 1, "an empty folder", "model files")
    return [model for file in files for model in read_models(file)]


def threshold_of(model: AnyModel) -> float | None:
    """Return the log odds from which a yes/no model accepts; others have none."""
    return model.log_odds_threshold if isinstance(model, BinaryModel) else None
