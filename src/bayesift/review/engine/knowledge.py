"""What a person says about a topic before any document has been judged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bayesift._typing import FloatArray
from bayesift.priors import Gaussian, from_description, from_keywords
from bayesift.review.engine.pile import Pile
from bayesift.review.engine.titles import with_title_words

#: Length of the prior modes of a description's words: a text that says the same has this field before any judgement.
DESCRIPTION_LENGTH = 3.0

#: Prior mode of a keyword's words.
KEYWORD_MODE = 2.0


class Knowledge(NamedTuple):
    """What a person says about a topic: a description, and words that speak for and against it.

    Examples
    --------
    >>> from bayesift.review.engine import Knowledge
    >>> Knowledge("Trade in wheat", keywords_for=("harvest",)).empty
    False
    """

    description: str = ""
    keywords_for: tuple[str, ...] = ()
    keywords_against: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether nothing was said."""
        return not (self.description.strip() or self.keywords_for or self.keywords_against)


def prior_modes(knowledge: Knowledge, pile: Pile) -> FloatArray:
    """Return the weight that each column of the pile is expected to have; keywords overrule the description."""
    modes = np.zeros(pile.n_terms)
    if not pile.n_terms or knowledge.empty:
        return modes
    keywords = {
        with_title_words(keyword): sign * KEYWORD_MODE
        for sign, given in ((1, knowledge.keywords_for), (-1, knowledge.keywords_against))
        for keyword in given
    }
    row = pile.vectorizer.transform([with_title_words(knowledge.description)])
    described = from_description(
        with_title_words(knowledge.description), pile.vectorizer, mode=DESCRIPTION_LENGTH * row.data.max(initial=0.0),
        relative=1.0, weighted=True, variance=1.0, family=Gaussian, unknown="ignore",
    )  # fmt: skip
    named = from_keywords(keywords, pile.vectorizer, variance=1.0, family=Gaussian, unknown="ignore")
    names = pile.vectorizer.get_feature_names_out()
    modes = described.resolve(pile.n_terms, names).mode
    keyword_modes = named.resolve(pile.n_terms, names).mode
    return np.where(keyword_modes != 0.0, keyword_modes, modes)
