"""Documents that are the same: the groups, corrections by people, and texts that are edited by hand."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel

from bayesift.review.web.access import (
    CurrentDocument,
    CurrentService,
    CurrentSession,
    CurrentTopic,
    LongText,
    Session,
    ShortText,
    guarded_router,
)
from bayesift.review.web.rendering import page
from bayesift.review.web.slow import slow

router = guarded_router()

_ON_A_PAGE = 25


class Pair(BaseModel):
    """Two documents, by their identifiers in the source."""

    one: ShortText
    other: ShortText


class MendedText(BaseModel):
    """A text to replace one that is missing or wrong."""

    text: LongText


@router.get("/duplicates", response_class=HTMLResponse)
@slow
def duplicates_page(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    number: Annotated[int, Query(alias="page", ge=1, le=10**6)] = 1,
) -> HTMLResponse:
    """List the groups of documents that are the same."""
    return _duplicates_page(request, service, session, number)


def _duplicates_page(
    request: Request,
    service: CurrentService,
    session: Session,
    number: int = 1,
    *,
    problem: str = "",
    status: int = 200,
) -> HTMLResponse:
    copies = service.copies
    originals = sorted({copy.original for copy in copies.values()})
    pages = max(1, -(-len(originals) // _ON_A_PAGE))
    here = min(number, pages)
    shown = originals[(here - 1) * _ON_A_PAGE : here * _ON_A_PAGE]
    members: dict[int, list[int]] = {original: [original] for original in shown}
    for place, copy in copies.items():
        if copy.original in members:
            members[copy.original].append(place)
    documents = service.project.documents.titles([place for group in members.values() for place in group])
    groups = [
        [(documents[place], copies[place].how if place in copies else None) for place in group]
        for group in members.values()
    ]
    return page(
        request, "duplicates.html", session, status=status,
        groups=groups, n_groups=len(originals), n_copies=len(copies), number=here, pages=pages, problem=problem,
    )  # fmt: skip


@router.post("/duplicates/look", response_class=HTMLResponse)
@slow
def look_for_duplicates(request: Request, service: CurrentService, session: CurrentSession) -> RedirectResponse:
    """Look for copies again, for example in a project that an older version made."""
    service.project.duplicates.look(session.actor)
    service.regroup()
    return RedirectResponse("/duplicates", 303)


@router.post("/duplicates/join", response_class=HTMLResponse)
@slow
def join_duplicates(
    request: Request, service: CurrentService, session: CurrentSession, pair: Annotated[Pair, Form()]
) -> Response:
    """Join two documents, by their identifiers in the source."""
    keys = [pair.one.strip(), pair.other.strip()]
    places = service.project.documents.places(keys)
    try:
        for key in keys:
            if key not in places:
                raise ValueError(f"no document is called {key!r}; expected an identifier of the file")
        service.project.duplicates.join(places[keys[0]], places[keys[1]], session.actor)
    except ValueError as error:
        return _duplicates_page(request, service, session, problem=str(error), status=422)
    service.regroup()
    return RedirectResponse("/duplicates", 303)


@router.post("/duplicates/{document}/separate", response_class=HTMLResponse)
@slow
def separate(
    request: Request, service: CurrentService, session: CurrentSession, document: CurrentDocument
) -> RedirectResponse:
    """Take a document out of its group."""
    try:
        service.project.duplicates.separate(document, session.actor)
    except ValueError as error:
        raise HTTPException(409, "This document no longer belongs to a group.") from error
    service.regroup()
    return RedirectResponse("/duplicates", 303)


@router.post("/topics/{topic}/documents/{document}/text", response_class=HTMLResponse)
def mend_text(
    service: CurrentService,
    session: CurrentSession,
    review: CurrentTopic,
    document: CurrentDocument,
    form: Annotated[MendedText, Form()],
) -> RedirectResponse:
    """Replace the text of a document; the model reads it the next time the project is opened."""
    service.project.documents.mend(document, form.text.strip().replace("\r\n", "\n"), session.actor)
    return RedirectResponse(f"/topics/{review.topic.id}/documents/{document}", 303)
