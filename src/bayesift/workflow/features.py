"""Features beside the texts: numbers, categories and texts from other columns, as columns of a linear model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, nan
from numbers import Real
from typing import Any, Literal, Self, cast

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from bayesift._state import State
from bayesift._typing import FloatArray
from bayesift.text import TextVectorizer
from bayesift.workflow._label_sets import check_has
from bayesift.workflow._models import AUTO, least_documents, vectorizer_for
from bayesift.workflow.errors import FeaturesError, counted
from bayesift.workflow.words_and_vectors import LINEAR_MODELS

Kind = Literal["auto", "number", "category", "text"]

#: What a column may hold.
KINDS: tuple[Kind, ...] = ("number", "category", "text")

#: The names of the features, or a mapping from name to what a feature holds.
Features = Sequence[str] | Mapping[str, Kind]

#: Cells of a column of numbers that mean "missing".
_NO_NUMBER = frozenset(("", "-", "?", "n/a", "na", "nan", "none", "null"))

#: Numbers are clipped to this many standard deviations from the mean, so that one slip cannot decide everything.
_FURTHEST = 10.0

#: If there are more categories, only the most frequent are known.
_MOST_CATEGORIES = 1_000


class FeatureColumns:
    """What was learned about the columns beside the texts: how each is turned into columns of numbers.

    Numbers are standardised, and clipped to ten standard deviations; a missing one is taken as the mean. Each category
    has a column of zeros and ones; one that is missing or did not occur in training has none. Texts have terms of their
    own, such as ``title:wheat``.

    Parameters
    ----------
    names : list of str
        The columns.
    kinds : list of {"number", "category", "text"}
        What each of them holds.
    means, scales : array of shape (n_names,)
        Mean and standard deviation of numbers; 0 and 1 for other columns.
    categories : list of list of str
        The known values of each column of categories, in order; empty for other columns.
    vectorizers : list of TextVectorizer or None
        For columns of texts, a vectorizer fitted to the column.

    Examples
    --------
    >>> from bayesift.datasets import FeaturedText
    >>> from bayesift.workflow import FeatureColumns
    >>> rows = [{"price": 3, "shop": "inn"}, {"price": None, "shop": "bar"}, {"price": 5, "shop": "inn"}]
    >>> texts = [FeaturedText("cold soup", row) for row in rows]
    >>> columns = FeatureColumns.learn(texts, ["price", "shop"])
    >>> columns.terms()
    ['price', 'shop=bar', 'shop=inn']
    >>> columns.transform(texts).toarray().tolist()
    [[-1.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 1.0]]
    >>> columns.sentences(columns.gaps(texts))
    ["1 missing value of 'price' taken as the mean, 4"]
    """

    def __init__(
        self,
        names: list[str],
        kinds: list[str],
        means: FloatArray,
        scales: FloatArray,
        categories: list[list[str]],
        vectorizers: list[TextVectorizer | None],
    ) -> None:
        self.names, self.kinds, self.means, self.scales = names, kinds, means, scales
        self.categories, self.vectorizers = categories, vectorizers

    @classmethod
    def learn(cls, texts: Sequence[str], features: Features, vectorizer: TextVectorizer | None = None) -> Self:
        """Find out what the columns hold, and learn their numbers, categories and words.

        Parameters
        ----------
        texts : sequence of FeaturedText
            The training texts.
        features : sequence of str, or mapping from str to {"auto", "number", "category", "text"}
            The columns. If ``"auto"``, a column of nothing but numbers is a number column, one in which most cells have
            several words and most cells are different is a text column, and any other is a category column.
        vectorizer : TextVectorizer, optional
            How to cut texts into words; not fitted.

        Returns
        -------
        FeatureColumns
        """
        wanted = kinds_of(features)
        names, least = list(wanted), least_documents(len(texts))
        means, scales = np.zeros(len(names)), np.ones(len(names))
        kinds: list[str] = []
        categories: list[list[str]] = [[] for _ in names]
        vectorizers: list[TextVectorizer | None] = [None] * len(names)
        for place, (name, asked) in enumerate(wanted.items()):
            values = _values(texts, name)
            kind = _kind_of(values) if asked == "auto" else asked
            kinds.append(kind)
            if kind == "number":
                means[place], scales[place] = _mean_and_scale(name, values)
            elif kind == "category":
                counts = Counter(found for value in values if (found := _category(value)) is not None)
                frequent = [found for found, n in counts.most_common(_MOST_CATEGORIES) if n >= least]
                categories[place] = sorted(frequent)
            else:
                made = TextVectorizer(min_df=least) if vectorizer is None else clone(vectorizer)
                vectorizers[place] = made.fit([_text(value) for value in values])
        return cls(names, kinds, means, scales, categories, vectorizers)

    @property
    def n_dense(self) -> int:
        """Number of columns for numbers and categories, which come after those of words."""
        return sum(self._width(place) for place, kind in enumerate(self.kinds) if kind != "text")

    @property
    def n_columns(self) -> int:
        """Number of columns that :meth:`transform` returns."""
        return sum(map(self._width, range(len(self.names))))

    def transform(self, texts: Sequence[str]) -> sp.csr_matrix:
        """Return the features of texts as numbers: first the words of text columns, then the other columns."""
        parts = [sp.csr_matrix((len(texts), 0))]
        for place in self._order():
            values = _values(texts, self.names[place])
            if self.kinds[place] == "number":
                parts.append(sp.csr_matrix(self._standardised(place, values)[:, None]))
            elif self.kinds[place] == "category":
                parts.append(self._indicator(place, values))
            else:
                parts.append(self._words(place).transform([_text(value) for value in values]))
        return sp.hstack(parts, format="csr", dtype=np.float64)

    def scores(self, texts: Sequence[str], weights: Any) -> FloatArray:
        """Return what the features of texts add to the scores of a linear model, whose last weights are theirs."""
        added = self.transform(texts) @ weights[:, weights.shape[1] - self.n_columns :].T
        return np.asarray(added.toarray() if sp.issparse(added) else added)

    def terms(self) -> list[str]:
        """Name the columns that :meth:`transform` makes: ``title:word``, ``price`` and ``shop=inn``."""
        found: list[str] = []
        for place in self._order():
            name = self.names[place]
            if self.kinds[place] == "number":
                found.append(name)
            elif self.kinds[place] == "category":
                found += [f"{name}={value}" for value in self.categories[place]]
            else:
                found += [f"{name}:{word}" for word in self._words(place).get_feature_names_out()]
        return found

    def values_of(self, text: str) -> dict[str, str]:
        """Return, by column of numbers, the name of a text's value in reasons, such as ``price=12.5``."""
        names = [name for name, kind in zip(self.names, self.kinds, strict=True) if kind == "number"]
        numbers = {name: _number(_values([text], name)[0]) for name in names}
        return {name: f"{name}={number:.12g}" for name, number in numbers.items() if number is not None}

    def gaps(self, texts: Sequence[str]) -> Counter[tuple[str, str]]:
        """Count, by column and problem, the values that say nothing: missing, not a number, or unknown."""
        found: Counter[tuple[str, str]] = Counter()
        for name, kind, known in zip(self.names, self.kinds, map(set, self.categories), strict=True):
            for value in _values(texts, name) if kind != "text" else ():
                if kind == "number":
                    number = _number(value)
                    problem = "odd" if number is None else "missing" if number != number else ""
                else:
                    category = _category(value)
                    problem = "missing" if category is None else "" if category in known else "unknown"
                if problem:
                    found[name, problem] += 1
        return found

    def sentences(self, gaps: Mapping[tuple[str, str], int]) -> list[str]:
        """Say how values that say nothing were treated, a sentence for each column and problem."""
        said = []
        for (name, problem), number in gaps.items():
            place = self.names.index(name)
            taken = f"taken as the mean, {self.means[place]:.4g}" if self.kinds[place] == "number" else "taken as none"
            what = counted(number, "missing value" if problem == "missing" else "value")
            no_number = f" that {'is not a number' if number == 1 else 'are not numbers'},"
            why = {"missing": "", "odd": no_number, "unknown": " that the model does not know,"}[problem]
            said.append(f"{what} of {name!r}{why} {taken}")
        return said

    def about(self) -> list[str]:
        """Say what each column holds."""
        said = []
        for place, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True)):
            if kind == "number":
                what = f"number, mean {self.means[place]:.4g}, standard deviation {self.scales[place]:.4g}"
            elif kind == "category":
                n_known = len(self.categories[place])
                what = f"one of {n_known:,}" if n_known else "no repeated value"
            else:
                what = f"text, {counted(self._width(place), 'word')} of its own"
            said.append(f"{name} ({what})")
        return said

    def _order(self) -> list[int]:
        """Return the positions of the columns, those of texts first."""
        return sorted(range(len(self.names)), key=lambda place: self.kinds[place] != "text")

    def _width(self, place: int) -> int:
        kind = self.kinds[place]
        if kind == "text":
            return int(self._words(place).document_frequency_.size)
        return 1 if kind == "number" else len(self.categories[place])

    def _words(self, place: int) -> TextVectorizer:
        return cast(TextVectorizer, self.vectorizers[place])

    def _standardised(self, place: int, values: Iterable[Any]) -> FloatArray:
        found = np.array([nan if (number := _number(value)) is None else number for value in values], dtype=np.float64)
        with np.errstate(over="ignore"):
            found = (found - self.means[place]) / self.scales[place]
        return np.clip(np.nan_to_num(found, nan=0.0), -_FURTHEST, _FURTHEST)

    def _indicator(self, place: int, values: Sequence[Any]) -> sp.csr_matrix:
        column: dict[str | None, int] = {value: k for k, value in enumerate(self.categories[place])}
        found = [column.get(_category(value), -1) for value in values]
        rows = np.flatnonzero(np.array(found, dtype=np.int64) >= 0)
        columns = np.array(found, dtype=np.int64)[rows]
        return sp.csr_matrix((np.ones(rows.size), (rows, columns)), shape=(len(found), len(column)))

    def _check_state(self, state: State) -> None:
        names, kinds = state.entries("names"), state.entries("kinds")
        state.require(all(type(name) is str for name in names) and len(set(names)) == len(names) > 0, "features")
        state.require(len(kinds) == len(names) and all(kind in KINDS for kind in kinds), "features and kinds")
        state.array("means", (len(names),))
        state.array("scales", (len(names),))
        state.require(bool(np.isfinite(self.means).all() and np.isfinite(self.scales).all()), "means and scales")
        state.require(bool((self.scales > 0).all()), "scales")
        for kind, values in zip(kinds, state.entries("categories", len(names)), strict=True):
            fits = type(values) is list and all(type(value) is str for value in values)
            state.require(fits and len(set(values)) == len(values) <= _MOST_CATEGORIES, "categories")
            state.require(kind == "category" or not values, "categories")
        for kind, found in zip(kinds, state.entries("vectorizers", len(names)), strict=True):
            is_fitted = type(found) is TextVectorizer and hasattr(found, "n_documents_")
            state.require(is_fitted if kind == "text" else found is None, "words of features")


