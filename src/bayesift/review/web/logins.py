"""Logging in and out, and the sessions that are open."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from bayesift.review.storage import Actor
from bayesift.review.storage.reviewers import LIFETIME
from bayesift.review.web.access import (
    CurrentService,
    CurrentSession,
    ShortText,
    address_of,
    cookie_name,
    guarded_router,
)
from bayesift.review.web.rendering import page
from bayesift.review.web.throttle import Throttle, network_of

router = guarded_router()

Token = Annotated[str, Form(max_length=200)]

#: How many failed logins are noted one by one, from one address and from all; after that, one each time their number
#: has doubled, so that nobody can fill the disk with them.
_NOTED_OF_ONE = 5
_NOTED_OF_ALL = 100

WRONG = "This token is not known. It may have been replaced by a newer one, or expired."
TOO_MANY = "There were too many attempts to log in. Wait a minute and try again."


@router.get("/login", response_class=HTMLResponse)
def login_page(request: Request) -> HTMLResponse:
    """Ask for the token; a link may contain it after a ``#``, where no server and no log sees it."""
    return page(request, "login.html", None, problem="")


@router.post("/login", response_class=HTMLResponse)
async def log_in(request: Request, service: CurrentService, token: Token) -> Response:
    """Begin a session. There is none yet to protect; every request is checked to come from this page.

    Failed attempts slow down their address, and logins with a valid token their reviewer, so a stranger cannot slow
    down a reviewer at another address.
    """
    throttle: Throttle = request.app.state.throttle
    project = service.project
    address, network = address_of(request), network_of(address_of(request))
    if not await throttle.wait(network):
        return _refused(request, TOO_MANY, 429)
    reviewer = await run_in_threadpool(project.reviewers.by_token, token.strip())
    if reviewer is None:
        attempts = throttle.count(network)
        of_all = throttle.count(None)
        if _is_noted(attempts, _NOTED_OF_ONE) and _is_noted(of_all, _NOTED_OF_ALL):
            await run_in_threadpool(project.audit.note, "failed login", Actor(None, address), f"attempt {attempts}")
        return _refused(request, WRONG, 401)
    if not await throttle.wait(reviewer.id):
        return _refused(request, TOO_MANY, 429)
    throttle.count(reviewer.id)
    browser = "".join(filter(str.isprintable, request.headers.get("user-agent", "")))
    begin = partial(project.sessions.begin, reviewer, address, browser, token=token.strip())
    try:
        secret = await run_in_threadpool(begin)
    except LookupError:
        return _refused(request, WRONG, 401)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        cookie_name(service),
        secret,
        max_age=int(LIFETIME.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.app.state.settings.https,
    )
    return answer


def _is_noted(attempts: int, one_by_one: int) -> bool:
    return attempts <= one_by_one or attempts.bit_count() == 1


def _refused(request: Request, problem: str, status: int) -> HTMLResponse:
    answer = page(request, "login.html", None, problem=problem, status=status)
    if status == 429:
        answer.headers["Retry-After"] = "60"
    return answer


@router.post("/logout", response_class=HTMLResponse)
def log_out(request: Request, service: CurrentService, session: CurrentSession) -> Response:
    """End the session."""
    name = cookie_name(service)
    service.project.sessions.end(request.cookies.get(name, ""), session.actor)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(name)
    return answer


@router.get("/sessions", response_class=HTMLResponse)
def sessions_page(request: Request, service: CurrentService, session: CurrentSession) -> HTMLResponse:
    """List the reviewer's own sessions, or everybody's for an owner."""
    found = service.project.sessions.all()
    own = [login for login in found if login.reviewer == session.reviewer.id]
    others = [login for login in found if login.reviewer != session.reviewer.id] if session.may_manage else []
    names = service.project.reviewers.names()
    return page(request, "sessions.html", session, own=own, others=others, names=names)


@router.post("/sessions/{session}/end", response_class=HTMLResponse)
def end_session(service: CurrentService, current: CurrentSession, session: ShortText) -> Response:
    """End a session: one of the reviewer's own, or, for an owner, anybody's."""
    found = [
        login
        for login in service.project.sessions.all()
        if login.key == session and (current.may_manage or login.reviewer == current.reviewer.id)
    ]
    if not found:
        raise HTTPException(404, "There is no such session; it may have ended already.")
    service.project.sessions.end_listed(found, current.actor)
    return RedirectResponse("/sessions", 303)


@router.post("/sessions/end-others", response_class=HTMLResponse)
def end_other_sessions(service: CurrentService, session: CurrentSession) -> Response:
    """End all sessions of the reviewer except this one."""
    own = [login for login in service.project.sessions.all() if login.reviewer == session.reviewer.id]
    service.project.sessions.end_listed([login for login in own if login.key != session.key], session.actor)
    return RedirectResponse("/sessions", 303)
