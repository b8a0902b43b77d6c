"""The application: texts are posted, labels come back; and what monitoring needs to know."""

from __future__ import annotations

import hmac
import json
from typing import Any

from fastapi import APIRouter, FastAPI, HTTPException, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import JSONResponse, PlainTextResponse, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from bayesift._version import __version__
from bayesift._web.guard import RequestGuard
from bayesift.serving import interface
from bayesift.serving.metrics import CONTENT_TYPE, Measured, Metrics
from bayesift.serving.scoring import BusyError, Question, Scorer, Turns
from bayesift.serving.settings import Settings
from bayesift.workflow import TextClassifier, model_info
from bayesift.workflow.certainty import USUAL_MASS

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}

#: The path of the health check, which needs no token.
_HEALTH = "/health"

router = APIRouter()


def create_app(classifier: TextClassifier, name: str = "model", settings: Settings | None = None) -> FastAPI:
    """Make the application for a classifier.

    Parameters
    ----------
    classifier : TextClassifier
        Fitted; it is used by one thread of the application, and must not be used by anybody else meanwhile.
    name : str, default="model"
        Name of the model, such as that of its file.
    settings : Settings, optional
        Names and limits; by default for this machine only.

    Returns
    -------
    FastAPI
        An application for any ASGI server; ``app.state.turns.close()`` ends its thread.

    Examples
    --------
    >>> from bayesift.serving import create_app
    >>> from bayesift.workflow import TextClassifier
    >>> classifier = TextClassifier("nb").fit(["wheat", "sea"] * 3, ["farm", "sea"] * 3)
    >>> app = create_app(classifier)
    >>> sorted(app.openapi()["paths"])
    ['/classify', '/health', '/metrics', '/model']
    >>> app.state.turns.close()
    """
    settings = settings or Settings()
    # The usual pages that describe an interface load scripts from elsewhere.
    app = FastAPI(title="Bayesift", version=__version__, docs_url=None, redoc_url=None)
    metrics = Metrics()
    scorer = Scorer(classifier)
    app.state.settings = settings
    app.state.metrics = metrics
    app.state.scorer = scorer
    app.state.features = list(classifier.features or ())
    app.state.turns = Turns(scorer, metrics, settings.waiting, settings.of_one_address)
    app.state.about = _about(classifier, name, settings)
    app.include_router(router)
    app.add_exception_handler(StarletteHTTPException, _say_what_is_wrong)
    app.add_exception_handler(ClientDisconnect, _say_nothing)
    app.add_exception_handler(Exception, _say_that_it_failed)
    if settings.token is not None:
        app.add_middleware(TokenCheck, token=settings.token)
    app.add_middleware(
        RequestGuard,
        hosts=settings.hosts,
        body_limit=lambda path: settings.body_limit,
        headers=_HEADERS,
        response=_problem,
    )
    paths = ("/classify", "/model", _HEALTH, "/metrics", "/openapi.json")
    app.add_middleware(Measured, metrics=metrics, paths=paths, timed="/classify")
    app.openapi = lambda: _description(app)  # type: ignore[method-assign]
    return app


