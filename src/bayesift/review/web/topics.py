"""The list of topics, and the form that describes what to look for."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import Form, Request, UploadFile
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from pydantic import BaseModel, Field, ValidationError, field_validator, model_validator

from bayesift.review.earlier import read_earlier
from bayesift.review.importing import ENDINGS, find_documents
from bayesift.review.service import Service, TopicChangedError
from bayesift.review.storage import Actor, ProjectError, Topic
from bayesift.review.web.access import CurrentService, CurrentSession, CurrentTopic, LongText, ShortText, guarded_router
from bayesift.review.web.rendering import page
from bayesift.review.web.slow import slow
from bayesift.review.web.uploads import kept, name_of

router = guarded_router()

#: So many seconds a browser remembers language and colours.
_YEAR = 365 * 86_400

#: Lists of reasons and of tags have at most so many entries of at most so many characters.
_MOST_LINES, _LONGEST_LINE = 40, 120

#: A share of the work is a number up to this.
_MOST_SHARE = 1_000_000


class TopicFields(BaseModel):
    """The raw fields of the form, so that an invalid one is answered by the form with a sentence."""

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
    full_text: ShortText = ""
    shares: LongText = ""
    at_most: ShortText = "0"
    earlier: list[ShortText] = Field([], max_length=1000)
    earlier_file: UploadFile | None = None
    opened: ShortText = ""


class TopicForm(BaseModel):
    """A topic as the form sends it, with shares and targets in per cent."""

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
    queue: str = Field("shared", pattern="^(shared|double|own)$")
    full_text: str = Field("", pattern="^(yes)?$")
    shares: LongText = ""
    at_most: int = Field(0, ge=0, le=1_000_000)
    earlier: list[int] = []

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
            raise ValueError("the shares of informative and random cards add up to more than 100 %")
        return self

    def topic(self, people: Mapping[str, int], id: int = 0) -> Topic:
        """Return the topic that the form describes; the shares name people."""
        return Topic(
            self.name,
            self.description.strip(),
            words_of(self.keywords_for),
            words_of(self.keywords_against),
            informative=self.informative / 100,
            random=self.random / 100,
            target_recall=self.target_recall / 100,
            confidence=self.confidence / 100,
            shared=self.queue != "own",
            double=self.queue == "double",
            full_text=self.full_text == "yes",
            shares=shares_of(self.shares, people),
            inclusion=self.inclusion.strip(),
            exclusion=self.exclusion.strip(),
            reasons=lines_of(self.reasons),
            tags=lines_of(self.tags),
            at_most=self.at_most,
            earlier=tuple(dict.fromkeys(self.earlier)),
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
    r"""Split a list with one entry per line, keeping each once.

    Examples
    --------
    >>> from bayesift.review.web.topics import lines_of
    >>> lines_of("wrong population, or none\n\n animals \nanimals")
    ('wrong population, or none', 'animals')
    """
    return tuple(dict.fromkeys(" ".join(line.split()) for line in text.splitlines() if line.strip()))


def shares_of(text: str, people: Mapping[str, int]) -> tuple[tuple[int, float], ...]:
    r"""Read the shares of the work: a name and a number on each line.

    Examples
    --------
    >>> from bayesift.review.web.topics import shares_of
    >>> shares_of("Anna: 60\nBen B.: 40 %", {"Anna": 1, "Ben B.": 2})
    ((1, 60.0), (2, 40.0))
    """
    shares: dict[int, float] = {}
    for line in lines_of(text):
        name, _, number = line.rpartition(":")
        if name.strip() not in people:
            raise ValueError(f"shares: nobody is called {name.strip()[:40]!r}; expected a line such as Anna: 60")
        try:
            share = float(number.strip().removesuffix("%"))
        except ValueError as error:
            raise ValueError(
                f"shares: {number.strip()[:40]!r} is not a number; expected a line such as Anna: 60"
            ) from error
        if not 0 <= share <= _MOST_SHARE:
            raise ValueError(f"shares: found {share:g}, expected a number from 0 to {_MOST_SHARE}")
        shares[people[name.strip()]] = share
    return tuple(shares.items())


def _people(service: Service) -> dict[str, int]:
    return {person.name: person.id for person in service.project.reviewers.all() if person.removed is None}


def _fields_of(topic: Topic, people: Mapping[str, int]) -> TopicFields:
    names = {number: name for name, number in people.items()}
    return TopicFields(
        name=topic.name,
        description=topic.description,
        keywords_for=", ".join(topic.keywords_for),
        keywords_against=", ".join(topic.keywords_against),
        informative=f"{100 * topic.informative:.6g}",
        random=f"{100 * topic.random:.6g}",
        target_recall=f"{100 * topic.target_recall:.6g}",
        confidence=f"{100 * topic.confidence:.6g}",
        queue="double" if topic.double else "shared" if topic.shared else "own",
        full_text="yes" if topic.full_text else "",
        shares="\n".join(f"{names[who]}: {share:g}" for who, share in topic.shares if who in names),
        inclusion=topic.inclusion,
        exclusion=topic.exclusion,
        reasons="\n".join(topic.reasons),
        tags="\n".join(topic.tags),
        at_most=str(topic.at_most),
        earlier=[str(number) for number in topic.earlier],
        opened=_state_of(topic),
    )


def _state_of(topic: Topic) -> str:
    """Return what tells these settings of a topic from any others."""
    return hashlib.sha256(repr(topic).encode()).hexdigest()


def _made(service: Service, fields: TopicFields, by: Actor, id: int = 0) -> Topic:
    """Check the form and return its topic; the file of an earlier review is kept if everything else is right."""
    topic = TopicForm(**fields.model_dump(exclude={"earlier_file", "opened"})).topic(_people(service), id)
    unknown = set(topic.earlier) - {review.id for review in service.project.earlier.all()}
    if unknown:
        raise ValueError(f"earlier: there is no earlier review {min(unknown)}; expected one that is listed")
    file = fields.earlier_file
    if file is None or not file.filename:
        return topic
    return topic._replace(earlier=tuple(dict.fromkeys((*topic.earlier, _kept(service, file, by)))))


def _kept(service: Service, file: UploadFile, by: Actor) -> int:
    """Keep the earlier review of a file, and return its number."""
    try:
        with kept(file) as path:
            records = read_earlier(path)
    except (ValueError, ProjectError) as error:
        raise ValueError(f"the earlier review was not read: {error}") from error
    return service.project.earlier.add(name_of(file), records, by).id


def _known_places(service: Service, known: str) -> tuple[int, ...]:
    """Find the documents that are named in the form, by identifier, DOI or title, one on each line."""
    keys = [line.strip() for line in known.splitlines() if line.strip()]
    places = service.project.documents.places(keys)
    missing = [key for key in keys if key not in places]
    if missing:
        # Identifiers in a file are for computers; people know titles.
        places |= find_documents(missing, service.project.documents)
        missing = [key for key in missing if key not in places]
    if missing:
        raise ValueError(f"no document is called {missing[0]!r}; expected an identifier, DOI or title on each line")
    return tuple(dict.fromkeys(places[key] for key in keys))


@router.get("/", response_class=HTMLResponse)
def home(request: Request, service: CurrentService, session: CurrentSession) -> HTMLResponse:
    """List the topics and the progress of each."""
    rows = []
    for topic in service.project.topics.all():
        decided, relevant = service.topic(topic.id).counts(session.queue)
        size = service.topic(topic.id).size(session.queue)
        rows.append({"topic": topic, "decided": decided, "relevant": relevant, "size": size})
    return page(request, "home.html", session, rows=rows, n_documents=service.n_records, n_copies=len(service.copies))


class Appearance(BaseModel):
    """The language and colours that somebody wants."""

    language: Literal["en", "de"] = "en"
    theme: Literal["", "light", "dark"] = ""
    back: str = Field("/", pattern="^/([A-Za-z0-9-]+/?)*$", max_length=200)


@router.post("/appearance", response_class=HTMLResponse)
def change_appearance(
    request: Request, session: CurrentSession, form: Annotated[Appearance, Form()]
) -> RedirectResponse:
    """Remember language and colours in this browser."""
    answer = RedirectResponse(form.back, 303)
    https = request.app.state.settings.https
    for name, value in (("language", form.language), ("theme", form.theme)):
        answer.set_cookie(f"bayesift-{name}", value, max_age=_YEAR, secure=https, httponly=True, samesite="strict")
    return answer


@router.get("/new-topic", response_class=HTMLResponse)
def new_topic_page(request: Request, service: CurrentService, session: CurrentSession) -> HTMLResponse:
    """Show an empty form, with the project's earlier reviews selected."""
    known = [str(review.id) for review in service.project.earlier.all()]
    return _form_page(request, service, session, TopicFields(earlier=known))


