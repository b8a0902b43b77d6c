"""The card: one document, what the model thinks of it and why it is shown; and what the keys do."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, Field

from bayesift.review.engine import Suggestion
from bayesift.review.room import Room
from bayesift.review.service import Service
from bayesift.review.storage import Decision
from bayesift.review.storage.documents import reading_text
from bayesift.review.web.highlighting import heaviest_words, pieces
from bayesift.review.web.rendering import fragment, page
from bayesift.review.web.sessions import CurrentService, CurrentSession, Guarded

router = APIRouter()

#: The numbers that both kinds of database can hold.
Number = Annotated[int, Path(ge=0, le=2**31 - 1)]

REASONS = {
    "probable": "Most probable of those not read yet",
    "informative": "Its answer would teach the model most",
    "random": "Drawn at random, to keep the estimates honest",
    "chosen": "You looked it up",
    "known": "Given with the topic",
    "import": "Decided in an imported file",
}


#: What is shown of whatever else the source says; a file may well hold somebody's decisions too.
DETAILS = ("author", "authors", "year", "journal", "source", "date", "doi", "keywords", "url", "language")


class Labelling(BaseModel):
    """A decision about a document."""

    document: int = Field(ge=0, le=2**31 - 1)
    decision: Decision


class Counts(BaseModel):
    """How far the work at a desk is."""

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


def room_of(service: CurrentService, topic: Number) -> Room:
    """Return the room of the topic in the path."""
    try:
        return service.room(topic)
    except LookupError as error:
        raise HTTPException(404, "There is no such topic.") from error


def check_document(service: Service, document: int) -> None:
    """Refuse a place that the pile does not have."""
    if document >= service.n_documents:
        raise HTTPException(404, "There is no such document.")


def card_context(service: Service, room: Room, reviewer: int, seen: Suggestion) -> dict[str, Any]:
    """Gather what the template of a card needs."""
    document = service.project.documents.get(seen.document)
    if document is None:
        raise HTTPException(404, "There is no such document.")
    text = reading_text(document.title, document.text)
    highlights = room.desk(reviewer).highlights(seen.document)
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


def _answer(service: Service, room: Room, reviewer: int) -> dict[str, Any]:
    seen = room.card(reviewer)
    if seen is None:
        html = fragment("_finished.html", topic=room.topic)
    else:
        html = fragment("_card.html", **card_context(service, room, reviewer, seen))
    return {
        "document": None if seen is None else seen.document,
        "html": html,
        "counts": _counts(service, room, reviewer),
    }


def _counts(service: Service, room: Room, reviewer: int) -> Counts:
    decided, relevant = room.counts(reviewer)
    return Counts(decided=decided, relevant=relevant, documents=service.n_documents)


@router.get("/topics/{topic}", response_class=HTMLResponse)
def card_page(request: Request, service: CurrentService, session: CurrentSession, topic: Number) -> HTMLResponse:
    """Show the page on which documents are read and decided."""
    room = room_of(service, topic)
    answer = _answer(service, room, session.reviewer.id)
    return page(request, "card.html", session, topic=room.topic, **answer)


@router.get("/api/topics/{topic}/card")
def card(service: CurrentService, session: CurrentSession, topic: Number) -> CardAnswer:
    """Return the card of the reviewer: the same one until it is decided."""
    return CardAnswer(**_answer(service, room_of(service, topic), session.reviewer.id))


@router.post("/api/topics/{topic}/labels", dependencies=[Guarded])
def label(service: CurrentService, session: CurrentSession, topic: Number, labelling: Labelling) -> LabelAnswer:
    """Save a decision; the answer comes when it is on the disk."""
    room = room_of(service, topic)
    check_document(service, labelling.document)
    event = room.label(session.reviewer.id, labelling.document, labelling.decision)
    return LabelAnswer(event=event.id, **_answer(service, room, session.reviewer.id))


@router.post("/api/topics/{topic}/undo", dependencies=[Guarded])
def undo(service: CurrentService, session: CurrentSession, topic: Number) -> UndoAnswer:
    """Take back the last decision of the reviewer that holds."""
    room = room_of(service, topic)
    undone = room.undo(session.reviewer.id)
    return UndoAnswer(undone=undone and undone.decision, **_answer(service, room, session.reviewer.id))


@router.get("/api/topics/{topic}/stopping")
def stopping(service: CurrentService, session: CurrentSession, topic: Number) -> StoppingAnswer:
    """Say in a sentence whether to go on."""
    return _stopping(room_of(service, topic), session.reviewer.id)


@router.post("/api/topics/{topic}/check", dependencies=[Guarded])
def check(service: CurrentService, session: CurrentSession, topic: Number, wanted: Check) -> StoppingAnswer:
    """Draw all cards at random until a relevant one turns up, or go back to the usual mix."""
    room = room_of(service, topic)
    room.desk(session.reviewer.id).check(wanted.on)
    return _stopping(room, session.reviewer.id)


def _stopping(room: Room, reviewer: int) -> StoppingAnswer:
    desk = room.desk(reviewer)
    found = desk.stopping(room.topic.target_recall, room.topic.confidence)
    return StoppingAnswer(verdict=found.verdict, sentence=found.sentence, check=found.check, checking=desk.checking)
