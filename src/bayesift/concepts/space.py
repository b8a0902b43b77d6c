"""Learning a concept from positive examples."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from bayesift._typing import BoolArray, FloatArray, Int64Array
from bayesift.concepts._bits import BitSets


class HypothesisSpace:
    """Candidate concepts, each a set of items (its *extension*), with their probabilities.

    Examples are taken to be drawn at random from the intended concept, so N examples have probability 1/sizeᴺ under a
    concept that contains them all and 0 under any other (3.2): of those that fit, smaller concepts explain them better.

    Examples are passed as ``data``, an iterable of items in which an item may occur several times. Asking for a
    posterior is an error if no concept with prior above 0 contains them all.

    A space never changes: :meth:`update` returns the space after examples. Extensions are stored as bits, so tens of
    thousands of concepts over thousands of items take a few megabytes, and answers a fraction of a second.

    Parameters
    ----------
    items : sequence of hashable
        The domain: everything that an example can be, each item once.
    extensions : mapping from str to iterable
        For each concept, by name, the items that belong to it.
    prior : array of shape (n_hypotheses,) or mapping from str to float, optional
        Weights of the concepts, at least 0; they are divided by their sum. Equal by default.

    Attributes
    ----------
    items : tuple
        The domain.
    names : tuple of str
        Names of the concepts.
    sizes : array of shape (n_hypotheses,)
        Number of items in each extension.
    log_prior : array of shape (n_hypotheses,)
        Logarithms of the prior probabilities.

    Examples
    --------
    >>> from bayesift.concepts import HypothesisSpace
    >>> animals = ["terrier", "poodle", "wolf", "cat", "trout"]
    >>> space = HypothesisSpace(
    ...     animals,
    ...     {"dogs": animals[:2], "canines": animals[:3], "mammals": animals[:4], "animals": animals},
    ... )
    >>> space.posterior(["terrier"]).round(2)
    array([0.39, 0.26, 0.19, 0.16])
    >>> space.map(["terrier", "poodle", "terrier"])
    'dogs'
    >>> space.predictive(["terrier", "poodle", "terrier"]).round(2)
    array([1.  , 1.  , 0.33, 0.13, 0.04])
    """

    def __init__(
        self,
        items: Sequence[Hashable],
        extensions: Mapping[str, Iterable[Hashable]],
        prior: ArrayLike | Mapping[str, float] | None = None,
    ) -> None:
        items = tuple(items) if isinstance(items, Iterator) else items
        numbers = numbered("items", items)
        members = [self._numbers(f"extensions[{name!r}]", items, numbers) for name, items in extensions.items()]
        self._fill(items, list(extensions), BitSets.from_members(members, len(numbers)), prior)

    @classmethod
    def from_matrix(
        cls,
        items: Sequence[Hashable],
        names: Sequence[str],
        matrix: Any,
        prior: ArrayLike | Mapping[str, float] | None = None,
    ) -> Self:
        """Make a space from a matrix of concepts × items.

        Parameters
        ----------
        items : sequence of hashable
            The domain, one item for each column.
        names : sequence of str
            Names of the concepts, one for each row.
        matrix : array or sparse matrix of shape (n_hypotheses, n_items)
            An item belongs to the concept if its entry is not zero.
        prior : array or mapping, optional
            As for the class.

        Returns
        -------
        HypothesisSpace
        """
        found, expected = getattr(matrix, "shape", np.shape(matrix)), (len(names), len(items))
        if found != expected:
            raise ValueError(f"matrix has shape {found}; expected {expected}, one row per name and one column per item")
        rows = matrix if hasattr(matrix, "shape") else np.asarray(matrix)
        return cls._from_bits(items, names, BitSets.from_rows(rows), prior)

    @classmethod
    def mix(cls, spaces: Sequence[HypothesisSpace], weights: ArrayLike) -> Self:
        """Combine spaces over the same items: p(h) = Σ_s w_s p_s(h) (3.10).

        Parameters
        ----------
        spaces : sequence of HypothesisSpace
            Spaces with the same items and different names.
        weights : array of shape (n_spaces,)
            Weights of the spaces, at least 0; they are divided by their sum.

        Returns
        -------
        HypothesisSpace
        """
        spaces = list(spaces)
        if not spaces:
            raise ValueError("spaces is empty; expected at least one space")
        if any(space.items != spaces[0].items for space in spaces):
            raise ValueError("spaces have different items; expected the same items in all")
        log_shares = _checked_prior("weights", weights, [str(k) for k in range(len(spaces))])
        names = [name for space in spaces for name in space.names]
        mixed = cls._from_bits(spaces[0].items, names, BitSets.join([space._bits for space in spaces]), None)
        logs = [share + space.log_prior for share, space in zip(log_shares, spaces, strict=True)]
        return mixed._with_log_prior(np.concatenate(logs))

    @classmethod
    def _from_bits(cls, items: Sequence[Hashable], names: Sequence[str], bits: BitSets, prior: Any) -> Self:
        space = object.__new__(cls)
        space._fill(items, names, bits, prior)
        return space

    def _fill(self, items: Sequence[Hashable], names: Sequence[str], bits: BitSets, prior: Any) -> None:
        if not len(names):
            raise ValueError("there are no hypotheses; expected at least one")
        self._item_numbers = numbered("items", items)
        self._name_numbers = numbered("names", strings("names", names))
        self.items: tuple[Hashable, ...] = tuple(items)
        self.names: tuple[str, ...] = tuple(names)
        self._bits = bits
        self.sizes: Int64Array = bits.sizes()
        self.log_prior: FloatArray = _checked_prior("prior", prior, names)
        for array in (bits.bytes, self.sizes, self.log_prior):
            array.flags.writeable = False

    @property
    def prior(self) -> FloatArray:
        """Prior probabilities of the concepts."""
        return np.exp(self.log_prior)

    def extension(self, name: str) -> tuple[Hashable, ...]:
        """Return the items of a concept.

        Parameters
        ----------
        name : str
            Name of the concept.

        Returns
        -------
        tuple
        """
        return tuple(self.items[i] for i in self._bits.members(self._number(name)))

    def membership(self, names: Sequence[str]) -> BoolArray:
        """Return which items belong to some of the concepts.

        Parameters
        ----------
        names : sequence of str
            Names of the concepts.

        Returns
        -------
        array of bool, shape (len(names), n_items)
        """
        belongs = np.zeros((len(names), len(self.items)), dtype=bool)
        for row, name in zip(belongs, names, strict=True):
            row[self._bits.members(self._number(name))] = True
        return belongs

    def _number(self, name: str) -> int:
        if name not in self._name_numbers:
            raise KeyError(f"name is {name!r}, which is none of the {len(self.names)} hypotheses")
        return self._name_numbers[name]

    def log_likelihood(self, data: Iterable[Hashable]) -> FloatArray:
        """Return the log probability of the examples under every concept.

        Parameters
        ----------
        data : iterable of items
            The examples; an item may occur several times.

        Returns
        -------
        array of shape (n_hypotheses,)
            −N ln size, or −∞ if an example does not belong to the concept.
        """
        examples = self._numbers("data", data, self._item_numbers)
        fits = self._bits.holding(np.unique(examples).tolist())
        return np.where(fits, -len(examples) * np.log(np.maximum(self.sizes, 1)), -np.inf)

    def log_evidence(self, data: Iterable[Hashable]) -> float:
        """Return the log probability of the examples, averaged over the concepts; −∞ if none contains them all."""
        return float(logsumexp(self.log_prior + self.log_likelihood(data)))

    def log_posterior(self, data: Iterable[Hashable]) -> FloatArray:
        """Return the log probability of every concept after the examples (3.3)."""
        data = _listed("data", data)
        joint = self.log_prior + self.log_likelihood(data)
        evidence = logsumexp(joint)
        if evidence == -np.inf:
            raise ValueError(
                f"data is {_shown(data)}; expected items that some hypothesis with prior above 0 contains together"
            )
        return joint - evidence

    def posterior(self, data: Iterable[Hashable]) -> FloatArray:
        """Return the probability of every concept after the examples (3.3)."""
        return np.exp(self.log_posterior(data))

    def update(self, data: Iterable[Hashable]) -> Self:
        """Return the space whose prior is the posterior after the examples."""
        return self._with_log_prior(self.log_posterior(data))

    def _with_log_prior(self, log_prior: FloatArray) -> Self:
        """Return a space with the same concepts and another prior."""
        log_prior.flags.writeable = False
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, log_prior=log_prior)
        return other

    def map(self, data: Iterable[Hashable]) -> str:
        """Return the name of the most probable concept after the examples (3.6); of ties, the first."""
        return self.names[int(np.argmax(self.log_posterior(data)))]

    def mle(self, data: Iterable[Hashable]) -> str:
        """Return the name of the smallest concept that contains the examples (3.7); of ties, the first.

        The prior is ignored.
        """
        return self.names[self._smallest(_listed("data", data))]

    def _smallest(self, data: list[Hashable]) -> int:
        likelihood = self.log_likelihood(data)
        best = int(np.argmax(likelihood))
        if likelihood[best] == -np.inf:
            raise ValueError(f"data is {_shown(data)}; expected items that some hypothesis contains together")
        return best

    def version_space(self, data: Iterable[Hashable]) -> tuple[str, ...]:
        """Return the names of all concepts that contain the examples."""
        return tuple(self.names[h] for h in np.flatnonzero(self.log_likelihood(data) > -np.inf))

    def top(self, data: Iterable[Hashable], n: int = 10) -> list[tuple[str, float]]:
        """Return the most probable concepts after the examples, the best first.

        Parameters
        ----------
        data : iterable of items
            The examples.
        n : int, default=10
            Number of concepts.

        Returns
        -------
        list of (name, probability)
        """
        posterior = self.posterior(data)
        order = np.argsort(-posterior, kind="stable")[:n]
        return [(self.names[h], float(posterior[h])) for h in order]

    def predictive(self, data: Iterable[Hashable], method: Literal["average", "map", "mle"] = "average") -> FloatArray:
        """Return the probability of each item that it belongs to the concept.

        Parameters
        ----------
        data : iterable of items
            The examples.
        method : {"average", "map", "mle"}, default="average"
            Average over all concepts (3.8), or plug in the most probable or the smallest one (3.9).

        Returns
        -------
        array of shape (n_items,)
        """
        data = _listed("data", data)
        if method == "average":
            # Sums of thousands of weights may exceed 1 in the last digit.
            return np.minimum(self._bits.weight_of_items(self.posterior(data)), 1.0)
        if method not in ("map", "mle"):
            raise ValueError(f"method is {method!r}; expected 'average', 'map' or 'mle'")
        best = int(np.argmax(self.log_posterior(data))) if method == "map" else self._smallest(data)
        return self.membership([self.names[best]])[0].astype(np.float64)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self.names)} hypotheses over {len(self.items)} items)"

    @staticmethod
    def _numbers(name: str, values: Iterable[Hashable], numbers: Mapping[Hashable, int]) -> Int64Array:
        """Return the numbers of items."""
        found = _listed(name, values)
        for value in found:
            if value not in numbers:
                raise ValueError(f"{name} holds {value!r}, which is none of the {len(numbers)} items")
        return np.array([numbers[value] for value in found], dtype=np.int64)


def _shown(data: list[Hashable], most: int = 5) -> str:
    return repr(data) if len(data) <= most else f"{data[:most]!r} and {len(data) - most} more"


def numbered(name: str, values: Sequence[Hashable]) -> dict[Hashable, int]:
    """Return the place of every value, after checking that none occurs twice."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name} is {values!r}; expected a sequence")
    places: dict[Hashable, int] = {}
    for place, value in enumerate(values):
        if places.setdefault(value, place) != place:
            raise ValueError(f"{name} holds {value!r} twice; expected each once")
    return places


