"""Looking for documents, through all of them by score, and back at those that are decided."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from bayesift.review.ledger import Ledger
from bayesift.review.service import Service
from bayesift.review.storage import Decision
from bayesift.review.web.cards import Number, card_context, check_document, room_of
from bayesift.review.web.rendering import page
from bayesift.review.web.sessions import CurrentService, CurrentSession, Guarded
from bayesift.review.web.texts import ShortText

router = APIRouter()

_ON_A_PAGE = 25

Show = Literal["all", "unread", "decided", "relevant", "irrelevant", "unsure", "skip", "conflict"]
Order = Literal["score", "recent", "place"]


class Search(BaseModel):
    """What to list."""

    q: ShortText = ""
    show: Show = "all"
    order: Order = "score"
    page: int = Field(1, ge=1, le=10**6)


class Answer(BaseModel):
    """A decision made on the page of a document."""

    decision: Decision


def _places(
    ledger: Ledger, search: Search, found: list[int] | None, n_documents: int, reviewer: int | None
) -> list[int]:
    """Choose and order the documents of a list."""
    decided = ledger.in_order(reviewer)
    standings = {document: ledger.standing(document, reviewer) for document in decided}
    chosen = range(n_documents) if found is None else found
    if search.show == "unread":
        return [place for place in chosen if place not in standings]
    if search.show != "all":
        wanted = {place for place, held in standings.items() if search.show in ("decided", held)}
        return [place for place in chosen if place in wanted]
    return list(chosen)


@router.get("/topics/{topic}/browse", response_class=HTMLResponse)
def browse_page(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    topic: Number,
    search: Annotated[Search, Query()],
) -> HTMLResponse:
    """List documents."""
    room = room_of(service, topic)
    ledger = room.ledger()
    reviewer = None if room.topic.shared else session.reviewer.id
    words = search.q.split()
    found = service.project.documents.search(words) if words else None
    places = _places(ledger, search, found, service.n_documents, reviewer)
    probabilities = room.desk(session.reviewer.id).probabilities()
    if search.order == "score":
        places = [places[k] for k in np.argsort(-probabilities[places], kind="stable")] if places else []
    elif search.order == "recent":
        age = {place: -step for step, place in enumerate(ledger.in_order(reviewer), start=1)}
        places.sort(key=lambda place: age.get(place, 0))
    pages = max(1, -(-len(places) // _ON_A_PAGE))
    here = min(search.page, pages)
    some = places[(here - 1) * _ON_A_PAGE : here * _ON_A_PAGE]
    titles = service.project.documents.titles(some)
    rows = [
        {
            "document": titles[place],
            "probability": float(probabilities[place]),
            "standing": ledger.standing(place, reviewer),
        }
        for place in some
    ]
    return page(
        request,
        "browse.html",
        session,
        topic=room.topic,
        search=search.model_copy(update={"page": here}),
        rows=rows,
        n_found=len(places),
        pages=pages,
    )


@router.get("/topics/{topic}/documents/{document}", response_class=HTMLResponse)
def document_page(
    request: Request, service: CurrentService, session: CurrentSession, topic: Number, document: Number
) -> HTMLResponse:
    """Show a document with everything that was ever decided about it."""
    room = room_of(service, topic)
    check_document(service, document)
    ledger = room.ledger()
    context = card_context(service, room, session.reviewer.id, room.desk(session.reviewer.id).look(document))
    return page(request, "document.html", session, topic=room.topic, **context, **_past(service, ledger, document))


def _past(service: Service, ledger: Ledger, document: int) -> dict[str, Any]:
    names = {reviewer.id: reviewer.name for reviewer in service.project.reviewers.all()}
    return {
        "history": ledger.history(document),
        "names": names,
        "standing": ledger.standing(document),
        "held": {names[reviewer]: event.decision for reviewer, event in ledger.held(document).items()},
    }


@router.post("/topics/{topic}/documents/{document}", dependencies=[Guarded], response_class=HTMLResponse)
def decide(
    service: CurrentService,
    session: CurrentSession,
    topic: Number,
    document: Number,
    answer: Annotated[Answer, Form()],
) -> RedirectResponse:
    """Decide about a document, or decide anew."""
    room = room_of(service, topic)
    check_document(service, document)
    room.label(session.reviewer.id, document, answer.decision)
    return RedirectResponse(f"/topics/{topic}/documents/{document}", 303)
