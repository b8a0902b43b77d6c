"""What a model file says of itself."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from bayesift.formats._container import LIMIT
from bayesift.formats.model_error import ModelFileError
from bayesift.formats.model_file import opened


@dataclass(frozen=True)
class ModelDescription:
    """What a model file says of itself, before any object is made.

    Parameters
    ----------
    model : str
        Type of the model.
    types : tuple of str
        All types of bayesift and scikit-learn within it.
    protocol : int
        Number of the file's form.
    versions : dict of str to str
        Of Python and of the packages that wrote the file.
    provenance : dict
        What was given to :func:`save`.
    is_intact : bool
        Whether the checksum over the whole file is right.
    n_bytes : int
        Size of the file.
    n_bytes_unpacked : int
        Size of its contents, about what the model takes in memory.
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
    """Tell what a model file says of itself, without making the model.

    Parameters
    ----------
    path : path
        The file.
    limit : int, default=2**30
        Most bytes that the file, and its contents unpacked, may have.

    Returns
    -------
    ModelDescription

    Raises
    ------
    ModelFileError
        If the file is no model file, or so damaged that its header cannot be read.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from bayesift.formats import describe, save
    >>> from bayesift.linear import BayesianLogisticRegression
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(BayesianLogisticRegression(), pathlib.Path(folder) / "new.bayesift", provenance={"data": "none yet"})
    ...     found = describe(pathlib.Path(folder) / "new.bayesift")
    >>> found.model, found.protocol, found.provenance, found.is_intact
    ('bayesift.linear.BayesianLogisticRegression', 1, {'data': 'none yet'}, True)
    """
    container = opened(path, limit)
    header = container.header
    kinds: dict[str, type] = {"model": str, "types": list, "versions": dict, "provenance": dict}
    wrong = [name for name, kind in kinds.items() if not isinstance(header.get(name), kind)]
    if wrong:
        raise ModelFileError(f"{path}: its header has no proper {wrong[0]}")
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
