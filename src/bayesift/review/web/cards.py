"""The card: one document, what the model thinks of it and why it is shown; and what the keys do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from bayesift.review.engine import Suggestion
from bayesift.review.service import Service
from bayesift.review.storage import Decision, Remark, Stage, doi_of, reading_text, values_of
from bayesift.review.topic_review import TopicReview
from bayesift.review.web.access import (
    CurrentService,
    CurrentSession,
    CurrentTopic,
    LongText,
    Session,
    ShortText,
    document_of,
    guarded_router,
)
from bayesift.review.web.language import in_language, translated
from bayesift.review.web.rendering import fragment, heaviest_words, page, pieces
from bayesift.review.web.slow import slow

router = guarded_router()

REASONS = {
    "probable": "Most probable among the unread",
    "informative": "Your answer would teach the model the most",
    "random": "Drawn at random, to keep the estimates honest",
    "chosen": "You looked it up",
    "known": "Named as relevant when the topic was made",
    "import": "Decided in an imported file",
    "full text": "Relevant by title and abstract: read its full text",
}


#: Which other fields of the source are shown; a file may also contain somebody's decisions.
DETAILS = ("author", "authors", "year", "journal", "source", "date", "doi", "keywords", "url", "language")


_PUBMED = re.compile(r"\d{1,9}")
_SEPARATED = re.compile(r"[\s;|]+")

#: What the source may call each kind of link, in small letters.
_PUBMED_IDS = ("pmid", "pubmed_id", "pubmed id", "pubmed", "an", "accession number")
_ADDRESSES = ("url", "urls", "ur", "link", "links", "openalex_id", "id_url")
_PDFS = ("pdf", "pdf_url", "l1", "pdf url", "file", "full text", "l2")


class Link(NamedTuple):
    """A link and what it leads to: "DOI", "PubMed", "PDF" or the name of a site."""

    name: str
    address: str


#: What the script of the page says.
_TEXTS = {
    "relevant": "Saved as relevant.",
    "irrelevant": "Saved as irrelevant.",
    "unsure": "Saved as unsure.",
    "skip": "Skipped.",
    "nothing": "There is nothing to undo.",
    "undone": "Undone:",
    "failed": "Nothing was changed; try again.",
    "checking": "All cards are drawn at random now.",
    "usual": "Back to the usual cards",
    "draw": "Draw them now",
}


class Labelling(BaseModel):
    """A decision about a document; an exclusion may name one of the topic's reasons."""

    document: int = Field(ge=0, le=2**31 - 1)
    decision: Decision
    reason: ShortText | None = None
    stage: Stage = "abstract"


class Undoing(BaseModel):
    """The stage whose last decision is taken back."""

    stage: Stage = "abstract"


class Noting(BaseModel):
    """A note or tags on a document; anything not given stays as it is."""

    document: int = Field(ge=0, le=2**31 - 1)
    note: LongText | None = None
    tags: list[ShortText] | None = Field(None, max_length=100)


class Noted(BaseModel):
    """The note and the tags that hold."""

    note: str
    tags: tuple[str, ...]


class Counts(BaseModel):
    """How much of a queue is decided."""

    decided: int
    relevant: int
    documents: int


class CardAnswer(BaseModel):
    """The next card as a part of the page."""

    document: int | None
    html: str
    counts: Counts


class LabelAnswer(CardAnswer):
    """The number under which a decision was saved, and the next card."""

    event: int


class UndoAnswer(CardAnswer):
    """What was taken back (None if there was nothing), and its card."""

    undone: str | None


class StoppingAnswer(BaseModel):
    """Whether to continue; how many random cards could show that one may stop; whether they are drawn now."""

    verdict: str
    sentence: str
    check: int | None
    checking: bool


class Check(BaseModel):
    """Whether to draw all cards at random."""

    on: bool


def card_context(service: Service, review: TopicReview, reviewer: int | None, seen: Suggestion) -> dict[str, Any]:
    """Gather what the template of a card needs."""
    document = service.project.documents.get(seen.document)
    if document is None:
        raise HTTPException(404, "There is no such document.")
    remarks = service.project.remarks.of(review.topic.id, seen.document)
    if not review.may_see(reviewer, seen.document):
        remarks = {who: remark for who, remark in remarks.items() if who == reviewer}
    names = service.project.reviewers.names() if remarks else {}
    text = reading_text(document.title, document.text)
    group = [place for place in service.group(seen.document) if place != seen.document]
    # A text that was edited since the project was opened is not the one that the model has read.
    as_read = service.corpus.texts[seen.document] == text
    highlights = review.queue(reviewer).highlights(seen.document) if as_read else []
    body = len(text) - len(document.text)
    title_pieces = pieces(text, highlights, 0, len(document.title))
    body_pieces = pieces(text, highlights, body)
    return {
        "document": document,
        "topic": review.topic,
        "may_note": reviewer is not None,
        "remark": remarks.get(-1 if reviewer is None else reviewer, Remark()),
        "remarks": {names[who]: remark for who, remark in remarks.items() if who != reviewer},
        "copies": list(service.project.documents.titles(group).values()) if group else [],
        "links": links_of(document.extra),
        "seen": seen,
        "reason": REASONS[seen.why],
        "title_pieces": title_pieces,
        "body_pieces": body_pieces,
        "words": heaviest_words([*title_pieces, *body_pieces]),
        "details": {name: value for name, value in document.extra.items() if name.lower() in DETAILS and value},
    }


