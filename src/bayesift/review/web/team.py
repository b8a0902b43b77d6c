"""The reviewers: logging in, adding others, how far they agree, and resolving conflicts."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel

from bayesift.review.storage.reviewers import LIFETIME
from bayesift.review.web.access import (
    CurrentDocument,
    CurrentService,
    CurrentSession,
    CurrentTopic,
    Guarded,
    Session,
    ShortText,
    cookie_name,
)
from bayesift.review.web.rendering import page

router = APIRouter()

Token = Annotated[str, Form(max_length=200)]


class Resolution(BaseModel):
    """How a conflict is resolved."""

    decision: Literal["relevant", "irrelevant"]


class NewReviewer(BaseModel):
    """A name; one that is known gets a new token."""

    name: ShortText


@router.get("/login", response_class=HTMLResponse)
def login_page(request: Request) -> HTMLResponse:
    """Ask for the token; a link may bring it behind a ``#``, where no server and no log sees it."""
    return page(request, "login.html", None, wrong=False)


@router.post("/login", response_class=HTMLResponse)
def log_in(request: Request, service: CurrentService, token: Token) -> Response:
    """Begin a session. There is none yet to protect: that our own page asks is checked for every request."""
    reviewer = service.project.reviewers.by_token(token.strip())
    if reviewer is None:
        return page(request, "login.html", None, wrong=True, status=401)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        cookie_name(service),
        service.project.sessions.begin(reviewer),
        max_age=int(LIFETIME.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.app.state.settings.https,
    )
    return answer


@router.post("/logout", dependencies=[Guarded], response_class=HTMLResponse)
def log_out(request: Request, service: CurrentService) -> Response:
    """End the session."""
    name = cookie_name(service)
    service.project.sessions.end(request.cookies.get(name, ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(name)
    return answer


@router.get("/topics/{topic}/agreement", response_class=HTMLResponse)
def agreement_page(
    request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic
) -> HTMLResponse:
    """Show how far every two reviewers agree, and what they contradict each other about."""
    decisions = review.decisions()
    names = service.project.reviewers.names()
    conflicts = decisions.conflicts()
    titles = service.project.documents.titles(conflicts)
    rows = [
        {
            "document": titles[place],
            "held": [(names[who], event.decision) for who, event in decisions.by_reviewer(place).items()],
        }
        for place in conflicts
    ]
    work = {
        name: sum(event.reviewer == number and event.action == "label" for event in decisions.events)
        for number, name in names.items()
    }
    return page(
        request,
        "agreement.html",
        session,
        topic=review.topic,
        agreements=decisions.agreements(names),
        names=names,
        conflicts=rows,
        work=work,
    )


@router.post("/topics/{topic}/conflicts/{document}", dependencies=[Guarded], response_class=HTMLResponse)
def resolve_conflict(
    session: CurrentSession, review: CurrentTopic, document: CurrentDocument, answer: Annotated[Resolution, Form()]
) -> RedirectResponse:
    """Resolve a conflict for all."""
    if review.resolve(session.reviewer.id, document, answer.decision) is None:
        raise HTTPException(409, "There is no conflict about this document, or somebody has resolved it.")
    return RedirectResponse(f"/topics/{review.topic.id}/agreement", 303)


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
