"""The home page of several projects: a list to open them from."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException as StarletteHTTPException

from bayesift._version import __version__
from bayesift._web.guard import SAFE_METHODS, RequestGuard
from bayesift.review.projects import Projects
from bayesift.review.web.access import guard_options
from bayesift.review.web.app import static_file
from bayesift.review.web.language import dress, translated
from bayesift.review.web.logins import WRONG
from bayesift.review.web.rendering import fragment
from bayesift.review.web.settings import Settings

#: Answered without logging in.
_FOR_ALL = ("/login", "/static/{name}")


class Secrets:
    """The secrets of the person who started the program: a token, for which a browser gets a cookie."""

    def __init__(self) -> None:
        self.token, self.cookie = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.word = hmac.new(self.cookie.encode(), b"csrf", hashlib.sha256).hexdigest()


class HomeRoute(APIRoute):
    """A route for the person who started the program, and for forms of its own pages."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of the route, with the check before it."""
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            dress(request)
            if self.path not in _FOR_ALL:
                known: Secrets = request.app.state.secrets
                if not _same(request.cookies.get(cookie_name(request), ""), known.cookie):
                    return RedirectResponse("/login", 303)
                if request.method not in SAFE_METHODS:
                    word = (await request.form()).get("csrf")
                    if not isinstance(word, str) or not _same(word, known.word):
                        raise HTTPException(
                            403, "The request did not come from a page of this session; reload the page."
                        )
            return await handle(request)

        return guarded


router = APIRouter(route_class=HomeRoute)
router.add_api_route("/static/{name}", static_file, response_class=Response)


def create_home(projects: Projects, settings: Settings, token: Secrets) -> FastAPI:
    """Make the application that lists projects.

    Parameters
    ----------
    projects : Projects
        What is listed.
    settings : Settings
        Names and limits.
    token : Secrets
        The secrets of the person who started the program.

    Returns
    -------
    FastAPI
        An application for any ASGI server.
    """
    app = FastAPI(title="Bayesift review", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.projects = projects
    app.state.settings = settings
    app.state.secrets = token
    app.include_router(router)
    app.add_exception_handler(StarletteHTTPException, _say_what_is_wrong)
    guard = guard_options(settings)
    policy = guard["headers"]["Content-Security-Policy"]
    # The form that opens a project leads to its page, which has a port of its own.
    elsewhere = "form-action 'self' http://127.0.0.1:* http://localhost:*"
    # A table of its own: the pages of projects keep the stricter policy.
    guard["headers"] = {
        **guard["headers"],
        "Content-Security-Policy": policy.replace("form-action 'self'", elsewhere),
    }
    app.add_middleware(RequestGuard, **guard)
    return app


def cookie_name(request: Request) -> str:
    """Name the cookie after the port: cookies ignore ports, and two lists may be open at once."""
    return f"bayesift-home-{request.scope['server'][1]}"


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), known.encode())


def _page(request: Request, name: str, /, *, status: int = 200, **context: Any) -> HTMLResponse:
    shared = {"session": None, "project": {"name": "Bayesift"}, "here": request.url.path, "home": ""}
    return HTMLResponse(fragment(name, **shared, **context), status)


async def _say_what_is_wrong(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    back = translated("Back to the projects")
    return _page(request, "problem.html", status=error.status_code, sentence=str(error.detail), back=back)


@router.get("/login", response_class=HTMLResponse)
def login_page(request: Request) -> HTMLResponse:
    """Ask for the token, which the link contains after a ``#``."""
    return _page(request, "login.html", problem="")


@router.post("/login", response_class=HTMLResponse)
def log_in(request: Request, token: Annotated[str, Form(max_length=200)]) -> Response:
    """Give a browser the cookie if it sends the token."""
    known: Secrets = request.app.state.secrets
    if not _same(token.strip(), known.token):
        return _page(request, "login.html", problem=WRONG, status=401)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(cookie_name(request), known.cookie, httponly=True, samesite="strict")
    return answer


@router.get("/", response_class=HTMLResponse)
def projects_page(request: Request) -> HTMLResponse:
    """List the projects."""
    return _list(request)


@router.post("/projects/{key}/open", response_class=HTMLResponse)
def open_project(request: Request, key: str) -> Response:
    """Open a project, and redirect to its page."""
    projects: Projects = request.app.state.projects
    try:
        return RedirectResponse(projects.open(key), 303)
    except LookupError as error:
        raise HTTPException(404, "There is no such project any more.") from error
    except (ValueError, OSError) as error:
        return _list(request, str(error), 409)


@router.post("/projects/{key}/close", response_class=HTMLResponse)
def close_project(request: Request, key: str) -> Response:
    """End the server of a project."""
    projects: Projects = request.app.state.projects
    projects.close(key)
    return RedirectResponse("/", 303)


def _list(request: Request, problem: str = "", status: int = 200) -> HTMLResponse:
    projects: Projects = request.app.state.projects
    known: Secrets = request.app.state.secrets
    return _page(request, "projects.html", status=status, rows=projects.listed(), csrf=known.word, problem=problem)
