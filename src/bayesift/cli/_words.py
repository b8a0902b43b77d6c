"""Options that say how texts are turned into numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

#: The heading of these options in help texts.
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
    """How to cut text in languages that are written without spaces."""

    pairs = "pairs"
    whole = "whole"


#: Lengths of the shortest and, by default, the longest sequence of characters.
_CHARACTERS = (2, 5)


@dataclass(frozen=True)
class Words:
    """How texts are turned into numbers, and which words are kept."""

    language: Annotated[
        str | None,
        typer.Option(
            metavar="english|german|…",
            help="Use the stop words and the stemmer of this language.",
            rich_help_panel=WORDS,
        ),
    ] = None
    stop_words: Annotated[
        str | None,
        typer.Option(metavar="english|german|…|smart", help="Leave out these stop words.", rich_help_panel=WORDS),
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
            help="Terms are words, sequences of characters, or sequences of characters within words.",
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
        int | None,
        typer.Option(min=1, help="Leave out words that occur in fewer texts than this.", rich_help_panel=WORDS),
    ] = None
    select: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Keep the N best words only.", rich_help_panel=WORDS)
    ] = None
    select_by: Annotated[Score, typer.Option(help="Score by which words are selected.", rich_help_panel=WORDS)] = (
        Score.likelihood_ratio
    )

    def vectorizer_options(self) -> dict[str, Any]:
        """Return the settings of the vectorizer that differ from those suited to the model."""
        given = {name: getattr(self, name) for name in ("stop_words", "stemmer", "weighting", "min_df")}
        if self.language is not None:
            rules = self._language_rules()
            given |= {name: getattr(self, name) or getattr(rules, name) for name in ("stop_words", "stemmer")}
        if self.analyzer is not TermKind.word:
            for option in ("language", "stop_words", "stemmer"):
                if getattr(self, option) is not None:
                    name = f"--{option.replace('_', '-')}"
                    raise typer.BadParameter(
                        f"{name} needs words as terms, not sequences of characters", param_hint=name
                    )
            given["analyzer"] = self.analyzer.value
            longest = self.ngrams or _CHARACTERS[1]
            given["ngram_range"] = min(_CHARACTERS[0], longest), longest
        elif self.ngrams not in (None, 1):
            given["ngram_range"] = 1, self.ngrams
        if self.unspaced is not Unspaced.pairs:
            given["unspaced"] = self.unspaced.value
        return {name: value for name, value in given.items() if value is not None}

    def notes(self) -> list[str]:
        """Say which of the options could not be followed."""
        if self.language is None or self.stop_words is not None or self._language_rules().stop_words is not None:
            return []
        return [f"--language {self.language}: there is no stop word list for this language; only its stemmer is used"]

    def _language_rules(self) -> Any:
        from bayesift.text import language_rules

        try:
            return language_rules(self.language or "")
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--language") from None
