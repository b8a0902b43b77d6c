"""Where an experiment works: it keeps finished pieces, uses all cores and tells how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from joblib import Parallel, delayed, effective_n_jobs

from reproduction.catalogue.cache import Family, Piece, PieceCache

#: Told the name of a stage, the pieces done and their total.
Report = Callable[[str, int, int], None]


class Spent(NamedTuple):
    """Seconds and processor seconds of pieces from the cache, and processor seconds in other processes."""

    kept: float = 0.0
    kept_cpu: float = 0.0
    elsewhere_cpu: float = 0.0


class Runner:
    """Return an experiment its finished pieces, and makes the others.

    Parameters
    ----------
    cache : PieceCache, optional
        Where pieces are kept.
    quick : bool
        Whether to do only the stated part of the experiment.
    n_jobs : int
        Processes for pieces that are made side by side, and threads for models; -1 is all cores.
    report : callable, optional
        Told the name of a stage, the pieces done and their total.

    Examples
    --------
    >>> import tempfile
    >>> from reproduction.catalogue import Runner, Family, PieceCache
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runner = Runner(PieceCache(folder))
    ...     runner.pieces(Family("squares"), [{"n": 2}, {"n": 3}], lambda setting: setting["n"] ** 2)
    [4, 9]
    """

    def __init__(
        self, cache: PieceCache | None = None, *, quick: bool = False, n_jobs: int = -1, report: Report | None = None
    ) -> None:
        self.cache = PieceCache() if cache is None else cache
        self.quick = quick
        self.n_jobs = n_jobs
        self.spent = Spent()
        self._report = report

    def tell(self, stage: str, done: int, total: int) -> None:
        """Tell how far a stage is."""
        if self._report is not None:
            self._report(stage, done, total)

    def piece(self, family: Family, setting: Mapping[str, Any], compute: Callable[[], Any]) -> Any:
        """Return one piece, made by ``compute`` unless it was made before.

        Parameters
        ----------
        family : Family
            What it depends on besides its setting.
        setting : mapping
            What tells it from others of the family; plain values.
        compute : callable
            Returns the value: numbers, strings, arrays, lists and mappings, which come back as plain lists.

        Returns
        -------
        value
        """
        return self.pieces(family, [setting], lambda _: compute())[0]

    def pieces(
        self,
        family: Family,
        settings: Sequence[Mapping[str, Any]],
        compute: Callable[[Mapping[str, Any]], Any],
        *,
        stage: str = "",
        processes: bool = False,
    ) -> list[Any]:
        """Return many pieces in the order of their settings; each is kept as soon as it is made.

        Parameters
        ----------
        family, settings, compute
            As in :meth:`piece`; ``compute`` takes the setting.
        stage : str
            What to call this work when telling how far it is.
        processes : bool
            Whether to make them side by side, in processes. Not for models that use all cores themselves.

        Returns
        -------
        list
        """
        stage = stage or family.name
        found = [self.cache.get(family, setting) for setting in settings]
        first = [self.cache.first_use(family, setting) for setting in settings]
        kept = [piece for piece, new in zip(found, first, strict=True) if piece is not None and new]
        self._spend(kept=sum(p.seconds for p in kept), kept_cpu=sum(p.cpu_seconds for p in kept))
        missing = [place for place, piece in enumerate(found) if piece is None]
        done = len(settings) - len(missing)
        self.tell(stage, done, len(settings))
        for place, piece in self._make(settings, missing, compute, processes):
            self.cache.put(family, settings[place], piece.value, piece.seconds, piece.cpu_seconds)
            # Read back, so that a value is the same whether it was made now or earlier.
            found[place] = self.cache.get(family, settings[place])
            done += 1
            self.tell(stage, done, len(settings))
        return [piece.value for piece in found if piece is not None]

    def _make(
        self, settings: Any, missing: Sequence[int], compute: Any, processes: bool
    ) -> Iterator[tuple[int, Piece]]:
        if not processes or effective_n_jobs(self.n_jobs) == 1 or len(missing) < 2:
            return (_timed(place, compute, settings[place]) for place in missing)
        return self._make_elsewhere(settings, missing, compute)

    def _make_elsewhere(self, settings: Any, missing: Sequence[int], compute: Any) -> Iterator[tuple[int, Piece]]:
        workers = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered", batch_size=1)
        side_by_side = min(effective_n_jobs(self.n_jobs), len(missing))
        for place, piece in workers(delayed(_timed)(place, compute, settings[place]) for place in missing):
            self._spend(elsewhere_cpu=piece.cpu_seconds)
            # Its share of the time, so that the seconds of all pieces together are those of the run.
            yield place, piece._replace(seconds=piece.seconds / side_by_side)

    def _spend(self, **seconds: float) -> None:
        self.spent = self.spent._replace(**{name: getattr(self.spent, name) + value for name, value in seconds.items()})


def _timed(place: int, compute: Callable[[Any], Any], setting: Any) -> tuple[int, Piece]:
    wall, cpu = time.perf_counter(), time.process_time()
    value = compute(setting)
    return place, Piece(value, time.perf_counter() - wall, time.process_time() - cpu)
