"""The reviewers: who takes part and what each may do, how far they agree, and how conflicts are resolved."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel

from bayesift.review.storage import ROLES, Reviewer, Role, Stage
from bayesift.review.topic_review import STAGES
from bayesift.review.web.access import (
    CurrentDocument,
    CurrentService,
    CurrentSession,
    CurrentTopic,
    Number,
    Session,
    ShortText,
    guarded_router,
)
from bayesift.review.web.rendering import page
from bayesift.review.web.slow import slow

router = guarded_router()

#: How many conflicts are listed; when some are resolved, others follow.
_MOST_CONFLICTS = 100


class Resolution(BaseModel):
    """How a conflict is resolved."""

    decision: Literal["relevant", "irrelevant"]
    reason: ShortText = ""
    stage: Stage = "abstract"


class NewReviewer(BaseModel):
    """Who takes part, and in what role."""

    name: ShortText
    role: Role = "reviewer"


class NewRole(BaseModel):
    """The new role of a reviewer."""

    role: Role


@router.get("/topics/{topic}/agreement", response_class=HTMLResponse)
@slow
def agreement_page(
    request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic
) -> HTMLResponse:
    """Show how far each two reviewers agree, and where they contradict each other."""
    decisions = review.decisions()
    names = service.project.reviewers.names()
    conflicts = [
        (stage, known, place)
        for stage in STAGES
        for known in [review.decisions(stage)]
        for place in known.conflicts()[:_MOST_CONFLICTS]
    ]
    titles = service.project.documents.titles([place for _, _, place in conflicts])
    rows = [
        {
            "document": titles[place],
            "stage": stage,
            "reasons": review.reasons(stage),
            "held": [(names[who], event.decision) for who, event in known.by_reviewer(place).items()],
            "may_resolve": not (review.topic.double and session.reviewer.id in known.readers(place)),
        }
        for stage, known, place in conflicts
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


@router.post("/topics/{topic}/conflicts/{document}", response_class=HTMLResponse)
def resolve_conflict(
    session: CurrentSession, review: CurrentTopic, document: CurrentDocument, answer: Annotated[Resolution, Form()]
) -> RedirectResponse:
    """Resolve a conflict for all."""
    reason = answer.reason if answer.decision == "irrelevant" else ""
    try:
        resolved = review.resolve(session.reviewer.id, document, answer.decision, reason or None, answer.stage)
    except PermissionError as error:
        raise HTTPException(409, f"You have decided about it yourself: {error}.") from error
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    if resolved is None:
        raise HTTPException(409, "There is no conflict about this document, or somebody has resolved it.")
    return RedirectResponse(f"/topics/{review.topic.id}/agreement", 303)


def reviewer_of(service: CurrentService, reviewer: Number) -> Reviewer:
    """Return the reviewer in the path; refuse one who does not take part."""
    found = service.project.reviewers.get(reviewer)
    if found is None or found.removed is not None:
        raise HTTPException(404, "There is no such reviewer.")
    return found


ThisReviewer = Annotated[Reviewer, Depends(reviewer_of)]


def _reviewers_page(
    request: Request, service: CurrentService, session: Session, *, status: int = 200, **told: str
) -> HTMLResponse:
    people = service.project.reviewers.all()
    shown = {
        "present": [person for person in people if person.removed is None],
        "removed": [person for person in people if person.removed is not None],
        "roles": ROLES,
        "problem": "",
        "name": "",
        "token": "",
        **told,
    }
    return page(request, "reviewers.html", session, status=status, **shown)


@router.get("/reviewers", response_class=HTMLResponse)
def reviewers_page(request: Request, service: CurrentService, session: CurrentSession) -> HTMLResponse:
    """List the reviewers; let an owner add, change and remove them."""
    return _reviewers_page(request, service, session)


@router.post("/reviewers", response_class=HTMLResponse)
def add_reviewer(
    request: Request, service: CurrentService, session: CurrentSession, form: Annotated[NewReviewer, Form()]
) -> HTMLResponse:
    """Give a token to a new reviewer, or to one who was removed; it is shown only once."""
    reviewers, name = service.project.reviewers, form.name.strip()
    known = reviewers.named(name)
    try:
        if known is not None and known.removed is None:
            raise ValueError(f"there is already a reviewer {name}; expected another name")
        _, token = reviewers.invite(name, form.role, session.actor)
    except ValueError as error:
        return _reviewers_page(request, service, session, status=422, problem=str(error))
    return _reviewers_page(request, service, session, name=name, token=token)


@router.post("/reviewers/{reviewer}/token", response_class=HTMLResponse)
def new_token(request: Request, service: CurrentService, session: CurrentSession, person: ThisReviewer) -> HTMLResponse:
    """Give a reviewer a new token; it is shown only once, and the sessions begun with the old one end."""
    token = service.project.reviewers.issue_token(person, session.actor)
    return _reviewers_page(request, service, session, name=person.name, token=token)


@router.post("/reviewers/{reviewer}/role", response_class=HTMLResponse)
def change_role(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    person: ThisReviewer,
    form: Annotated[NewRole, Form()],
) -> Response:
    """Change what a reviewer may do."""
    try:
        service.project.reviewers.change_role(person, form.role, session.actor)
    except ValueError as error:
        return _reviewers_page(request, service, session, status=409, problem=str(error))
    return RedirectResponse("/reviewers", 303)


@router.post("/reviewers/{reviewer}/remove", response_class=HTMLResponse)
def remove_reviewer(
    request: Request, service: CurrentService, session: CurrentSession, person: ThisReviewer
) -> Response:
    """Stop a reviewer from logging in; the decisions stay."""
    try:
        service.project.reviewers.remove(person, session.actor)
    except ValueError as error:
        return _reviewers_page(request, service, session, status=409, problem=str(error))
    return RedirectResponse("/reviewers", 303)