def kinds_of(features: Any) -> dict[str, Kind]:
    """Return the names of features with what they hold, ``"auto"`` if that is left open; refuse anything else."""
    if isinstance(features, str) or not isinstance(features, Mapping | Iterable):
        raise TypeError(f"features is {features!r}; expected a list of column names, or a mapping from name to kind")
    wanted: dict[str, Kind] = dict(features) if isinstance(features, Mapping) else dict.fromkeys(features, "auto")
    if not wanted or not all(isinstance(name, str) and name for name in wanted):
        raise ValueError(f"features is {features!r}; expected column names")
    for name, kind in wanted.items():
        if kind not in ("auto", *KINDS):
            raise ValueError(f"feature {name!r} is of the kind {kind!r}; expected one of auto, {', '.join(KINDS)}")
    return wanted


def learnt_features(classifier: Any, texts: Sequence[str], model: Any) -> FeatureColumns:
    """Learn what the features of texts are; text columns are cut into words like the texts of the classifier."""
    words = vectorizer_for(classifier.vectorizer, model, len(texts), n_jobs=classifier.n_jobs)
    return FeatureColumns.learn(texts, classifier.features, words)


def check_features(classifier: Any) -> None:
    """Refuse features that are malformed, that the model cannot have, or that are given with vectors of words."""
    kinds_of(classifier.features)
    model = classifier.model
    fits = model in (AUTO, *LINEAR_MODELS) if isinstance(model, str) else "dense_features" in model.get_params()
    if not fits:
        raise FeaturesError(f"features need a linear model ({', '.join(LINEAR_MODELS)}), but model is {model!r}")
    if classifier.vectors is not None and not (isinstance(classifier.vectors, str) and classifier.vectors == AUTO):
        raise FeaturesError(f"features and vectors of words exclude each other, but vectors is {classifier.vectors!r}")