@router.post("/new-topic", response_class=HTMLResponse)
@slow
def new_topic(
    request: Request, service: CurrentService, session: CurrentSession, fields: Annotated[TopicFields, Form()]
) -> Response:
    """Create a topic and go to its first card."""
    try:
        known = _known_places(service, fields.known)
        topic = _made(service, fields, session.actor)
        fields = _with_earlier(fields, topic)
        review = service.add_topic(topic, session.reviewer.id, known, session.actor)
    except ValueError as error:
        return _form_page(request, service, session, fields, None, error)
    return RedirectResponse(f"/topics/{review.topic.id}", 303)


@router.get("/topics/{topic}/settings", response_class=HTMLResponse)
def topic_page(
    request: Request, service: CurrentService, session: CurrentSession, review: CurrentTopic
) -> HTMLResponse:
    """Show the form of a topic."""
    return _form_page(request, service, session, _fields_of(review.topic, _people(service)), review.topic)


@router.post("/topics/{topic}/settings", response_class=HTMLResponse)
@slow
def change_topic(
    request: Request,
    service: CurrentService,
    session: CurrentSession,
    review: CurrentTopic,
    fields: Annotated[TopicFields, Form()],
) -> Response:
    """Replace a topic."""
    topic = review.topic
    try:
        changed = _made(service, fields, session.actor, topic.id)
        fields = _with_earlier(fields, changed)
        service.change_topic(changed, session.actor, lambda before: fields.opened in ("", _state_of(before)))
    except ValueError as error:
        if isinstance(error, TopicChangedError):
            # Who saves again after having been told replaces the other's settings.
            fields = fields.model_copy(update={"opened": _state_of(review.topic)})
        return _form_page(request, service, session, fields, topic, error)
    return RedirectResponse(f"/topics/{topic.id}", 303)


def _with_earlier(fields: TopicFields, topic: Topic) -> TopicFields:
    """Select the earlier reviews of a topic: one from an uploaded file is kept even if the settings are refused."""
    return fields.model_copy(update={"earlier": [str(number) for number in topic.earlier]})


def _form_page(
    request: Request,
    service: Service,
    session: Any,
    fields: TopicFields,
    topic: Topic | None = None,
    error: ValueError | None = None,
) -> HTMLResponse:
    """Show the form and what is wrong with it."""
    problem = None if error is None else str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        place = str(first["loc"][0]).replace("_", " ") if first["loc"] else ""
        said = str(first["msg"]).removeprefix("Value error, ")
        problem = f"{place}: {said}" if place else said
    return page(
        request,
        "topic_form.html",
        session,
        form=fields,
        topic=topic,
        problem=problem,
        earlier=service.project.earlier.all(),
        names=service.project.reviewers.names(),
        endings=",".join(ENDINGS),
        status=200 if error is None else 422,
    )
