"""Which words of a text speak for or against it."""

from __future__ import annotations

import re

from bayesift._typing import FloatArray
from bayesift.review.engine.pile import Pile
from bayesift.review.engine.suggestion import Highlight
from bayesift.text.vectorizer import DEFAULT_PATTERN

_WORD = re.compile(DEFAULT_PATTERN)


def highlights(pile: Pile, document: int, weights: FloatArray) -> list[Highlight]:
    """Give the spans of the words whose column has a weight, with the part of the field that their column brings."""
    spans = [(match.start(), match.end(), match.group()) for match in _WORD.finditer(pile.texts[document])]
    words = sorted({word for _, _, word in spans})
    row = pile.matrix[[document]]
    value = dict(zip(row.indices.tolist(), (row.data * weights[row.indices]).tolist(), strict=True))
    # Each word is a document of its own: stop words and unknown ones are empty rows, others have one column.
    terms = pile.vectorizer.transform(words).tocoo()
    part = {words[place]: value.get(column, 0.0) for place, column in zip(terms.row, terms.col.tolist(), strict=True)}
    return [Highlight(begin, end, part[word]) for begin, end, word in spans if part.get(word)]
