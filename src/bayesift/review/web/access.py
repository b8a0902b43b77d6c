"""Access control: which requests are answered, who sends them, what they may do, and what they may contain."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable, Coroutine, Mapping
from ipaddress import ip_address
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response
from fastapi.routing import APIRoute
from pydantic import AfterValidator, StringConstraints
from starlette.concurrency import run_in_threadpool

from bayesift._web.guard import SAFE_METHODS
from bayesift.review.service import Service
from bayesift.review.storage import Actor, Reviewer, Role
from bayesift.review.storage.reviewers import key_of
from bayesift.review.topic_review import TopicReview
from bayesift.review.web.language import dress
from bayesift.review.web.settings import Settings

_HEADERS = {
    # Only the page's own files; no script or style within the page itself.
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # With "no-referrer" browsers would not say of forms which page they come from.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


#: Endings of the addresses that accept files.
WITH_FILES = ("/labels/import", "/new-topic", "/settings")


def guard_options(settings: Settings) -> dict[str, Any]:
    """Return the settings of :class:`bayesift._web.guard.RequestGuard` for the page."""

    def body_limit(path: str) -> int:
        return settings.upload_limit if path.endswith(WITH_FILES) else settings.body_limit

    return {"hosts": settings.hosts, "body_limit": body_limit, "headers": _HEADERS}


def service_of(request: Request) -> Service:
    """Return the service of the application."""
    service: Service = request.app.state.service
    return service


async def _service(request: Request) -> Service:
    # Dependencies that wait for nothing are asynchronous: others cost a change of threads each.
    return service_of(request)


CurrentService = Annotated[Service, Depends(_service)]


#: The least role that may use each route; None for everybody, without logging in.
LEAST_ROLE: Mapping[str, Role | None] = MappingProxyType(
    {
        "GET /health": None,
        "GET /static/{name}": None,
        "GET /login": None,
        "POST /login": None,
        "POST /logout": "reader",
        "GET /": "reader",
        "GET /new-topic": "reviewer",
        "POST /new-topic": "reviewer",
        "POST /appearance": "reader",
        "GET /topics/{topic}": "reviewer",
        "GET /topics/{topic}/full-text": "reviewer",
        "GET /topics/{topic}/settings": "reviewer",
        "POST /topics/{topic}/settings": "reviewer",
        "GET /topics/{topic}/progress": "reader",
        "GET /topics/{topic}/report": "reader",
        "GET /topics/{topic}/prisma.svg": "reader",
        "GET /topics/{topic}/protocol": "reader",
        "POST /topics/{topic}/stop": "reviewer",
        "GET /topics/{topic}/browse": "reader",
        "GET /topics/{topic}/documents/{document}": "reader",
        "POST /topics/{topic}/documents/{document}": "reviewer",
        "GET /topics/{topic}/agreement": "reader",
        "POST /topics/{topic}/conflicts/{document}": "reviewer",
        "GET /topics/{topic}/data": "reader",
        "GET /topics/{topic}/export": "reader",
        "GET /topics/{topic}/model": "reader",
        "POST /topics/{topic}/labels/import": "reviewer",
        "GET /api/topics/{topic}/card": "reviewer",
        "POST /api/topics/{topic}/labels": "reviewer",
        "POST /api/topics/{topic}/undo": "reviewer",
        "POST /api/topics/{topic}/remarks": "reviewer",
        "POST /api/topics/{topic}/check": "reviewer",
        "GET /api/topics/{topic}/stopping": "reader",
        "GET /duplicates": "reader",
        "POST /duplicates/look": "reviewer",
        "POST /duplicates/join": "reviewer",
        "POST /duplicates/{document}/separate": "reviewer",
        "POST /topics/{topic}/documents/{document}/text": "reviewer",
        "GET /reviewers": "reader",
        "POST /reviewers": "owner",
        "POST /reviewers/{reviewer}/token": "owner",
        "POST /reviewers/{reviewer}/role": "owner",
        "POST /reviewers/{reviewer}/remove": "owner",
        # Everybody ends their own sessions, an owner those of all.
        "GET /sessions": "reader",
        "POST /sessions/{session}/end": "reader",
        "POST /sessions/end-others": "reader",
        "GET /audit": "owner",
    }
)


class NotLoggedInError(Exception):
    """The request has no session."""


class Session(NamedTuple):
    """A reviewer who is logged in.

    Parameters
    ----------
    reviewer : Reviewer
        The reviewer.
    csrf : str
        A word that only pages of this session know; every request that changes something must contain it.
    key : str
        The name under which the session is listed.
    actor : Actor
        The reviewer and the address of the request, for the audit log.
    """

    reviewer: Reviewer
    csrf: str
    key: str
    actor: Actor

    @property
    def may_review(self) -> bool:
        """Whether the reviewer may decide about documents."""
        return self.reviewer.may("reviewer")

    @property
    def may_manage(self) -> bool:
        """Whether the reviewer may decide who may do what."""
        return self.reviewer.may("owner")

    @property
    def queue(self) -> int | None:
        """Whose queue is shown if each reviewer has one; readers, who have none, see everybody's."""
        return self.reviewer.id if self.may_review else None


