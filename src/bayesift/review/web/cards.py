"""The card: one document, what the model thinks of it and why it is shown; and what the keys do."""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from bayesift.review.engine import Suggestion
from bayesift.review.service import Service, TopicReview
from bayesift.review.storage import Decision, reading_text
from bayesift.review.web.access import CurrentService, CurrentSession, CurrentTopic, document_of, guarded_router
from bayesift.review.web.rendering import fragment, heaviest_words, page, pieces

router = guarded_router()

REASONS = {
    "probable": "Most probable among the unread",
    "informative": "Your answer would teach the model the most",
    "random": "Drawn at random, to keep the estimates honest",
    "chosen": "You looked it up",
    "known": "Named as relevant when the topic was made",
    "import": "Decided in an imported file",
}


#: What is shown of whatever else the source says; a file may well hold somebody's decisions too.
DETAILS = ("author", "authors", "year", "journal", "source", "date", "doi", "keywords", "url", "language")


class Labelling(BaseModel):
    """A decision about a document."""

    document: int = Field(ge=0, le=2**31 - 1)
    decision: Decision


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
    """Whether to go on; how many cards drawn at random could show that one may stop; whether they are drawn now."""

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
    text = reading_text(document.title, document.text)
    highlights = review.queue(reviewer).highlights(seen.document)
    body = len(text) - len(document.text)
    title_pieces = pieces(text, highlights, 0, len(document.title))
    body_pieces = pieces(text, highlights, body)
    return {
        "document": document,
        "seen": seen,
        "reason": REASONS[seen.why],
        "title_pieces": title_pieces,
        "body_pieces": body_pieces,
        "words": heaviest_words([*title_pieces, *body_pieces]),
        "details": {name: value for name, value in document.extra.items() if name.lower() in DETAILS and value},
    }


def _answer(service: Service, review: TopicReview, reviewer: int) -> dict[str, Any]:
    seen = review.card(reviewer)
    if seen is None:
        html = fragment("_finished.html", topic=review.topic)
    else:
        html = fragment("_card.html", **card_context(service, review, reviewer, seen))
    decided, relevant = review.counts(reviewer)
    return {
        "document": None if seen is None else seen.document,
        "html": html,
        "counts": Counts(decided=decided, relevant=relevant, documents=service.n_documents),
    }


@router.get("/topics/{topic}", response_class=HTMLResponse)
def card_page(request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic) -> HTMLResponse:
    """Show the page on which documents are read and decided."""
    answer = _answer(service, review, session.reviewer.id)
    return page(request, "card.html", session, topic=review.topic, **answer)


@router.get("/api/topics/{topic}/card")
def card(service: CurrentService, session: CurrentSession, review: CurrentTopic) -> CardAnswer:
    """Return the card of the reviewer: the same one until it is decided."""
    return CardAnswer(**_answer(service, review, session.reviewer.id))


@router.post("/api/topics/{topic}/labels")
def label(service: CurrentService, session: CurrentSession, review: CurrentTopic, labelling: Labelling) -> LabelAnswer:
    """Save a decision; the answer comes when it is on the disk."""
    document = document_of(service, labelling.document)
    event = review.label(session.reviewer.id, document, labelling.decision)
    return LabelAnswer(event=event.id, **_answer(service, review, session.reviewer.id))


@router.post("/api/topics/{topic}/undo")
def undo(service: CurrentService, session: CurrentSession, review: CurrentTopic) -> UndoAnswer:
    """Take back the last decision of the reviewer that holds."""
    undone = review.undo(session.reviewer.id)
    return UndoAnswer(undone=undone and undone.decision, **_answer(service, review, session.reviewer.id))


@router.get("/api/topics/{topic}/stopping")
def stopping(session: CurrentSession, review: CurrentTopic) -> StoppingAnswer:
    """Say in a sentence whether to go on."""
    queue = review.queue(session.queue)
    found = queue.advice(review.topic.target_recall, review.topic.confidence)
    return StoppingAnswer(verdict=found.verdict, sentence=found.sentence, check=found.check, checking=queue.checking)


@router.post("/api/topics/{topic}/check")
def check(session: CurrentSession, review: CurrentTopic, wanted: Check) -> StoppingAnswer:
    """Draw all cards at random until a relevant one turns up, or go back to the usual mix."""
    review.queue(session.reviewer.id).check(wanted.on)
    return stopping(session, review)