def _values(texts: Sequence[str], name: str) -> list[Any]:
    """Return the values of a feature; every text has it."""
    try:
        return [text.features[name] for text in texts]  # type: ignore[attr-defined]
    except (AttributeError, KeyError):
        for place, text in enumerate(texts):
            check_has(text, [name], f"texts[{place}]")
        raise


def _is_missing(value: Any) -> bool:
    # pandas marks missing values by objects that equal nothing.
    return (
        value is None or (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")
    )


def _number(value: Any) -> float | None:
    """Return a number, NaN if it is missing, None if it is not a number."""
    if _is_missing(value):
        return nan
    if isinstance(value, str):
        if value.strip().casefold() in _NO_NUMBER:
            return nan
    elif isinstance(value, bool | np.bool_) or not isinstance(value, Real | np.number):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _category(value: Any) -> str | None:
    """Return the name of a category, None if it is missing."""
    if isinstance(value, float | np.floating) and isfinite(value) and float(value).is_integer():
        # Integers from a column with gaps come as floats.
        value = int(value)
    return None if _is_missing(value) else _text(value) or None


def _text(value: Any) -> str:
    if isinstance(value, list | tuple | dict | set | bytes | np.ndarray):
        raise FeaturesError(f"a feature is a {type(value).__name__}; expected a number or a string")
    return "" if _is_missing(value) else str(value).strip()


def _kind_of(values: Sequence[Any]) -> Kind:
    numbers = [_number(value) for value in values]
    if None not in numbers and any(number == number for number in numbers):
        return "number"
    names = [found for value in values if (found := _category(value)) is not None]
    several = sum(len(found.split(None, 2)) > 1 for found in names)
    return "text" if 2 * several > len(names) and 2 * len(set(names)) > len(names) else "category"


def _mean_and_scale(name: str, values: Sequence[Any]) -> tuple[float, float]:
    numbers = [number for value in values if (number := _number(value)) is not None and number == number]
    if not numbers:
        raise FeaturesError(f"feature {name!r} has no numbers; expected some, or another kind")
    found = np.array(numbers)
    # Sums and squares of the largest floats would overflow.
    unit = float(np.max(np.abs(found))) or 1.0
    mean, scale = unit * float(np.mean(found / unit)), unit * float(np.std(found / unit))
    return mean, scale if scale > 1e-12 * unit and isfinite(scale) else 1.0
