"""The texts of the page in its languages."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest

from bayesift.review.engine import Phrase
from bayesift.review.engine.statements import ASSUMES
from bayesift.review.engine.stopping import SENTENCES
from bayesift.review.web.cards import _TEXTS, REASONS
from bayesift.review.web.language import LANGUAGE, LANGUAGES, in_language
from bayesift.review.web.progress import UNITS

WEB = files("bayesift.review.web")
IN_MODULES = re.compile(r'\b(?:said|translated)\(\s*"((?:[^"\\]|\\.)*)"')
IN_TEMPLATES = re.compile(r'_\("((?:[^"\\]|\\.)*)"\)')

#: Words that reach a template by their names.
NAMED = {"relevant", "irrelevant", "unsure", "skip", "conflict", "nothing"}


def templates():
    return {file.name: file.read_text(encoding="utf-8") for file in WEB.joinpath("templates").iterdir()}


@pytest.mark.parametrize("code", sorted(set(LANGUAGES) - {"en"}))
def test_every_text_of_the_page_is_translated_and_nothing_else(code):
    said = {text.replace('\\"', '"') for content in templates().values() for text in IN_TEMPLATES.findall(content)}
    modules = [file.read_text(encoding="utf-8") for file in WEB.iterdir() if file.name.endswith(".py")]
    said |= {text for content in modules for text in IN_MODULES.findall(content)}
    said |= {*_TEXTS.values(), *REASONS.values(), *NAMED, *ASSUMES.values(), *SENTENCES.values(), *UNITS}
    catalogue = json.loads(WEB.joinpath("translations", f"{code}.json").read_text(encoding="utf-8"))
    assert said - set(catalogue) == set()
    assert set(catalogue) - said == set()
    assert all(text.strip() for text in catalogue.values())
    # A translation says the same things: every value has its place.
    fields = re.compile(r"\{\w+\}")
    assert [
        text for text, other in catalogue.items() if sorted(fields.findall(text)) != sorted(fields.findall(other))
    ] == []


def test_templates_hold_no_text_that_is_not_marked():
    """What stands between elements is marked for translation, but for keys, values and the protocol's file."""
    for name, content in templates().items():
        if "protocol" in name:
            continue
        plain = re.sub(
            r"<(kbd|title)\b.*?</\1>|\{#.*?#\}|\{\{.*?\}\}|\{%.*?%\}|<!doctype html>|<[^>]*>", "\0", content, flags=re.S
        )
        left = [text.strip() for text in plain.split("\0") if re.search("[A-Za-z]{3}", text)]
        assert left == [], name


def test_the_language_and_the_colours_are_chosen_and_kept(anna, stranger):
    assert '<html lang="en">' in anna.get("/").text
    assert "<h1>Themen</h1>" in anna.get("/", headers={"Accept-Language": "de-AT,en;q=0.5"}).text
    page = anna.form_post("/appearance", language="de", theme="dark").text
    assert '<html lang="de" data-theme="dark">' in page
    assert "<h1>Themen</h1>" in page
    card = anna.get("/topics/1").text
    assert "Als relevant gespeichert." in card
    assert "Am wahrscheinlichsten unter den ungelesenen" in anna.get("/api/topics/1/card").json()["html"]
    assert anna.form_post("/appearance", language="de", back="/topics/1/report").url.path == "/topics/1/report"
    for wrong in ({"language": "xx"}, {"back": "//elsewhere.org"}, {"back": "/a:b"}, {"back": "https://elsewhere.org"}):
        assert anna.form_post("/appearance", **wrong).status_code == 422, wrong
    anna.cookies.set("bayesift-language", "../../etc")
    anna.cookies.set("bayesift-theme", '"><script>')
    assert '<html lang="en">' in anna.get("/").text
    assert "Anmelden" in stranger.get("/login", headers={"Accept-Language": "de"}).text


def test_the_engine_is_heard_in_the_language_of_the_page(anna, service):
    anna.label("relevant")
    german = {"Accept-Language": "de"}
    told = anna.get("/api/topics/1/stopping", headers=german).json()["sentence"]
    assert re.match(r"Lesen Sie weiter: 1 relevante gefunden|Noch nicht genug Belege: ", told), told
    page = anna.get("/topics/1/progress", headers=german).text
    assert told in page
    assert "nach Erwartung des Modells" in page
    assert "seit der ersten Entscheidung" in page
    for document in range(service.n_documents):
        anna.label("irrelevant", document)
    assert "Alle Dokumente sind beurteilt" in anna.get("/api/topics/1/stopping", headers=german).json()["sentence"]


def test_a_phrase_within_a_phrase_is_translated_too():
    told = Phrase(
        "{n} documents decided in {time} {unit}.",
        n=3,
        time="2",
        unit=Phrase("{unit} since the first decision", unit="days"),
    )
    assert told == "3 documents decided in 2 days since the first decision."
    before = LANGUAGE.set("de")
    try:
        assert in_language(told) == "3 Dokumente entschieden; Dauer: 2 Tage seit der ersten Entscheidung."
        assert (in_language("days"), in_language("no text of the page"), in_language(7)) == (
            "Tage",
            "no text of the page",
            7,
        )
    finally:
        LANGUAGE.reset(before)
