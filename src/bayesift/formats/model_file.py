"""Models in one file: the whole pipeline, safe to load, the same bytes for the same model."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from typing import Any

from bayesift._files import atomic_path
from bayesift._version import __version__
from bayesift.formats._audit import NPY_HEADER_BYTES, Audit, RefusedError
from bayesift.formats._building import Builder
from bayesift.formats._checking import check_model, check_takes_texts
from bayesift.formats._container import FORMAT, LIMIT, Container, ModelFileError, write
from bayesift.formats._writing import SCHEMA, members_of, written_attributes

PROTOCOL = 2
"""Number of the protocol that :func:`save` writes."""

_OLDEST = 2

_LONGEST_MESSAGE = 1000

_PACKAGES = ("numpy", "scikit-learn", "scipy")


def save(pipeline: Any, path: str | os.PathLike[str], *, provenance: Mapping[str, Any] | None = None) -> None:
    """Write a model to one file, from which :func:`load` restores it bit for bit.

    The file holds names of listed types, arrays, numbers and strings, but no code: functions, such as a tokenizer of
    your own, are refused. The same model gives the same bytes. The file appears complete or not at all.

    Parameters
    ----------
    pipeline : estimator
        Any estimator of bayesift, or a scikit-learn ``Pipeline`` of them, fitted or not.
    path : path
        Where to write; ``.bayesift`` is the usual extension. An existing file is replaced.
    provenance : mapping, optional
        Anything that you want to know later about where the model comes from, as values that JSON can hold;
        :func:`describe` returns it. No date is added automatically.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayesift import load, save
    >>> from bayesift.linear import BayesianLogisticRegression
    >>> model = BayesianLogisticRegression(variance=1.0).fit([[0.0, 5.0], [5.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, pathlib.Path(folder) / "spam.bayesift")
    ...     again = load(pathlib.Path(folder) / "spam.bayesift")
    >>> again.predict([[0.0, 5.0]])
    array(['ham'], dtype='<U4')
    """
    origin = _checked_provenance(provenance)
    members = members_of(pipeline)
    # What load would refuse is refused now.
    audit = Audit({name: content[:NPY_HEADER_BYTES] for name, content in members.items()}, _sizes(members))
    try:
        audit.check(json.loads(members[SCHEMA]))
        check_model(pipeline, written_attributes)
    except ValueError as error:
        raise ModelFileError(f"the model cannot be stored: {error}") from error
    header = {
        "format": FORMAT,
        "protocol": PROTOCOL,
        "model": audit.objects[0],
        "types": sorted(set(audit.objects)),
        "versions": _versions(),
        "provenance": origin,
    }
    with atomic_path(path) as temporary, temporary.open("w+b") as file:
        write(file, header, members)


def load(path: str | os.PathLike[str], *, limit: int = LIMIT, read_files: bool = False) -> Any:
    """Read a model from a file that :func:`save` wrote.

    Loading never runs code from the file, and only makes objects of listed types. So the worst that an untrusted file
    can do is to be refused, or to hold a model that predicts nonsense.

    Parameters
    ----------
    path : path
        The file.
    limit : int, default=2**30
        Most bytes that the file, and its unpacked contents, may have; unpacking may add a quarter of it to the size of
        the file.
    read_files : bool, default=False
        Whether the model may read the files that its documents name (``TextVectorizer(input="filename")``). By default
        such a model is refused.

    Returns
    -------
    estimator
        The estimator as it was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, is not a model file, has another protocol, or contains anything that is not allowed.
    OSError
        If it cannot be read.
    """
    container = _opened(path, limit)
    try:
        if not container.is_intact:
            raise ModelFileError(f"{path} is damaged: its checksum is wrong")
        container.check_members()
        model = _READERS[container.header["protocol"]](container)
        if not read_files:
            check_takes_texts(model)
        return model
    except ModelFileError:
        raise
    except Exception as error:
        # How a malicious file can affect zipfile, json or numpy is only partly known.
        raise ModelFileError(f"{path} cannot be read: {_sentence(error)}") from error


@dataclass(frozen=True)
class ModelDescription:
    """What a model file says about itself, before any object is made.

    Parameters
    ----------
    model : str
        Type of the model.
    types : tuple of str
        All bayesift and scikit-learn types in it.
    protocol : int
        Number of the file's protocol.
    versions : dict of str to str
        Versions of Python and of the packages that wrote the file.
    provenance : dict
        What was given to :func:`save`.
    is_intact : bool
        Whether the checksum of the whole file is right.
    n_bytes : int
        Size of the file.
    n_bytes_unpacked : int
        Size of its unpacked contents, about what the model takes in memory.
    sizes : dict of str to int
        Unpacked size of every member.
    """

    model: str
    types: tuple[str, ...]
    protocol: int
    versions: dict[str, str]
    provenance: dict[str, Any]
    is_intact: bool
    n_bytes: int
    n_bytes_unpacked: int
    sizes: dict[str, int] = field(repr=False)


def describe(path: str | os.PathLike[str], *, limit: int = LIMIT) -> ModelDescription:
    """Return what a model file says about itself, without making the model.

    Parameters
    ----------
    path, limit : path and int
        As for :func:`load`.

    Returns
    -------
    ModelDescription

    Raises
    ------
    ModelFileError
        If the file is not a model file of this protocol, or so damaged that its header cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayesift.formats import describe, save
    >>> from bayesift.linear import BayesianLogisticRegression
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(BayesianLogisticRegression(), pathlib.Path(folder) / "new.bayesift", provenance={"data": "none yet"})
    ...     found = describe(pathlib.Path(folder) / "new.bayesift")
    >>> found.model, found.protocol, found.provenance, found.is_intact
    ('bayesift.linear.BayesianLogisticRegression', 2, {'data': 'none yet'}, True)
    """
    container = _opened(path, limit)
    header = container.header
    kinds: dict[str, type] = {"model": str, "types": list, "versions": dict, "provenance": dict}
    wrong = [name for name, kind in kinds.items() if not isinstance(header.get(name), kind)]
    if wrong:
        raise ModelFileError(f"{path}: its header has no valid {wrong[0]}")
    return ModelDescription(
        model=header["model"],
        types=tuple(map(str, header["types"])),
        protocol=header["protocol"],
        versions={name: str(number) for name, number in header["versions"].items()},
        provenance=header["provenance"],
        is_intact=container.is_intact,
        n_bytes=len(container.content),
        n_bytes_unpacked=sum(container.sizes.values()),
        sizes=container.sizes,
    )


def _opened(path: str | os.PathLike[str], limit: int) -> Container:
    """Open a file and read its header; its protocol must be one that can be read."""
    try:
        container = Container(path, limit)
        protocol = container.header.get("protocol")
    except (ModelFileError, OSError):
        raise
    except Exception as error:
        raise ModelFileError(f"{path} cannot be read: {_sentence(error)}") from error
    if type(protocol) is not int or protocol < 1:
        raise ModelFileError(f"{path}: its header has no protocol number")
    if protocol > PROTOCOL:
        raise ModelFileError(
            f"{path} is of protocol {protocol}; bayesift {__version__} reads protocols up to {PROTOCOL}. "
            "Install a newer version to read it"
        )
    if protocol < _OLDEST:
        raise ModelFileError(
            f"{path} is of protocol {protocol}; bayesift {__version__} reads protocols from {_OLDEST} on, in which "
            "types have other names. Train the model again, or convert it with the version that wrote it"
        )
    return container


def _read_2(container: Container) -> Any:
    """Read protocol 2: nodes of skops' protocol 2, types by their names in the registry, and stand-ins."""
    arrays = {name: size for name, size in container.sizes.items() if name != SCHEMA}
    beginnings = {name: container.beginning(name, NPY_HEADER_BYTES) for name in arrays}
    # Twice, because arrays that several parts share are not copied.
    audit = Audit(beginnings, arrays, most=2 * container.limit)
    schema = container.json(SCHEMA)
    try:
        audit.check(schema)
    except RefusedError as error:
        raise ModelFileError(f"{container.path} was refused: {error}") from error
    model = Builder(container.open).build(schema)
    check_model(model)
    return model


def _sentence(error: Exception) -> str:
    """Return the message of an error, shortened and without control characters."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    text = str(error)[:_LONGEST_MESSAGE] or type(error).__name__
    return "".join(letter if letter.isprintable() else " " for letter in text)


_READERS: dict[int, Callable[[Container], Any]] = {2: _read_2}


def _sizes(members: dict[str, bytes]) -> dict[str, int]:
    return {name: len(content) for name, content in members.items() if name != SCHEMA}


@cache
def _versions() -> dict[str, str]:
    """Return the versions of Python and packages; finding them takes longer than writing a small model."""
    own = {"bayesift": __version__, "python": platform.python_version()}
    return own | {package: version(package) for package in _PACKAGES}


def _checked_provenance(provenance: Mapping[str, Any] | None) -> dict[str, Any]:
    """Refuse values that JSON would not return unchanged."""
    origin = dict(provenance or {})
    try:
        same = json.loads(json.dumps(origin)) == origin
    except (TypeError, ValueError) as error:
        raise ValueError(f"provenance cannot be written as JSON: {error}") from error
    if not same:
        raise ValueError(
            "provenance has keys or values that JSON does not return unchanged; expected strings, numbers and lists"
        )
    return origin
