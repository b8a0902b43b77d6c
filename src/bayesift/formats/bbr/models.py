"""Any model file, told by its title."""

from __future__ import annotations

from io import BytesIO
from typing import Literal

from bayesift.formats.bbr._errors import FormatError
from bayesift.formats.bbr._files import Source, name_of, read_buffer
from bayesift.formats.bbr.binary_model import TITLE, BinaryModel, ThresholdUnit, read_binary_model
from bayesift.formats.bbr.polytomous_model import BMR_TITLE, BXR_TITLE, PolytomousModel, read_polytomous_model
from bayesift.formats.bbr.sparse_model import SPARSE_TITLE, read_sparse_models

AnyModel = BinaryModel | PolytomousModel


class _Named(BytesIO):
    """Bytes that know the name of the file they come from."""

    def __init__(self, content: bytes, name: str) -> None:
        super().__init__(content)
        self.name = name


def read_models(
    source: Source, *, threshold_unit: ThresholdUnit | Literal["auto"] = "auto", symbolic: bool | None = None
) -> tuple[AnyModel, ...]:
    """Read a model file of any of the programs; which it is stands in its first line.

    Parameters
    ----------
    source : str, path or binary stream
    threshold_unit : {"auto", "log_odds", "probability"}, default="auto"
        See :func:`read_binary_model`.
    symbolic : bool, optional
        See :func:`read_polytomous_model`.

    Returns
    -------
    tuple of BinaryModel or PolytomousModel
        One, except for sparse files, which may hold several.
    """
    name = name_of(source)
    buffer, start = read_buffer(source)
    content = buffer[start:-1].tobytes()
    lines = content.split(b"\n")
    first = next(number for number, line in enumerate(lines) if line.strip())
    title = b" ".join(lines[first].split()).decode("utf-8", errors="replace")
    stream = _Named(content, name)
    if title.startswith(TITLE):
        return (read_binary_model(stream, threshold_unit=threshold_unit),)
    if title.startswith((BMR_TITLE, BXR_TITLE)):
        return (read_polytomous_model(stream, symbolic=symbolic),)
    if title.startswith(SPARSE_TITLE):
        return read_sparse_models(stream, symbolic=symbolic)
    raise FormatError(name, first + 1, repr(title[:60]), "the title of a model file of BBR, BMR or BXR")
