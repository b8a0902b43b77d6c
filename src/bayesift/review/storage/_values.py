"""Values as they are written into the tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime


def now() -> str:
    """Return the time as text."""
    return as_text(datetime.now(UTC))


def as_text(moment: datetime) -> str:
    """Write a time in UTC, to the millisecond, as text that sorts by time."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def storable(text: str) -> str:
    """Replace what a database cannot hold as text: the null character, and halves of surrogate pairs."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def words_to_json(words: Sequence[str]) -> str:
    """Write a list of words."""
    return json.dumps(list(words), ensure_ascii=False)


def words_from_json(text: str) -> tuple[str, ...]:
    """Read a list of words."""
    return tuple(json.loads(text))
