"""Texts that requests may bring: of limited length, and such as a database can hold."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


def _storable(text: str) -> str:
    if _NOT_STORABLE.search(text):
        raise ValueError("the text has a null character or half a surrogate pair; expected text")
    return text


ShortText = Annotated[str, StringConstraints(max_length=200), AfterValidator(_storable)]
LongText = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(_storable)]


def words_of(text: str) -> tuple[str, ...]:
    r"""Part a list of words at commas and line ends.

    Examples
    --------
    >>> from bayesift.review.web.texts import words_of
    >>> words_of("tin, copper\nzinc mine,")
    ('tin', 'copper', 'zinc mine')
    """
    return tuple(dict.fromkeys(word.strip() for word in re.split(r"[,;\n]", text) if word.strip()))
