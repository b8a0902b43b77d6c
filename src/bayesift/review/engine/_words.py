"""Which words of a text speak for or against it."""

from __future__ import annotations

from bayesift._typing import FloatArray
from bayesift.review.engine.pile import Pile
from bayesift.review.engine.suggestion import Highlight
from bayesift.review.engine.titles import MARK, WORD, title_end


def highlights(pile: Pile, document: int, weights: FloatArray) -> list[Highlight]:
    """Return the spans of the words that have a weight, with the part of the field that their columns bring."""
    text = pile.texts[document]
    end_of_title = title_end(text)
    spans = [(match.start(), match.end(), match.group()) for match in WORD.finditer(text)]
    words = sorted({form for _, _, word in spans for form in (word, MARK + word)})
    row = pile.matrix[[document]]
    value = dict(zip(row.indices.tolist(), (row.data * weights[row.indices]).tolist(), strict=True))
    # Each word is a document of its own: an unknown one is an empty row, others have one column.
    terms = pile.vectorizer.transform(words).tocoo()
    part = {words[place]: value.get(column, 0.0) for place, column in zip(terms.row, terms.col.tolist(), strict=True)}
    found = []
    for begin, end, word in spans:
        weight = part.get(word, 0.0) + (part.get(MARK + word, 0.0) if end <= end_of_title else 0.0)
        if weight:
            found.append(Highlight(begin, end, weight))
    return found
