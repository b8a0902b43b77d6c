"""The last round of every fit, stored in a folder, so that a fit whose process was killed continues from there.

What is kept is where the search stands, never how good it is: the certificate of a fit that goes on is computed anew.
A file that is damaged, or was written for anything else than just this fit, is as good as none.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bayesift._files import atomic_path
from bayesift._typing import AnyArray, FloatArray, Int64Array
from bayesift.linear._fit.problem import SolverOptions
from bayesift.shards import Shards

if TYPE_CHECKING:
    from bayesift.linear._solvers.duality import Penalties

_VERSION = 1
#: The numbers beside the coefficients: version, rounds done, whether the fit was done, whether it was exact, and to
#: which gap fits in memory go.
_N_NUMBERS = 5


class Standing(NamedTuple):
    """Where a search stands: departures from the modes, candidates, rounds begun, and how exact fits in memory are.

    Departures have a row for each feature, the constant's last, of numbers or, with several classes, of a number each.
    """

    delta: FloatArray
    wanted: Int64Array
    rounds: int
    done: bool = False
    exact: bool = False
    inner: float = 0.0


class KeptRound:
    """The place of one fit in the folder of rounds; without a folder nothing is kept.

    Parameters
    ----------
    shards : Shards
    loss : int or str
        Which loss is minimised.
    options : SolverOptions
    arrays : sequence of arrays
        All else that the fit depends on: labels, weights, priors, where it begins.
    """

    def __init__(self, shards: Shards, loss: int | str, options: SolverOptions, arrays: Sequence[AnyArray]) -> None:
        self._path: Path | None = None
        if shards.rounds_folder is not None:
            self._path = shards.rounds_folder / f"{_fingerprint(shards, loss, options, arrays)}.npz"

    def write(self, standing: Standing) -> None:
        """Store the state of a search in place of the earlier one."""
        if self._path is None:
            return
        flat = standing.delta.ravel()
        moved = np.flatnonzero(flat)
        numbers = np.array([_VERSION, standing.rounds, standing.done, standing.exact, standing.inner], np.float64)
        with atomic_path(self._path) as temporary, temporary.open("wb") as stream:
            np.savez(
                stream,
                numbers=numbers,
                moved=moved,
                delta=flat[moved],
                wanted=standing.wanted.astype(np.int64),
            )

    def read(self, prior: Penalties) -> Standing | None:
        """Return the state of an earlier process; None if there was none or its file cannot be used."""
        if self._path is None or not self._path.is_file():
            return None
        try:
            with self._path.open("rb") as stream, np.load(stream, allow_pickle=False) as content:
                found = {name: content[name] for name in ("numbers", "moved", "delta", "wanted")}
        except (OSError, ValueError, KeyError, EOFError, SyntaxError, zipfile.BadZipFile, NotImplementedError):
            return None
        return _checked(found, prior)


def _checked(found: dict[str, np.ndarray], prior: Penalties) -> Standing | None:
    """Return the content of a file, if it is valid."""
    _, _, low, high = prior
    numbers, moved, values, wanted = found["numbers"], found["moved"], found["delta"], found["wanted"]
    if numbers.dtype != np.float64 or numbers.shape != (_N_NUMBERS,) or numbers[0] != _VERSION:
        return None
    if not np.isfinite(numbers).all() or numbers[1] < 1 or numbers[1] % 1 or numbers[4] < 0:
        return None
    if not (_are_places(moved, low.size) and _are_places(wanted, len(low) - 1)):
        return None
    if values.dtype != np.float64 or values.shape != moved.shape or not np.isfinite(values).all():
        return None
    if np.any(values < low.flat[moved]) or np.any(values > high.flat[moved]):
        return None
    delta = np.zeros(low.shape)
    delta.flat[moved] = values
    return Standing(delta, wanted, int(numbers[1]), bool(numbers[2]), bool(numbers[3]), float(numbers[4]))


def _are_places(found: np.ndarray, size: int) -> bool:
    """Tell whether an array holds places in ascending order."""
    if found.dtype != np.int64 or found.ndim != 1:
        return False
    return not found.size or bool(found[0] >= 0 and found[-1] < size and np.all(found[1:] > found[:-1]))


def _fingerprint(shards: Shards, loss: int | str, options: SolverOptions, arrays: Sequence[AnyArray]) -> str:
    """Return a hash of everything that a fit depends on."""
    digest = hashlib.sha256(repr((shards.identity, shards.memory, loss, tuple(options))).encode())
    for array in arrays:
        whole = np.ascontiguousarray(array)
        digest.update(f"{whole.dtype.str}{whole.shape}".encode())
        digest.update(whole.data)
    return digest.hexdigest()
