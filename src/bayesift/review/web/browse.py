"""Search for documents, go through all of them by score, and look back at those that are decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from fastapi import Form, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from bayesift._typing import FloatArray, Int64Array
from bayesift.review.decisions import Decisions
from bayesift.review.storage import Decision, Found, SearchError, Stage
from bayesift.review.web.access import (
    CurrentDocument,
    CurrentService,
    CurrentSession,
    CurrentTopic,
    ShortText,
    guarded_router,
)
from bayesift.review.web.cards import card_context
from bayesift.review.web.rendering import page, thousands
from bayesift.review.web.slow import slow

router = guarded_router()

_ON_A_PAGE = 25

Show = Literal["all", "unread", "decided", "relevant", "irrelevant", "unsure", "skip", "conflict", "empty", "copies"]
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
    reason: ShortText = ""
    stage: Stage = "abstract"


def _places(search: Search, found: Int64Array, decisions: Decisions, reviewer: int | None) -> Int64Array:
    """Choose the documents of a list among those found."""
    if search.show in ("all", "empty"):
        return found
    if search.show == "copies":
        return found[np.isin(found, list(decisions.same))]
    status = {document: decisions.status(document, reviewer) for document in decisions.decided(reviewer)}
    wanted = [place for place, held in status.items() if search.show in ("unread", "decided", held)]
    if search.show == "unread":
        wanted.extend(decisions.same)
    return found[np.isin(found, wanted, invert=search.show == "unread")]


def _ordered(places: Int64Array, order: Order, probabilities: FloatArray, decided: Sequence[int]) -> Int64Array:
    """Put the documents of a list in order."""
    if order == "place":
        return places
    last = np.zeros(len(probabilities))
    last[np.array(decided, dtype=np.int64)] = np.arange(1, len(decided) + 1)
    by = probabilities if order == "score" else last
    return places[np.argsort(-by[places], kind="stable")]


@router.get("/topics/{topic}/browse", response_class=HTMLResponse)
@slow
def browse_page(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    review: CurrentTopic,
    search: Annotated[Search, Query()],
) -> HTMLResponse:
    """List documents."""
    decisions = review.decisions()
    reviewer = session.queue if review.topic.own_queues else None
    found, problem = Found(list(range(service.n_documents)), False), ""
    if search.q.strip():
        try:
            found = service.project.documents.search(search.q)
        except SearchError as error:
            found, problem = Found([], False), f"Nothing was found: {error}."
    if search.show == "empty":
        without = set(service.project.documents.without_text())
        found = found._replace(places=[place for place in found.places if place in without])
    chosen = _places(search, np.array(found.places, dtype=np.int64), decisions, reviewer)
    probabilities = review.queue(session.queue).probabilities()
    places = _ordered(chosen, search.order, probabilities, decisions.decided(reviewer)).tolist()
    if found.more:
        problem = f"Only the first {thousands(len(found.places))} documents with these words are listed; add a word."
    pages = max(1, -(-len(places) // _ON_A_PAGE))
    here = min(search.page, pages)
    some = places[(here - 1) * _ON_A_PAGE : here * _ON_A_PAGE]
    titles = service.project.documents.titles(some)
    rows = [
        {
            "document": titles[place],
            "probability": float(probabilities[place]),
            "status": decisions.status(place, reviewer),
            "is_copy": place in decisions.same,
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
        problem=problem,
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
    known = review.about(document)
    names = service.project.reviewers.names()
    held = {names[reviewer]: event.decision for reviewer, event in known.by_reviewer.items()}
    history = known.history
    if not review.may_see(session.queue, document):
        history = [event for event in history if event.reviewer == session.queue]
        known = known._replace(in_conflict=False)
    return page(
        request,
        "document.html",
        session,
        history=history,
        full_text=review.topic.full_text and review.decisions().status(document) == "relevant",
        all_reasons=review.reasons("full text" if review.topic.full_text else "abstract"),
        names=names,
        in_conflict=known.in_conflict,
        held=held,
        **card_context(service, review, session.queue, review.suggestion(session.queue, document)),
    )


@router.post("/topics/{topic}/documents/{document}", response_class=HTMLResponse)
def decide(
    session: CurrentSession, review: CurrentTopic, document: CurrentDocument, answer: Annotated[Answer, Form()]
) -> RedirectResponse:
    """Decide about a document, or change the decision."""
    reason = answer.reason if answer.decision == "irrelevant" else ""
    try:
        review.label(session.reviewer.id, document, answer.decision, reason or None, answer.stage)
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    return RedirectResponse(f"/topics/{review.topic.id}/documents/{document}", 303)