def _listed(name: str, values: Any) -> list[Hashable]:
    """Return items as a list; refuse a single one, or a string."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} is {values!r}; expected a list of items")
    return list(values)


def strings(name: str, values: Sequence[Any]) -> Sequence[str]:
    """Return names after checking that they are strings."""
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name} holds {value!r}; expected strings")
    return values


def _checked_prior(name: str, weights: Any, names: Sequence[str]) -> FloatArray:
    """Return the logarithms of weights divided by their sum; equal weights for None."""
    if weights is None:
        return np.full(len(names), -np.log(len(names)))
    if isinstance(weights, Mapping):
        odd = set(weights) ^ set(names)
        if odd:
            raise ValueError(
                f"{name} and the names of the hypotheses differ in {min(odd, key=str)!r}; expected the same names"
            )
        weights = [weights[key] for key in names]
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} is {weights!r}; expected numbers") from error
    if array.shape != (len(names),):
        raise ValueError(f"{name} has shape {array.shape}; expected ({len(names)},), one weight for each")
    wrong = np.flatnonzero(~((array >= 0) & np.isfinite(array)))
    if len(wrong):
        raise ValueError(f"{name} is {array[wrong[0]]:g} at {wrong[0]}; expected a finite number of at least 0")
    if not array.any():
        raise ValueError(f"{name} has sum 0; expected at least one weight above 0")
    with np.errstate(divide="ignore"):
        shares = array / array.max()
        return np.log(array) - np.log(array.max()) - np.log(shares.sum())
