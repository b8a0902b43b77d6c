"""Classify many files, each into a file of its own, with several workers; can be resumed after a kill."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bayesift import shards
from bayesift._files import atomic_path
from bayesift._same_files import check_distinct
from bayesift._typing import AnyArray
from bayesift.workflow.classify import Classified, classify
from bayesift.workflow.info import load_classifier
from bayesift.workflow.text_classifier import TextClassifier

#: The list of finished files, kept in the output folder until all are done.
_LEDGER = ".classified.json"
#: Endings of compressed files; their output has the format of what is in them.
_COMPRESSED = (".gz", ".xz", ".bz2")


class _File(NamedTuple):
    """One of the files: its number, where it is, and where its output goes."""

    number: int
    data: str
    output: str


def classify_files(
    model: str | os.PathLike[str],
    files: Sequence[str | os.PathLike[str]],
    folder: str | os.PathLike[str],
    *,
    engine: str = "threads",
    n_jobs: int | None = -1,
    timeout: float | None = None,
    on_file: Callable[[Path, Classified], None] = lambda output, found: None,
    **options: Any,
) -> dict[str, Classified]:
    r"""Add the labels to the rows of many files; each appears in ``folder``, under its own name, when it is done.

    After a kill, the same call continues with the files that are not done. Workers read the model and the files
    themselves, so on a cluster all of them must see these under the same names.

    Parameters
    ----------
    model : path
        A model file of a :class:`TextClassifier`.
    files : sequence of paths
        Files as :func:`classify` reads them, with different names.
    folder : path
        Created if it does not exist. A file that is already there is replaced.
    engine : str, default="threads"
        Who does the work, as in :func:`bayesift.shards.engine`.
    n_jobs : int or None, default=-1
        How many threads or processes.
    timeout : float, optional
        Seconds after which a file that a Dask worker has not finished is given to another.
    on_file : callable, optional
        Called, in the order of the files, with each file written and what :func:`classify` returned for it.
    **options
        Parameters of :func:`classify`, except functions.

    Returns
    -------
    dict of str to Classified
        By the names of the files written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayesift.formats import save
    >>> from bayesift.workflow import TextClassifier, classify_files
    >>> texts, labels = ["wheat", "corn", "sea", "ship"] * 3, ["farm", "farm", "sea", "sea"] * 3
    >>> with TemporaryDirectory() as place:
    ...     save(TextClassifier("nb").fit(texts, labels), Path(place) / "m.bayesift")
    ...     data = [Path(place) / "1.csv", Path(place) / "2.csv"]
    ...     _ = data[0].write_text("text\nwheat\n"), data[1].write_text("text\nship\n")
    ...     found = classify_files(Path(place) / "m.bayesift", data, Path(place) / "out")
    >>> {name: one.counts for name, one in found.items()}
    {'1.csv': {'farm': 1}, '2.csv': {'sea': 1}}
    """
    place = Path(folder)
    wanted = _outputs(files, place, options.get("format"))
    plan = {"model": _digest(Path(model)), "options": repr(sorted(options.items()))}
    ledger = _Ledger(place / _LEDGER, plan)
    with shards.engine(engine, n_jobs) as client:
        place.mkdir(parents=True, exist_ok=True)
        found = {Path(file.output).name: ledger.done(file) for file in wanted}
        left = [file for file in wanted if found[Path(file.output).name] is None]
        calls = [(file, (os.path.abspath(model), plan["model"], options)) for file in left]
        answers = _answers(shards.run_tasks(_classify_one, calls, client=client, timeout=timeout, n_jobs=n_jobs))
        for file in wanted:
            known = found[Path(file.output).name]
            if known is None:
                known = found[Path(file.output).name] = next(answers)
                ledger.add(file, known)
            on_file(Path(file.output), known)
    ledger.close()
    return {name: one for name, one in found.items() if one is not None}


def _outputs(files: Sequence[str | os.PathLike[str]], folder: Path, format: str | None) -> list[_File]:
    """Say where the output of each file goes; refuse any that would overwrite an input or another output."""
    if not files:
        raise ValueError("files is empty; expected at least one")
    found = []
    for number, file in enumerate(files):
        path = Path(file)
        if not path.is_file():
            raise FileNotFoundError(f"{path} does not exist or is not a file; expected files to classify")
        name = Path(path.stem if path.suffix in _COMPRESSED else path.name)
        output = folder / (name.name if format is None else f"{name.stem}.{format}")
        found.append(_File(number, str(path.resolve()), str(output.absolute())))
    taken: dict[str, str] = {}
    for one in found:
        if one.output in taken:
            raise ValueError(f"{taken[one.output]} and {one.data} would both be written to {one.output}")
        taken[one.output] = one.data
    check_distinct({one.data: one.data for one in found}, {one.output: one.output for one in found})
    return found


def _classify_one(file: _File, model: str, digest: str, options: Mapping[str, Any]) -> tuple[AnyArray]:
    """Classify a file; return the summary as JSON."""
    classifier, origin = _loaded(model, digest)
    given = {"prefer": origin.get("text"), "label_separator": origin.get("label_separator") or ";", **options}
    found = classify(classifier, file.data, file.output, **given)
    return (np.frombuffer(json.dumps(found.as_dict()).encode(), dtype=np.uint8),)


@lru_cache(maxsize=2)
def _loaded(model: str, digest: str) -> tuple[TextClassifier, dict[str, Any]]:
    """Read the model once in every process; if the file has changed, it is another model."""
    if _digest(Path(model)) != digest:
        raise ValueError(f"{model} has changed since the work began")
    return load_classifier(model)


def _answers(results: Iterator[tuple[AnyArray, ...]]) -> Iterator[Classified]:
    for (content,) in results:
        yield _classified(json.loads(content.tobytes()))


def _classified(found: Any) -> Classified:
    """Turn JSON back into a summary; anything else is refused."""
    made = Classified(**found)
    if type(made.n_texts) is not int or type(made.counts) is not dict or type(made.notes) is not list:
        raise ValueError("these are not numbers of texts")
    return made


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


class _Ledger:
    """The files that are done, for a process that may have to continue."""

    def __init__(self, path: Path, plan: dict[str, Any]) -> None:
        self._path, self._plan = path, plan
        self._done: dict[str, Any] = {}
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["plan"] == plan:
                self._done = dict(content["done"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            # As far as one can tell, nothing is done.
            self._done = {}

    def done(self, file: _File) -> Classified | None:
        """Return the summary of a file, if neither it nor its output has changed since."""
        try:
            states, found = self._done[file.output]
            return _classified(found) if states == _states(file) else None
        except (OSError, KeyError, ValueError, TypeError):
            return None

    def add(self, file: _File, found: Classified) -> None:
        """Note that a file is done."""
        self._done[file.output] = [_states(file), found.as_dict()]
        with atomic_path(self._path) as temporary:
            temporary.write_text(json.dumps({"plan": self._plan, "done": self._done}), encoding="utf-8")

    def close(self) -> None:
        """Forget everything when all files are done."""
        self._path.unlink(missing_ok=True)


def _states(file: _File) -> list[Any]:
    """Return what identifies a file and its output."""
    states = [os.stat(path) for path in (file.data, file.output)]
    return [file.data, *([state.st_size, state.st_mtime_ns] for state in states)]
