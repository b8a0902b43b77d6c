"""Who sends a request, and whether a page of ours made it."""

from __future__ import annotations

import hashlib
import hmac
from typing import Annotated, NamedTuple

from fastapi import Depends, Header, HTTPException, Request

from bayesift.review.service import Service
from bayesift.review.storage import Reviewer


class NotLoggedInError(Exception):
    """The request has no session."""


class Session(NamedTuple):
    """A reviewer who is logged in.

    Parameters
    ----------
    reviewer : Reviewer
        Who.
    csrf : str
        A word that only pages of this session know; every request that changes something has to bring it.
    owner : bool
        Whether this is the first reviewer of the project, who may add others.
    """

    reviewer: Reviewer
    csrf: str
    owner: bool


def service_of(request: Request) -> Service:
    """Return the service of the application."""
    service: Service = request.app.state.service
    return service


def cookie_name(service: Service) -> str:
    """Name the cookie by the project: cookies do not know ports, and two projects may be open at once."""
    return f"bayesift-{service.project.id}"


def session_of(request: Request) -> Session:
    """Return the session of a request."""
    service = service_of(request)
    secret = request.cookies.get(cookie_name(service), "")
    reviewer = service.project.sessions.owner(secret) if secret else None
    if reviewer is None:
        raise NotLoggedInError
    word = hmac.new(secret.encode(), b"csrf", hashlib.sha256).hexdigest()
    return Session(reviewer, word, reviewer == service.project.reviewers.all()[0])


async def from_our_page(
    request: Request, session: CurrentSession, x_csrf_token: Annotated[str | None, Header()] = None
) -> None:
    """Refuse a request that does not bring the word of the session, in a header or as a field of a form."""
    given: object = x_csrf_token
    if given is None and "form" in request.headers.get("content-type", ""):
        given = (await request.form()).get("csrf")
    if not isinstance(given, str) or not hmac.compare_digest(given.encode("utf-8", "replace"), session.csrf.encode()):
        raise HTTPException(403, "The request was not made by a page of this session; load the page again.")


CurrentSession = Annotated[Session, Depends(session_of)]
CurrentService = Annotated[Service, Depends(service_of)]

#: For routes that change something.
Guarded = Depends(from_our_page)
