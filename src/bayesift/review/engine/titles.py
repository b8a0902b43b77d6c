"""Titles count for themselves: their words are also words of a second kind."""

from __future__ import annotations

import re

from bayesift.text.vectorizer import DEFAULT_PATTERN

WORD = re.compile(DEFAULT_PATTERN)

#: What a word of a title begins with when it is counted as such.
MARK = "title_"

#: A first line of more characters is no title.
_LONGEST_TITLE = 300


def title_end(text: str) -> int:
    """Return where the title of a text ends: its first line, unless that is too long for one."""
    end = text.find("\n")
    end = len(text) if end < 0 else end
    return end if end <= _LONGEST_TITLE else 0


def with_title_words(text: str) -> str:
    r"""Return a text as a review's models read it: the words of its title follow once more, marked.

    Parameters
    ----------
    text : str
        The first line is the title, unless it has more than 300 characters.

    Returns
    -------
    str

    Examples
    --------
    >>> from bayesift.review.engine import with_title_words
    >>> with_title_words("Gold mine\nIt opens today.").splitlines()
    ['Gold mine', 'It opens today.', 'title_Gold title_mine']
    """
    words = [MARK + word for word in WORD.findall(text[: title_end(text)])]
    return f"{text}\n{' '.join(words)}" if words else text