class GuardedRoute(APIRoute):
    """A route that checks who sends a request before it reads the body.

    Anybody without the least role in the table is refused, and so is a request that would change something but does
    not contain the word of the session. A route that is missing from the table cannot be made.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of the route, with the check before it."""
        handle = super().get_route_handler()
        roles = {method: least_role(method, self.path) for method in self.methods or ()}

        async def guarded(request: Request) -> Response:
            least = roles[request.method]
            dress(request)
            if least is not None:
                session = await run_in_threadpool(_find_session, request)
                if not session.reviewer.may(least):
                    raise HTTPException(403, f"Your role is {session.reviewer.role}; this is for {_and_above(least)}.")
                if request.method not in SAFE_METHODS:
                    await _check_word(request, session)
                request.state.session = session
            return await handle(request)

        return guarded


def least_role(method: str, path: str) -> Role | None:
    """Look a route up in the table.

    Raises
    ------
    LookupError
        If it is not there: nobody has thought of who may use it.
    """
    name = f"{method} {path}"
    if name not in LEAST_ROLE:
        raise LookupError(f"the route {name!r} has no least role; expected an entry in LEAST_ROLE")
    return LEAST_ROLE[name]


def guarded_router() -> APIRouter:
    """Return a router whose routes are all guarded."""
    return APIRouter(route_class=GuardedRoute)


def cookie_name(service: Service) -> str:
    """Name the cookie after the project: cookies ignore ports, and two projects may be open at once."""
    return f"bayesift-{service.project.id}"


def address_of(request: Request) -> str:
    """Return the address that a request comes from; a proxy may claim anything, so only addresses count."""
    try:
        return str(ip_address(request.client.host if request.client else ""))
    except ValueError:
        return "unknown"


async def session_of(request: Request) -> Session:
    """Return the session of a request to a route that needs one."""
    session: Session = request.state.session
    return session


CurrentSession = Annotated[Session, Depends(session_of)]


def _find_session(request: Request) -> Session:
    service = service_of(request)
    secret = request.cookies.get(cookie_name(service), "")
    reviewer = service.project.sessions.reviewer(secret) if secret else None
    if reviewer is None:
        raise NotLoggedInError
    word = hmac.new(secret.encode(), b"csrf", hashlib.sha256).hexdigest()
    return Session(reviewer, word, key_of(secret), Actor(reviewer.id, address_of(request)))


async def _check_word(request: Request, session: Session) -> None:
    """Refuse a request without the word of the session, in a header or in a form field."""
    given: object = request.headers.get("x-csrf-token")
    if given is None and "form" in request.headers.get("content-type", ""):
        given = (await request.form()).get("csrf")
    if not isinstance(given, str) or not hmac.compare_digest(given.encode("utf-8", "replace"), session.csrf.encode()):
        raise HTTPException(403, "The request did not come from a page of this session; reload the page.")


def _and_above(role: Role) -> str:
    return "owners" if role == "owner" else f"{role}s and owners"


_NOT_STORABLE = re.compile("[\0\ud800-\udfff]")


def _storable(text: str) -> str:
    if _NOT_STORABLE.search(text):
        raise ValueError("the text has a null character or half a surrogate pair; expected text")
    return text


ShortText = Annotated[str, StringConstraints(max_length=200), AfterValidator(_storable)]
LongText = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(_storable)]

#: The numbers that both kinds of database can hold.
Number = Annotated[int, Path(ge=0, le=2**31 - 1)]


def topic_of(service: CurrentService, topic: Number) -> TopicReview:
    """Return the review of the topic in the path."""
    try:
        return service.topic(topic)
    except LookupError as error:
        raise HTTPException(404, "There is no such topic.") from error


def document_of(service: Service, document: int) -> int:
    """Return the document in the path, or of a body; refuse one that the project does not have."""
    if document >= service.n_documents:
        raise HTTPException(404, "There is no such document.")
    return document


async def _document(service: CurrentService, document: Number) -> int:
    return document_of(service, document)


CurrentTopic = Annotated[TopicReview, Depends(topic_of)]
CurrentDocument = Annotated[int, Depends(_document)]
