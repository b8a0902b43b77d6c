"""The application: pages by theme, the files they need, and what is shown if something goes wrong."""

from __future__ import annotations

import json
from http import HTTPStatus
from importlib.resources import files
from typing import Literal

from fastapi import FastAPI, HTTPException, Request
from fastapi.exception_handlers import http_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse, Response
from pydantic import BaseModel
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import ClientDisconnect

from bayesift._version import __version__
from bayesift._web.guard import RequestGuard
from bayesift.review.service import Service
from bayesift.review.storage import NotSavedError
from bayesift.review.web import audit, browse, cards, duplicates, exchange, logins, progress, report, team, topics
from bayesift.review.web.access import CurrentService, NotLoggedInError, guard_options, guarded_router
from bayesift.review.web.rendering import page
from bayesift.review.web.settings import Settings
from bayesift.review.web.slow import SlowPages
from bayesift.review.web.throttle import Throttle

_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}

#: The scripts and the style sheet: read once, so that no path of a request ever reaches the disk.
_FILES = {
    file.name: (file.read_bytes(), _TYPES[file.name[file.name.rindex(".") :]])
    for file in files("bayesift.review.web").joinpath("static").iterdir()
}

router = guarded_router()


def create_app(service: Service, settings: Settings | None = None) -> FastAPI:
    """Make the application for a project.

    Parameters
    ----------
    service : Service
        The project at work.
    settings : Settings, optional
        Names and limits; for this machine only by default.

    Returns
    -------
    FastAPI
        An application for any ASGI server.
    """
    settings = settings or Settings()
    # The usual pages about the interface load their scripts from elsewhere.
    app = FastAPI(title="Bayesift review", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.service = service
    app.state.settings = settings
    app.state.slow_pages = SlowPages()
    app.state.throttle = Throttle(settings.free_logins, settings.first_delay, settings.longest_delay)
    themes = (logins, team, topics, cards, progress, browse, duplicates, exchange, report, audit)
    for routes in (*(theme.router for theme in themes), router):
        app.include_router(routes)
    app.add_exception_handler(NotLoggedInError, _ask_to_log_in)
    app.add_exception_handler(NotSavedError, _say_not_saved)
    app.add_exception_handler(ClientDisconnect, _say_nothing)
    app.add_exception_handler(StarletteHTTPException, _say_what_is_wrong)
    app.add_exception_handler(RequestValidationError, _say_what_does_not_fit)
    app.add_middleware(RequestGuard, **guard_options(settings))
    return app


def _wants_page(request: Request) -> bool:
    return not request.url.path.startswith("/api/")


async def _say_what_does_not_fit(_request: Request, error: Exception) -> Response:
    """Say where a request is wrong, without what was sent: it may hold what neither JSON nor UTF-8 can."""
    assert isinstance(error, RequestValidationError)
    found = [{key: one[key] for key in ("type", "loc", "msg")} for one in error.errors()]
    return Response(json.dumps({"detail": found}), 422, media_type="application/json")


async def _ask_to_log_in(request: Request, _error: Exception) -> Response:
    if _wants_page(request):
        return RedirectResponse("/login", 303)
    return JSONResponse({"detail": "You are not logged in."}, 401)


async def _say_not_saved(request: Request, error: Exception) -> Response:
    if _wants_page(request):
        return page(request, "problem.html", None, status=507, sentence=str(error))
    return JSONResponse({"detail": str(error)}, 507)


async def _say_nothing(_request: Request, _error: Exception) -> Response:
    """Answer a request that was cut off; nobody is there to read the answer."""
    return Response(status_code=400)


async def _say_what_is_wrong(request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    if _wants_page(request) and request.method in ("GET", "POST"):
        sentence = "There is no such page." if error.detail == HTTPStatus(404).phrase else str(error.detail)
        return page(request, "problem.html", None, status=error.status_code, sentence=sentence)
    return await http_exception_handler(request, HTTPException(error.status_code, error.detail, error.headers))


@router.get("/static/{name}", response_class=Response)
def static_file(name: str) -> Response:
    """Return a file of the page."""
    if name not in _FILES:
        raise HTTPException(404, "There is no such file.")
    content, kind = _FILES[name]
    return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})


class Health(BaseModel):
    """Whether the page can do its work, and its version."""

    status: Literal["ok", "failing"]
    version: str


@router.get("/health")
def health(service: CurrentService, response: Response) -> Health:
    """Tell a monitor whether the database answers; nothing about the project."""
    try:
        service.project.check()
    except NotSavedError:
        response.status_code = 503
        return Health(status="failing", version=__version__)
    return Health(status="ok", version=__version__)