class TokenCheck:
    """Refuse requests without the token, before their body is read.

    Parameters
    ----------
    app : ASGI application
        Gets the requests that have the token.
    token : str
        The token.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "http" and scope["path"] != _HEALTH:
            given = Headers(scope=scope).get("authorization", "").encode("latin-1")
            if not hmac.compare_digest(given, self._expected):
                refusal = _problem("The token is missing or wrong: expected the header Authorization: Bearer …", 401)
                refusal.headers["WWW-Authenticate"] = "Bearer"
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


@router.post(
    "/classify",
    response_model=None,
    responses=interface.RESPONSES,
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": interface.Request.model_json_schema(),
                    "examples": interface.REQUESTS,
                }
            },
        }
    },
)
async def classify(request: Request) -> Response:
    """Classify one or many texts."""
    state = request.app.state
    settings: Settings = state.settings
    try:
        asked = interface.parse(await request.body())
        texts = asked.all_texts(state.features)
        if asked.interval is not None:
            state.scorer.check_intervals()
    except ValueError as error:
        raise HTTPException(422, str(error)) from error
    question = Question(texts, asked.probabilities, asked.reasons, asked.interval or USUAL_MASS)
    # Values of features may be long texts, too.
    size = sum(map(len, texts)) + sum(len(str(value)) for text in texts for value in _features(text).values())
    _check_size(question, size, len(state.scorer.labels), settings)
    address = request.client.host if request.client else ""
    turns: Turns = state.turns
    try:
        answers = await turns.answer(question, address, shared=address in settings.limits.shared)
    except BusyError as error:
        raise _busy(error) from error
    metrics: Metrics = state.metrics
    metrics.texts += len(texts)
    metrics.characters += size
    return Response(f'{{"results":[{",".join(answers)}]}}', media_type="application/json")


@router.get("/model", response_model=interface.AboutModel)
async def model(request: Request) -> Response:
    """Describe the model, its labels, and how much a request may ask for."""
    # Names of labels need not be valid Unicode; then only escapes can represent them.
    return Response(json.dumps(request.app.state.about), media_type="application/json")


@router.get(_HEALTH, response_model=interface.Health)
async def health() -> Response:
    """Tell a monitor that requests are answered; says nothing about the model, and needs no token."""
    return JSONResponse({"status": "ok", "version": __version__})


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Return counts and times in the text format of Prometheus."""
    state = request.app.state
    # The thread that scores may be adding a label.
    counts = dict(state.scorer.counts.copy())
    return Response(state.metrics.text(counts, state.turns.waiting), headers={"Content-Type": CONTENT_TYPE})


def _features(text: str) -> Any:
    return getattr(text, "features", {})


def _check_size(question: Question, size: int, n_labels: int, settings: Settings) -> None:
    n_texts = len(question.texts)
    for what, found, most in (
        ("texts", n_texts, settings.texts),
        ("characters", size, settings.characters),
        ("words of a reason", question.words, settings.words),
        ("probabilities", n_texts * n_labels if question.probabilities else 0, settings.values),
    ):
        if found > most:
            raise HTTPException(413, f"The request has or asks for {found:,} {what}; at most {most:,} are accepted.")


def _busy(error: BusyError) -> HTTPException:
    if error.of_one:
        return HTTPException(
            429, "Too many texts from your address are waiting; wait for their answers.", {"Retry-After": "1"}
        )
    return HTTPException(503, "Too many texts are waiting; try again in a moment.", {"Retry-After": "1"})


def _about(classifier: TextClassifier, name: str, settings: Settings) -> dict[str, Any]:
    limits = interface.RequestLimits(
        texts=settings.texts,
        characters=settings.characters,
        words=settings.words,
        values=settings.values,
        bytes=settings.body_limit,
    )
    found = model_info(classifier).as_dict()
    return {"name": name, "version": __version__, "limits": limits.model_dump(), "model": found}


def _description(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI description, made once."""
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, routes=app.routes, description=app.state.about["name"])
        if app.state.settings.token is not None:
            schemes = made.setdefault("components", {}).setdefault("securitySchemes", {})
            schemes["token"] = {"type": "http", "scheme": "bearer"}
            made["security"] = [{"token": []}]
            made["paths"][_HEALTH]["get"]["security"] = []
        app.openapi_schema = made
    return app.openapi_schema


def _problem(sentence: str, status: int) -> Response:
    return JSONResponse({"detail": sentence}, status)


async def _say_what_is_wrong(_request: Request, error: Exception) -> Response:
    assert isinstance(error, StarletteHTTPException)
    sentences = {
        404: "There is no such path; POST /classify takes texts.",
        405: "This path does not accept this method.",
    }
    said = sentences.get(error.status_code, error.detail)
    return JSONResponse({"detail": said}, error.status_code, error.headers)


async def _say_nothing(_request: Request, _error: Exception) -> Response:
    """Answer a request that was cut off; nobody is there to read the answer."""
    return Response(status_code=400)


async def _say_that_it_failed(_request: Request, _error: Exception) -> Response:
    return _problem("Something went wrong that should not; the server has logged it.", 500)
