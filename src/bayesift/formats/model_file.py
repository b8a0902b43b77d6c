"""Models in one file: the whole pipeline, safe to load, the same bytes for the same model."""

from __future__ import annotations

import json
import os
import platform
import warnings
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

from bayesift._files import atomic_path
from bayesift._version import __version__
from bayesift.formats._audit import NPY_HEADER_BYTES, Audit, RefusedError
from bayesift.formats._consistency import check_model
from bayesift.formats._container import FORMAT, LIMIT, Container, write
from bayesift.formats._packing import Packer
from bayesift.formats._schema import SCHEMA, written_by_skops
from bayesift.formats.model_error import ModelFileError

PROTOCOL = 1
"""Number of the form that :func:`save` writes."""

_PACKAGES = ("numpy", "scikit-learn", "scipy", "skops")


def save(pipeline: Any, path: str | os.PathLike[str], *, provenance: Mapping[str, Any] | None = None) -> None:
    """Write a model to one file, from which :func:`load` makes it again bit for bit.

    The file holds names of listed types, arrays, numbers and strings, and no code: functions, such as a tokenizer of
    your own, are refused. The same model gives the same bytes. The file appears complete or not at all.

    Parameters
    ----------
    pipeline : estimator
        Any estimator of bayesift, or a scikit-learn ``Pipeline`` of them, fitted or not.
    path : path
        Where to; ``.bayesift`` is the usual ending. What stands there is replaced.
    provenance : mapping, optional
        Anything you want to know later about where the model comes from, as JSON can hold it; :func:`describe` gives it
        back. No date is added on its own.

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
    members = written_by_skops(Packer().pack(pipeline, type(pipeline).__name__))
    # What loading would refuse is refused now.
    audit = Audit({name: content[:NPY_HEADER_BYTES] for name, content in members.items()}, _sizes(members))
    try:
        audit.check(json.loads(members[SCHEMA]))
        check_model(pipeline)
    except ValueError as error:
        raise ModelFileError(f"the model cannot be stored: {error}") from error
    header = {
        "format": FORMAT,
        "protocol": PROTOCOL,
        "model": audit.objects[0],
        "types": sorted(set(audit.objects)),
        "versions": {"bayesift": __version__, "python": platform.python_version()}
        | {package: version(package) for package in _PACKAGES},
        "provenance": origin,
    }
    with atomic_path(path) as temporary, temporary.open("w+b") as file:
        write(file, header, members)


def load(path: str | os.PathLike[str], *, limit: int = LIMIT) -> Any:
    """Read a model from a file that :func:`save` wrote.

    Loading never runs code from the file and only makes objects of listed types, so a file from a stranger can at worst
    be refused, or hold a model that predicts nonsense.

    Parameters
    ----------
    path : path
        The file.
    limit : int, default=2**30
        Most bytes that the file, and its contents unpacked, may have.

    Returns
    -------
    estimator
        As it was when it was saved.

    Raises
    ------
    ModelFileError
        If the file is damaged, is something else, is of a newer protocol, or holds what no model file may hold.
    OSError
        If it cannot be read.
    """
    container = opened(path, limit)
    try:
        if not container.is_intact:
            raise ModelFileError(f"{path} is damaged: its checksum is not right")
        container.check_members()
        return _READERS[container.header["protocol"]](container)
    except ModelFileError:
        raise
    except Exception as error:
        # What a file made on purpose can do to zipfile, json, numpy or skops is known only in part.
        raise ModelFileError(f"{path} cannot be read: {error}") from error


def opened(path: str | os.PathLike[str], limit: int) -> Container:
    """Open a file as far as its header, of a protocol that there is a reader for."""
    try:
        container = Container(path, limit)
        protocol = container.header.get("protocol")
    except (ModelFileError, OSError):
        raise
    except Exception as error:
        raise ModelFileError(f"{path} cannot be read: {error}") from error
    if type(protocol) is not int or protocol < 1:
        raise ModelFileError(f"{path}: its header has no protocol number")
    if protocol > PROTOCOL:
        raise ModelFileError(
            f"{path} is of protocol {protocol}; bayesift {__version__} reads protocols up to {PROTOCOL}. "
            "Install a newer version to read it"
        )
    return container


def _read_1(container: Container) -> Any:
    """Read protocol 1: the stand-ins of ``_packed``, in nodes of skops' protocol 2."""
    from skops.io import loads

    arrays = {name: size for name, size in container.sizes.items() if name != SCHEMA}
    audit = Audit({name: container.beginning(name, NPY_HEADER_BYTES) for name in arrays}, arrays)
    try:
        audit.check(container.json(SCHEMA))
    except RefusedError as error:
        raise ModelFileError(f"{container.path} was refused: {error}") from error
    with warnings.catch_warnings():
        # Of scikit-learn there is only Pipeline, whose attributes are its parameters.
        warnings.filterwarnings("ignore", message="Trying to unpickle estimator")
        model = loads(container.content, trusted=sorted(audit.trusted))
    check_model(model)
    return model


_READERS: dict[int, Callable[[Container], Any]] = {1: _read_1}


def _sizes(members: dict[str, bytes]) -> dict[str, int]:
    return {name: len(content) for name, content in members.items() if name != SCHEMA}


def _checked_provenance(provenance: Mapping[str, Any] | None) -> dict[str, Any]:
    """Refuse what JSON would not give back."""
    origin = dict(provenance or {})
    try:
        same = json.loads(json.dumps(origin)) == origin
    except (TypeError, ValueError) as error:
        raise ValueError(f"provenance cannot be written as JSON: {error}") from error
    if not same:
        raise ValueError(
            "provenance has keys or values that JSON does not give back; expected strings, numbers and lists"
        )
    return origin
