"""Several reviewers: who they are, how far they agree, and settling conflicts."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel

from bayesift.review.agreement import agreements
from bayesift.review.web.cards import Number, check_document, room_of
from bayesift.review.web.rendering import page
from bayesift.review.web.sessions import CurrentService, CurrentSession, Guarded, Session
from bayesift.review.web.texts import ShortText

router = APIRouter()


class Settlement(BaseModel):
    """How a conflict is settled."""

    decision: Literal["relevant", "irrelevant"]


class NewReviewer(BaseModel):
    """A name; one that is known gets a new token."""

    name: ShortText


@router.get("/topics/{topic}/agreement", response_class=HTMLResponse)
def agreement_page(request: Request, service: CurrentService, session: CurrentSession, topic: Number) -> HTMLResponse:
    """Show how far every two reviewers agree, and what they contradict each other about."""
    room = room_of(service, topic)
    ledger = room.ledger()
    reviewers = service.project.reviewers.all()
    names = {reviewer.id: reviewer.name for reviewer in reviewers}
    conflicts = ledger.conflicts()
    titles = service.project.documents.titles(conflicts)
    rows = [
        {
            "document": titles[place],
            "held": [(names[who], event.decision) for who, event in ledger.held(place).items()],
        }
        for place in conflicts
    ]
    work = {
        name: sum(event.reviewer == number and event.action == "label" for event in ledger.events)
        for number, name in names.items()
    }
    found = agreements(ledger, names)
    return page(
        request, "agreement.html", session, topic=room.topic, agreements=found, names=names, conflicts=rows, work=work
    )


@router.post("/topics/{topic}/conflicts/{document}", dependencies=[Guarded], response_class=HTMLResponse)
def settle_conflict(
    service: CurrentService,
    session: CurrentSession,
    topic: Number,
    document: Number,
    answer: Annotated[Settlement, Form()],
) -> RedirectResponse:
    """Settle a conflict for all."""
    room = room_of(service, topic)
    check_document(service, document)
    if room.resolve(session.reviewer.id, document, answer.decision) is None:
        raise HTTPException(409, "There is no conflict about this document, or somebody has settled it.")
    return RedirectResponse(f"/topics/{topic}/agreement", 303)


def _reviewers_page(
    request: Request, service: CurrentService, session: Session, *, status: int = 200, **told: str
) -> HTMLResponse:
    shown = {"problem": "", "name": "", "token": "", **told}
    return page(request, "reviewers.html", session, status=status, reviewers=service.project.reviewers.all(), **shown)


@router.get("/reviewers", response_class=HTMLResponse)
def reviewers_page(request: Request, service: CurrentService, session: CurrentSession) -> HTMLResponse:
    """List the reviewers."""
    return _reviewers_page(request, service, session)


@router.post("/reviewers", dependencies=[Guarded], response_class=HTMLResponse)
def give_token(
    request: Request, service: CurrentService, session: CurrentSession, form: Annotated[NewReviewer, Form()]
) -> HTMLResponse:
    """Return a new or a known reviewer a token; it is shown this once."""
    if not session.owner:
        raise HTTPException(403, "Only the first reviewer of the project may add others.")
    name = form.name.strip()
    try:
        reviewer = service.project.reviewers.named(name) or service.project.reviewers.add(name)
    except ValueError as error:
        return _reviewers_page(request, service, session, status=422, problem=str(error))
    token = service.project.reviewers.issue_token(reviewer)
    return _reviewers_page(request, service, session, name=reviewer.name, token=token)
