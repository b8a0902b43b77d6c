"""The number game: guessing a concept of numbers from 1 to 100 from examples."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isqrt

import numpy as np

from bayesift.concepts.space import HypothesisSpace

NUMBERS = range(1, 101)

_NATURAL, _LIKELY, _UNNATURAL = 0.1, 0.5, 0.001


def number_game(pi0: float = 1.0, *, interval_scale: float = 10.0) -> HypothesisSpace:
    """Return the concepts of the number game (Tenenbaum 1999; Murphy 2012, section 3.2).

    There are 30 rules (even and odd are the likeliest) and two unnatural ones, "powers of 2, plus 37" and "powers of 2,
    except 32"; with ``pi0`` below 1 also all 5,050 intervals, p(h) = π₀ p_rules(h) + (1−π₀) p_interval(h) (3.10).

    Parameters
    ----------
    pi0 : float, default=1
        Prior probability that the concept is a rule. 1 leaves the intervals out; 2/3 reproduces the answers of people.
    interval_scale : float, default=10
        The prior of an interval of ``length`` numbers is proportional to length·exp(−length/interval_scale).

    Returns
    -------
    HypothesisSpace
        A space over the numbers from 1 to 100.

    Examples
    --------
    >>> from bayesift.concepts import number_game
    >>> game = number_game()
    >>> game.map([16]), game.map([16, 8, 2, 64])
    ('powers of 4', 'powers of 2')
    >>> game.mle([16, 8, 2, 64])
    'powers of 2, except 32'
    >>> near = number_game(pi0=2 / 3).predictive([16, 23, 19, 20])
    >>> [round(float(near[number - 1]), 2) for number in (18, 24, 27, 60)]
    [1.0, 0.72, 0.3, 0.0]
    """
    if not (isinstance(pi0, (int, float)) and 0 <= pi0 <= 1):
        raise ValueError(f"pi0 is {pi0!r}; expected a number from 0 to 1")
    if not (isinstance(interval_scale, (int, float)) and 0 < interval_scale < np.inf):
        raise ValueError(f"interval_scale is {interval_scale!r}; expected a finite number above 0")
    rules = _rules()
    return rules if pi0 == 1 else HypothesisSpace.mix([rules, _intervals(interval_scale)], [pi0, 1 - pi0])


def _rules() -> HypothesisSpace:
    tests: dict[str, Callable[[int], bool]] = {
        "even": partial(_divides, 2),
        "odd": lambda number: number % 2 == 1,
        "squares": lambda number: isqrt(number) ** 2 == number,
    }
    tests |= {f"multiples of {k}": partial(_divides, k) for k in range(3, 11)}
    tests |= {f"ends in {k}": partial(_ends_in, k) for k in range(1, 10)}
    tests |= {f"powers of {k}": partial(_is_power, k) for k in range(2, 11)}
    tests |= {
        "all": lambda number: True,
        "powers of 2, plus 37": lambda number: _is_power(2, number) or number == 37,
        "powers of 2, except 32": lambda number: _is_power(2, number) and number != 32,
    }
    extensions = {name: [number for number in NUMBERS if test(number)] for name, test in tests.items()}
    weights = dict.fromkeys(tests, _NATURAL) | dict.fromkeys(("even", "odd"), _LIKELY)
    weights |= dict.fromkeys(("powers of 2, plus 37", "powers of 2, except 32"), _UNNATURAL)
    return HypothesisSpace(NUMBERS, extensions, weights)


def _intervals(scale: float) -> HypothesisSpace:
    first, last = np.triu_indices(len(NUMBERS))
    names = [f"{NUMBERS[low]} to {NUMBERS[high]}" for low, high in zip(first, last, strict=True)]
    place = np.arange(len(NUMBERS))
    length = last - first + 1
    return HypothesisSpace.from_matrix(
        NUMBERS,
        names,
        (first[:, np.newaxis] <= place) & (place <= last[:, np.newaxis]),
        length * np.exp(-length / scale),
    )


def _divides(factor: int, number: int) -> bool:
    return number % factor == 0


def _ends_in(digit: int, number: int) -> bool:
    return number % 10 == digit


def _is_power(base: int, number: int) -> bool:
    while number % base == 0:
        number //= base
        if number == 1:
            return True
    return False
