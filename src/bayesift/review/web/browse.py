"""Looking for documents, through all of them by score, and back at those that are decided."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from fastapi import Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from bayesift.review.decisions import Decisions
from bayesift.review.storage import Decision
from bayesift.review.web.access import (
    CurrentDocument,
    CurrentService,
    CurrentTopic,
    ShortText,
)
from bayesift.review.web.cards import card_context
from bayesift.review.web.rendering import page
from bayesift.review.web.roles import CurrentSession, guarded_router

router = guarded_router()

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


def _places(search: Search, found: list[int], decisions: Decisions, reviewer: int | None) -> list[int]:
    """Choose the documents of a list among those found."""
    if search.show == "all":
        return found
    status = {document: decisions.status(document, reviewer) for document in decisions.decided(reviewer)}
    if search.show == "unread":
        return [place for place in found if place not in status]
    wanted = {place for place, held in status.items() if search.show in ("decided", held)}
    return [place for place in found if place in wanted]


@router.get("/topics/{topic}/browse", response_class=HTMLResponse)
def browse_page(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    review: CurrentTopic,
    search: Annotated[Search, Query()],
) -> HTMLResponse:
    """List documents."""
    decisions = review.decisions()
    reviewer = None if review.topic.shared else session.queue
    words = search.q.split()
    found = service.project.documents.search(words) if words else list(range(service.n_documents))
    places = _places(search, found, decisions, reviewer)
    probabilities = review.queue(session.queue).probabilities()
    if search.order == "score":
        places = [places[k] for k in np.argsort(-probabilities[places], kind="stable")] if places else []
    elif search.order == "recent":
        age = {place: -step for step, place in enumerate(decisions.decided(reviewer), start=1)}
        places.sort(key=lambda place: age.get(place, 0))
    pages = max(1, -(-len(places) // _ON_A_PAGE))
    here = min(search.page, pages)
    some = places[(here - 1) * _ON_A_PAGE : here * _ON_A_PAGE]
    titles = service.project.documents.titles(some)
    rows = [
        {
            "document": titles[place],
            "probability": float(probabilities[place]),
            "status": decisions.status(place, reviewer),
        }
        for place in some
    ]
    return page(
        request,
        "browse.html",
        session,
        topic=review.topic,
        search=search.model_copy(update={"page": here}),
        rows=rows,
        n_found=len(places),
        pages=pages,
    )


@router.get("/topics/{topic}/documents/{document}", response_class=HTMLResponse)
def document_page(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    review: CurrentTopic,
    document: CurrentDocument,
) -> HTMLResponse:
    """Show a document with everything that was ever decided about it."""
    decisions = review.decisions()
    names = service.project.reviewers.names()
    held = {names[reviewer]: event.decision for reviewer, event in decisions.by_reviewer(document).items()}
    return page(
        request,
        "document.html",
        session,
        topic=review.topic,
        history=decisions.history(document),
        names=names,
        in_conflict=decisions.status(document) == "conflict",
        held=held,
        **card_context(service, review, session.queue, review.suggestion(session.queue, document)),
    )


@router.post("/topics/{topic}/documents/{document}", response_class=HTMLResponse)
def decide(
    session: CurrentSession, review: CurrentTopic, document: CurrentDocument, answer: Annotated[Answer, Form()]
) -> RedirectResponse:
    """Decide about a document, or change the decision."""
    review.label(session.reviewer.id, document, answer.decision)
    return RedirectResponse(f"/topics/{review.topic.id}/documents/{document}", 303)
