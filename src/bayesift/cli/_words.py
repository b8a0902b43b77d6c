"""Options that say how texts become numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

#: The heading of these options in a help.
WORDS = "Words"


class Score(StrEnum):
    """Scores of terms against a category."""

    binormal_separation = "binormal_separation"
    chi_square = "chi_square"
    likelihood_ratio = "likelihood_ratio"
    mutual_information = "mutual_information"
    pearson = "pearson"
    yules_q = "yules_q"


class TermKind(StrEnum):
    """What terms are."""

    word = "word"
    char = "char"
    char_wb = "char_wb"


class Unspaced(StrEnum):
    """What becomes of words of languages that are written without spaces."""

    pairs = "pairs"
    whole = "whole"


#: Shortest and, unless asked for, longest sequence of characters.
_CHARACTERS = (2, 5)


@dataclass(frozen=True)
class Words:
    """How texts become numbers, and which words are kept."""

    language: Annotated[
        str | None,
        typer.Option(
            metavar="english|german|…", help="Stop words and stemmer of this language.", rich_help_panel=WORDS
        ),
    ] = None
    stop_words: Annotated[
        str | None,
        typer.Option(metavar="english|german|…|smart", help="Leave these words out.", rich_help_panel=WORDS),
    ] = None
    stemmer: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Reduce words to stems: porter, english, german, …", rich_help_panel=WORDS),
    ] = None
    weighting: Annotated[
        str | None,
        typer.Option(metavar="TRIPLE", help="SMART weights such as lsc or nnn.", rich_help_panel=WORDS),
    ] = None
    analyzer: Annotated[
        TermKind,
        typer.Option(
            help="Terms are words, sequences of characters, or such sequences within words.",
            rich_help_panel=WORDS,
        ),
    ] = TermKind.word
    unspaced: Annotated[
        Unspaced,
        typer.Option(
            help="Cut texts of languages without spaces into pairs of characters, or not at all.",
            rich_help_panel=WORDS,
        ),
    ] = Unspaced.pairs
    ngrams: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=10,
            help="Longest sequence of words that forms a term (default: 1; 5 for characters).",
            rich_help_panel=WORDS,
        ),
    ] = None
    min_df: Annotated[
        int | None, typer.Option(min=1, help="Leave out words that occur in fewer texts.", rich_help_panel=WORDS)
    ] = None
    select: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep the N best words only.", rich_help_panel=WORDS)
    ] = None
    select_by: Annotated[Score, typer.Option(help="Score by which words are selected.", rich_help_panel=WORDS)] = (
        Score.likelihood_ratio
    )

    def vectorizer_options(self) -> dict[str, Any]:
        """Return what is asked of the vectorizer beyond what suits the model."""
        given = {name: getattr(self, name) for name in ("stop_words", "stemmer", "weighting", "min_df")}
        if self.language is not None:
            rules = self._language_rules()
            given |= {name: getattr(self, name) or getattr(rules, name) for name in ("stop_words", "stemmer")}
        if self.analyzer is not TermKind.word:
            for option in ("language", "stop_words", "stemmer"):
                if getattr(self, option) is not None:
                    name = f"--{option.replace('_', '-')}"
                    raise typer.BadParameter(f"{name} is for words, not for sequences of characters", param_hint=name)
            given["analyzer"] = self.analyzer.value
            longest = self.ngrams or _CHARACTERS[1]
            given["ngram_range"] = min(_CHARACTERS[0], longest), longest
        elif self.ngrams not in (None, 1):
            given["ngram_range"] = 1, self.ngrams
        if self.unspaced is not Unspaced.pairs:
            given["unspaced"] = self.unspaced.value
        return {name: value for name, value in given.items() if value is not None}

    def notes(self) -> list[str]:
        """Say what of the options could not be done."""
        if self.language is None or self.stop_words is not None or self._language_rules().stop_words is not None:
            return []
        return [f"--language {self.language}: there are no stop words for this language, only its stemmer is used"]

    def _language_rules(self) -> Any:
        from bayesift.text import language_rules

        try:
            return language_rules(self.language or "")
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--language") from None
