"""The one error of this room."""

from __future__ import annotations


class FormatError(ValueError):
    """A file does not say what a file of its kind must say.

    Parameters
    ----------
    name : str
        The file.
    line : int
        Where, counted from 1.
    found : str
        What stands there.
    expected : str
        What should.

    Examples
    --------
    >>> from bayesift.formats.bbr import FormatError
    >>> print(FormatError("wheat.model", 3, "'beta'", "a number"))
    wheat.model, line 3: found 'beta', expected a number
    """

    def __init__(self, name: str, line: int, found: str, expected: str) -> None:
        super().__init__(f"{name}, line {line}: found {found}, expected {expected}")
        self.name = name
        self.line = line
        self.found = found
        self.expected = expected

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, int, str, str]]:
        return type(self), (self.name, self.line, self.found, self.expected)


def quoted(word: str) -> str:
    """Show a word in a message, shortened, with nothing in it that a terminal would act on."""
    return repr(word if len(word) <= 40 else word[:37] + "...")
