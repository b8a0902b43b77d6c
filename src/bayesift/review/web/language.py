"""Language and colours of the page: templates are in English, translation files hold the other languages."""

from __future__ import annotations

import json
from contextvars import ContextVar
from importlib.resources import files

from fastapi import Request

from bayesift.review.engine import Phrase

#: The languages of the page; English is what the templates say, the others are files of translations.
LANGUAGES = {"en": "English", "de": "Deutsch"}

_CATALOGUES: dict[str, dict[str, str]] = {
    code: json.loads(files("bayesift.review.web").joinpath("translations", f"{code}.json").read_text(encoding="utf-8"))
    for code in LANGUAGES
    if code != "en"
}

#: Language and colours of the request that is being answered.
LANGUAGE: ContextVar[str] = ContextVar("language", default="en")
THEME: ContextVar[str] = ContextVar("theme", default="")


def translated(text: str) -> str:
    """Return a text of the page in the language of the request, or in English if it is not translated."""
    return _CATALOGUES.get(LANGUAGE.get(), {}).get(text, text)


def said(template: str, **values: object) -> str:
    """Return a sentence in the language of the request, made from a template and values, which may be phrases."""
    return translated(template).format(**{name: in_language(value) for name, value in values.items()})


def in_language(value: object) -> object:
    """Translate a phrase or a text of the catalogue to the language of the request; return all else as it is."""
    if isinstance(value, Phrase):
        return said(value.template, **value.values)
    return translated(value) if isinstance(value, str) else value


def dress(request: Request) -> None:
    """Take language and appearance from the cookies of a request, or the language from the browser's preference."""
    preferred = request.headers.get("accept-language", "en")[:2].lower()
    chosen = request.cookies.get("bayesift-language", preferred)
    LANGUAGE.set(chosen if chosen in LANGUAGES else "en")
    theme = request.cookies.get("bayesift-theme", "")
    THEME.set(theme if theme in ("light", "dark") else "")