def links_of(extra: Mapping[str, Any]) -> list[Link]:
    """Find the links in the other fields of a document; each once, at most six.

    Only web addresses become links, so that no text of a source can make the page do anything.

    Examples
    --------
    >>> from bayesift.review.web.cards import links_of
    >>> links_of({"DOI": "https://doi.org/10.1/x<y>", "url": "javascript:alert(1)"})
    []
    >>> links_of({"doi": "doi:10.1000/182", "PMID": 1234, "url": "https://example.org/a?b=c"})[0].address
    'https://doi.org/10.1000/182'
    """
    return list({link.address: link for link in _links(extra)}.values())[:6]


def _links(extra: Mapping[str, Any]) -> Iterator[Link]:
    doi = doi_of(extra)
    if doi is not None:
        yield Link("DOI", f"https://doi.org/{quote(doi, safe='/()')}")
    for value in values_of(extra, _PUBMED_IDS):
        if _PUBMED.fullmatch(value):
            yield Link("PubMed", f"https://pubmed.ncbi.nlm.nih.gov/{value}/")
    for names, kind in ((_PDFS, "PDF"), (_ADDRESSES, "")):
        for value in values_of(extra, names):
            for address in _SEPARATED.split(value):
                parts = _web_address(address)
                if parts is not None:
                    is_pdf = kind or ("PDF" if parts.path.lower().endswith(".pdf") else parts.hostname or "")
                    yield Link(is_pdf, address)


def _web_address(address: str) -> Any:
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018
    except ValueError:
        return None
    return parts if parts.scheme in ("http", "https") and parts.hostname and len(address) <= 2000 else None


def _answer(service: Service, review: TopicReview, reviewer: int, stage: Stage = "abstract") -> dict[str, Any]:
    if stage == "abstract":
        seen = review.card(reviewer)
        (decided, relevant), n = review.counts(reviewer), review.size(reviewer)
    else:
        seen = review.full_text_card(reviewer)
        decided, relevant, n = review.full_text_counts(reviewer)
    if seen is None:
        html = fragment("_finished.html", topic=review.topic)
    else:
        html = fragment("_card.html", **card_context(service, review, reviewer, seen))
    return {
        "document": None if seen is None else seen.document,
        "html": html,
        "counts": Counts(decided=decided, relevant=relevant, documents=n),
    }


@router.get("/topics/{topic}", response_class=HTMLResponse)
def card_page(request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic) -> HTMLResponse:
    """Show the page on which documents are read and decided."""
    return _card_page(request, service, session, review, "abstract")


@router.get("/topics/{topic}/full-text", response_class=HTMLResponse)
@slow
def full_text_page(
    request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic
) -> HTMLResponse:
    """Show the page on which full texts are judged."""
    return _card_page(request, service, session, review, "full text")


def _card_page(request: Request, service: Service, session: Session, review: TopicReview, stage: Stage) -> HTMLResponse:
    answer = _answer(service, review, session.reviewer.id, stage)
    texts = {name: translated(text) for name, text in _TEXTS.items()}
    reasons = review.reasons(stage)
    return page(request, "card.html", session, topic=review.topic, stage=stage, reasons=reasons, texts=texts, **answer)


@router.get("/api/topics/{topic}/card")
def card(
    service: CurrentService, session: CurrentSession, review: CurrentTopic, stage: Stage = "abstract"
) -> CardAnswer:
    """Return the card of the reviewer: the same one until it is decided."""
    return CardAnswer(**_answer(service, review, session.reviewer.id, stage))


@router.post("/api/topics/{topic}/labels")
def label(service: CurrentService, session: CurrentSession, review: CurrentTopic, labelling: Labelling) -> LabelAnswer:
    """Save a decision; the answer is sent when it is on disk."""
    document = document_of(service, labelling.document)
    try:
        event = review.label(session.reviewer.id, document, labelling.decision, labelling.reason, labelling.stage)
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    return LabelAnswer(event=event.id, **_answer(service, review, session.reviewer.id, labelling.stage))


@router.post("/api/topics/{topic}/undo")
def undo(service: CurrentService, session: CurrentSession, review: CurrentTopic, undoing: Undoing) -> UndoAnswer:
    """Take back the last decision of the reviewer that still holds."""
    undone = review.undo(session.reviewer.id, undoing.stage)
    return UndoAnswer(undone=undone and undone.decision, **_answer(service, review, session.reviewer.id, undoing.stage))


@router.post("/api/topics/{topic}/remarks")
def remark(service: CurrentService, session: CurrentSession, review: CurrentTopic, noting: Noting) -> Noted:
    """Save a note or tags; the answer is sent when they are on disk."""
    document, reviewer = document_of(service, noting.document), session.reviewer.id
    unknown = [tag for tag in noting.tags or () if tag not in review.topic.tags]
    if unknown:
        raise HTTPException(422, f"The topic has no tag {unknown[0]!r}.")
    tags = None if noting.tags is None else [tag for tag in review.topic.tags if tag in noting.tags]
    remarks = service.project.remarks
    remarks.add(review.topic.id, document, reviewer, note=noting.note and noting.note.strip(), tags=tags)
    held = remarks.of(review.topic.id, document).get(reviewer, Remark())
    return Noted(note=held.note, tags=held.tags)


@router.get("/api/topics/{topic}/stopping")
def stopping(session: CurrentSession, review: CurrentTopic) -> StoppingAnswer:
    """Say in a sentence whether to continue."""
    queue = review.queue(session.queue)
    found = queue.advice(review.topic)
    sentence = str(in_language(found.sentence))
    return StoppingAnswer(verdict=found.verdict, sentence=sentence, check=found.check, checking=queue.checking)


@router.post("/api/topics/{topic}/check")
def check(session: CurrentSession, review: CurrentTopic, wanted: Check) -> StoppingAnswer:
    """Draw all cards at random until a relevant one turns up, or go back to the usual mix."""
    review.queue(session.reviewer.id).check(wanted.on)
    return stopping(session, review)
