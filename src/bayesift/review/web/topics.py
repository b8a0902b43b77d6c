"""The list of topics, and the form in which a person says what is looked for."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from bayesift.review.service import Service
from bayesift.review.storage import Topic
from bayesift.review.web.access import CurrentService, CurrentSession, CurrentTopic, LongText, ShortText, guarded_router
from bayesift.review.web.rendering import page

router = guarded_router()

#: Lists of reasons and of tags have at most so many entries of at most so many characters.
_MOST_LINES, _LONGEST_LINE = 40, 120


class TopicFields(BaseModel):
    """The fields of the form as they come, so that a wrong one is answered by the form and a sentence."""

    name: ShortText = ""
    description: LongText = ""
    keywords_for: LongText = ""
    keywords_against: LongText = ""
    known: LongText = ""
    inclusion: LongText = ""
    exclusion: LongText = ""
    reasons: LongText = ""
    tags: LongText = ""
    informative: ShortText = "10"
    random: ShortText = "5"
    target_recall: ShortText = "95"
    confidence: ShortText = "95"
    queue: ShortText = "shared"


class TopicForm(BaseModel):
    """A topic as the form sends it; shares and targets in per cent."""

    name: ShortText = Field(min_length=1)
    description: LongText = ""
    keywords_for: LongText = ""
    keywords_against: LongText = ""
    known: LongText = ""
    inclusion: LongText = ""
    exclusion: LongText = ""
    reasons: LongText = ""
    tags: LongText = ""
    informative: float = Field(10, ge=0, le=100, allow_inf_nan=False)
    random: float = Field(5, ge=0, le=100, allow_inf_nan=False)
    target_recall: float = Field(95, gt=0, lt=100, allow_inf_nan=False)
    confidence: float = Field(95, gt=0, lt=100, allow_inf_nan=False)
    queue: str = Field("shared", pattern="^(shared|own)$")

    @field_validator("name")
    @classmethod
    def _is_a_word(cls, name: str) -> str:
        if not name.strip():
            raise ValueError("a topic needs a name")
        return name.strip()

    @field_validator("reasons", "tags")
    @classmethod
    def _is_a_list(cls, given: str) -> str:
        lines = lines_of(given)
        if len(lines) > _MOST_LINES or any(len(line) > _LONGEST_LINE for line in lines):
            raise ValueError(f"expected at most {_MOST_LINES} lines of at most {_LONGEST_LINE} characters")
        return given

    @model_validator(mode="after")
    def _shares_fit(self) -> TopicForm:
        if self.informative + self.random > 100:
            raise ValueError("the shares of informative and random cards are more than 100 % together")
        return self

    def topic(self, id: int = 0) -> Topic:
        """Return the topic that the form describes."""
        return Topic(
            self.name,
            self.description.strip(),
            words_of(self.keywords_for),
            words_of(self.keywords_against),
            informative=self.informative / 100,
            random=self.random / 100,
            target_recall=self.target_recall / 100,
            confidence=self.confidence / 100,
            shared=self.queue == "shared",
            inclusion=self.inclusion.strip(),
            exclusion=self.exclusion.strip(),
            reasons=lines_of(self.reasons),
            tags=lines_of(self.tags),
            id=id,
        )


def words_of(text: str) -> tuple[str, ...]:
    r"""Split a list of words at commas, semicolons and line ends.

    Examples
    --------
    >>> from bayesift.review.web.topics import words_of
    >>> words_of("tin, copper\nzinc mine,")
    ('tin', 'copper', 'zinc mine')
    """
    return tuple(dict.fromkeys(word.strip() for word in re.split(r"[,;\n]", text) if word.strip()))


def lines_of(text: str) -> tuple[str, ...]:
    r"""Split a list with one entry a line; each once.

    Examples
    --------
    >>> from bayesift.review.web.topics import lines_of
    >>> lines_of("wrong population, or none\n\n animals \nanimals")
    ('wrong population, or none', 'animals')
    """
    return tuple(dict.fromkeys(" ".join(line.split()) for line in text.splitlines() if line.strip()))


def _fields_of(topic: Topic) -> TopicFields:
    return TopicFields(
        name=topic.name,
        description=topic.description,
        keywords_for=", ".join(topic.keywords_for),
        keywords_against=", ".join(topic.keywords_against),
        informative=f"{100 * topic.informative:.6g}",
        random=f"{100 * topic.random:.6g}",
        target_recall=f"{100 * topic.target_recall:.6g}",
        confidence=f"{100 * topic.confidence:.6g}",
        queue="shared" if topic.shared else "own",
        inclusion=topic.inclusion,
        exclusion=topic.exclusion,
        reasons="\n".join(topic.reasons),
        tags="\n".join(topic.tags),
    )


def _known_places(service: Service, known: str) -> tuple[int, ...]:
    """Find the documents that are named in the form, by their keys, one on each line."""
    keys = [line.strip() for line in known.splitlines() if line.strip()]
    places = service.project.documents.places(keys)
    missing = [key for key in keys if key not in places]
    if missing:
        raise ValueError(f"no document is called {missing[0]!r}; expected one identifier of the file on each line")
    return tuple(places[key] for key in dict.fromkeys(keys))


@router.get("/", response_class=HTMLResponse)
def home(request: Request, service: CurrentService, session: CurrentSession) -> HTMLResponse:
    """List the topics and how far each is."""
    rows = []
    for topic in service.project.topics.all():
        decided, relevant = service.topic(topic.id).counts(session.queue)
        rows.append({"topic": topic, "decided": decided, "relevant": relevant})
    return page(request, "home.html", session, rows=rows, n_documents=service.n_records, n_copies=len(service.copies))


@router.get("/new-topic", response_class=HTMLResponse)
def new_topic_page(request: Request, session: CurrentSession) -> HTMLResponse:
    """Show an empty form."""
    return page(request, "topic_form.html", session, form=TopicFields(), topic=None, problem=None)


@router.post("/new-topic", response_class=HTMLResponse)
def new_topic(
    request: Request, service: CurrentService, session: CurrentSession, fields: Annotated[TopicFields, Form()]
) -> Response:
    """Make a topic and go to its first card."""
    try:
        form = TopicForm(**fields.model_dump())
        known = _known_places(service, form.known)
        review = service.add_topic(form.topic(), session.reviewer.id, known, session.actor)
    except ValueError as error:
        return _again(request, session, fields, None, error)
    return RedirectResponse(f"/topics/{review.topic.id}", 303)


@router.get("/topics/{topic}/settings", response_class=HTMLResponse)
def topic_page(request: Request, session: CurrentSession, review: CurrentTopic) -> HTMLResponse:
    """Show the form of a topic."""
    topic = review.topic
    return page(request, "topic_form.html", session, form=_fields_of(topic), topic=topic, problem=None)


@router.post("/topics/{topic}/settings", response_class=HTMLResponse)
def change_topic(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    review: CurrentTopic,
    fields: Annotated[TopicFields, Form()],
) -> Response:
    """Write a topic anew."""
    topic = review.topic
    try:
        form = TopicForm(**fields.model_dump())
        service.change_topic(form.topic(topic.id), session.actor)
    except ValueError as error:
        return _again(request, session, fields, topic, error)
    return RedirectResponse(f"/topics/{topic.id}", 303)


def _again(request: Request, session: Any, fields: TopicFields, topic: Topic | None, error: ValueError) -> HTMLResponse:
    problem = str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        place = str(first["loc"][0]).replace("_", " ") if first["loc"] else ""
        problem = f"{place}: {first['msg']}" if place else str(first["msg"])
    return page(request, "topic_form.html", session, form=fields, topic=topic, problem=problem, status=422)
