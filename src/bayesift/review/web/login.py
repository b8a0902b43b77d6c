"""Logging in with a token, and out again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from bayesift.review.storage.sessions import LIFETIME
from bayesift.review.web.rendering import page
from bayesift.review.web.sessions import CurrentService, Guarded, cookie_name

router = APIRouter()

Token = Annotated[str, Form(max_length=200)]


@router.get("/login", response_class=HTMLResponse)
def login_page(request: Request) -> HTMLResponse:
    """Ask for the token; a link may bring it behind a ``#``, where no server and no log sees it."""
    return page(request, "login.html", None, wrong=False)


@router.post("/login", response_class=HTMLResponse)
def log_in(request: Request, service: CurrentService, token: Token) -> Response:
    """Begin a session. There is none yet to protect: what is checked is that our own page asks, at the gates."""
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
