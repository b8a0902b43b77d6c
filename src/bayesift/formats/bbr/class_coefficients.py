"""The coefficients of one class, as all files of polytomous models have them."""

from __future__ import annotations

from dataclasses import dataclass

from bayesift.formats.bbr._words import Word, Words
from bayesift.formats.bbr.priors import CONSTANT

Feature = int | str


@dataclass(frozen=True)
class ClassCoefficients:
    """The coefficients of one class; those not listed are zero.

    Parameters
    ----------
    class_name : str
    features : tuple of int, or of str
        Ids, or words in a symbolic model, in the order of the file.
    coefficients : tuple of float
    intercept : float
    """

    class_name: str
    features: tuple[Feature, ...] = ()
    coefficients: tuple[float, ...] = ()
    intercept: float = 0.0

    def __post_init__(self) -> None:
        if len(self.features) != len(self.coefficients):
            raise ValueError(
                f"class {self.class_name} has {len(self.coefficients)} coefficients for {len(self.features)} features; "
                "expected one each"
            )

    def named(self, symbolic: bool) -> list[tuple[Feature, float]]:
        """Return features with their coefficients, the constant (if it is not 0) last under its name in files."""
        constant: Feature = CONSTANT if symbolic else 0
        listed = [*zip(self.features, self.coefficients, strict=True)]
        return [*listed, (constant, self.intercept)] if self.intercept else listed


Entry = tuple[Word, float]


def looks_symbolic(entries: list[Entry]) -> bool:
    """Tell whether any feature is no whole number."""
    return any(not feature.isascii() or not feature.isdigit() for feature, _ in entries)


def collected(words: Words, class_name: str, entries: list[Entry], symbolic: bool) -> ClassCoefficients:
    """Make the coefficients of a class from words and numbers; a feature listed twice is an error."""
    found: dict[Feature, float] = {}
    for word, value in entries:
        feature: Feature = str(word)
        if not symbolic:
            feature = words.whole(word, "a feature, a whole number of at least 0", least=0)
        elif word == CONSTANT:
            feature = 0
        if feature in found:
            words.fail(word, f"every feature of class {class_name} once")
        found[feature] = value
    intercept = found.pop(0, 0.0)
    return ClassCoefficients(class_name, tuple(found), tuple(found.values()), intercept)
